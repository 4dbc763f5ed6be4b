//! Facts about a kernel that a launch needs, the same for every device.

use gbxcule_ir::check::Valid;
use gbxcule_ir::walk::{Use, stmt_uses, walk_stmts};
use gbxcule_ir::{
    Arg, Body, Function, FunctionId, FunctionKind, List, Module, Op, PassMode, PlaceId, Projection,
    Root, StmtKind, Type, Value,
};

/// Kernel as its callers see it.
#[derive(Clone, Debug)]
pub struct Reflection {
    /// Name.
    pub name: String,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// Number of leading dimensions of the grid that the kernel asks for.
    pub dims: u8,
    /// Pairs of parameters whose arrays must share no memory.
    pub disjoint: Vec<(u32, u32)>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Type in the kernel's module.
    pub ty: Type,
    /// The type as users of the dialect write it.
    pub type_name: String,
    /// True if arrays in the parameter, or their gradients, may be written. In doubt they count
    /// as written.
    pub written: bool,
}

/// Returns the reflections of all kernels, by position of the function.
pub fn reflect(module: &Valid<Module>) -> Vec<Option<Reflection>> {
    let summaries = summarise(module, Access::Write);
    let reflected = module.functions.iter().map(|(id, function)| {
        (function.kind == FunctionKind::Kernel).then(|| {
            let params = function.params.iter().zip(&summaries[id.index()].accessed);
            let parameters = params.map(|(param, &written)| Parameter {
                name: param.name.clone(),
                ty: param.ty,
                type_name: module.types.spelled(param.ty),
                written,
            });
            Reflection {
                name: function.name.clone(),
                parameters: parameters.collect(),
                dims: module.facts(id).launch_dims,
                disjoint: function.disjoint.clone(),
            }
        })
    });
    reflected.collect()
}

/// Returns true, for each parameter of a function, if memory of its arrays may be read. Gradients
/// don't count. In doubt memory counts as read.
pub fn read_parameters(module: &Valid<Module>, function: FunctionId) -> Vec<bool> {
    summarise(module, Access::Read).swap_remove(function.index()).accessed
}

fn summarise(module: &Valid<Module>, access: Access) -> Vec<HandleSummary> {
    let mut summaries = vec![HandleSummary::default(); module.functions.len()];
    for &id in module.call_order() {
        let function = &module.functions[id];
        summaries[id.index()] = HandleFlow::summarise(module, function, access, &summaries);
    }
    summaries
}

/// Accesses to the memory behind handles that a walk looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Reads of arrays.
    Read,
    /// Writes of arrays, and of their gradients.
    Write,
}

/// Uses that a function makes of the handles in its parameters.
#[derive(Clone, Default, Debug)]
struct HandleSummary {
    /// True, for each parameter, if memory of its handles may be accessed.
    accessed: Vec<bool>,
    /// For each parameter, and then for the result, the first parameter whose handles the value
    /// may hold.
    class: Vec<usize>,
}

/// Flow of handles through values and variables. Handles that flow into each other, in either
/// direction, form one class; this is slightly coarse, but takes only one walk. The nodes are
/// parameters, the result, locals and values.
struct HandleFlow<'a> {
    body: &'a Body,
    function: &'a Function,
    module: &'a Module,
    access: Access,
    parents: Vec<usize>,
    accessed: Vec<usize>,
}

