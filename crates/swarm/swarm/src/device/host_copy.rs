//! One env between the host's form, a native machine, and the device's, a row of each part.
//!
//! A saved state holds every field of the machine in order and without gaps, so one walk over its
//! parts carries both ways, and nothing depends on how rustc lays the machine out.

use gbxcule_gameboy::Cartridge;
use gbxcule_gameboy::state::PREAMBLE_BYTES;
use gbxcule_ir::Scalar;

use super::column::{MachinePart, MachineParts};
use super::state_arrays::{
    CART_RAM, COUNTERS, FIRST_ARRAY, PARTS, SCRATCH, StateArrays, detached_bytes, lengths, scalars,
};
use crate::{AnyMachine, Counters, EnvSnapshot, Rom, SwarmError};

/// An env's bytes in each of the state arrays.
pub(crate) fn rows(
    machine: &MachineParts,
    rom: &Rom,
    env: &EnvSnapshot,
    scratch_len: usize,
) -> Result<[Vec<u8>; PARTS], SwarmError> {
    let state = state(&env.machine, rom.cartridge(), &env.cart_ram)?;
    let lengths = lengths(machine, rom, scratch_len);
    let detached_bytes = detached_bytes(rom.model());
    let mut rows: [Vec<u8>; PARTS] = lengths.map(Vec::with_capacity);
    let mut rest = &state[PREAMBLE_BYTES..];
    let mut take = |count: usize| {
        let (taken, left) = rest.split_at(count);
        rest = left;
        taken
    };
    for part in &machine.parts {
        match part {
            MachinePart::Scalar { scalar, table, .. } => {
                rows[*table].extend(take(scalar.bytes() as usize));
            }
            MachinePart::Array(array) => {
                rows[FIRST_ARRAY + array].extend(take(detached_bytes[*array]));
            }
        }
    }
    rows[CART_RAM].extend(take(env.cart_ram.len()));
    let Counters { frames, tcycles } = env.counters;
    rows[COUNTERS].extend([frames, tcycles].into_iter().flat_map(u64::to_le_bytes));
    // None stands for zeros.
    rows[SCRATCH].extend(env.scratch().iter().flat_map(|cell| cell.to_le_bytes()));
    rows[SCRATCH].resize(4 * scratch_len, 0);
    Ok(rows)
}

/// Puts an env into parts made for one.
pub(crate) fn upload(
    machine: &MachineParts,
    rom: &Rom,
    env: &EnvSnapshot,
    parts: &StateArrays,
) -> Result<(), SwarmError> {
    let rows = rows(machine, rom, env, parts.arrays[SCRATCH].shape()[1])?;
    for ((array, row), scalar) in parts.arrays.iter().zip(&rows).zip(scalars()) {
        match scalar {
            Scalar::U16 => array.write(&numbers(row, u16::from_le_bytes))?,
            Scalar::U32 => array.write(&numbers(row, u32::from_le_bytes))?,
            Scalar::U64 => array.write(&numbers(row, u64::from_le_bytes))?,
            Scalar::F32 => array.write(&numbers(row, f32::from_le_bytes))?,
            _ => array.write(row)?,
        }
    }
    Ok(())
}

fn numbers<T, const N: usize>(bytes: &[u8], number: fn([u8; N]) -> T) -> Vec<T> {
    let (chunks, _) = bytes.as_chunks::<N>();
    chunks.iter().map(|chunk| number(*chunk)).collect()
}

/// Takes the env out of parts made for one; `like` is any machine of this ROM.
pub(crate) fn download(
    machine: &MachineParts,
    rom: &Rom,
    like: &EnvSnapshot,
    parts: &StateArrays,
) -> Result<EnvSnapshot, SwarmError> {
    let mut state = state(&like.machine, rom.cartridge(), &like.cart_ram)?;
    let bytes: Vec<Vec<u8>> = (0..PARTS).map(|part| read(parts, part)).collect::<Result<_, _>>()?;
    let mut at = PREAMBLE_BYTES;
    let mut put = |bytes: &[u8]| {
        state[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    for part in &machine.parts {
        match part {
            MachinePart::Scalar { scalar, table, row, .. } => {
                let width = scalar.bytes() as usize;
                put(&bytes[*table][row * width..][..width]);
            }
            MachinePart::Array(array) => put(&bytes[FIRST_ARRAY + array]),
        }
    }
    put(&bytes[CART_RAM]);
    let mut cart_ram = like.cart_ram.clone();
    let machine = AnyMachine::load_state(rom, &state, &mut cart_ram)?;
    let counters: Vec<u64> = parts.arrays[COUNTERS].to_vec()?;
    let counters = Counters { frames: counters[0], tcycles: counters[1] };
    let scratch = Some(parts.arrays[SCRATCH].to_vec()?);
    let start = EnvSnapshot::start(machine, cart_ram);
    Ok(EnvSnapshot { counters, scratch, ..start })
}

/// The bytes of a part made for one env.
fn read(parts: &StateArrays, part: usize) -> Result<Vec<u8>, SwarmError> {
    let array = &parts.arrays[part];
    Ok(match part {
        1 => array.to_vec::<u16>()?.into_iter().flat_map(u16::to_le_bytes).collect(),
        2 => array.to_vec::<u32>()?.into_iter().flat_map(u32::to_le_bytes).collect(),
        COUNTERS | SCRATCH => Vec::new(),
        _ => array.to_vec::<u8>()?,
    })
}

fn state(
    machine: &AnyMachine,
    cartridge: &Cartridge,
    cart_ram: &[u8],
) -> Result<Vec<u8>, SwarmError> {
    let mut bytes = vec![0; machine.state_len(cartridge)];
    machine.save_state(cartridge, cart_ram, &mut bytes)?;
    Ok(bytes)
}
