//! Optional last parameters of programs' functions: the caller's weights, and an env's scratch of
//! integers and of bytes.

use gbxcule_ir::Type;

/// Maximum of cells in a scratch: 4 MiB an env.
pub(super) const MAX_SCRATCH: i128 = 1 << 20;
/// Maximum of bytes in a byte scratch.
const MAX_BYTES: i128 = 4 * MAX_SCRATCH;

/// An optional parameter, and the setting of its size.
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
/// All optional parameters.
pub(super) const OPTIONAL: [OptionalParam; 3] = [WEIGHTS, INTS, BYTES];
