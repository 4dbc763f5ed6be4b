//! State of all envs on the device, in arrays `[env, element]`.
//!
//! The strides decide which of the two lie side by side: scalars lie by column, neighbouring envs
//! side by side, and each env's arrays in one piece.

use gbxcule_console::memory_bytes;
use gbxcule_ir::{Arg, Builder, Inline, Param, PlaceId, Scalar, Selector, Type, Value};
use gbxcule_runtime::Array;

use super::column::{Columns, MachineParts, WIDTHS};
use super::machine_ir::{DETACHED, field};
use super::memory::Memory;
use crate::program::ScratchSize;
use crate::{Model, Rom, SwarmError};

/// Number of state arrays: three tables of scalars, the detached arrays, cartridge RAM, counters,
/// and three for the programs' scratch: floats, integers, bytes.
pub(crate) const PARTS: usize = WIDTHS.len() + DETACHED.len() + 5;
/// The position of the first detached array.
pub(crate) const FIRST_ARRAY: usize = WIDTHS.len();
/// The position of work RAM.
pub(crate) const WRAM: usize = FIRST_ARRAY;
/// The position of cartridge RAM.
pub(crate) const CART_RAM: usize = PARTS - 5;
/// The position of the counters: frames and T-cycles.
pub(crate) const COUNTERS: usize = PARTS - 4;
/// The position of the numbers in the programs' scratch.
pub(crate) const SCRATCH: usize = PARTS - 3;
/// The position of the integers in the programs' scratch.
pub(crate) const INTS: usize = PARTS - 2;
/// The position of the bytes in the programs' scratch.
pub(crate) const BYTES: usize = PARTS - 1;

/// The position of the last drawn frame.
pub(crate) const FRAME: usize = FIRST_ARRAY + DETACHED.len() - 1;

/// Bytes of a model's detached arrays, in their order.
pub(crate) fn detached_bytes(model: Model) -> [usize; DETACHED.len()] {
    let [wram, vram, frame] = memory_bytes(model);
    [wram, vram, 0xA0, 0x80, frame]
}

/// The element type of each state array.
pub(crate) fn scalars() -> [Scalar; PARTS] {
    let mut scalars = [Scalar::U8; PARTS];
    scalars[..WIDTHS.len()].copy_from_slice(&WIDTHS);
    scalars[COUNTERS..BYTES].copy_from_slice(&[Scalar::U64, Scalar::F32, Scalar::I32]);
    scalars
}

/// Number of elements of an env in each state array.
pub(crate) fn lengths(machine: &MachineParts, rom: &Rom, scratch: ScratchSize) -> [usize; PARTS] {
    let mut lengths = [0; PARTS];
    lengths[..FIRST_ARRAY].copy_from_slice(&machine.rows);
    lengths[FIRST_ARRAY..CART_RAM].copy_from_slice(&detached_bytes(rom.model()));
    let ScratchSize { numbers, ints, bytes } = scratch;
    lengths[CART_RAM..].copy_from_slice(&[rom.cart_ram_bytes(), 2, numbers, ints, bytes]);
    lengths
}

/// Bytes that the state of an env takes.
pub(crate) fn env_bytes(lengths: [usize; PARTS]) -> u64 {
    let sizes = scalars().map(|scalar| u64::from(scalar.bytes()));
    lengths.iter().zip(sizes).map(|(&length, size)| length as u64 * size).sum()
}

/// The state of some envs in device memory.
pub(crate) struct StateArrays {
    pub(crate) arrays: [Array; PARTS],
}

impl StateArrays {
    /// Zeros for this number of envs.
    pub(crate) fn new(
        lengths: [usize; PARTS],
        envs: usize,
        memory: &Memory,
    ) -> Result<Self, SwarmError> {
        let scalars = scalars();
        let make = |part: usize| {
            let by_column = part < FIRST_ARRAY || part == COUNTERS;
            zeros(memory, scalars[part], [envs, lengths[part]], by_column)
        };
        let arrays = (0..PARTS).map(make).collect::<Result<Vec<Array>, SwarmError>>()?;
        let arrays = arrays.try_into();
        Ok(Self { arrays: arrays.unwrap_or_else(|_| unreachable!("one array for each part")) })
    }
}

