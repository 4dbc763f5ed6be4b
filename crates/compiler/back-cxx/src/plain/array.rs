//! Arrays as pointers and extents.

use super::super::expr::{Expr, Level};
use super::super::function::Writer;
use super::super::items::Items;
use super::super::op::Expressions;
use super::block_work::{Sum, literals};
use gbxcule_ir::arena::List;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{Body, FunctionKind, Param, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, Op, Selector, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::stmt::StmtKind;
use gbxcule_ir::ty::{Shape, Type};
use gbxcule_ir::walk::{Use, stmt_uses, walk_stmts};
use rustc_hash::FxHashMap;

/// An array: a pointer to its first element, and its extents.
#[derive(Clone, Debug)]
pub(super) struct RawArray {
    pointer: String,
    extents: Vec<String>,
    is_const: bool,
    /// Pointer to the gradients, of a kernel's parameter.
    gradient: Option<String>,
}

/// Arrays of one function.
#[derive(Debug, Default)]
pub(in super::super) struct RawArrays {
    /// Arrays that are parameters, by position.
    params: Vec<Option<RawArray>>,
    values: FxHashMap<Value, RawArray>,
}

impl RawArrays {
    fn param(&self, position: u32) -> Option<RawArray> {
        self.params.get(position as usize)?.clone()
    }

    fn value(&self, value: Value) -> Option<RawArray> {
        self.values.get(&value).cloned()
    }
}

/// Returns true, by function and parameter, for an array that the function writes.
pub fn written(module: &Valid<Module>) -> Vec<Vec<bool>> {
    let mut written: Vec<Vec<bool>> =
        module.functions.iter().map(|(_, function)| vec![false; function.params.len()]).collect();
    for &id in module.call_order() {
        let body = &module.functions[id].body;
        let mut roots = Vec::new();
        walk_stmts(body, body.root, |stmt| {
            stmt_uses(
                body,
                &stmt.kind,
                |_| true,
                |used| match used {
                    Use::Write(place) | Use::Change(place) | Use::Expose(place) => {
                        roots.extend(root_of_place(body, place));
                    }
                    Use::Read(_) | Use::Value(_) => {}
                },
            );
            if let StmtKind::Let(value) = stmt.kind
                && let Op::Call { function, args } = body.values[value].op
            {
                for (arg, &is_written) in
                    body.arg_lists[args].iter().zip(&written[function.index()])
                {
                    if let (Arg::Value(array), true) = (arg, is_written) {
                        roots.extend(root_of_value(body, *array));
                    }
                }
            }
        });
        roots.into_iter().for_each(|root| written[id.index()][root as usize] = true);
    }
    written
}

pub(super) fn root_of_place(body: &Body, place: PlaceId) -> Option<u32> {
    match body.places[place].root {
        Root::Param(position) => Some(position),
        Root::Array(value) => root_of_value(body, value),
        Root::Local(_) | Root::Table(_) => None,
    }
}

/// Returns the parameter whose elements an array value is a view of.
pub(super) fn root_of_value(body: &Body, value: Value) -> Option<u32> {
    match body.values[value].op {
        Op::Load(place) => root_of_place(body, place),
        Op::View { array, .. } => root_of_value(body, array),
        _ => None,
    }
}

impl Writer<'_, '_> {
    /// Names the parameters that are arrays; returns all parameters, an array's pointer and extents
    /// beside each other.
    pub(in super::super) fn plain_parameters(&mut self) -> Vec<String> {
        let (items, is_kernel) = (self.items, self.function.kind == FunctionKind::Kernel);
        let Some(plain) = &items.plain else { return Vec::new() };
        let mut texts = Vec::new();
        for (position, param) in self.function.params.iter().enumerate() {
            let name = self.exprs.params[position].clone();
            let Shape::Array { of, dims } = items.module.types[param.ty] else {
                texts.push(plain_parameter(items, param, &name));
                self.exprs.arrays.params.push(None);
                continue;
            };
            let is_const = !plain.written[self.id.index()][position];
            let of = items.ty(of);
            let word = if is_const { "const " } else { "" };
            texts.push(format!("{word}{of}* {name}"));
            let extents: Vec<String> =
                (0..dims).map(|dim| self.names.local(&format!("{name}_dim{dim}"))).collect();
            texts.extend(extents.iter().map(|extent| format!("int {extent}")));
            let differentiates = is_kernel && plain.differentiates;
            let gradient = differentiates.then(|| self.names.local(&format!("grad_{name}")));
            texts.extend(gradient.iter().map(|name| format!("{of}* {name}")));
            let array = RawArray { pointer: name, extents, is_const, gradient };
            self.exprs.arrays.params.push(Some(array));
        }
        texts
    }

    /// Records the pointer and the extents of an array value; a view gets a pointer of its own.
    pub(in super::super) fn define_raw_array(&mut self, value: Value) {
        let (body, arrays) = (self.exprs.body, &self.exprs.arrays);
        let array = match body.values[value].op {
            Op::Load(place) => match body.places[place].root {
                Root::Param(position) if body.path(place).is_empty() => arrays.param(position),
                _ => None,
            },
            Op::Gradient(array) => arrays.value(array).and_then(|array| {
                let pointer = array.gradient?;
                Some(RawArray { pointer, extents: array.extents, is_const: false, gradient: None })
            }),
            Op::View { array, selectors } => {
                arrays.value(array).and_then(|array| self.raw_view(value, array, selectors))
            }
            _ => None,
        };
        // Uses that expect a handle of the header take the pointer, in a text that is refused.
        let pointer = match array {
            Some(array) => {
                let pointer = Expr::atom(&array.pointer);
                self.exprs.arrays.values.insert(value, array);
                pointer
            }
            None => self.exprs.refused(),
        };
        self.exprs.values.set(value, pointer);
    }

    /// Declares a pointer to the part of an array that leading indices select.
    fn raw_view(
        &mut self,
        value: Value,
        from: RawArray,
        selectors: List<Selector>,
    ) -> Option<RawArray> {
        let body = self.exprs.body;
        let indices: Option<Vec<Value>> = body.selector_lists[selectors]
            .iter()
            .map(|selector| match *selector {
                Selector::At(index) => Some(index),
                Selector::Range { .. } => None,
            })
            .collect();
        let indices = indices?;
        let (_, inner) = from.extents.split_at_checked(indices.len())?;
        let inner = inner.to_vec();
        if indices.is_empty() {
            return Some(from);
        }
        let mut at = self.exprs.raw_offset(&from, &indices);
        for extent in &inner {
            at = Expr::infix(Level::Product, "*", &at, &Expr::atom(extent));
        }
        let start = Expr::infix(Level::Sum, "+", &Expr::atom(&from.pointer), &at);
        let pointer = self.constant_name(value);
        let of = match *self.exprs.shape(body.type_of(value)) {
            Shape::Array { of, .. } => self.items.ty(of),
            _ => unreachable!("check rule 4: views are arrays"),
        };
        let word = if from.is_const { "const " } else { "" };
        self.lines.line(&format!("{word}{of}* {pointer} = {};", start.text));
        Some(RawArray { pointer, extents: inner, is_const: from.is_const, gradient: None })
    }
}

/// Writes a parameter that isn't an array.
fn plain_parameter(items: &Items<'_>, param: &Param, name: &str) -> String {
    let word = if param.mode == PassMode::Shared { "const " } else { "" };
    if let Shape::Fixed { of, len } = items.module.types[param.ty] {
        return format!("{word}{} (&{name})[{len}]", items.ty(of));
    }
    let reference = if param.mode == PassMode::Value { "" } else { "&" };
    format!("{word}{}{reference} {name}", items.ty(param.ty))
}

impl Expressions<'_, '_> {
    /// Returns the offset of an element, or of the part that leading indices select, in row-major
    /// order.
    fn raw_offset(&mut self, array: &RawArray, indices: &[Value]) -> Expr {
        let mut at: Option<Expr> = None;
        for (&index, extent) in indices.iter().zip(&array.extents) {
            let index = self.raw_index(index, extent);
            at = Some(match at {
                None => index,
                Some(before) => {
                    let rows = Expr::infix(Level::Product, "*", &before, &Expr::atom(extent));
                    Expr::infix(Level::Sum, "+", &rows, &index)
                }
            });
        }
        at.unwrap_or_else(|| Expr::atom("0"))
    }

    /// Writes an index; an index that is surely negative counts from the end.
    pub(super) fn raw_index(&mut self, index: Value, extent: &str) -> Expr {
        let is_negative = self.values.interval(index).is_some_and(|interval| interval.high < 0);
        let index = self.take_exact(index);
        if !is_negative {
            return index;
        }
        match index.text.strip_prefix('-') {
            Some(number) => Expr::new(format!("{extent} - {number}"), Level::Sum),
            None => Expr::infix(Level::Sum, "+", &Expr::atom(extent), &index),
        }
    }

    pub(in super::super) fn is_array(&self, value: Value) -> bool {
        matches!(self.shape(self.body.type_of(value)), Shape::Array { .. })
    }

    /// Returns true if a place begins at an element of an array.
    pub(in super::super) fn is_element(&self, id: PlaceId) -> bool {
        matches!(self.body.path(id).first(), Some(Projection::Element(_)))
    }

    /// Returns the element of an array at which a place begins, and its type.
    pub(in super::super) fn raw_element(&mut self, id: PlaceId) -> (Expr, Type) {
        let place = self.body.places[id];
        let (array, ty) = match place.root {
            Root::Array(value) => (self.arrays.value(value), self.body.type_of(value)),
            Root::Param(position) => {
                (self.arrays.param(position), self.function.params[position as usize].ty)
            }
            Root::Local(_) | Root::Table(_) => (None, place.ty),
        };
        let of = match *self.shape(ty) {
            Shape::Array { of, .. } => of,
            _ => ty,
        };
        let (Some(array), Some(&Projection::Element(indices))) =
            (array, self.body.path(id).first())
        else {
            return (self.refused(), of);
        };
        let indices = self.body.value_lists[indices].to_vec();
        let at = self.raw_offset(&array, &indices);
        let mut expr = Expr::new(format!("{}[{}]", array.pointer, at.text), Level::Primary);
        expr.needs = at.needs;
        expr.needs.memory = true;
        (expr, of)
    }

    /// Writes the element at which threads add a sum.
    pub(super) fn literal_element(&self, sum: &Sum) -> String {
        let indices = literals(self.body, sum.place).unwrap_or_default();
        let Some(array) = self.arrays.param(sum.param) else { return self.refused().text };
        let at = indices.iter().zip(&array.extents).fold(String::new(), |at, (index, extent)| {
            if at.is_empty() { index.to_string() } else { format!("({at}) * {extent} + {index}") }
        });
        if indices.iter().any(|index| *index < 0) {
            self.items.refuse();
        }
        format!("{}[{at}]", array.pointer)
    }

    /// Writes an array's extent.
    pub(super) fn raw_extent(&mut self, array: Value, dim: u8) -> Expr {
        let extent =
            self.arrays.value(array).and_then(|array| array.extents.get(usize::from(dim)).cloned());
        extent.map_or_else(|| self.refused(), Expr::atom)
    }

    /// Writes the test that an array has memory.
    pub(super) fn raw_presence(&mut self, array: Value) -> Expr {
        match self.arrays.value(array) {
            Some(array) => Expr::new(format!("{} != nullptr", array.pointer), Level::Equality),
            None => self.refused(),
        }
    }

    /// Returns the arguments that pass an array.
    pub(in super::super) fn raw_arguments(&mut self, array: Value) -> Vec<Expr> {
        match self.arrays.value(array) {
            Some(array) => {
                std::iter::once(array.pointer).chain(array.extents).map(Expr::atom).collect()
            }
            None => vec![self.refused()],
        }
    }

    /// Records that the kernel has no such text; returns an expression to go on with.
    pub(super) fn refused(&self) -> Expr {
        self.items.refuse();
        Expr::atom("0")
    }
}
