//! PEARL_HEIST, the game for two: scripted players play it over a cable and alone.

use gbxcule_gameboy::{Cartridge, Machine};
use gbxcule_link::{LEAD_TCYCLES, Link};

use crate::console::{A, B, Console, DOWN, LEFT, RIGHT, START, UP};

const SCORE: u16 = 0xC000;
const RIVALS_SCORE: u16 = 0xC002;
const GAME_OVER: u16 = 0xC003;
const RESULT: u16 = 0xC004;
const STATE: u16 = 0xC005;
const PLAYER_X: u16 = 0xC006;
const SECONDS: u16 = 0xC008;
const REST: u16 = 0xC00E;
const ROLE: u16 = 0xC010;
const HAS_RIVAL: u16 = 0xC011;
const OWN_EEL: u16 = 0xC013;
const RIVALS_EEL: u16 = 0xC014;
const TAKEN: u16 = 0xC015;
const LOST: u16 = 0xC016;
const PEARLS: u16 = 0xC017;

/// A player: it chooses buttons by the bytes of the machine's memory.
type Player = fn(&dyn Fn(u16) -> u8) -> u8;

/// Two machines and the cable between them.
struct Pair {
    machines: [Machine; 2],
    ahead: [i32; 2],
    frames: u32,
}

impl Pair {
    fn new() -> Self {
        let cartridge = Cartridge::from_rom(rom()).expect("a good header");
        let machines = [Machine::power_on(&cartridge); 2];
        Self { machines, ahead: [-LEAD_TCYCLES; 2], frames: 0 }
    }

    /// Runs a number of frames with these buttons.
    fn run(&mut self, buttons: [u8; 2], frames: u32) {
        let [one, other] = &mut self.machines;
        let mut link = Link::new(one, other, self.ahead);
        link.draw = true;
        for _ in 0..frames {
            one.set_buttons(buttons[0]);
            other.set_buttons(buttons[1]);
            link.run_frame(one, other, rom(), &mut [], &mut []);
        }
        link.sync_for_observers(one, other);
        self.ahead = link.ahead(one, other);
        self.frames += frames;
    }

    fn peek(&self, address: u16) -> [u8; 2] {
        self.machines.each_ref().map(|machine| machine.peek(rom(), &[], address))
    }

    /// Returns a pair that plays a game, which one of the two machines has called for.
    fn begun(caller: usize) -> Self {
        let mut pair = Self::new();
        pair.run([0; 2], 30);
        let mut buttons = [0; 2];
        buttons[caller] = START;
        pair.run(buttons, 2);
        pair.run([0; 2], 4);
        assert_eq!(pair.peek(STATE), [1, 1]);
        pair
    }

    /// Runs until a game is over, with the buttons that two players choose.
    fn play(&mut self, players: [Player; 2]) {
        while self.peek(GAME_OVER) == [0, 0] {
            let peek = |side: usize, address| self.machines[side].peek(rom(), &[], address);
            let buttons = [0, 1].map(|side| players[side](&|address| peek(side, address)));
            self.run(buttons, 1);
            assert!(self.frames < 5000, "a game ends after a minute");
        }
        self.run([0; 2], 2);
    }
}

fn rom() -> &'static [u8] {
    gbxcule_assembler::by_name("PEARL_HEIST").expect("the game").bytes()
}

/// Returns the buttons that lead to the nearest pearl.
fn gathers(peek: &dyn Fn(u16) -> u8) -> u8 {
    let place = |address: u16| [0, 1].map(|axis| i32::from(peek(address + axis)));
    let [x, y] = place(PLAYER_X);
    let ways = [0, 2, 4].map(|pearl| {
        let [pearl_x, pearl_y] = place(PEARLS + pearl);
        [pearl_x - x - 4, pearl_y - y]
    });
    let [right, down] = ways.into_iter().min_by_key(|[x, y]| x.abs().max(y.abs())).expect("three");
    let toward = |way: i32, more: u8, less: u8| match way {
        2.. => more,
        ..=-2 => less,
        _ => 0,
    };
    toward(right, RIGHT, LEFT) | toward(down, DOWN, UP)
}

/// Gathers, and launches an eel as soon as one is ready.
fn steals(peek: &dyn Fn(u16) -> u8) -> u8 {
    gathers(peek) | if peek(REST) == 0 { A } else { 0 }
}

/// Gathers, and shuts the shell while an eel is near.
fn guards(peek: &dyn Fn(u16) -> u8) -> u8 {
    if (1..6).contains(&peek(RIVALS_EEL)) { B } else { gathers(peek) }
}

