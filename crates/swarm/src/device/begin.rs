//! The kernel that begins episodes: a thread is an env, and where the mask marks it the programs'
//! `begin` runs and the observation before the first step is computed. Of the
//! machine, its module has only the functions that programs call.

use gbxcule_ir::check::Valid;
use gbxcule_ir::{Arg, Builder, CompareOp, Literal, Module, Param, Scalar, Type};

use super::column::Columns;
use super::program_call::{
    Observing, TurnNumbers, Writes, call_writing, cells, observed, seen, unsigned,
};
use super::state_arrays::{self, COUNTERS, PARTS};
use super::translation::{
    arrange, arrange_view, checked, kernel, machine_module, machine_type, trusted,
};
use crate::program::{Fused, view_module};
use crate::{Programs, Stage};

/// The kernel's name.
pub(crate) const KERNEL: &str = "begin";

/// Arguments after the parts of the state.
const ROM: u32 = PARTS as u32;
const MASK: u32 = ROM + 1;
const SEED: u32 = ROM + 2;
const OBSERVATIONS: u32 = ROM + 3;

/// Makes the kernel of a stage with programs; `None` if they have nothing to do where an episode
/// begins.
#[must_use]
pub fn begin_module(programs: &Programs, stage: Stage) -> Option<Valid<Module>> {
    if !programs.begin_in(stage) {
        return None;
    }
    // What is written goes through the machine's own ways.
    let writes = programs.write();
    let fused = programs.fuse(if writes { machine_module() } else { trusted(view_module()) });
    let called = fused.functions();
    let Fused { mut module, observe, begin, mask, .. } = fused;
    module.name = format!("{KERNEL}_{stage}_{}", programs.obs_dim());
    let turn = module.functions[observe].params[3].ty;
    let (mut module, machine) = if writes {
        let module = arrange(module, &called);
        let machine = machine_type(&module);
        (module, machine)
    } else {
        arrange_view(module, &called)
    };
    let columns = Columns::new(&module.types, machine);
    let [bytes, rows] =
        [(Type::U8, 1), (Type::F32, 2)].map(|(of, dims)| module.types.array(of, dims));
    let mut params = state_arrays::parameters(&mut module, "");
    params.extend([
        Param::value("rom", bytes),
        Param::value("mask", bytes),
        Param::value("seed", Type::U32),
        Param::value("observations", rows),
    ]);
    let kernel = kernel(&mut module, KERNEL, params);
    let mut b = Builder::new(&mut module, kernel);
    let env = b.launch_index(0);
    let (marks, zero) = (b.param_place(MASK), b.zero(Type::U8));
    let marked = b.element(marks, &[env]);
    let marked = b.load(marked);
    let marked = b.compare(CompareOp::NotEqual, marked, zero);
    b.if_then(marked, |b| {
        let local = b.local("machine", machine);
        let machine = b.local_place(local);
        state_arrays::load(b, &columns, env, machine);
        let rom = b.arg(ROM);
        state_arrays::attach(b, machine, "rom", rom);
        let local = b.local("turn", turn);
        let place = b.local_place(local);
        let (counters, first) = (b.param_place(COUNTERS as u32), b.i32(0));
        let frames = b.element(counters, &[env, first]);
        let frames = b.load(frames);
        let (frames, seed) = (b.convert(frames, Scalar::U32), b.arg(SEED));
        // Nothing was pressed yet.
        let (none, nothing) = (unsigned(b, 0), b.literal(Literal::int(Scalar::U8, 0)));
        let numbers =
            TurnNumbers { frames, seed, step_frames: none, action: nothing, buttons: nothing };
        let turn = numbers.value(b, turn, env);
        b.store(place, turn);
        let see = [Arg::Place(machine), Arg::Place(place)];
        let writes = Writes::new(b, programs, machine);
        for (_, begin, own) in programs.beginnings(begin, stage) {
            let own = cells(b, env, own);
            call_writing(b, begin, see, own, writes.as_ref());
        }
        if writes.is_some() {
            state_arrays::store(b, &columns, env, machine);
        }
        let see = seen(b, see, writes.as_ref());
        if stage.owns_observation() {
            let (from, len, step) = (b.i32(0), b.i32(programs.obs_dim() as i32), b.i32(1));
            b.for_range("number", [from, len, step], |b, number| {
                let (rows, zero) = (b.param_place(OBSERVATIONS), b.zero(Type::F32));
                let cell = b.element(rows, &[env, number]);
                b.store(cell, zero);
            });
        }
        observed(b, programs, stage, &Observing { observe, mask, see }, OBSERVATIONS);
    });
    b.finish();
    Some(checked(module))
}
