//! EMBER_LEAP's scripted player, which knows the game's memory.

use crate::console::{A, B, Console, LEFT, RIGHT, START};
use std::sync::OnceLock;

pub(super) const STATE: u16 = 0xC005;
pub(super) const X: u16 = 0xC015;

pub(super) const PLAY: u8 = 1;
const LIT: u8 = 4;

/// Frames for which the player looks ahead, and in which it doesn't think again.
const AHEAD: usize = 72;
const STEP: usize = 6;

/// A player that looks ahead: it runs to the right as long as that goes well on a copy of the
/// console, else it tries when to jump, how high, how fast, after which wait, and keeps to what
/// comes farthest.
#[derive(Default)]
pub(super) struct Player {
    /// Buttons of the frames to come; after them it runs.
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

    /// Looks for another plan if the one at hand ends badly or leads nowhere.
    fn think(&mut self, console: &Console) {
        let ahead = outcome(console, &self.plan);
        let is_stuck = self.plan.is_empty() && ahead < i32::from(console.word(X)) + 24;
        if ahead < 0 || is_stuck {
            let best = plans().into_iter().max_by_key(|plan| outcome(console, plan));
            self.plan = best.expect("there are plans");
        }
    }
}

/// Ways to go on, the worse before the better where they come equally far.
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

/// The x that a plan reaches; for one that loses a life, frames until then less a lot.
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

/// The way of that player through the game: buttons and for how many frames of the game, from the
/// first frame of play on.
const RUN: &str = include_str!("run.txt");

/// Runs a frame of the machine and says whether it was one of the game, too: while a level is
/// loaded the game stands still, for however long that takes.
fn is_frame_of_the_game(console: &mut Console) -> bool {
    static CLOCK: OnceLock<u16> = OnceLock::new();
    let rom = || gbxcule_assembler::by_name("EMBER_LEAP").expect("the game").rom();
    let clock = *CLOCK.get_or_init(|| rom().address("Clock").expect("a label of the game"));
    let before = console.peek(clock);
    console.run(1);
    console.peek(clock) != before
}

/// Plays what RUN holds and calls `see` after each frame of the game with how many frames of the
/// machine it took, until that says no.
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

/// The player's game of at most so many frames. It knows one way, so it never begins later.
pub(crate) fn played(frames: u32, _later: u32) -> Console {
    let mut console = started();
    replay(&mut console, |console, _| console.frames < frames);
    console
}
