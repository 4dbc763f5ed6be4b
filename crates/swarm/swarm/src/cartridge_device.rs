//! Devices in cartridges beside memory: an MBC7's sensor of tilt is an input of the machines, and
//! the motor of an MBC5 with rumble an output.

use gbxcule_console::of_either;
use gbxcule_gameboy::cart::{GRAVITY, Mapper, set_tilt};

use crate::{Swarm, SwarmError, in_bank};

/// Greatest tilt that the sensor measures, in gravities of Earth.
const MAX_TILT: f32 = 2.0;
/// Bytes of a tilt: a 16-bit number for each direction.
const TILT_BYTES: usize = 4;

impl Swarm {
    /// Tilts the cartridge of each marked env from now on, by its row of `tilts`: to the right and
    /// to the bottom, in gravities of Earth.
    ///
    /// # Errors
    /// The cartridge has no sensor, a tilt is out of its range, or there is not one row for each
    /// marked env.
    pub fn set_tilts(&mut self, mask: &[bool], tilts: &[[f32; 2]]) -> Result<(), SwarmError> {
        let cartridge = self.rom().cartridge();
        if cartridge.mapper != Mapper::Mbc7 {
            return Err(SwarmError::NoTilt);
        }
        // The sensor's registers follow the battery-backed memory.
        let place = in_bank(0, 0xA000 + cartridge.battery_bytes() as u16);
        let mut rows = Vec::with_capacity(TILT_BYTES * tilts.len());
        for tilt in tilts {
            if let Some(&found) = tilt.iter().find(|it| !(-MAX_TILT..=MAX_TILT).contains(*it)) {
                return Err(SwarmError::TiltRange { found });
            }
            let [right, down] = tilt.map(|it| (it * f32::from(GRAVITY)).round() as i16);
            let mut memory = [0; 2 * TILT_BYTES];
            set_tilt(&mut memory, right, down);
            rows.extend(&memory[TILT_BYTES..]);
        }
        self.write_memories(mask, place, &rows)
    }

    /// Returns true for each env in whose cartridge the motor runs.
    pub fn rumbles(&self) -> Result<Vec<bool>, SwarmError> {
        let rumbles = |env| {
            let snapshot = self.snapshot(env)?;
            Ok(of_either!(snapshot.machine(), machine => machine.cart.rumbles()))
        };
        (0..self.config().num_envs).map(rumbles).collect()
    }
}