#[test]
fn two_players_play_to_twenty_pearls_and_agree_about_every_one() {
    for caller in [0, 1] {
        let mut pair = Pair::begun(caller);
        let roles = if caller == 0 { [1, 2] } else { [2, 1] };
        assert_eq!((pair.peek(ROLE), pair.peek(HAS_RIVAL)), (roles, [1, 1]));
        pair.play([steals, gathers]);
        assert_eq!(pair.peek(STATE), [2, 2]);
        let scores = pair.peek(SCORE);
        assert!(scores[0] >= 20 && scores[1] < 20, "{scores:?}");
        assert_eq!(pair.peek(RIVALS_SCORE), [scores[1], scores[0]]);
        assert_eq!(pair.peek(RESULT), [1, 2]);
        let [taken, lost] = [pair.peek(TAKEN), pair.peek(LOST)];
        assert!(taken[0] > 3 && taken[1] == 0, "{taken:?}");
        assert_eq!(lost, [taken[1], taken[0]]);
    }
}

#[test]
fn a_shell_that_is_shut_catches_the_eel_and_its_pearls() {
    let mut pair = Pair::begun(0);
    pair.play([steals, guards]);
    let [taken, lost] = [pair.peek(TAKEN), pair.peek(LOST)];
    assert_eq!((taken[0], lost[1]), (0, 0));
    assert!(taken[1] > 3, "{taken:?}");
    assert_eq!((lost[0], pair.peek(RESULT)), (taken[1], [2, 1]));
}

/// Pearls change hands only by a byte over the cable: the counts of both sides agree in every
/// frame, except for pearls gathered since the last byte.
#[test]
fn no_pearl_is_doubled_or_lost_while_eels_cross() {
    let mut pair = Pair::begun(1);
    for _ in 0..1200 {
        let mut sides = pair.machines.iter().zip([steals, steals]);
        let buttons = [0; 2].map(|_| {
            let (machine, player) = sides.next().expect("two players");
            player(&|address| machine.peek(rom(), &[], address))
        });
        pair.run(buttons, 1);
        let (scores, seen) = (pair.peek(SCORE), pair.peek(RIVALS_SCORE));
        for side in 0..2 {
            let unsaid = scores[1 - side].wrapping_sub(seen[side]);
            assert!(unsaid <= 3, "{scores:?} {seen:?} after {} frames", pair.frames);
        }
        assert_eq!(pair.peek(LOST), {
            let [one, other] = pair.peek(TAKEN);
            [other, one]
        });
    }
    assert_eq!(pair.peek(SECONDS)[0], pair.peek(SECONDS)[1]);
}

#[test]
fn two_who_call_at_once_call_again_and_one_is_first() {
    let mut pair = Pair::new();
    pair.run([0; 2], 30);
    pair.run([START, START], 2);
    assert_eq!(pair.peek(STATE), [0, 0]);
    // Equal machines with equal buttons stay equal.
    pair.run([LEFT, RIGHT], 3);
    pair.run([0; 2], 200);
    let mut tries = 0;
    while pair.peek(STATE) == [0, 0] && tries < 20 {
        pair.run([A, A], 1);
        pair.run([LEFT, 0], 60);
        tries += 1;
    }
    assert_eq!(pair.peek(STATE), [1, 1]);
    let mut roles = pair.peek(ROLE);
    roles.sort_unstable();
    assert_eq!(roles, [1, 2]);
}

#[test]
fn without_a_cable_one_gathers_alone() {
    let mut console = Console::with("PEARL_HEIST");
    console.run(30);
    console.hold(A);
    console.run(2);
    while console.peek(GAME_OVER) == 0 && console.frames < 5000 {
        let buttons = steals(&|address| console.peek(address));
        console.hold(buttons);
        console.run(1);
    }
    assert!(console.peek(SCORE) >= 20, "{}", console.peek(SCORE));
    assert_eq!((console.peek(RESULT), console.peek(HAS_RIVAL), console.peek(OWN_EEL)), (1, 0, 0));
}

#[test]
fn one_whose_cable_is_pulled_goes_on_alone() {
    let mut pair = Pair::begun(0);
    pair.run([0; 2], 60);
    let listener = pair.machines[1];
    assert_eq!(pair.peek(ROLE)[1], 2);
    let mut console = Console::of_machine(listener, rom());
    let seconds = console.peek(SECONDS);
    console.run(100);
    assert_eq!((console.peek(HAS_RIVAL), console.peek(SECONDS)), (1, seconds));
    console.run(240);
    assert_eq!((console.peek(ROLE), console.peek(HAS_RIVAL)), (1, 0));
    assert!(console.peek(SECONDS) < seconds);
}
