//! Kernels that take the place of the step kernel in swarms with cables between neighbours. In the
//! first kernel a thread runs the frames of both machines of a pair; in the second a thread runs
//! the programs of one env.

use gbxcule_ir::check::Valid;
use gbxcule_ir::{
    Arg, Builder, FunctionId, Module, Param, PlaceId, Residency, Scalar, Type, Value,
};

use super::column::Columns;
use super::kernel::{self, EnvSelection, KernelPart, local, param_value};
use super::machine_ir::{
    self, arrange_pairs, arrange_view, field, finished, function, machine_type, pair_module,
    trusted,
};
use super::state_arrays;
use super::step;
use crate::kernel_source::{self, MachineAccess};
use crate::program::view_module_of;
use crate::{MachineSources, Programs, Stage};

/// The name of the kernel that runs frames.
pub(crate) const KERNEL: &str = "pair";

/// Blocks of one warp, as for the step kernel.
const RESIDENCY: Residency = Residency::Blocks { threads: 32, together: None };

/// Functions of the text that work on one machine of a pair.
const OF_MEMBER: [&str; 2] = ["pair_buttons", "pair_release"];

/// Makes the kernel that runs the frames of a step, for pairs of a machine.
pub fn pair_kernel(machine: impl Into<MachineSources>) -> Valid<Module> {
    let mut fused = Programs::default().fuse(pair_module(machine.into()));
    let programs = fused.functions();
    let calls = Programs::default().calls(&fused, Stage::EmulateOnly);
    let mut module = std::mem::take(&mut fused.module);
    module.name = KERNEL.into();
    let of_member = kernel_source::lower(&mut module, &OF_MEMBER, MachineAccess::Change, &calls);
    let mut module = arrange_pairs(module, &programs);
    let columns = Columns::new(&module.types, machine_type(&module));
    let kernel = declare(&mut module, &of_member);
    let run = function(&module, "run_pair_frames");
    Thread { columns: &columns, of_member: &of_member }.write(&mut module, kernel, run);
    module.functions[kernel].residency = RESIDENCY;
    module.functions[kernel].diverges = true;
    finished(module)
}

fn declare(module: &mut Module, of_member: &[FunctionId]) -> FunctionId {
    let mut params = state_arrays::parameters(module, "");
    let bytes = module.types.array(Type::U8, 1);
    params.push(Param::value("rom", bytes));
    for &function in of_member {
        for param in &module.functions[function].params {
            if param.name != "env" && params.iter().all(|own| own.name != param.name) {
                params.push(Param::value(param.name.clone(), param.ty));
            }
        }
    }
    for name in ["frames", "draw_from", "draw_until"] {
        params.push(Param::value(name, Type::U32));
    }
    machine_ir::kernel(module, KERNEL, params)
}

/// Builder of the code of a thread.
struct Thread<'a> {
    columns: &'a Columns,
    of_member: &'a [FunctionId],
}

