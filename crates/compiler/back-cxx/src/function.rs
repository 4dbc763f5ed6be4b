//! Writes one function: its head, and the values of its body.

use super::expr::{Expr, Level, MoveBarriers};
use super::hoist::{self, Declaration};
use super::items::Items;
use super::lines::Lines;
use super::name::Names;
use super::op::Expressions;
use super::plain::{BlockWork, Launch, RawArrays, definition};
use super::statement::Statements;
use super::unit::Unit;
use super::value::Values;
use super::{launch, live};
use gbxcule_ir::function::{Function, FunctionId, FunctionKind, Inline, PassMode};
use gbxcule_ir::op::{Arg, BinaryOp, Op, Value};
use gbxcule_ir::place::Root;
use gbxcule_ir::stmt::StmtKind;
use gbxcule_ir::ty::{Shape, Type};

/// Length of the longest expression that gets no name.
pub(super) const MAX_EXPRESSION: usize = 90;

/// Length of the longest line that holds all parameters of a function.
const MAX_LINE: usize = 110;

/// Writes one function.
pub(super) struct Writer<'u, 'a> {
    pub(super) items: &'u Items<'a>,
    pub(super) id: FunctionId,
    pub(super) function: &'a Function,
    pub(super) exprs: Expressions<'u, 'a>,
    pub(super) names: &'u mut Names,
    pub(super) lines: &'u mut Lines<'a>,
    pub(super) declarations: Vec<Declaration>,
    /// Number of uses of each value, by position.
    pub(super) uses: Vec<u32>,
    temporaries: u32,
}

/// Writes a function or kernel.
pub(super) fn write(unit: &mut Unit<'_>, id: FunctionId) {
    let module = unit.items.module;
    let function = &module.functions[id];
    let body = &function.body;
    unit.items.faults.enter(function);
    let (declarations, exposed) = hoist::declarations(body);
    let Unit { items, names, lines, definitions, .. } = unit;
    names.open();
    lines.enter(id, function.span);
    let exprs = Expressions {
        items,
        module,
        function,
        body,
        values: Values::new(body.values.len()),
        params: function.params.iter().map(|param| names.local(&param.name)).collect(),
        locals: vec![String::new(); body.locals.len()],
        exposed,
        thread: String::new(),
        definitions,
        arrays: RawArrays::default(),
        launch: Launch::default(),
    };
    let uses = live::uses(module, body, &items.faults);
    let mut writer =
        Writer { items, id, function, exprs, names, lines, declarations, uses, temporaries: 0 };
    writer.heading();
    if function.kind == FunctionKind::Kernel {
        unit.library.extend(launch::write(&mut writer));
    } else {
        writer.callable();
    }
    unit.names.close();
    unit.lines.put("\n");
}

impl Writer<'_, '_> {
    /// Writes the function's place in the source as a comment.
    fn heading(&mut self) {
        if let Some((file, line)) = self.lines.place(self.function.span) {
            self.lines.put(&format!("// {file}:{line}\n"));
        }
        for &(one, other) in &self.function.disjoint {
            let [one, other] = [one, other].map(|at| &self.exprs.params[at as usize]);
            self.lines.put(&format!("// `{one}` and `{other}` must share no memory.\n"));
        }
    }

    fn callable(&mut self) {
        let items = self.items;
        if items.module.facts(self.id).launch_dims > 0 {
            self.exprs.thread = self.names.local("thread");
        }
        let word = match self.function.inline {
            Inline::Auto => "",
            Inline::Always if items.is_plain() => "__forceinline__ ",
            Inline::Never if items.is_plain() => "__noinline__ ",
            Inline::Always => "GBX_INLINE ",
            Inline::Never => "GBX_NOINLINE ",
        };
        let (result, name) = (items.ty(self.function.result), items.function(self.id));
        self.open_function(&format!("{word}{result} {name}"));
        Statements::write(self, false, BlockWork::default());
        self.lines.depth = 0;
        self.lines.line("}");
    }

    /// Begins `static head(..)`, a function that runs inside a thread.
    pub(super) fn open_function(&mut self, head: &str) {
        let device = if self.items.is_cuda() { "__device__ " } else { "" };
        let mut params = Vec::new();
        if !self.exprs.thread.is_empty() {
            params.push(format!("const gbx::Thread& {}", self.exprs.thread));
        }
        let is_plain = self.items.is_plain();
        params.extend(if is_plain { self.plain_parameters() } else { self.parameters() });
        self.head(&format!("static {device}{head}"), &params);
        self.lines.depth = 1;
    }

    /// Writes the first lines of a function, with one line for each parameter if they are many.
    pub(super) fn head(&mut self, head: &str, params: &[String]) {
        let line = format!("{head}({})", params.join(", "));
        if line.len() > MAX_LINE {
            self.lines.line(&format!("{head}(\n    {})", params.join(",\n    ")));
        } else {
            self.lines.line(&line);
        }
        self.lines.line("{");
    }

    pub(super) fn parameters(&self) -> Vec<String> {
        let params = self.function.params.iter().zip(&self.exprs.params);
        params
            .map(|(param, name)| {
                let ty = self.items.ty(param.ty);
                match param.mode {
                    PassMode::Value => format!("{ty} {name}"),
                    PassMode::Shared => format!("const {ty}& {name}"),
                    PassMode::Mutable => format!("{ty}& {name}"),
                }
            })
            .collect()
    }