impl HandleFlow<'_> {
    fn summarise(
        module: &Module,
        function: &Function,
        access: Access,
        summaries: &[HandleSummary],
    ) -> HandleSummary {
        let body = &function.body;
        let nodes = function.params.len() + 1 + body.locals.len() + body.values.len();
        let parents = (0..nodes).collect();
        let mut flow = HandleFlow { body, function, module, access, parents, accessed: Vec::new() };
        walk_stmts(body, body.root, |stmt| flow.stmt(&stmt.kind, summaries));
        let count = function.params.len() + 1;
        let roots: Vec<usize> = (0..count).map(|node| flow.class_of(node)).collect();
        let accessed: Vec<usize> = std::mem::take(&mut flow.accessed);
        let accessed: Vec<usize> = accessed.into_iter().map(|node| flow.class_of(node)).collect();
        let params = function.params.iter().zip(&roots);
        HandleSummary {
            accessed: params
                .map(|(param, root)| module.types.holds_array(param.ty) && accessed.contains(root))
                .collect(),
            class: roots
                .iter()
                .map(|root| roots.iter().position(|other| other == root).unwrap_or_default())
                .collect(),
        }
    }

    fn class_of(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.class_of(one), self.class_of(other));
        self.parents[one] = other;
    }

    fn result(&self) -> usize {
        self.function.params.len()
    }

    fn value(&self, value: Value) -> usize {
        self.result() + 1 + self.body.locals.len() + value.index()
    }

    fn place(&self, place: PlaceId) -> usize {
        match self.body.places[place].root {
            Root::Param(position) => position as usize,
            Root::Local(local) => self.result() + 1 + local.index(),
            Root::Array(value) => self.value(value),
            // Tables hold no handles, so their node has no meaning.
            Root::Table(_) => self.result() + 1 + self.body.locals.len(),
        }
    }

    /// Notes an access to memory behind a handle, if the walk looks for accesses of this kind.
    fn note(&mut self, access: Access, place: PlaceId) {
        let behind = |step: &Projection| matches!(step, Projection::Element(_));
        let node = self.place(place);
        if access == self.access && self.body.path(place).iter().any(behind) {
            self.accessed.push(node);
        }
    }

    fn stmt(&mut self, stmt: &StmtKind, summaries: &[HandleSummary]) {
        let holds = |flow: &Self, ty: Type| flow.module.types.holds_array(ty);
        match *stmt {
            StmtKind::Let(value) => match self.body.values[value].op {
                Op::Call { function, args } => self.call(value, function, args, summaries),
                _ => self.operation(value),
            },
            StmtKind::Store { place, value } => {
                self.note(Access::Write, place);
                if holds(self, self.body.type_of(value)) {
                    self.join(self.place(place), self.value(value));
                }
            }
            StmtKind::Return(Some(value)) if holds(self, self.body.type_of(value)) => {
                self.join(self.result(), self.value(value));
            }
            _ => {}
        }
    }

    fn operation(&mut self, value: Value) {
        let body = self.body;
        let data = &body.values[value];
        match data.op {
            Op::Atomic { place, .. } => {
                self.note(Access::Write, place);
                self.note(Access::Read, place);
            }
            Op::Load(place) => self.note(Access::Read, place),
            // Every reverse reads the memory of gradients, so these reads don't count.
            Op::Gradient(_) if self.access == Access::Read => return,
            _ => {}
        }
        if !self.module.types.holds_array(data.ty) {
            return;
        }
        let mut sources = Vec::new();
        stmt_uses(
            body,
            &StmtKind::Let(value),
            |_| false,
            |used| match used {
                Use::Value(operand) if self.module.types.holds_array(body.type_of(operand)) => {
                    sources.push(self.value(operand));
                }
                Use::Value(_) => {}
                Use::Read(place) | Use::Expose(place) | Use::Change(place) | Use::Write(place) => {
                    sources.push(self.place(place));
                }
            },
        );
        sources.into_iter().for_each(|source| self.join(self.value(value), source));
    }

    fn call(&mut self, value: Value, id: FunctionId, args: List<Arg>, summaries: &[HandleSummary]) {
        let (callee, summary) = (&self.module.functions[id], &summaries[id.index()]);
        let args = &self.body.arg_lists[args];
        let mut nodes: Vec<usize> = args
            .iter()
            .map(|arg| match *arg {
                Arg::Value(value) => self.value(value),
                Arg::Place(place) => self.place(place),
            })
            .collect();
        nodes.push(self.value(value));
        for (position, (arg, param)) in args.iter().zip(&callee.params).enumerate() {
            if let Arg::Place(place) = *arg {
                self.note(Access::Read, place);
                if param.mode == PassMode::Mutable {
                    self.note(Access::Write, place);
                }
            }
            if summary.accessed[position] {
                self.accessed.push(nodes[position]);
            }
        }
        for (position, &class) in summary.class.iter().enumerate() {
            self.join(nodes[position], nodes[class]);
        }
    }
}
