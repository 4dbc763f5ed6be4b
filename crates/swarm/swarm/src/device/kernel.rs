//! Kernels of the swarm on devices: a kernel loads a machine from the state arrays, calls functions
//! of `kernel_source` one after the other, and stores the machine. All other arguments are bound by
//! their names, here and at the launch.

use gbxcule_ir::{
    Arg, Builder, CompareOp, FunctionId, Module, Param, PlaceId, Scalar, Type, Value,
};
use gbxcule_runtime::{Argument, Error, Kernel};

use super::column::Columns;
use super::machine_ir;
use super::state_arrays::{self, StateArrays};
use super::step::RESTS;
use crate::program::MAX_WRITES;

/// The assignment of a kernel's threads to envs.
#[derive(Clone, Copy)]
pub(super) enum EnvSelection<'w> {
    /// Thread `i` works on env `i`. If the env rests, the thread runs only `resting`.
    Each { resting: &'w [KernelPart] },
    /// Thread `i` works on env `i` if `mask` marks it.
    Marked,
    /// Threads work on neighbouring envs, from `first` on.
    From,
    /// Thread `i` works on the env that `envs[i]` names.
    Listed,
}

/// A function of the text that a kernel calls, and whether it changes the machine.
#[derive(Clone, Copy)]
pub(super) struct KernelPart {
    pub(super) function: FunctionId,
    pub(super) changes: bool,
}

/// Makes a kernel whose threads call the functions of `work` one after the other.
pub(super) fn kernel(
    module: &mut Module,
    columns: &Columns,
    name: &str,
    envs: EnvSelection<'_>,
    work: &[KernelPart],
) -> FunctionId {
    let mut params = state_arrays::parameters(module, "");
    let [bytes, numbers] = [Type::U8, Type::I32].map(|of| module.types.array(of, 1));
    params.push(Param::value("rom", bytes));
    match envs {
        EnvSelection::Each { .. } => {}
        EnvSelection::From => params.push(Param::value("first", Type::I32)),
        EnvSelection::Marked => params.push(Param::value("mask", bytes)),
        EnvSelection::Listed => params.push(Param::value("envs", numbers)),
    }
    let resting = match envs {
        EnvSelection::Each { resting } => resting,
        _ => &[],
    };
    for work in work.iter().chain(resting) {
        for param in &module.functions[work.function].params {
            let is_brought =
                ["machine", "step_numbers", "writes", "env", "row", "lane"].contains(&&*param.name);
            if !is_brought && params.iter().all(|own| own.name != param.name) {
                params.push(Param::value(param.name.clone(), param.ty));
            }
        }
    }
    let kernel = machine_ir::kernel(module, name, params);
    let mut b = Builder::new(module, kernel);
    let row = b.launch_index(0);
    let mut thread =
        Thread { columns, row, env: row, machine: None, step_numbers: None, writes: None };
    match envs {
        EnvSelection::Each { resting } => {
            let steps = steps(&mut b, row);
            let mut rests = thread;
            b.if_else(steps, |b| thread.run(b, work), |b| rests.run(b, resting));
        }
        EnvSelection::From => {
            let first = param_value(&mut b, "first");
            thread.env = b.add(first, row);
            thread.run(&mut b, work);
        }
        EnvSelection::Listed => {
            thread.env = element(&mut b, "envs", row);
            thread.run(&mut b, work);
        }
        EnvSelection::Marked => {
            let (mark, zero) = (element(&mut b, "mask", row), b.zero(Type::U8));
            let is_marked = b.compare(CompareOp::NotEqual, mark, zero);
            b.if_then(is_marked, |b| thread.run(b, work));
        }
    }
    b.finish();
    kernel
}

/// Evaluates to true if an env does not rest in this step.
pub(super) fn steps(b: &mut Builder<'_>, env: Value) -> Value {
    let held = element(b, "manual_buttons", env);
    let (held, rests) = (b.convert(held, Scalar::I32), b.i32(i32::from(RESTS)));
    b.compare(CompareOp::NotEqual, held, rests)
}

/// Builder of the code of a thread.
#[derive(Clone, Copy)]
struct Thread<'c> {
    columns: &'c Columns,
    row: Value,
    env: Value,
    machine: Option<PlaceId>,
    step_numbers: Option<PlaceId>,
    writes: Option<PlaceId>,
}

