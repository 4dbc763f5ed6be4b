//! Writes one function: its head, and the values and lines of its body.

use super::expr::{Expr, MoveBarriers};
use super::hoist::{self, Declaration};
use super::interval::Interval;
use super::statement::Statements;
use super::unit::Unit;
use super::{launch, live};
use gbxcule_ir::arena::Handle;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{
    Body, Function, FunctionId, FunctionKind, Inline, Local, LocalId, Name, PassMode,
};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{BinaryOp, Op, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Shape, Type};
use rustc_hash::FxHashSet;

/// Length of the longest expression that gets no name.
const MAX_EXPRESSION: usize = 90;

/// Length of the longest line that holds all parameters of a function.
const MAX_LINE: usize = 110;

/// Writes one function.
pub(super) struct Writer<'u, 'a> {
    pub(super) unit: &'u mut Unit<'a>,
    pub(super) module: &'a Valid<Module>,
    pub(super) id: FunctionId,
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
    pub(super) params: Vec<String>,
    pub(super) locals: Vec<String>,
    pub(super) declarations: Vec<Declaration>,
    /// True for locals to which array handles point.
    pub(super) exposed: Vec<bool>,
    /// Name of the variable that holds the thread's number.
    pub(super) thread: String,
    pub(super) intervals: Vec<Option<Interval>>,
    pub(super) depth: usize,
    /// Place in the source of the statement that is being written.
    pub(super) span: Span,
    pub(super) uses: Vec<u32>,
    exprs: Vec<Option<Expr>>,
    /// Values that wait for their only use, in order.
    pending: Vec<Value>,
    /// File and line of the source line that was quoted last.
    quoted: Option<(Option<gbxcule_ir::source::SourceId>, usize)>,
    /// Span that was looked up last.
    quoted_span: Option<Span>,
    /// All source lines that were quoted. A value that is written later than it was computed
    /// doesn't quote its line again.
    quoted_lines: FxHashSet<(Option<gbxcule_ir::source::SourceId>, usize)>,
    is_settling: bool,
    temporaries: u32,
}

/// Writes a function or kernel.
pub(super) fn write(unit: &mut Unit<'_>, id: FunctionId) {
    let module = unit.module;
    let function = &module.functions[id];
    let body = &function.body;
    unit.faults.enter(function);
    let (declarations, exposed) = hoist::declarations(body);
    unit.names.open();
    let params = function.params.iter().map(|param| unit.names.local(&param.name)).collect();
    let uses = live::uses(module, body, &unit.faults);
    let mut writer = Writer {
        unit,
        module,
        id,
        function,
        body,
        params,
        locals: vec![String::new(); body.locals.len()],
        declarations,
        exposed,
        thread: String::new(),
        intervals: vec![None; body.values.len()],
        depth: 0,
        span: function.span,
        uses,
        exprs: vec![None; body.values.len()],
        pending: Vec::new(),
        quoted: None,
        quoted_span: None,
        quoted_lines: FxHashSet::default(),
        is_settling: false,
        temporaries: 0,
    };
    writer.heading();
    if function.kind == FunctionKind::Kernel {
        launch::write(&mut writer);
    } else {
        writer.callable();
    }
    unit.names.close();
    unit.put("\n");
}

impl Writer<'_, '_> {
    /// Writes the function's place in the source as a comment.
    fn heading(&mut self) {
        if let Some((file, line)) = self.unit.place(self.function.span) {
            self.unit.put(&format!("// {file}:{line}\n"));
        }
        for &(one, other) in &self.function.disjoint {
            let [one, other] = [one, other].map(|at| self.params[at as usize].clone());
            self.unit.put(&format!("// `{one}` and `{other}` must share no memory.\n"));
        }
    }

    fn callable(&mut self) {
        if self.module.facts(self.id).launch_dims > 0 {
            self.thread = self.unit.names.local("thread");
        }
        let word = match self.function.inline {
            Inline::Auto => "",
            Inline::Always if self.is_plain() => "__forceinline__ ",
            Inline::Never if self.is_plain() => "__noinline__ ",
            Inline::Always => "GBX_INLINE ",
            Inline::Never => "GBX_NOINLINE ",
        };
        let result = self.ty(self.function.result).to_string();
        let name = self.unit.function_name(self.id).to_string();
        self.open_function(&format!("{word}{result} {name}"));
        self.top_locals();
        let body = self.body.root;
        Statements::new(self, false).root(body);
        self.depth = 0;
        self.line("}");
    }

    /// Begins `static head(..)`, a function that runs inside a thread.
    pub(super) fn open_function(&mut self, head: &str) {
        let device = if self.unit.cuda() { "__device__ " } else { "" };
        let mut params = Vec::new();
        if !self.thread.is_empty() {
            params.push(format!("const gbx::Thread& {}", self.thread));
        }
        let own = if self.is_plain() { self.plain_parameters() } else { self.parameters() };
        params.extend(own);
        self.head(&format!("static {device}{head}"), &params);
        self.depth = 1;
    }

