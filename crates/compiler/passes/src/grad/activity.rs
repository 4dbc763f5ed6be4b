//! Finds values and variables that carry derivatives: those that vary with an input *and* matter
//! for an output. The order of statements plays no part: a variable carries a derivative everywhere
//! or nowhere.

use super::scan::{Definitions, Scan};
use gbxcule_ir::builtin::Native;
use gbxcule_ir::builtin::{Derivative, NativeRow};
use gbxcule_ir::function::{Function, FunctionKind, LocalId, PassMode};
use gbxcule_ir::op::{Arg, BinaryOp, Op, Value};
use gbxcule_ir::place::{PlaceId, Root};
use gbxcule_ir::stmt::StmtKind;
use gbxcule_ir::walk::{Use, op_uses};

/// The values and variables that carry derivatives.
#[derive(Debug)]
pub(super) struct Activity {
    values: Vec<bool>,
    locals: Vec<bool>,
    bits: Vec<Value>,
}

impl Activity {
    /// Returns the floats that matter and are made of bits, if the body also reads the bits of
    /// floats that vary: the analysis doesn't follow a derivative through bits.
    pub(super) fn floats_from_bits(&self) -> &[Value] {
        &self.bits
    }

    pub(super) fn value(&self, value: Value) -> bool {
        self.values[value.index()]
    }

    pub(super) fn local(&self, local: LocalId) -> bool {
        self.locals[local.index()]
    }

    pub(super) fn new(module: Definitions<'_>, function: &Function, scan: &Scan<'_>) -> Self {
        let count = (scan.body.values.len(), scan.body.locals.len());
        let empty = || ActiveParts { values: vec![false; count.0], locals: vec![false; count.1] };
        let finder = ActivityAnalysis { module, function, scan };
        let varied = finder.fixpoint(empty(), false, ActivityAnalysis::vary);
        let useful = finder.fixpoint(empty(), true, ActivityAnalysis::matter);
        let casts = |marks: &ActiveParts, operand: bool| -> Vec<Value> {
            let bitcasts = scan.body.values.iter().filter_map(|(value, data)| match data.op {
                Op::Bitcast(of) => Some((value, if operand { of } else { value })),
                _ => None,
            });
            let float = |value| module.types.has_float(scan.body.type_of(value));
            let bitcasts = bitcasts.filter(|&(_, seen)| float(seen) && marks.values[seen.index()]);
            bitcasts.map(|(value, _)| value).collect()
        };
        let taken = casts(&varied, true);
        let bits = if taken.is_empty() { taken } else { casts(&useful, false) };
        let both = |(left, right): (&bool, &bool)| *left && *right;
        Self {
            values: varied.values.iter().zip(&useful.values).map(both).collect(),
            locals: varied.locals.iter().zip(&useful.locals).map(both).collect(),
            bits,
        }
    }
}

/// Returns true if a native operation has a derivative that isn't zero.
pub(super) fn is_smooth(native: Native) -> bool {
    let NativeRow { derivative, result, .. } = native.row();
    !matches!(derivative, Derivative::Zero) && result.is_none()
}

struct ActiveParts {
    values: Vec<bool>,
    locals: Vec<bool>,
}

struct ActivityAnalysis<'a> {
    module: Definitions<'a>,
    function: &'a Function,
    scan: &'a Scan<'a>,
}

