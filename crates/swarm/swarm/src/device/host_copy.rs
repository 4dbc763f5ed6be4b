//! Conversion of one env between a native machine on the host and a row of each state array on the
//! device.
//!
//! A saved state holds every field of the machine in order and without gaps. So one walk over the
//! parts serves both directions, and nothing depends on rustc's layout of the machine.

use gbxcule_gameboy::Cartridge;
use gbxcule_gameboy::state::PREAMBLE_BYTES;
use gbxcule_ir::Scalar;

use super::column::{MachinePart, MachineParts};
use super::state_arrays::{
    BYTES, CART_RAM, COUNTERS, FIRST_ARRAY, INTS, PARTS, SCRATCH, StateArrays, detached_bytes,
    lengths, scalars,
};
use crate::program::ScratchSize;
use crate::{AnyMachine, Counters, EnvSnapshot, Rom, SwarmError};

/// An env's bytes in each of the state arrays.
pub(crate) fn rows(
    machine: &MachineParts,
    rom: &Rom,
    env: &EnvSnapshot,
    scratch: ScratchSize,
) -> Result<[Vec<u8>; PARTS], SwarmError> {
    let state = state(&env.machine, rom.cartridge(), &env.cart_ram)?;
    let lengths = lengths(machine, rom, scratch);
    let detached_bytes = detached_bytes(rom.model());
    let mut rows: [Vec<u8>; PARTS] = lengths.map(Vec::with_capacity);
    let mut unread = &state[PREAMBLE_BYTES..];
    let mut take = |count: usize| {
        let (taken, left) = unread.split_at(count);
        unread = left;
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
    let mut cells: Vec<u8> = env.scratch().iter().flat_map(|cell| cell.to_le_bytes()).collect();
    // The scratch of an env that has none yet is zeros.
    cells.resize(4 * (scratch.words() + scratch.numbers), 0);
    rows[SCRATCH] = cells.split_off(4 * scratch.words());
    rows[BYTES] = cells.split_off(4 * scratch.ints);
    rows[BYTES].truncate(scratch.bytes);
    rows[INTS] = cells;
    Ok(rows)
}

/// Writes an env into state arrays that hold one env.
pub(crate) fn upload(
    machine: &MachineParts,
    rom: &Rom,
    env: &EnvSnapshot,
    parts: &StateArrays,
) -> Result<(), SwarmError> {
    let [numbers_kept, ints, bytes] =
        [SCRATCH, INTS, BYTES].map(|part| parts.arrays[part].shape()[1]);
    let scratch = ScratchSize { numbers: numbers_kept, ints, bytes };
    let rows = rows(machine, rom, env, scratch)?;
    for ((array, row), scalar) in parts.arrays.iter().zip(&rows).zip(scalars()) {
        match scalar {
            Scalar::U16 => array.write(&numbers(row, u16::from_le_bytes))?,
            Scalar::U32 => array.write(&numbers(row, u32::from_le_bytes))?,
            Scalar::U64 => array.write(&numbers(row, u64::from_le_bytes))?,
            Scalar::I32 => array.write(&numbers(row, i32::from_le_bytes))?,
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

/// Reads the env of state arrays that hold one env; `like` is any machine of this ROM.
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
    let ints: Vec<i32> = parts.arrays[INTS].to_vec()?;
    let mut octets: Vec<u8> = parts.arrays[BYTES].to_vec()?;
    octets.resize(octets.len().next_multiple_of(4), 0);
    let mut scratch: Vec<f32> = ints.into_iter().map(|it| f32::from_bits(it as u32)).collect();
    scratch.extend(numbers(&octets, f32::from_le_bytes));
    scratch.extend(parts.arrays[SCRATCH].to_vec::<f32>()?);
    let scratch = Some(scratch);
    let start = EnvSnapshot::start(machine, cart_ram);
    Ok(EnvSnapshot { counters, scratch, ..start })
}

/// Reads the bytes of one state array.
fn read(parts: &StateArrays, part: usize) -> Result<Vec<u8>, SwarmError> {
    let array = &parts.arrays[part];
    Ok(match part {
        1 => array.to_vec::<u16>()?.into_iter().flat_map(u16::to_le_bytes).collect(),
        2 => array.to_vec::<u32>()?.into_iter().flat_map(u32::to_le_bytes).collect(),
        COUNTERS | SCRATCH | INTS | BYTES => Vec::new(),
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
