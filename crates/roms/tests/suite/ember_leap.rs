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
}

impl Player {
    fn play(&mut self, console: &mut Console) {
        if console.peek(STATE) != PLAY {
            self.plan.clear();
            console.hold(0);
            return console.run(STEP as u32);
        }
        if outcome(console, &self.plan) < i32::from(console.word(X)) + 24 {
            let plans = plans();
            let best = plans.into_iter().max_by_key(|plan| outcome(console, plan));
            self.plan = best.expect("there are plans");
        }
        for _ in 0..STEP {
            let next = if self.plan.is_empty() { RIGHT | B } else { self.plan.remove(0) };
            console.hold(next);
            console.run(1);
        }
    }
}

/// Ways to go on, the worse before the better where they come equally far.
fn plans() -> Vec<Vec<u8>> {
    let mut plans = Vec::new();
    for before in [vec![LEFT; 24], vec![0; 48], vec![0; 24], vec![0; 12], Vec::new()] {
        for speed in [RIGHT, RIGHT | B] {
            for delay in (0..=40).step_by(8) {
                for hold in [5, 14, 32] {
                    let run = vec![speed; delay];
                    let jump = vec![speed | A; hold];
                    plans.push([before.clone(), run, jump, vec![speed; AHEAD]].concat());
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

#[test]
fn the_scripted_player_wins_all_levels() {
    let mut console = started();
    let mut level = 0;
    let mut player = Player::default();
    for frame in (0..20_000).step_by(6) {
        if console.peek(LEVEL) != level {
            level = console.peek(LEVEL);
            eprintln!("level {level} at {frame}");
        }
        if console.peek(GAME_OVER) == 1 {
            break;
        }
        let before = console.peek(LIVES);
        player.play(&mut console);
        if console.peek(LIVES) < before {
            eprintln!("lost at {} in {level}, {frame}", console.word(X));
        }
    }
    eprintln!("{:?} {} {:?}", console.range(0xC000, 0xC020), score(&console), (GAMES, FARTHEST));
    assert_eq!(console.peek(WON), 1);
}