impl Thread<'_> {
    fn run(&mut self, b: &mut Builder<'_>, work: &[KernelPart]) {
        for &KernelPart { function, changes } in work {
            let params = b.module.functions[function].params.clone();
            let args: Vec<Arg> = params.iter().map(|param| self.argument(b, param)).collect();
            b.call(function, &args);
            if let Some(machine) = self.machine.filter(|_| changes) {
                state_arrays::store(b, self.columns, self.env, machine);
            }
        }
    }

    fn argument(&mut self, b: &mut Builder<'_>, param: &Param) -> Arg {
        match param.name.as_str() {
            "machine" => Arg::Place(self.machine(b, param.ty)),
            "step_numbers" => {
                let step_numbers =
                    *self.step_numbers.get_or_insert_with(|| local(b, "step_numbers", param.ty));
                Arg::Place(step_numbers)
            }
            "writes" => {
                let writes = self.writes(b);
                Arg::Value(b.as_array(writes, 1))
            }
            "row" => Arg::Value(self.row),
            "lane" => Arg::Value(b.launch_index(1)),
            "env" => Arg::Value(self.env),
            name => Arg::Value(param_value(b, name)),
        }
    }

    fn machine(&mut self, b: &mut Builder<'_>, ty: Type) -> PlaceId {
        *self.machine.get_or_insert_with(|| {
            let machine = local(b, "machine", ty);
            state_arrays::load(b, self.columns, self.env, machine);
            let rom = param_value(b, "rom");
            state_arrays::attach(b, machine, "rom", rom);
            machine
        })
    }

    /// Returns the buffer of the writes that programs ask for; it begins empty.
    fn writes(&mut self, b: &mut Builder<'_>) -> PlaceId {
        *self.writes.get_or_insert_with(|| {
            let ty = b.module.types.fixed(Type::U32, 1 + MAX_WRITES);
            let writes = local(b, "writes", ty);
            let (first, none) = (b.i32(0), b.zero(Type::U32));
            let count = b.at(writes, first);
            b.store(count, none);
            writes
        })
    }
}

pub(super) fn local(b: &mut Builder<'_>, name: &str, ty: Type) -> PlaceId {
    let local = b.local(name, ty);
    b.local_place(local)
}

/// The value of a kernel's parameter.
pub(super) fn param_value(b: &mut Builder<'_>, name: &str) -> Value {
    let position = b.function().params.iter().position(|param| param.name == name);
    let position = position.unwrap_or_else(|| unreachable!("the kernel has a `{name}`"));
    b.arg(position as u32)
}

/// An element of an array among a kernel's parameters.
fn element(b: &mut Builder<'_>, name: &str, index: Value) -> Value {
    let array = param_value(b, name);
    let array = b.array_place(array);
    let place = b.element(array, &[index]);
    b.load(place)
}

/// The arguments of a launch by the names of the kernel's parameters.
#[derive(Default)]
pub(super) struct Arguments(Vec<(String, Argument)>);

impl Arguments {
    /// The arrays of a state.
    pub(super) fn new(parts: &StateArrays) -> Self {
        Self::from_parts("", parts)
    }

    /// The arrays of a state, with a prefix before their names.
    pub(super) fn from_parts(prefix: &str, parts: &StateArrays) -> Self {
        Self(Vec::new()).with_parts(prefix, parts)
    }

    /// The arrays of one more state.
    pub(super) fn with_parts(mut self, prefix: &str, parts: &StateArrays) -> Self {
        let names = state_arrays::names().map(|name| format!("{prefix}{name}"));
        self.0.extend(names.into_iter().zip(parts.arrays.iter().map(Argument::from)));
        self
    }

    /// One more argument.
    pub(super) fn with(mut self, name: &str, argument: impl Into<Argument>) -> Self {
        self.0.push((name.to_owned(), argument.into()));
        self
    }

    /// Launches a kernel.
    pub(super) fn launch(mut self, kernel: &Kernel, grid: &[usize]) -> Result<(), Error> {
        let parameters = kernel.reflection().parameters.iter();
        let arguments: Vec<Argument> = parameters
            .map(|parameter| {
                let position = self.0.iter().position(|(name, _)| *name == parameter.name);
                let position = position.unwrap_or_else(|| {
                    unreachable!("nobody gives `{}` to a launch", parameter.name)
                });
                self.0.swap_remove(position).1
            })
            .collect();
        debug_assert!(self.0.is_empty(), "a launch takes no `{}`", self.0[0].0);
        kernel.launch(grid, &arguments)
    }
}