    /// Writes a `Let`, or lets its expression wait for its use.
    pub(super) fn define(&mut self, value: Value) {
        let (module, body) = (self.items.module, self.exprs.body);
        let data = body.values[value];
        let uses = self.uses[value.index()];
        let acts = live::has_effect(module, &data.op);
        if uses == 0 && !acts && !self.items.faults.op(body, &data.op) {
            return;
        }
        if self.items.is_plain() && matches!(module.types[data.ty], Shape::Array { .. }) {
            return self.define_raw_array(value);
        }
        self.name_lazy_operands(&data.op);
        let interval = self.exprs.interval(&data);
        self.exprs.values.set_interval(value, interval);
        let expr = self.exprs.op(value, &data);
        if acts {
            self.name_waiting_before(&data.op);
            if uses == 0 {
                self.lines.line_of(&[&expr.text, ";"]);
            } else {
                self.materialize(value, &expr);
            }
            return;
        }
        let name = data.name.map(|name| module.text(name));
        let renamed =
            name.is_some_and(|name| name != expr.text) && !matches!(data.op, Op::Literal(_));
        if expr.atom && !renamed {
            self.exprs.values.set(value, expr);
        } else if uses == 0 {
            if expr.needs.faults {
                self.lines.line_of(&["(void)", &expr.at(Level::Primary), ";"]);
            }
        } else if name.is_some()
            || uses > 1
            || expr.text.len() > MAX_EXPRESSION && !self.is_returned_plainly(value)
        {
            self.materialize(value, &expr);
        } else {
            self.exprs.values.wait(value, expr);
        }
    }

    /// Returns true for the result of a function without the header: it gets no name, however long
    /// its text is.
    fn is_returned_plainly(&self, value: Value) -> bool {
        let body = self.exprs.body;
        let last = body.blocks[body.root].stmts.last().map(|stmt| &stmt.kind);
        self.items.is_plain()
            && matches!(last, Some(&StmtKind::Return(Some(result))) if result == value)
    }

    /// Names waiting operands that may fault and that C++ would evaluate only if they are chosen.
    fn name_lazy_operands(&mut self, op: &Op) {
        let lazy = match *op {
            Op::Select { accept, reject, .. } => [Some(accept), Some(reject)],
            Op::Binary(BinaryOp::And | BinaryOp::Or, left, right)
                if self.exprs.body.type_of(left) == Type::BOOL =>
            {
                [Some(right), None]
            }
            _ => return,
        };
        self.name_waiting(|value, needs| needs.faults && lazy.contains(&Some(value)));
    }

    /// Gives names to waiting values before an operation has its effect, if the effect could change
    /// them or if they may not come after it.
    fn name_waiting_before(&mut self, op: &Op) {
        let body = self.exprs.body;
        let mut changed = Vec::new();
        if let Op::Call { function, args } = *op {
            let params = &self.items.module.functions[function].params;
            for (arg, param) in body.arg_lists[args].iter().zip(params) {
                if let (Arg::Place(place), PassMode::Mutable) = (arg, param.mode)
                    && let Root::Local(local) = body.places[*place].root
                {
                    changed.push(local);
                }
            }
        }
        self.name_waiting(|_, needs| {
            needs.memory || needs.faults || needs.locals.iter().any(|local| changed.contains(local))
        });
    }

    /// Chooses the name of the constant that holds a value.
    pub(super) fn constant_name(&mut self, value: Value) -> String {
        match self.exprs.body.values[value].name {
            Some(name) => self.names.local(self.items.module.text(name)),
            None => {
                self.temporaries += 1;
                self.names.local(&format!("v{}", self.temporaries - 1))
            }
        }
    }

    /// Declares a constant with the value of an expression.
    pub(super) fn materialize(&mut self, value: Value, expr: &Expr) {
        let name = self.constant_name(value);
        let of = self.items.ty(self.exprs.body.type_of(value));
        self.result_line(&format!("const {of} {name} = "), expr);
        self.exprs.values.set(value, Expr::atom(name));
    }

    /// Writes a line that ends with an expression. In a text without the header each part of a long
    /// composite has its own line.
    pub(super) fn result_line(&mut self, before: &str, expr: &Expr) {
        let parts = match expr.text.len() > MAX_EXPRESSION && self.items.is_plain() {
            true => definition::parts(&expr.text),
            false => None,
        };
        let Some((opening, parts)) = parts else {
            return self.lines.line_of(&[before, &expr.text, ";"]);
        };
        self.lines.line_of(&[before, opening]);
        self.lines.depth += 1;
        for (position, part) in parts.iter().enumerate() {
            let end = if position + 1 == parts.len() { "};" } else { "," };
            self.lines.line_of(&[part, end]);
        }
        self.lines.depth -= 1;
    }

    /// Names the waiting values for which `must` holds.
    pub(super) fn name_waiting(&mut self, must: impl Fn(Value, &MoveBarriers) -> bool) {
        let span = self.lines.span;
        for (value, expr) in self.exprs.values.remove_waiting(must) {
            let value_span = self.exprs.body.values[value].span;
            if value_span.is_some() {
                self.lines.span = value_span;
            }
            self.lines.is_late = true;
            self.materialize(value, &expr);
            self.lines.is_late = false;
        }
        self.lines.span = span;
    }

    /// Names all waiting expressions before a statement with blocks: no expression waits across
    /// such a statement.
    pub(super) fn name_all_waiting(&mut self) {
        self.name_waiting(|_, _| true);
    }
}
