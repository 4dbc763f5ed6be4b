//! EMBER_LEAP's scripted player, which knows the game's memory.

use crate::console::{A, B, Console, LEFT, RIGHT, START};
use std::sync::OnceLock;

pub(super) const STATE: u16 = 0xC005;
pub(super) const X: u16 = 0xC015;

pub(super) const PLAY: u8 = 1;
const LIT: u8 = 4;

/// Number of frames for which the player looks ahead, and number of frames between two decisions.
const AHEAD: usize = 72;
const STEP: usize = 6;

/// A player that looks ahead. It runs to the right as long as that goes well on a copy of the
/// console. Else it tries jumps of several times, heights, speeds and waits, and follows the one
/// that comes farthest.
#[derive(Default)]
pub(super) struct Player {
    /// Buttons of the frames to come. Behind their end the player runs.
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

    /// Looks for another plan if the current one ends badly or doesn't advance.
    fn think(&mut self, console: &Console) {
        let ahead = outcome(console, &self.plan);
        let is_stuck = self.plan.is_empty() && ahead < i32::from(console.word(X)) + 24;
        if ahead < 0 || is_stuck {
            let best = plans().into_iter().max_by_key(|plan| outcome(console, plan));
            self.plan = best.expect("there are plans");
        }
    }
}

/// Returns the plans to try. Of two that come equally far the later one is better.
fn plans() -> Vec<Vec<u8>> {
    let mut plans = Vec::new();
    for before in [vec![LEFT; 24], vec![0; 24], Vec::new()] {
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
fn outcome(console: &Console, plan: &[u8]) -> i32 {
    let mut copy = console.clone();
    for frame in 0..AHEAD {
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

pub(super) fn start(mut console: Console) -> Console {
    console.run(20);
    console.hold(START);
    console.run(2);
    console.hold(0);
    console.run(20);
    console
}

/// A player's way through the game: buttons, each with the number of game frames for which they are
/// held, from the first frame of play on.
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

/// Returns the player's game of at most `frames` frames. The player knows one way only, so it never
/// begins later.
pub(crate) fn played(frames: u32, _later: u32) -> Console {
    let mut console = started();
    replay(&mut console, |console, _| console.frames < frames);
    console
}
