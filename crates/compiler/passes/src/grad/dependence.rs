//! Computes which parameters each result of a function depends on, from its finished body.
//!
//! [`super::need`] asks this of reverses: where a call is reversed, an argument whose adjoints
//! nobody wants need not be computed to its end, and the reverse gets zero in its place. A
//! parameter may decide which statements run, which part of a variable is read, or what an
//! integer is divided by. Everything counts as depending on such a parameter, because with
//! another number the reverse might fault or never end.

use gbxcule_ir::function::{Body, FunctionId, LocalId, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, BinaryOp, Op, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::stmt::StmtKind;
use gbxcule_ir::ty::Shape;
use gbxcule_ir::walk::{Use, op_uses, place_values, stmt_uses, walk_stmts};
use rustc_hash::FxHashMap;

/// Dependences of the functions that are finished.
pub(super) type Dependences = FxHashMap<FunctionId, Dependence>;

/// Set of parameters by their positions. All positions from 63 on share one bit.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct ParamSet(u64);

impl ParamSet {
    const ALL: Self = Self(u64::MAX);

    fn only(position: usize) -> Self {
        Self(1 << position.min(63))
    }

    fn contains(self, position: usize) -> bool {
        self.0 & Self::only(position).0 != 0
    }

    fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Parameters on which the results and the end of a function depend.
#[derive(Clone, Debug)]
pub(super) struct Dependence {
    /// Parameters on which everything depends.
    control: ParamSet,
    /// Parameters on which each result depends.
    results: Vec<ParamSet>,
}

impl Dependence {
    /// Returns true if a result depends on a parameter, or if the parameter decides whether the
    /// function gets to its end.
    pub(super) fn of_result(&self, result: usize, param: usize) -> bool {
        let of = self.results.get(result).copied().unwrap_or(ParamSet::ALL);
        self.control.contains(param) || of.contains(param)
    }

    /// Returns true if everything depends on a parameter.
    pub(super) fn of_all(&self, param: usize) -> bool {
        self.control.contains(param)
    }

    /// Computes the dependence of a function from those of its callees. If a callee's dependence is
    /// missing and the callee calls functions itself, everything depends on its arguments.
    pub(super) fn of(module: &Module, finished: &Dependences, function: FunctionId) -> Self {
        let source = &module.functions[function];
        let results = match &module.types[source.result] {
            Shape::Tuple(of) => of.len(),
            _ => 1,
        };
        let mut flow = Flow {
            module,
            finished,
            body: &source.body,
            values: vec![ParamSet::default(); source.body.values.len()],
            locals: vec![ParamSet::default(); source.body.locals.len()],
            params: (0..source.params.len()).map(ParamSet::only).collect(),
            result: Self {
                control: ParamSet::default(),
                results: vec![ParamSet::default(); results],
            },
        };
        // Loops read variables before they write them: the walk is repeated until it finds nothing
        // new.
        loop {
            let before = (flow.locals.clone(), flow.params.clone(), flow.result.control);
            walk_stmts(flow.body, flow.body.root, |stmt| flow.stmt(&stmt.kind));
            if before == (flow.locals.clone(), flow.params.clone(), flow.result.control) {
                return flow.result;
            }
        }
    }
}

/// Walk over a body with the parameters on which values and variables depend so far.
struct Flow<'a> {
    module: &'a Module,
    finished: &'a Dependences,
    body: &'a Body,
    values: Vec<ParamSet>,
    locals: Vec<ParamSet>,
    /// Dependences of the contents of parameters that are passed by reference.
    params: Vec<ParamSet>,
    result: Dependence,
}

impl Flow<'_> {
    fn value(&self, value: Value) -> ParamSet {
        self.values[value.index()]
    }

    fn stmt(&mut self, stmt: &StmtKind) {
        match *stmt {
            StmtKind::Let(value) => {
                let on = self.operation(value);
                self.values[value.index()].add(on);
            }
            StmtKind::Store { place, value } => {
                self.indices(place);
                self.write(place, self.value(value));
            }
            StmtKind::Return(Some(value)) => {
                for result in 0..self.result.results.len() {
                    let on = self.part(value, result);
                    self.result.results[result].add(on);
                }
            }
            _ => {
                let mut control = self.result.control;
                stmt_uses(
                    self.body,
                    stmt,
                    |_| true,
                    |used| {
                        if let Use::Value(value) = used {
                            control.add(self.values[value.index()]);
                        }
                    },
                );
                self.result.control = control;
            }
        }
    }

    /// Makes everything depend on the values on a place's path.
    fn indices(&mut self, place: PlaceId) {
        let mut control = self.result.control;
        place_values(self.body, place, |value| control.add(self.values[value.index()]));
        self.result.control = control;
    }

    fn read(&mut self, place: PlaceId) -> ParamSet {
        self.indices(place);
        if self.is_memory(place) {
            return ParamSet::ALL;
        }
        match self.body.places[place].root {
            Root::Local(local) => self.local(local),
            Root::Param(position) => self.params[position as usize],
            Root::Table(_) | Root::Array(_) => ParamSet::default(),
        }
    }

    fn local(&self, local: LocalId) -> ParamSet {
        self.locals[local.index()]
    }

    fn write(&mut self, place: PlaceId, on: ParamSet) {
        match self.body.places[place].root {
            Root::Local(local) if !self.is_memory(place) => self.locals[local.index()].add(on),
            Root::Param(position) if !self.is_memory(place) => {
                self.params[position as usize].add(on);
            }
            _ => self.result.control.add(on),
        }
    }

    fn is_memory(&self, place: PlaceId) -> bool {
        let mut path = self.body.path(place).iter();
        path.any(|step| matches!(step, Projection::Element(_)))
    }

    /// Returns the parameters on which one part of a value that has several results depends.
    fn part(&self, value: Value, result: usize) -> ParamSet {
        match self.body.values[value].op {
            Op::Construct(parts) if self.is_tuple(value) => {
                self.value(self.body.value_lists[parts][result])
            }
            Op::Call { function, .. } if self.is_tuple(value) => match self.callee(function) {
                Some(callee) if !self.writes(function) => {
                    self.passed(value, callee.results[result])
                }
                _ => self.value(value),
            },
            _ => self.value(value),
        }
    }

    fn is_tuple(&self, value: Value) -> bool {
        matches!(self.module.types[self.body.type_of(value)], Shape::Tuple(_))
    }

    /// Returns the parameters on which the value of an operation depends.
    fn operation(&mut self, value: Value) -> ParamSet {
        let op = self.body.values[value].op;
        match op {
            Op::Load(place) => return self.read(place),
            Op::Extract { from, index } if self.is_tuple(from) => {
                return self.part(from, index as usize);
            }
            Op::Call { function, .. } => return self.call(value, function),
            _ => {}
        }
        let (mut on, mut places) = (ParamSet::default(), Vec::new());
        op_uses(
            self.body,
            &op,
            |_| true,
            |used| match used {
                Use::Value(value) => on.add(self.values[value.index()]),
                Use::Read(place) | Use::Write(place) | Use::Change(place) | Use::Expose(place) => {
                    places.push(place);
                }
            },
        );
        for place in places {
            on.add(self.read(place));
        }
        if !self.only_computes(value) {
            self.result.control.add(on);
        }
        on
    }

    /// Returns true if an operation gives a value for all operands and has no other effect.
    fn only_computes(&self, value: Value) -> bool {
        match self.body.values[value].op {
            Op::Binary(BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Remainder, ..) => {
                self.module.types.has_float(self.body.type_of(value))
            }
            Op::View { .. }
            | Op::AsArray(_)
            | Op::Gradient(_)
            | Op::Present(_)
            | Op::Extent { .. }
            | Op::Atomic { .. }
            | Op::Lowest(_)
            | Op::Opaque(_) => false,
            _ => true,
        }
    }

    fn call(&mut self, value: Value, function: FunctionId) -> ParamSet {
        let args: Vec<Arg> = match self.body.values[value].op {
            Op::Call { args, .. } => self.body.arg_lists[args].to_vec(),
            _ => Vec::new(),
        };
        for &arg in &args {
            if let Arg::Place(place) = arg {
                self.indices(place);
            }
        }
        let all = self.passed(value, ParamSet::ALL);
        let Some(callee) = self.callee(function) else {
            self.result.control.add(all);
            return all;
        };
        let control = self.passed(value, callee.control);
        self.result.control.add(control);
        for (&arg, param) in args.iter().zip(&self.module.functions[function].params) {
            if let (Arg::Place(place), PassMode::Mutable) = (arg, param.mode) {
                self.write(place, all);
            }
        }
        if self.writes(function) {
            return all;
        }
        let mut on = ParamSet::default();
        callee.results.iter().for_each(|&result| on.add(self.passed(value, result)));
        on
    }

    /// Returns true if a function writes to a parameter that is passed by reference.
    fn writes(&self, function: FunctionId) -> bool {
        let mut params = self.module.functions[function].params.iter();
        params.any(|param| param.mode == PassMode::Mutable)
    }

    /// Returns the parameters on which the arguments of a call in some positions depend.
    fn passed(&self, value: Value, positions: ParamSet) -> ParamSet {
        let mut on = ParamSet::default();
        let Op::Call { args, .. } = self.body.values[value].op else { return on };
        for (position, arg) in self.body.arg_lists[args].iter().enumerate() {
            if !positions.contains(position) {
                continue;
            }
            on.add(match *arg {
                Arg::Value(value) => self.value(value),
                Arg::Place(place) => match self.body.places[place].root {
                    _ if self.is_memory(place) => ParamSet::ALL,
                    Root::Local(local) => self.local(local),
                    Root::Param(position) => self.params[position as usize],
                    Root::Table(_) | Root::Array(_) => ParamSet::default(),
                },
            });
        }
        on
    }

    fn callee(&self, function: FunctionId) -> Option<Dependence> {
        if let Some(finished) = self.finished.get(&function) {
            return Some(finished.clone());
        }
        let body = &self.module.functions[function].body;
        let calls = body.values.iter().any(|(_, data)| matches!(data.op, Op::Call { .. }));
        (!calls).then(|| Self::leaf(self.module, function))
    }

    fn leaf(module: &Module, function: FunctionId) -> Dependence {
        Dependence::of(module, &Dependences::default(), function)
    }
}
