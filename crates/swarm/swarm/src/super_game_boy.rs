//! Parts of a Super Game Boy outside of its machine: the border around the picture, and the second
//! to fourth controller.

use gbxcule_console::{HEIGHT, SuperPicture, WIDTH};
use gbxcule_gameboy::machine::set_controller;
use gbxcule_gameboy::super_game_boy::memory::{border_color, palette_color};

use crate::{AnyMachine, Frame, Swarm, SwarmError};

/// Pixels of a line of the picture with its border.
pub const BORDERED_WIDTH: usize = 256;
/// Lines of the picture with its border.
pub const BORDERED_HEIGHT: usize = 224;
/// Column and line of the border at which the machine's picture begins.
const CORNER: [usize; 2] = [(BORDERED_WIDTH - WIDTH) / 2, (BORDERED_HEIGHT - HEIGHT) / 2];

impl Swarm {
    fn check_super(&self) -> Result<(), SwarmError> {
        if self.rom().revision().is_super() { Ok(()) } else { Err(SwarmError::NoSuperGameBoy) }
    }

    /// Returns an env's last drawn frame with the border that its program sent, 224 lines of 256
    /// colours in RGB555. Where the border is transparent, the picture shows the frame, or colour 0
    /// outside of the frame.
    ///
    /// # Errors
    /// The console is not a Super Game Boy, or there is no such env.
    pub fn bordered_picture(&self, env: usize) -> Result<Vec<u16>, SwarmError> {
        self.check_super()?;
        let snapshot = self.snapshot(env)?;
        let cart_ram = snapshot.cart_ram();
        let mut picture = SuperPicture::default();
        let Frame::Colors(frame) = picture.of(snapshot.machine(), self.rom(), cart_ram) else {
            unreachable!("a Super Game Boy's frame has colours");
        };
        let ground = palette_color(cart_ram, 0, 0);
        let pixel = |at: usize| {
            let (x, y) = (at % BORDERED_WIDTH, at / BORDERED_WIDTH);
            let border = border_color(cart_ram, x, y);
            let (column, line) = (x.wrapping_sub(CORNER[0]), y.wrapping_sub(CORNER[1]));
            if border < 0x8000 {
                border
            } else if column < WIDTH && line < HEIGHT {
                let at = 2 * (line * WIDTH + column);
                u16::from_le_bytes([frame[at], frame[at + 1]])
            } else {
                ground
            }
        };
        Ok((0..BORDERED_WIDTH * BORDERED_HEIGHT).map(pixel).collect())
    }

    /// Sets the buttons of a controller from 1 to 3 in each marked env: `buttons` has one byte for
    /// each marked env. The controller holds them until the next call or until a state is loaded.
    /// Controller 0 has the buttons of the env's actions.
    ///
    /// # Errors
    /// The console is not a Super Game Boy, there is no such controller, the mask does not have one
    /// entry for each env, or `buttons` does not have one byte for each marked env.
    pub fn set_controllers(
        &mut self,
        mask: &[bool],
        controller: u8,
        buttons: &[u8],
    ) -> Result<(), SwarmError> {
        self.check_super()?;
        if !(1..=3).contains(&controller) {
            return Err(SwarmError::NoController { found: controller });
        }
        self.config().check_length("mask entry", mask.len())?;
        let envs: Vec<usize> = (0..mask.len()).filter(|&env| mask[env]).collect();
        if envs.len() != buttons.len() {
            return Err(SwarmError::WrongButtons { envs: envs.len(), found: buttons.len() });
        }
        for (&env, &pressed) in envs.iter().zip(buttons) {
            let mut snapshot = self.snapshot(env)?;
            if let AnyMachine::Original(machine) = &mut snapshot.machine {
                set_controller(machine, &mut snapshot.cart_ram, controller, pressed);
            }
            self.load_env(env, &snapshot)?;
        }
        Ok(())
    }
}