impl ActivityAnalysis<'_> {
    fn fixpoint(
        &self,
        mut marks: ActiveParts,
        backwards: bool,
        step: fn(&Self, &mut ActiveParts, &StmtKind),
    ) -> ActiveParts {
        let count = |marks: &ActiveParts| {
            marks.values.iter().chain(&marks.locals).filter(|&&marked| marked).count()
        };
        loop {
            let before = count(&marks);
            if backwards {
                self.scan.stmts.iter().rev().for_each(|at| step(self, &mut marks, &at.stmt.kind));
            } else {
                self.scan.stmts.iter().for_each(|at| step(self, &mut marks, &at.stmt.kind));
            }
            if count(&marks) == before {
                return marks;
            }
        }
    }

    fn vary(&self, marks: &mut ActiveParts, stmt: &StmtKind) {
        let body = self.scan.body;
        match *stmt {
            StmtKind::Let(value) => {
                let data = body.values[value];
                let varies = match data.op {
                    Op::Load(place) => self.place_varies(marks, place),
                    Op::Atomic { .. } => true,
                    Op::Bitcast(_) | Op::Binary(BinaryOp::FloorDivide, ..) => false,
                    Op::Native { native, .. } if !is_smooth(native) => false,
                    Op::Call { function, args } => self.call_varies(marks, function, args),
                    op => {
                        let mut varies = false;
                        let mut visit = |used| {
                            if let Use::Value(value) = used {
                                varies |= marks.values[value.index()];
                            }
                        };
                        op_uses(body, &op, |_| false, &mut visit);
                        varies
                    }
                };
                if varies && self.module.types.has_float(data.ty) {
                    marks.values[value.index()] = true;
                }
            }
            StmtKind::Store { place, value } => {
                if let (Some(local), true) =
                    (self.scan.local_of(place), marks.values[value.index()])
                {
                    marks.locals[local.index()] = true;
                }
            }
            _ => {}
        }
    }

    fn place_varies(&self, marks: &ActiveParts, place: PlaceId) -> bool {
        if self.scan.is_memory(place) {
            return true;
        }
        match self.scan.body.places[place].root {
            Root::Local(local) => marks.locals[local.index()],
            Root::Param(_) => self.function.kind == FunctionKind::Callable,
            Root::Table(_) | Root::Array(_) => false,
        }
    }

    fn call_varies(
        &self,
        marks: &mut ActiveParts,
        callee: gbxcule_ir::function::FunctionId,
        args: gbxcule_ir::arena::List<Arg>,
    ) -> bool {
        let args = &self.scan.body.arg_lists[args];
        let varies = args.iter().any(|arg| match *arg {
            Arg::Value(value) => marks.values[value.index()],
            Arg::Place(place) => self.place_varies(marks, place),
        });
        for (arg, param) in args.iter().zip(&self.module.functions[callee].params) {
            if let (true, PassMode::Mutable, Arg::Place(place)) = (varies, param.mode, *arg)
                && let Some(local) = self.scan.local_of(place)
                && self.module.types.has_float(param.ty)
            {
                marks.locals[local.index()] = true;
            }
        }
        varies
    }

    fn matter(&self, marks: &mut ActiveParts, stmt: &StmtKind) {
        let body = self.scan.body;
        match *stmt {
            StmtKind::Return(Some(value)) => marks.values[value.index()] = true,
            StmtKind::Store { place, value } => {
                let matters = match self.scan.local_of(place) {
                    Some(local) => marks.locals[local.index()],
                    None => true,
                };
                marks.values[value.index()] |= matters;
            }
            StmtKind::Let(value) => {
                let matters = marks.values[value.index()];
                match body.values[value].op {
                    Op::Load(place) => {
                        if let (true, Some(local)) = (matters, self.scan.local_of(place)) {
                            marks.locals[local.index()] = true;
                        }
                    }
                    Op::Atomic { value, .. } => marks.values[value.index()] = true,
                    Op::Bitcast(_) | Op::Binary(BinaryOp::FloorDivide, ..) => {}
                    Op::Native { native, .. } if !is_smooth(native) => {}
                    Op::Call { function, args } => {
                        let args = &body.arg_lists[args];
                        let params = &self.module.functions[function].params;
                        let changed = args.iter().zip(params).any(|(arg, param)| match *arg {
                            Arg::Place(place) if param.mode == PassMode::Mutable => self
                                .scan
                                .local_of(place)
                                .is_none_or(|local| marks.locals[local.index()]),
                            _ => false,
                        });
                        if matters || changed {
                            for arg in args {
                                match *arg {
                                    Arg::Value(value) => marks.values[value.index()] = true,
                                    Arg::Place(place) => {
                                        if let Some(local) = self.scan.local_of(place) {
                                            marks.locals[local.index()] = true;
                                        }
                                    }
                                }
                            }
                        }
                    }
                    op if matters => {
                        let mut visit = |used| {
                            if let Use::Value(value) = used {
                                marks.values[value.index()] = true;
                            }
                        };
                        op_uses(body, &op, |_| false, &mut visit);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}