impl Thread<'_> {
    fn write(&self, module: &mut Module, kernel: FunctionId, run: FunctionId) {
        let params: Vec<Type> = module.functions[run].params.iter().map(|it| it.ty).collect();
        let [machine, _, step] = params[..] else {
            unreachable!("two machines, which bring their memory, and a step")
        };
        let mut builder = Builder::new(module, kernel);
        let b = &mut builder;
        let row = b.launch_index(0);
        let first = b.add(row, row);
        let second = b.i32(1);
        let envs = [first, b.add(first, second)];
        // Both machines of a pair rest, or neither does.
        let steps = kernel::steps(b, first);
        b.if_then(steps, |b| self.run(b, envs, run, (machine, step)));
        builder.finish();
    }

    /// Runs the frames of a pair by a function that takes machines and a step of these types.
    fn run(
        &self,
        b: &mut Builder<'_>,
        envs: [Value; 2],
        run: FunctionId,
        (machine, step): (Type, Type),
    ) {
        let machines = envs.map(|env| {
            let place = local(b, "machine", machine);
            state_arrays::load(b, self.columns, env, place);
            let rom = param_value(b, "rom");
            state_arrays::attach(b, place, "rom", rom);
            place
        });
        let step = local(b, "step", step);
        for name in ["frames", "draw_from", "draw_until"] {
            let value = param_value(b, name);
            self.put(b, step, name, value);
        }
        let members = [0, 1].map(|position| {
            let members = self.part(b, step, "members");
            let position = b.i32(position);
            b.at(members, position)
        });
        let before = envs.map(|env| {
            let [frames, tcycles] = counters(b, env).map(|counter| b.load(counter));
            let ahead = function(b.module, "pair_ahead");
            let ahead = b.call(ahead, &[frames, tcycles].map(Arg::Value));
            b.convert(ahead, Scalar::I32)
        });
        for ((member, env), ahead) in members.into_iter().zip(envs).zip(before) {
            let buttons = self.call(b, 0, env);
            let release = self.call(b, 1, env);
            self.put(b, member, "buttons", buttons);
            self.put(b, member, "release_after", release);
            self.put(b, member, "ahead", ahead);
        }
        b.call(run, &[machines[0], machines[1], step].map(Arg::Place));
        for index in 0..2 {
            state_arrays::store(b, self.columns, envs[index], machines[index]);
            let ahead = self.part(b, members[index], "ahead");
            let after = b.load(ahead);
            let [all_frames, tcycles] = counters(b, envs[index]);
            let frames = param_value(b, "frames");
            let (passed, counted) = (b.load(tcycles), b.load(all_frames));
            let count = function(b.module, "pair_tcycles");
            let arguments = [passed, frames, before[index], after].map(Arg::Value);
            let passed = b.call(count, &arguments);
            b.store(tcycles, passed);
            let frames = b.convert(frames, Scalar::U64);
            let counted = b.add(counted, frames);
            b.store(all_frames, counted);
        }
    }

    /// Calls a function of the text for an env.
    fn call(&self, b: &mut Builder<'_>, at: usize, env: Value) -> Value {
        let function = self.of_member[at];
        let params = b.module.functions[function].params.clone();
        let values = params.iter().map(|param| match &*param.name {
            "env" => env,
            name => param_value(b, name),
        });
        let args: Vec<Arg> = values.map(Arg::Value).collect();
        b.call(function, &args)
    }

    /// The place of a field.
    fn part(&self, b: &mut Builder<'_>, place: PlaceId, name: &str) -> PlaceId {
        let position = field(&b.module.types, b.place_type(place), name);
        b.field(place, position)
    }

    fn put(&self, b: &mut Builder<'_>, place: PlaceId, name: &str, value: Value) {
        let place = self.part(b, place, name);
        b.store(place, value);
    }
}

/// The places of an env's counters: frames and T-cycles.
fn counters(b: &mut Builder<'_>, env: Value) -> [PlaceId; 2] {
    let array = param_value(b, "counters");
    let array = b.array_place(array);
    [0, 1].map(|column| {
        let column = b.i32(column);
        b.element(array, &[env, column])
    })
}

/// Makes the kernel that computes a stage's outputs after the frames of a step.
pub fn outputs_kernel(
    programs: &Programs,
    stage: Stage,
    machine: impl Into<MachineSources>,
) -> Valid<Module> {
    let mut fused = programs.fuse(trusted(view_module_of(machine.into())));
    let mut called = fused.functions();
    let calls = programs.calls(&fused, stage);
    let mut module = std::mem::take(&mut fused.module);
    module.name = format!("pair_outputs_{stage}_{}", programs.obs_dim());
    let names = ["after_pair", "compute_outputs", "earn_nothing"];
    let work = kernel_source::lower(&mut module, &names, MachineAccess::Change, &calls);
    called.extend(&work);
    let (mut module, machine) = arrange_view(module, &called);
    let columns = Columns::new(&module.types, machine);
    let work: Vec<KernelPart> =
        work.into_iter().map(|function| KernelPart { function, changes: false }).collect();
    let (work, resting) = work.split_at(2);
    kernel::kernel(&mut module, &columns, step::KERNEL, EnvSelection::Each { resting }, work);
    finished(module)
}
