//! Operations as expressions.

use super::expr::{Expr, Level, push_list};
use super::interval::Interval;
use super::items::Items;
use super::literal::literal;
use super::plain::{self, Definitions, Launch, RawArrays};
use super::value::Values;
use gbxcule_ir::arena::List;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::check::Valid;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{Body, Function, FunctionId};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, AtomicOp, BinaryOp, CompareOp, Op, Selector, Value, ValueData};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::{Scalar, Shape, Type};

/// Expressions of the operations and places of one function.
pub(super) struct Expressions<'u, 'a> {
    pub(super) items: &'u Items<'a>,
    pub(super) module: &'a Valid<Module>,
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    pub(super) values: Values,
    /// Names of the parameters and of the locals, by position.
    pub(super) params: Vec<String>,
    pub(super) locals: Vec<String>,
    /// True for locals to which array handles point.
    pub(super) exposed: Vec<bool>,
    /// Name of the variable that holds the thread's number.
    pub(super) thread: String,
    /// Operators and functions that a text without the header needs.
    pub(super) definitions: &'u mut Definitions,
    /// Arrays as pointers, in such a text.
    pub(super) arrays: RawArrays,
    pub(super) launch: Launch,
}

impl<'a> Expressions<'_, 'a> {
    pub(super) fn op(&mut self, value: Value, data: &ValueData) -> Expr {
        let ty = data.ty;
        if self.items.is_plain()
            && let Some(expr) = self.plain_op(data)
        {
            return expr;
        }
        match data.op {
            Op::Literal(constant) => literal(constant),
            Op::Zero => self.zero(ty),
            Op::Index => unreachable!("check rule 3: indices belong to loops"),
            Op::Unary(op, operand) => self.unary(op, operand, ty),
            Op::Binary(op, left, right) => self.binary(op, left, right, value),
            Op::Compare(op, left, right) => self.compare(op, left, right),
            Op::Select { condition, accept, reject } => self.select(condition, accept, reject),
            Op::Convert(operand) => self.convert(operand, ty),
            Op::Bitcast(operand) => {
                let operand = self.take_exact(operand);
                Expr::call(&format!("gbx::bits<{}>", self.items.ty(ty)), &[&operand])
            }
            Op::Construct(parts) => self.construct(parts, ty),
            Op::Splat(part) => self.splat(part, ty),
            Op::Extract { from, index } => self.extract(from, index),
            Op::Load(place) => self.place(place),
            Op::Native { native, args } => self.native_call(native, args),
            Op::Call { function, args } => self.call(function, args),
            Op::Atomic { op, place, value, expected } => self.atomic(op, place, value, expected),
            Op::LaunchIndex(dim) => {
                let mut number = itoa::Buffer::new();
                let text = [&self.thread, ".index(", number.format(dim), ")"].concat();
                Expr::new(text, Level::Primary)
            }
            Op::View { array, selectors } => self.view(array, selectors, ty),
            Op::AsArray(place) => self.as_array(place, ty),
            Op::Extent { array, dim } => {
                let array = self.values.take(array);
                let atom = array.atom;
                let mut number = itoa::Buffer::new();
                let text = [&array.at(Level::Primary), ".shape[", number.format(dim), "]"].concat();
                Expr { atom, ..Expr::new(text, Level::Primary).of(&[&array]) }
            }
            Op::Present(array) => {
                let array = self.values.take(array);
                let text = format!("{}.data != nullptr", array.at(Level::Primary));
                Expr::new(text, Level::Equality).of(&[&array])
            }
            Op::Gradient(array) => Expr::call("gbx::gradient", &[&self.values.take(array)]),
            Op::Lowest(key) => Expr::call("gbx::lowest", &[&self.values.take(key)]),
            Op::Opaque(value) => Expr::call("gbx::opaque", &[&self.values.take(value)]),
        }
    }

    fn native_call(&mut self, native: Native, args: List<Value>) -> Expr {
        let row = native.row();
        let name = if self.items.is_cuda() { row.cuda } else { row.cxx };
        let args: Vec<Expr> = self.exact_list(args);
        Expr::call(&["gbx::", name].concat(), &args.iter().collect::<Vec<_>>())
    }

    /// Makes a handle of the elements that a place holds.
    fn as_array(&mut self, place: PlaceId, ty: Type) -> Expr {
        let place = self.place(place);
        let Shape::Array { of, dims } = *self.shape(ty) else {
            unreachable!("check rule 4: arrays of places")
        };
        let mut expr =
            Expr::call(&format!("gbx::as_array<{}, {dims}>", self.items.ty(of)), &[&place]);
        // The pointer never changes, even if its elements do.
        expr.needs.memory = false;
        expr.needs.locals.clear();
        expr
    }

    /// Returns the interval of an integer operation.
    pub(super) fn interval(&self, data: &ValueData) -> Option<Interval> {
        let all = Interval::of(data.ty.as_scalar()?)?;
        let of = |value: Value| self.values.interval(value);
        let interval = match data.op {
            Op::Literal(constant) => Interval::literal(constant),
            Op::LaunchIndex(_) => Some(Interval::new(0, i128::from(i32::MAX) - 1)),
            Op::Extent { .. } => Some(Interval::new(0, i128::from(i32::MAX))),
            Op::Binary(op, left, right) => match (of(left), of(right)) {
                (Some(left), Some(right)) => Interval::exact(op, left, right),
                _ => None,
            },
            Op::Convert(operand) => of(operand),
            Op::Select { accept, reject, .. } => match (of(accept), of(reject)) {
                (Some(accept), Some(reject)) => Some(accept.union(reject)),
                _ => None,
            },
            _ => None,
        };
        Some(interval.filter(|interval| interval.is_in(all)).unwrap_or(all))
    }

    pub(super) fn shape(&self, ty: Type) -> &'a Shape {
        &self.module.types[ty]
    }

    /// Takes the expression of a value, of exactly its type.
    pub(super) fn take_exact(&mut self, value: Value) -> Expr {
        let expr = self.values.take(value);
        if expr.exact { expr } else { expr.cast(self.items.ty(self.body.type_of(value))) }
    }

    pub(super) fn zero(&self, ty: Type) -> Expr {
        match ty.as_scalar() {
            Some(of) => literal(Literal::from_bits(of, 0)),
            None => Expr::atom(format!("{}{{}}", self.items.ty(ty))),
        }
    }

    pub(super) fn exact_list(&mut self, values: List<Value>) -> Vec<Expr> {
        self.body.value_lists[values].iter().map(|&value| self.take_exact(value)).collect()
    }

    fn compare(&mut self, op: CompareOp, left: Value, right: Value) -> Expr {
        let (op, level) = match op {
            CompareOp::Equal => ("==", Level::Equality),
            CompareOp::NotEqual => ("!=", Level::Equality),
            CompareOp::Less => ("<", Level::Relation),
            CompareOp::LessEqual => ("<=", Level::Relation),
            CompareOp::Greater => (">", Level::Relation),
            CompareOp::GreaterEqual => (">=", Level::Relation),
        };
        let (left, right) = (self.take_real(left), self.take_real(right));
        Expr { compound: None, ..Expr::infix(level, op, &left, &right) }
    }

    /// Takes an operand, converted to `float` if it is a 16-bit float.
    pub(super) fn take_real(&mut self, value: Value) -> Expr {
        let expr = self.values.take(value);
        match self.body.type_of(value).as_scalar() {
            Some(Scalar::F16 | Scalar::Bf16) => expr.cast("float"),
            _ => expr,
        }
    }

    pub(super) fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Expr {
        let condition = self.values.take(condition);
        let (accept, reject) = (self.values.take(accept), self.values.take(reject));
        let (c, a, r) = (condition.at(Level::Equality), accept.at(Level::Or), reject.at(Level::Or));
        let exact = accept.exact && reject.exact;
        Expr::new([&c, " ? ", &a, " : ", &*r].concat(), Level::Choice)
            .of(&[&condition, &accept, &reject])
            .exact_if(exact)
    }

    fn construct(&mut self, parts: List<Value>, ty: Type) -> Expr {
        let values = &self.body.value_lists[parts];
        let parts: Vec<Expr> = values
            .iter()
            .map(|&value| {
                // A literal that fits the type doesn't narrow.
                let is_literal = matches!(self.body.values[value].op, Op::Literal(_));
                if is_literal { self.values.take(value) } else { self.take_exact(value) }
            })
            .collect();
        let mut text = [self.items.ty(ty), "{"].concat();
        push_list(&mut text, parts.iter().map(|part| part.text.as_str()));
        text.push('}');
        Expr::new(text, Level::Primary).of(&parts.iter().collect::<Vec<_>>())
    }

    fn splat(&mut self, part: Value, ty: Type) -> Expr {
        let part = self.take_exact(part);
        if let Shape::Fixed { .. } = self.shape(ty) {
            return Expr::call(&format!("gbx::repeat<{}>", self.items.ty(ty)), &[&part]);
        }
        let mut expr = Expr::call(&format!("gbx::splat<{}>", self.items.ty(ty)), &[&part]);
        expr.splat = Some(Box::new(part));
        expr
    }

    fn extract(&mut self, from: Value, index: u32) -> Expr {
        let ty = self.body.type_of(from);
        let from = self.values.take(from);
        let part = match self.shape(ty) {
            Shape::Struct(id) => [".", self.items.spelling.field(*id, index)].concat(),
            Shape::Tuple(_) => format!(".item_{index}"),
            Shape::Fixed { .. } => bracket("[", index),
            _ => self.component(ty, index),
        };
        let atom = from.atom;
        let text = [&from.at(Level::Primary), part.as_str()].concat();
        Expr { atom, ..Expr::new(text, Level::Primary).of(&[&from]) }
    }

    /// Writes the selection of a component by its position, such as `[i]`.
    pub(super) fn component(&self, ty: Type, index: u32) -> String {
        if self.items.is_plain() {
            return plain::component(self.shape(ty), index);
        }
        match self.shape(ty) {
            Shape::Matrix { cols, .. } => {
                let cols = u32::from(*cols);
                bracket("[", index / cols) + &bracket("[", index % cols)
            }
            Shape::Transform(_) if index < 3 => bracket(".p[", index),
            Shape::Transform(_) => bracket(".q[", index - 3),
            _ => bracket("[", index),
        }
    }

    fn call(&mut self, function: FunctionId, args: List<Arg>) -> Expr {
        if !self.items.needs(function)
            && let Some(expr) = self.plain_operator(function, args)
        {
            return expr;
        }
        let mut exprs = Vec::new();
        if self.module.facts(function).launch_dims > 0 {
            self.items.refuse();
            exprs.push(Expr::atom(self.thread.clone()));
        }
        for &arg in &self.body.arg_lists[args] {
            exprs.push(match arg {
                Arg::Value(value) if self.items.is_plain() && self.is_array(value) => {
                    exprs.extend(self.raw_arguments(value));
                    continue;
                }
                Arg::Value(value) => self.values.take(value),
                Arg::Place(place) => self.place(place),
            });
        }
        let name = self.items.function(function);
        let mut expr = Expr::call(name, &exprs.iter().collect::<Vec<_>>());
        let effects = self.module.facts(function).effects;
        expr.needs.memory |= effects.reads;
        let op = Op::Call { function, args };
        expr.faulting(self.items.faults.op(self.body, &op))
    }

    fn atomic(
        &mut self,
        op: AtomicOp,
        place: PlaceId,
        value: Value,
        expected: Option<Value>,
    ) -> Expr {
        let name = match op {
            AtomicOp::Add => "gbx::atomic_add",
            AtomicOp::Subtract => "gbx::atomic_sub",
            AtomicOp::Min => "gbx::atomic_min",
            AtomicOp::Max => "gbx::atomic_max",
            AtomicOp::And => "gbx::atomic_and",
            AtomicOp::Or => "gbx::atomic_or",
            AtomicOp::Xor => "gbx::atomic_xor",
            AtomicOp::Exchange => "gbx::atomic_exchange",
            AtomicOp::CompareExchange => "gbx::atomic_compare_exchange",
        };
        let place = self.place(place);
        let expected = expected.map(|expected| self.values.take(expected));
        let value = self.values.take(value);
        let args = [Some(&place), expected.as_ref(), Some(&value)];
        Expr::call(name, &args.into_iter().flatten().collect::<Vec<_>>())
    }

    fn view(&mut self, array: Value, selectors: List<Selector>, ty: Type) -> Expr {
        let Shape::Array { dims, .. } = *self.shape(ty) else {
            unreachable!("check rule 4: views are arrays")
        };
        let mut args = vec![self.values.take(array)];
        for &selector in &self.body.selector_lists[selectors] {
            args.push(match selector {
                Selector::At(index) => self.values.take(index),
                Selector::Range { start, len, step } => {
                    let [start, len, step] =
                        [start, len, step].map(|value| self.values.take(value));
                    let text = format!("gbx::Span{{{}, {}, {}}}", start.text, len.text, step.text);
                    Expr::new(text, Level::Primary).of(&[&start, &len, &step])
                }
            });
        }
        let faults = self.items.faults.checked() && args.len() > 1;
        let vouched = if args.len() > 1 { self.items.faults.trusted_argument() } else { "" };
        let args: Vec<&Expr> = args.iter().collect();
        Expr::call_ending(&format!("gbx::view<{dims}>"), &args, vouched).faulting(faults)
    }

    /// Writes `&&`, `||` or `!=` of `bool`s.
    pub(super) fn logic(&mut self, op: BinaryOp, left: Value, right: Value) -> Expr {
        let (op, level) = match op {
            BinaryOp::And => ("&&", Level::And),
            BinaryOp::Or => ("||", Level::Or),
            _ => ("!=", Level::Equality),
        };
        let (left, right) = (self.values.take(left), self.values.take(right));
        Expr { compound: None, ..Expr::infix(level, op, &left, &right) }
    }
}

/// Writes an index such as `[0]` after a text.
fn bracket(before: &str, index: u32) -> String {
    [before, itoa::Buffer::new().format(index), "]"].concat()
}