fn zeros(
    memory: &Memory,
    of: Scalar,
    [envs, len]: [usize; 2],
    by_column: bool,
) -> Result<Array, SwarmError> {
    let room = len.max(1);
    let array = if by_column {
        memory.zeros(of, &[room, envs])?.transposed()
    } else {
        memory.zeros(of, &[envs, room])?
    };
    Ok(array.slice(1, 0..len, 1)?)
}

/// The names of the parts.
pub(super) fn names() -> [&'static str; PARTS] {
    let mut names = ["bytes"; PARTS];
    names[1..FIRST_ARRAY].copy_from_slice(&["halves", "words"]);
    names[FIRST_ARRAY..CART_RAM].copy_from_slice(&DETACHED);
    names[CART_RAM..].copy_from_slice(&[
        "cart_ram",
        "counters",
        "scratch",
        "int_scratch",
        "byte_scratch",
    ]);
    names
}

/// Parameters of a kernel for the parts, their names behind a prefix.
pub(crate) fn parameters(b: &mut gbxcule_ir::Module, prefix: &str) -> Vec<Param> {
    let types = scalars().map(|scalar| b.types.array(Type::scalar(scalar), 2));
    names()
        .into_iter()
        .zip(types)
        .map(|(name, ty)| Param::value(format!("{prefix}{name}"), ty))
        .collect()
}

/// The three tables of scalars among a kernel's first parameters.
pub(crate) fn tables(b: &mut Builder<'_>) -> [Value; 3] {
    [0, 1, 2].map(|position| b.arg(position))
}

/// An env's elements of a state array, as an array of one dimension.
pub(crate) fn view(b: &mut Builder<'_>, part: usize, env: Value) -> Value {
    let array = b.arg(part as u32);
    b.view(array, &[Selector::At(env)])
}

/// Makes a machine of an env: its scalars, and handles to its arrays.
pub(crate) fn load(b: &mut Builder<'_>, columns: &Columns, env: Value, machine: PlaceId) {
    move_scalars(b, columns, env, machine, "load_scalars");
    for (part, name) in (FIRST_ARRAY..).zip(DETACHED.into_iter().chain(["cart_ram"])) {
        let handle = view(b, part, env);
        attach(b, machine, name, handle);
    }
}

/// Sets one of a machine's handles.
pub(crate) fn attach(b: &mut Builder<'_>, machine: PlaceId, name: &str, handle: Value) {
    let field = field(&b.module.types, b.place_type(machine), name);
    let place = b.field(machine, field);
    b.store(place, handle);
}

/// Stores a machine's scalars; its arrays were changed in place.
pub(crate) fn store(b: &mut Builder<'_>, columns: &Columns, env: Value, machine: PlaceId) {
    move_scalars(b, columns, env, machine, "store_scalars");
}

/// Calls an out-of-line function that loads or stores the scalars. An inlined one would keep the
/// addresses of all columns in the kernel's registers.
fn move_scalars(b: &mut Builder<'_>, columns: &Columns, env: Value, machine: PlaceId, name: &str) {
    let mover = b.module.find(name).unwrap_or_else(|| {
        let mut params = parameters(b.module, "");
        params.truncate(WIDTHS.len());
        params.push(Param::value("env", Type::I32));
        params.push(Param::mutable("machine", b.place_type(machine)));
        let mover = b.module.declare(name, params, Type::UNIT);
        b.module.functions[mover].inline = Inline::Never;
        b.module.functions[mover].trusted = true;
        let mut b = Builder::new(b.module, mover);
        let tables = tables(&mut b);
        let (env, machine) = (b.arg(3), b.param_place(4));
        if name == "load_scalars" {
            columns.load(&mut b, tables, env, machine);
        } else {
            columns.store(&mut b, tables, env, machine);
        }
        b.finish()
    });
    let mut args: Vec<Arg> = tables(b).map(Arg::Value).to_vec();
    args.extend([Arg::Value(env), Arg::Place(machine)]);
    b.call(mover, &args);
}
