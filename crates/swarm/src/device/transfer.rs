//! The kernel that copies whole envs: reset, snapshot, restore and `copy_state` are launches of it.

use gbxcule_ir::check::Valid;
use gbxcule_ir::{Builder, CompareOp, Module, Param, Type};

use super::state_arrays::{PARTS, parameters};
use super::translation::{checked, kernel};

/// The kernel's name.
pub(crate) const KERNEL: &str = "transfer";

/// Threads that share the copying of an env: its bytes are read and written side by side.
pub(crate) const LANES: usize = 32;

/// One env of some state into all marked envs of another, or of the same. The grid is envs by
/// [`LANES`].
pub(crate) fn module() -> Valid<Module> {
    let mut module = Module::new(KERNEL);
    let mut params = parameters(&mut module, "to_");
    params.extend(parameters(&mut module, "from_"));
    let bytes = module.types.array(Type::U8, 1);
    params.extend([Param::value("source", Type::I32), Param::value("mask", bytes)]);
    let [source, mask] = [2 * PARTS as u32, 2 * PARTS as u32 + 1];
    let kernel = kernel(&mut module, KERNEL, params);
    let mut b = Builder::new(&mut module, kernel);
    let (env, lane) = (b.launch_index(0), b.launch_index(1));
    let (mask, source) = (b.param_place(mask), b.arg(source));
    let marked = b.element(mask, &[env]);
    let marked = b.load(marked);
    let zero = b.zero(Type::U8);
    let marked = b.compare(CompareOp::NotEqual, marked, zero);
    b.if_then(marked, |b| {
        let lanes = b.i32(LANES as i32);
        for part in 0..PARTS as u32 {
            let from = b.arg(PARTS as u32 + part);
            let end = b.extent(from, 1);
            b.for_range("element", [lane, end, lanes], |b, element| {
                let (to, from) = (b.param_place(part), b.param_place(PARTS as u32 + part));
                let from = b.element(from, &[source, element]);
                let value = b.load(from);
                let to = b.element(to, &[env, element]);
                b.store(to, value);
            });
        }
    });
    b.finish();
    checked(module)
}
