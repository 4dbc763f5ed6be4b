//! A console like the one of the games' tests. It begins a level as an environment does, and
//! records the buttons.

use std::ops::{Deref, DerefMut};

#[path = "../../../../games/tests/games/console.rs"]
#[allow(dead_code, reason = "the games' tests use more of it")]
mod machine;

pub(crate) use machine::{A, B, Begin, DOWN, LEFT, RIGHT, START, UP};

/// Number of the game's state while it is played, and the state's address.
const PLAYING: u8 = 1;
const STATE: u16 = 0xC005;
/// Address of a byte that is not zero when a game is over, in all games.
const GAME_OVER: u16 = 0xC003;
/// The only game without a title; its byte at [`STATE`] has another meaning.
const WITHOUT_TITLE: &str = "PEARL_DRIFT";
/// Frames of a step in which `python/gbxcule/game.py` leaves the title.
const TITLE_STEP: u32 = 4;

/// Defines a recording console of a model.
macro_rules! recording {
    ($name:ident) => {
        #[derive(Clone)]
        pub(crate) struct $name {
            machine: machine::$name,
            /// The buttons that are held now.
            held: u8,
            /// The buttons of each frame since the level began.
            buttons: Vec<u8>,
            /// Number of frames since the level began.
            pub(crate) frames: u32,
        }

        impl $name {
            #[allow(dead_code, reason = "the games' tests begin games at power-on")]
            pub(crate) fn with(name: &str) -> Self {
                let machine = machine::$name::with(name);
                Self { machine, held: 0, buttons: Vec::new(), frames: 0 }
            }

            /// Begins a level as `make_vec(levels=.., frames_per_step=1)` does: presses START on
            /// the title, and runs one frame of the game.
            pub(crate) fn begun(name: &str, begin: Begin, wait: u32) -> Self {
                let mut machine = machine::$name::begun(name, begin, wait);
                if name != WITHOUT_TITLE {
                    machine.hold(START);
                    machine.run(TITLE_STEP);
                    machine.hold(0);
                    while machine.peek(STATE) != PLAYING {
                        machine.run(TITLE_STEP);
                    }
                }
                machine.run(1);
                Self { machine, held: 0, buttons: Vec::new(), frames: 0 }
            }

            /// Holds buttons from the next frame on, without START: players press START on the
            /// title, but here the game has begun.
            pub(crate) fn hold(&mut self, buttons: u8) {
                self.held = buttons & !START;
                self.machine.hold(self.held);
            }

            pub(crate) fn run(&mut self, frames: u32) {
                self.frames += frames;
                self.buttons.resize(self.frames as usize, self.held);
                self.machine.run(frames);
            }

            /// Returns a console that played the recorded buttons for at most `frames` frames, and
            /// stopped at the game's end. The player decides every few frames, so it may have
            /// noticed the end late.
            pub(crate) fn replayed(&self, game: &str, level: u32, frames: u32) -> Self {
                let mut console = Self::begun(&game.to_uppercase(), Begin::Level(level), 0);
                for &buttons in self.buttons.iter().take(frames as usize) {
                    if console.peek(GAME_OVER) != 0 {
                        break;
                    }
                    console.hold(buttons);
                    console.run(1);
                }
                console
            }

            pub(crate) fn into_buttons(self) -> Vec<u8> {
                self.buttons
            }
        }

        impl Deref for $name {
            type Target = machine::$name;

            fn deref(&self) -> &Self::Target {
                &self.machine
            }
        }

        impl DerefMut for $name {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.machine
            }
        }
    };
}

recording!(Console);
recording!(ColorConsole);
