//! Parameters that functions of programs may have after the others: weights that the caller gives,
//! whole numbers and bytes that an env keeps.

use gbxcule_ir::Type;

/// Most cells of a scratch: 4 MiB an env.
pub(super) const MAX_SCRATCH: i128 = 1 << 20;
/// Most bytes of a byte scratch.
const MAX_BYTES: i128 = 4 * MAX_SCRATCH;

/// A parameter that functions of programs may have after the others, and its size's setting.
pub(super) struct OptionalParam {
    pub(super) name: &'static str,
    pub(super) setting: &'static str,
    pub(super) element: Type,
    pub(super) most: i128,
    pub(super) help: &'static str,
}

pub(super) const WEIGHTS: OptionalParam = OptionalParam {
    name: "weights",
    setting: "WEIGHTS",
    element: Type::F32,
    most: MAX_SCRATCH,
    help: "write how many numbers `weights` has: `WEIGHTS = 2`",
};
pub(super) const INTS: OptionalParam = OptionalParam {
    name: "int_scratch",
    setting: "INT_SCRATCH",
    element: Type::I32,
    most: MAX_SCRATCH,
    help: "write how many whole numbers an env keeps: `INT_SCRATCH = 4`",
};
pub(super) const BYTES: OptionalParam = OptionalParam {
    name: "byte_scratch",
    setting: "BYTE_SCRATCH",
    element: Type::U8,
    most: MAX_BYTES,
    help: "write how many bytes an env keeps: `BYTE_SCRATCH = 4096`",
};
/// All of them.
pub(super) const OPTIONAL: [OptionalParam; 3] = [WEIGHTS, INTS, BYTES];
