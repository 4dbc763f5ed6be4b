//! The built-in reward as a Rust function, for reference emulators. Machines of the swarm run
//! `program/v0.py`, and a test compares both bit for bit.

use crate::Features;

/// `reward_v0`: `float32((A ^ (m[C000] + 3 * m[C001])) & 0xFF) / 255`.
pub fn reward_v0(features: &Features) -> f32 {
    let mixed = features.memory[0].wrapping_add(features.memory[1].wrapping_mul(3));
    f32::from(features.cpu.a ^ mixed) / 255.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpuState;

    #[test]
    fn reward_v0_is_the_formula_for_every_pair_of_bytes() {
        for low in 0..=255_u8 {
            for high in 0..=255_u8 {
                let mut memory = [0; 16];
                (memory[0], memory[1]) = (low, high);
                let cpu = CpuState { a: 0x5A, ..CpuState::default() };
                let expected = (0x5A ^ (u32::from(low) + 3 * u32::from(high))) & 0xFF;
                let reward = reward_v0(&Features { cpu, memory });
                assert_eq!(reward.to_bits(), (expected as f32 / 255.0).to_bits());
            }
        }
    }
}
