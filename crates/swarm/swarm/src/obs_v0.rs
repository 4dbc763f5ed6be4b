//! The built-in observation as a Rust function, for reference emulators. Machines of the swarm run
//! `program/v0.py`, and a test compares both bit for bit.

use crate::{Features, reward_v0};

/// Numbers in one `obs_v0`.
pub const OBS_V0_DIM: usize = 32;

/// `obs_v0`: exactly 32 numbers from 0 to 1.
///
/// | place | what |
/// |---|---|
/// | 0..8 | A F B C D E H L, each over 255 |
/// | 8, 9 | SP, PC, each over 65,535 |
/// | 10..14 | the flags Z N H C, 0 or 1 |
/// | 14..30 | m\[C000\] to m\[C00F\], each over 255 |
/// | 30 | the low byte of their sum, over 255 |
/// | 31 | `reward_v0` |
pub fn obs_v0(features: &Features, out: &mut [f32; OBS_V0_DIM]) {
    let cpu = &features.cpu;
    let registers = [cpu.a, cpu.f, cpu.b, cpu.c, cpu.d, cpu.e, cpu.h, cpu.l];
    for (number, register) in out[..8].iter_mut().zip(registers) {
        *number = f32::from(register) / 255.0;
    }
    out[8] = f32::from(cpu.sp) / 65535.0;
    out[9] = f32::from(cpu.pc) / 65535.0;
    for (number, flag) in out[10..14].iter_mut().zip(cpu.flags()) {
        *number = f32::from(u8::from(flag));
    }
    for (number, byte) in out[14..30].iter_mut().zip(features.memory) {
        *number = f32::from(byte) / 255.0;
    }
    let sum = features.memory.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    out[30] = f32::from(sum) / 255.0;
    out[31] = reward_v0(features);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpuState;

    #[test]
    fn obs_v0_writes_every_place_with_a_number_from_0_to_1() {
        for byte in [0_u8, 1, 0x7F, 0x80, 0xFF] {
            let word = u16::from(byte) << 8 | u16::from(byte);
            let cpu = CpuState {
                a: byte,
                f: byte & 0xF0,
                b: byte,
                c: byte,
                d: byte,
                e: byte,
                h: byte,
                l: byte,
                sp: word,
                pc: word,
            };
            let mut out = [f32::NAN; OBS_V0_DIM];
            obs_v0(&Features { cpu, memory: [byte; 16] }, &mut out);
            assert!(out.iter().all(|number| (0.0..=1.0).contains(number)), "{out:?}");
        }
    }

    #[test]
    fn obs_v0_shows_flags_in_the_order_z_n_h_c() {
        let cpu = CpuState { f: 0b1001_0000, ..CpuState::default() };
        let mut out = [0.0; OBS_V0_DIM];
        obs_v0(&Features { cpu, memory: [0; 16] }, &mut out);
        assert_eq!(out[10..14], [1.0, 0.0, 0.0, 1.0]);
    }
}