    /// Writes the first lines of a function, with one line for each parameter if they are many.
    pub(super) fn head(&mut self, head: &str, params: &[String]) {
        let line = format!("{head}({})", params.join(", "));
        if line.len() > MAX_LINE {
            self.line(&format!("{head}(\n    {})", params.join(",\n    ")));
        } else {
            self.line(&line);
        }
        self.line("{");
    }

    pub(super) fn parameters(&self) -> Vec<String> {
        let params = self.function.params.iter().zip(&self.params);
        params
            .map(|(param, name)| {
                let ty = self.ty(param.ty);
                match param.mode {
                    PassMode::Value => format!("{ty} {name}"),
                    PassMode::Shared => format!("const {ty}& {name}"),
                    PassMode::Mutable => format!("{ty}& {name}"),
                }
            })
            .collect()
    }

    /// Declares the variables that can't be declared at their first store.
    pub(super) fn top_locals(&mut self) {
        for local in self.body.locals.handles() {
            let declared = self.declarations[Handle::index(local)];
            let is_tile = declared != Declaration::Nowhere && self.is_tile(local);
            if declared == Declaration::Top || is_tile {
                let name = self.declare(local);
                if self.is_plain() && self.plain_fixed_local(local, &name) {
                    continue;
                }
                let Local { ty, scratch, .. } = self.body.locals[local];
                if scratch {
                    self.typed_line("", ty, &[" ", &name, ";"]);
                    continue;
                }
                let zero = if ty.as_scalar().is_some() { self.zero(ty).text } else { "{}".into() };
                self.typed_line("", ty, &[" ", &name, " = ", &zero, ";"]);
            }
        }
    }

    /// Chooses a local's name.
    pub(super) fn declare(&mut self, local: LocalId) -> String {
        let name = self.unit.names.local(&self.body.locals[local].name);
        self.locals[Handle::index(local)].clone_from(&name);
        name
    }

    pub(super) fn ty(&self, ty: Type) -> &str {
        let name = self.unit.spelling.of(ty);
        if name.is_empty() {
            self.refuse_plain();
        }
        name
    }

    pub(super) fn shape(&self, ty: Type) -> &Shape {
        &self.module.types[ty]
    }
}

/// Lines of the text.
impl Writer<'_, '_> {
    /// Writes a line of the current statement, after its source line if that was not quoted yet.
    pub(super) fn line(&mut self, text: &str) {
        self.line_of(&[text]);
    }

    /// Writes a line that consists of parts.
    pub(super) fn line_of(&mut self, parts: &[&str]) {
        self.begin(parts.first().is_some_and(|part| part.starts_with('}')), None);
        self.end(parts);
    }

    /// Writes a word, a type's name and the parts that follow.
    pub(super) fn typed_line(&mut self, word: &str, ty: Type, parts: &[&str]) {
        self.begin(false, None);
        self.unit.out.push_str(word);
        let name = self.ty(ty).to_owned();
        self.unit.out.push_str(&name);
        self.end(parts);
    }

    pub(super) fn line_saying(&mut self, text: &str, message: Option<Name>) {
        self.begin(text.starts_with('}'), message);
        self.end(&[text]);
    }

    fn begin(&mut self, closes: bool, message: Option<Name>) {
        if self.depth > 0 && !closes {
            self.quote();
        }
        if self.span.is_some() || message.is_some() {
            let (line, function) = (self.unit.line + 1, self.id);
            self.unit.sites.push(super::Site { line, function, span: self.span, message });
        }
        self.indent();
    }

    fn end(&mut self, parts: &[&str]) {
        parts.iter().for_each(|part| self.unit.put(part));
        self.unit.out.push('\n');
        self.unit.line += 1;
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.unit.out.push_str("    ");
        }
    }

    fn quote(&mut self) {
        if self.quoted_span == Some(self.span) {
            return;
        }
        self.quoted_span = Some(self.span);
        let Some((line, text)) = self.unit.quote(self.span) else { return };
        let now = (self.span.source(), line);
        let is_late = self.is_settling && self.quoted_lines.contains(&now);
        if self.quoted != Some(now) && !text.is_empty() && !is_late {
            self.quoted = Some(now);
            self.quoted_lines.insert(now);
            self.indent();
            self.unit.put(&format!("// {line}: {text}\n"));
        }
    }

    /// Inserts a line at an earlier position of the text.
    pub(super) fn insert_line(&mut self, at: usize, line: u32, depth: usize, text: &str) {
        let width = 4 * depth;
        self.unit.out.insert_str(at, &format!("{:width$}{text}\n", ""));
        self.unit.line += 1;
        let since = self.unit.sites.partition_point(|site| site.line <= line);
        self.unit.sites[since..].iter_mut().for_each(|site| site.line += 1);
    }
}

