//! EMBER_LEAP as its page promises it, and a scripted player that wins it.

use crate::console::{A, B, Console, LEFT, RIGHT, START};

const LIVES: u16 = 0xC002;
const GAME_OVER: u16 = 0xC003;
const LEVEL: u16 = 0xC004;
const STATE: u16 = 0xC005;
const FARTHEST: u16 = 0xC008;
const GAMES: u16 = 0xC00F;
const WON: u16 = 0xC013;
const X: u16 = 0xC015;

const PLAY: u8 = 1;
const LIT: u8 = 4;

fn score(console: &Console) -> u16 {
    console.word(0xC000)
}

/// Frames for which the player looks ahead, and in which it doesn't think again.
const AHEAD: usize = 72;
const STEP: usize = 6;

/// A player that looks ahead: it runs to the right as long as that goes well on a copy of the console,
/// else it tries when to jump, how high, how fast, after which wait, and keeps to what comes farthest.
#[derive(Default)]
struct Player {
    /// Buttons of the frames to come; behind them it runs.
    plan: Vec<u8>,
    played: Vec<u8>,
}

impl Player {
    fn play(&mut self, console: &mut Console) {
        if console.peek(STATE) != PLAY {
            self.plan = vec![0; STEP];
        }
        let is_playing = console.peek(STATE) == PLAY;
        let x = i32::from(console.word(X));
        let ahead = outcome(console, &self.plan);
        if is_playing && (ahead < 0 || self.plan.is_empty() && ahead < x + 24) {
            let plans = plans();
            let best = plans.into_iter().max_by_key(|plan| outcome(console, plan));
            self.plan = best.expect("there are plans");
        }
        for _ in 0..STEP {
            let next = if self.plan.is_empty() { RIGHT | B } else { self.plan.remove(0) };
            self.played.push(next);
            console.hold(next);
            console.run(1);
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

fn started() -> Console {
    start(Console::with("EMBER_LEAP"))
}

fn start(mut console: Console) -> Console {
    console.run(20);
    console.hold(START);
    console.run(2);
    console.hold(0);
    console.run(20);
    console
}

/// The player's way through the game: buttons and for how many frames, from the first frame of play on.
const RUN: &str = include_str!("ember_leap_run.txt");

/// Plays what RUN holds and calls `see` after each frame, until that says no.
fn replay(console: &mut Console, mut see: impl FnMut(&Console) -> bool) {
    for piece in RUN.split_whitespace() {
        let (buttons, frames) = piece.split_once('*').expect("buttons*frames");
        console.hold(u8::from_str_radix(buttons, 16).expect("buttons"));
        for _ in 0..frames.parse().expect("a number of frames") {
            console.run(1);
            if !see(console) {
                return;
            }
        }
    }
}

#[test]
#[ignore = "searches for minutes; prints what ember_leap_run.txt keeps for all others"]
fn the_player_that_looks_ahead_finds_a_way_through_all_levels() {
    let mut console = started();
    let mut player = Player::default();
    while console.peek(GAME_OVER) == 0 {
        player.play(&mut console);
    }
    assert_eq!(console.peek(WON), 1);
    let mut pieces: Vec<(u8, u32)> = Vec::new();
    for buttons in player.played {
        match pieces.last_mut() {
            Some((last, frames)) if *last == buttons => *frames += 1,
            _ => pieces.push((buttons, 1)),
        }
    }
    for line in pieces.chunks(14) {
        let words: Vec<String> = line.iter().map(|(b, n)| format!("{b:02X}*{n}")).collect();
        println!("{}", words.join(" "));
    }
}

#[test]
fn all_levels_can_be_won() {
    let mut console = started();
    let mut levels = vec![1];
    replay(&mut console, |console| {
        let level = console.peek(LEVEL);
        if levels.last() != Some(&level) {
            levels.push(level);
        }
        true
    });
    assert_eq!(levels, [1, 2, 3, 4, 5]);
    assert_eq!([WON, GAME_OVER, STATE].map(|address| console.peek(address)), [1, 1, 2]);
    assert!(score(&console) > 1500, "{}", score(&console));
}
