//! EMBER_LEAP's scripted player, which knows the game's memory.

use crate::console::{A, B, Begin, Console, LEFT, RIGHT, START};
use std::sync::OnceLock;

pub(super) const STATE: u16 = 0xC005;
const GAME_OVER: u16 = 0xC003;
const RANDOM: u16 = 0xC00C;
pub(super) const X: u16 = 0xC015;

pub(super) const PLAY: u8 = 1;
const LIT: u8 = 4;

/// Frames for which the player looks ahead; frames for plans that go back first, for a run-up or a
/// spring; frames between two decisions.
const AHEAD: usize = 72;
const FAR_AHEAD: usize = 180;
const STEP: usize = 6;
/// Pixels that a good enough plan advances: a run without a stop advances 165.
const FAR: i32 = 120;

/// A player that looks ahead. It runs to the right as long as that goes well on a copy of the
/// console. Else it tries jumps of several times, heights, speeds and waits, and follows the one
/// that comes farthest.
#[derive(Default)]
pub(super) struct Player {
    /// Buttons of the frames to come. After them the player runs.
    plan: Vec<u8>,
    pub(super) played: Vec<u8>,
}

impl Player {
    pub(super) fn play(&mut self, console: &mut Console) {
        if console.peek(STATE) == PLAY {
            self.think(console);
        } else {
            self.plan = vec![0; STEP];
        }
        for _ in 0..STEP {
            let next = if self.plan.is_empty() { RIGHT | B } else { self.plan.remove(0) };
            console.hold(next);
            if is_frame_of_the_game(console) {
                self.played.push(next);
            }
        }
    }

    /// Looks for another plan if the current one ends badly or doesn't advance. If no plan from
    /// here advances, looks for plans that first go far back.
    fn think(&mut self, console: &Console) {
        let ahead = outcome(console, &self.plan, AHEAD);
        let here = i32::from(console.word(X));
        if ahead >= 0 && (!self.plan.is_empty() || ahead >= here + 24) {
            return;
        }
        let mut best = (i32::MIN, Vec::new());
        let near = plans(&[vec![LEFT; 24], vec![0; 24], Vec::new()]).into_iter().rev();
        let back = plans(&[vec![LEFT; 72], vec![LEFT; 56], vec![LEFT; 40]]).into_iter().rev();
        let near = near.map(|plan| (plan, AHEAD));
        for (plan, frames) in near.chain(back.map(|plan| (plan, FAR_AHEAD))) {
            if frames == FAR_AHEAD && best.0 > here + 24 {
                break;
            }
            let reached = outcome(console, &plan, frames);
            if reached > best.0 {
                best = (reached, plan);
            }
            if reached > here + FAR {
                break;
            }
        }
        self.plan = best.1;
    }
}

/// Returns the plans to try, the last first: of two that come equally far the later one wins.
fn plans(before: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut plans = Vec::new();
    for before in before {
        for speed in [RIGHT, RIGHT | B] {
            let hop = [vec![speed; 4], vec![speed | A; 8]].concat();
            for then in [hop.repeat(AHEAD / 12), vec![speed; AHEAD]] {
                for delay in (0..=40).step_by(8) {
                    for hold in [5, 14, 32] {
                        let run = vec![speed; delay];
                        let jump = vec![speed | A; hold];
                        plans.push([before.clone(), run, jump, then.clone()].concat());
                    }
                }
            }
            plans.push([before.clone(), vec![speed; AHEAD]].concat());
        }
    }
    plans
}

/// Returns the x that a plan reaches. A plan that loses a life returns the number of frames before
/// the loss, less a large number.
fn outcome(console: &Console, plan: &[u8], frames: usize) -> i32 {
    let mut copy = console.clone();
    for frame in 0..frames {
        copy.hold(plan.get(frame).copied().unwrap_or(RIGHT | B));
        copy.run(1);
        match copy.peek(STATE) {
            PLAY => {}
            LIT => return 10_000 - frame as i32,
            _ => return frame as i32 - 10_000,
        }
    }
    i32::from(copy.word(X))
}

pub(super) fn started() -> Console {
    start(Console::with("EMBER_LEAP"))
}

/// Returns a game with a level seed, which environments write where they begin an episode.
pub(super) fn seeded(seed: u16) -> Console {
    let mut console = started();
    console.poke_word(RANDOM, seed);
    console
}

pub(super) fn start(mut console: Console) -> Console {
    console.run(20);
    press_start(console)
}

fn press_start(mut console: Console) -> Console {
    console.hold(START);
    console.run(2);
    console.hold(0);
    console.run(20);
    console
}

/// The player's way through the game that begins with the ROM's own seed: buttons, each with the
/// number of game frames for which they are held, from the first frame of play on.
const RUN: &str = include_str!("run.txt");

/// Runs a frame of the machine and returns true if it was a frame of the game too: while the game
/// loads a level it stands still, for any number of frames.
fn is_frame_of_the_game(console: &mut Console) -> bool {
    static CLOCK: OnceLock<u16> = OnceLock::new();
    let rom = || gbxcule_assembler::by_name("EMBER_LEAP").expect("the game").rom();
    let clock = *CLOCK.get_or_init(|| rom().address("Clock").expect("a label of the game"));
    let before = console.peek(clock);
    console.run(1);
    console.peek(clock) != before
}

/// Plays [`RUN`]. Calls `see` after each frame of the game, with the number of machine frames that
/// it took, until `see` returns false.
pub(super) fn replay(console: &mut Console, mut see: impl FnMut(&Console, u32) -> bool) {
    for piece in RUN.split_whitespace() {
        let (buttons, frames) = piece.split_once('*').expect("buttons*frames");
        console.hold(u8::from_str_radix(buttons, 16).expect("buttons"));
        for _ in 0..frames.parse().expect("a number of frames") {
            let mut taken = 1;
            while !is_frame_of_the_game(console) {
                taken += 1;
            }
            if !see(console, taken) {
                return;
            }
        }
    }
}

/// Returns the player's game of at most `frames` frames. A game that begins later has other roofs.
pub(crate) fn played(frames: u32, begin: Begin) -> Console {
    let mut console = match begin {
        Begin::Later(later) => seeded(1 + later as u16),
        _ => press_start(Console::begun("EMBER_LEAP", begin, 0)),
    };
    let mut player = Player::default();
    while console.peek(GAME_OVER) == 0 && console.frames < frames {
        player.play(&mut console);
    }
    console
}

/// Returns true if the game went well.
pub(crate) fn is_won(console: &Console) -> bool {
    console.peek(0xC013) == 1
}