/// Values and the expressions that wait for their use.
impl Writer<'_, '_> {
    /// Returns the expression of an operand. An expression that waited for this use is removed.
    pub(super) fn take(&mut self, value: Value) -> Expr {
        if let Some(position) = self.pending.iter().rposition(|&waiting| waiting == value) {
            self.pending.remove(position);
            if let Some(expr) = self.exprs[value.index()].take() {
                return expr;
            }
        }
        match &self.exprs[value.index()] {
            Some(expr) => expr.clone(),
            None => unreachable!("check rule 3: values are defined before they are used"),
        }
    }

    /// Takes the expression of a value, of exactly its type.
    pub(super) fn take_exact(&mut self, value: Value) -> Expr {
        let expr = self.take(value);
        self.exact(value, expr)
    }

    pub(super) fn exact(&self, value: Value, expr: Expr) -> Expr {
        if expr.exact { expr } else { expr.cast(self.ty(self.body.type_of(value))) }
    }

    /// Writes a `Let`, or lets its expression wait for its use.
    pub(super) fn define(&mut self, value: Value) {
        let data = self.body.values[value];
        let uses = self.uses[value.index()];
        let acts = live::has_effect(self.module, &data.op);
        if uses == 0 && !acts && !self.unit.faults.op(self.body, &data.op) {
            return;
        }
        if self.is_plain() && matches!(self.shape(data.ty), Shape::Array { .. }) {
            self.define_raw_array(value);
            return;
        }
        self.name_lazy_operands(&data.op);
        self.intervals[value.index()] = self.interval(&data);
        let expr = self.op(value, &data);
        if acts {
            self.name_waiting_before(&data.op);
            if uses == 0 {
                self.line_of(&[&expr.text, ";"]);
            } else {
                self.materialize(value, &expr);
            }
            return;
        }
        let name = data.name.map(|name| self.module.text(name));
        let renamed =
            name.is_some_and(|name| name != expr.text) && !matches!(data.op, Op::Literal(_));
        if expr.atom && !renamed {
            self.exprs[value.index()] = Some(expr);
        } else if uses == 0 {
            if expr.needs.faults {
                self.line_of(&["(void)", &expr.at(super::expr::Level::Primary), ";"]);
            }
        } else if name.is_some() || uses > 1 || expr.text.len() > MAX_EXPRESSION {
            self.materialize(value, &expr);
        } else {
            self.exprs[value.index()] = Some(expr);
            self.pending.push(value);
        }
    }

    /// Names waiting operands that may fault and that C++ would evaluate only if they are chosen.
    fn name_lazy_operands(&mut self, op: &Op) {
        let lazy = match *op {
            Op::Select { accept, reject, .. } => [Some(accept), Some(reject)],
            Op::Binary(BinaryOp::And | BinaryOp::Or, left, right)
                if self.body.type_of(left) == Type::BOOL =>
            {
                [Some(right), None]
            }
            _ => return,
        };
        self.name_waiting(|value, needs| needs.faults && lazy.contains(&Some(value)));
    }

    /// Chooses the name of a value that has none.
    pub(super) fn next_temporary(&mut self) -> String {
        self.temporaries += 1;
        self.unit.names.local(&format!("v{}", self.temporaries - 1))
    }

    /// Declares a constant with the value of an expression.
    fn materialize(&mut self, value: Value, expr: &Expr) {
        let data = self.body.values[value];
        let name = match data.name {
            Some(name) => self.unit.names.local(self.module.text(name)),
            None => self.next_temporary(),
        };
        self.typed_line("const ", data.ty, &[" ", &name, " = ", &expr.text, ";"]);
        self.exprs[value.index()] = Some(Expr::atom(name));
    }

    /// Names the waiting values for which `must` holds.
    pub(super) fn name_waiting(&mut self, must: impl Fn(Value, &MoveBarriers) -> bool) {
        let mut position = 0;
        let span = self.span;
        while let Some(&value) = self.pending.get(position) {
            let expr = self.exprs[value.index()].take();
            match expr {
                Some(expr) if must(value, &expr.needs) => {
                    self.pending.remove(position);
                    if self.body.values[value].span.is_some() {
                        self.span = self.body.values[value].span;
                    }
                    self.is_settling = true;
                    self.materialize(value, &expr);
                    self.is_settling = false;
                }
                expr => {
                    self.exprs[value.index()] = expr;
                    position += 1;
                }
            }
        }
        self.span = span;
    }

    /// Names all waiting expressions before a statement with blocks: no expression waits across
    /// such a statement.
    pub(super) fn name_all_waiting(&mut self) {
        self.name_waiting(|_, _| true);
    }

    /// Sets the name of a value that the statement itself defines: the index of a loop.
    pub(super) fn set(&mut self, value: Value, name: String, interval: Option<Interval>) {
        self.exprs[value.index()] = Some(Expr::atom(name));
        self.intervals[value.index()] = interval;
    }

    pub(super) fn interval_of(&self, value: Value) -> Option<Interval> {
        self.intervals[value.index()]
    }
}
