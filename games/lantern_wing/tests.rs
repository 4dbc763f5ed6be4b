//! Tests of what LANTERN_WING's page in the documentation promises: stars, swarms, queens, and a
//! player.

pub(crate) mod player;

use crate::chance::{random_buttons, rom_with_seed};
use crate::console::{A, B, Console, DOWN, LEFT, RIGHT, START, UP, label};
use player::{GAME_OVER, PLAY, QUEEN_HP, STATE, SWARM, console, pilot, shots, started};

const LIVES: u16 = 0xC002;
const SECTOR: u16 = 0xC004;
const FLARES: u16 = 0xC00E;
const GAMES: u16 = 0xC00F;
const SAFE: u16 = 0xC011;
const HIT: u16 = 0xC012;

/// The least points that the pilot has when the sixth sector begins.
const PILOT_POINTS: u16 = 300;

/// Lets the pilot fly until a condition holds; the pilot decides every two frames.
fn fly(console: &mut Console, frames: u32, mut until: impl FnMut(&Console) -> bool) {
    for _ in (0..frames).step_by(2) {
        if until(console) {
            return;
        }
        console.hold(pilot(console));
        console.run(2);
    }
    panic!("not in {frames} frames");
}

/// Returns the y of every object in object memory.
fn objects(console: &Console) -> Vec<u8> {
    let memory = console.range(0xFE00, 0xFEA0);
    let is_seen = |object: &&[u8]| (1..160).contains(&object[0]) && (1..168).contains(&object[1]);
    memory.chunks(4).filter(is_seen).map(|object| object[0]).collect()
}

#[test]
fn start_begins_a_game_from_the_title() {
    let mut console = Console::with("LANTERN_WING");
    console.run(100);
    assert_eq!(console.peek_all([STATE, GAMES]), [0, 0]);
    let console = started(console);
    assert_eq!(console.peek_all([STATE, GAMES, LIVES, SECTOR, GAME_OVER]), [PLAY, 1, 3, 1, 0]);
    assert_eq!(console.word(0xC000), 0);
}

/// Returns a line of the background's map from the left edge on, twice around.
fn map_line(console: &Console, line: u16) -> Vec<u8> {
    let row = 0x9800 + line / 8 * 32;
    let pixels = |entry: u16| {
        let tile = 0x8000 + u16::from(console.peek(row + entry % 32)) * 16;
        let [low, high] = console.word(tile + line % 8 * 2).to_le_bytes();
        (0..8).rev().map(move |bit| low >> bit & 1 | (high >> bit & 1) << 1)
    };
    (0..64).flat_map(pixels).collect()
}

/// Returns for each line of the picture the number of pixels by which it is shifted to the left, if
/// exactly one number explains the line: it has stars and no objects.
fn shifts(console: &Console) -> Vec<Option<usize>> {
    let picture = console.shades();
    let shift = |line: usize| {
        let shown = &picture[line * 160..][..160];
        let map = map_line(console, line as u16);
        let differs = |by: &usize| (0..160).filter(|x| shown[*x] != map[by + x]).count();
        let stars = shown.iter().filter(|shade| **shade != 3).count();
        let mut fitting = (0..256).filter(|by| differs(by) == 0);
        let shift = fitting.next().filter(|_| stars > 0);
        shift.filter(|_| fitting.next().is_none())
    };
    (0..128).map(shift).collect()
}

#[test]
fn rows_of_stars_have_scrolls_of_their_own() {
    let mut console = console();
    console.run(60);
    let scroll = label("LANTERN_WING", "RowScroll");
    let (mut seen, mut speeds) = (0, std::collections::BTreeSet::new());
    for _ in 0..5 {
        let before = console.range(scroll, scroll + 16);
        console.run(1);
        let after = console.range(scroll, scroll + 16);
        // A row's scroll changes while its first line is drawn, and the uppermost row shows its
        // scroll a frame late.
        let is_settled = |row: &(usize, Option<usize>)| row.0 >= 8 && !row.0.is_multiple_of(8);
        for (line, shift) in shifts(&console).into_iter().enumerate().filter(is_settled) {
            let Some(shift) = shift else { continue };
            let row = line / 8;
            let wanted = [before[row], after[row]].map(usize::from);
            assert!(wanted.contains(&shift), "line {line}: {shift}, not {wanted:?}");
            seen += 1;
            speeds.insert(after[row]);
        }
        console.run(20);
    }
    assert!(seen > 40 && speeds.len() > 8, "{seen} lines with the scrolls {speeds:?}");
}

#[test]
fn light_bends_on_the_way_to_a_sector() {
    let mut console = Console::with("LANTERN_WING");
    console.run(40);
    console.hold(START);
    console.run(24);
    assert_eq!(console.peek(STATE), 3);
    let bends: std::collections::BTreeSet<usize> = shifts(&console).into_iter().flatten().collect();
    assert!(bends.len() > 10, "lines are shifted by {bends:?}");
}

#[test]
fn a_pilot_meets_a_queen_and_passes_her_with_screens_full_of_objects() {
    let mut console = console();
    let mut has_met_queen = false;
    let (mut most, mut crowded_lines) = (0, 0);
    fly(&mut console, 12_000, |console| {
        has_met_queen |= console.peek(QUEEN_HP) > 0;
        assert!(console.peek(SECTOR) < 4 || has_met_queen, "she waits behind the third sector");
        let objects = objects(console);
        most = most.max(objects.len());
        let on_line = |y: u8| objects.iter().filter(|top| (**top..**top + 16).contains(&y)).count();
        crowded_lines += (16..144).filter(|y| on_line(*y) > 10).count();
        console.peek(SECTOR) == 6
    });
    assert!(most >= 30, "{most} objects");
    assert!(crowded_lines > 1000, "{crowded_lines} lines with more than ten objects");
    assert!(console.word(0xC000) > PILOT_POINTS, "{} points", console.word(0xC000));
}

#[test]
fn chance_earns_a_third_of_what_the_pilot_does_and_ends_within_a_minute() {
    for seed in [1, 2, 3] {
        let mut console = console();
        let mut buttons = random_buttons(seed, &[A, A | UP, A | DOWN, A | LEFT, A | RIGHT]);
        for _ in 0..900 {
            console.hold(buttons());
            console.run(4);
        }
        assert_eq!(console.peek(GAME_OVER), 1);
        let score = console.word(0xC000);
        assert!(score < PILOT_POINTS / 3, "{score} points by chance");
    }
}

#[test]
fn a_glider_that_does_nothing_is_hit_three_times_and_the_end_waits_for_start() {
    let mut console = console();
    let mut lives = vec![3];
    for _ in 0..8000 {
        if console.peek(GAME_OVER) == 1 {
            break;
        }
        if console.peek(LIVES) != lives[lives.len() - 1] {
            lives.push(console.peek(LIVES));
            assert!(console.peek(HIT) > 0);
        }
        console.run(1);
    }
    assert_eq!(lives, [3, 2, 1, 0]);
    assert_eq!(console.peek_all([GAME_OVER, STATE]), [1, 2]);
    console.hold(A | UP);
    console.run(100);
    assert_eq!(console.peek(GAMES), 1);
    let console = started(console);
    assert_eq!(console.peek_all([STATE, GAMES, LIVES, SECTOR, GAME_OVER]), [PLAY, 2, 3, 1, 0]);
}

#[test]
fn the_score_stays_at_its_highest() {
    let mut console = console();
    console.poke_word(0xC000, 65_530);
    fly(&mut console, 2000, |console| console.word(0xC000) == u16::MAX);
    for _ in 0..300 {
        console.hold(pilot(&console));
        console.run(2);
        assert_eq!(console.word(0xC000), u16::MAX);
    }
}

#[test]
fn the_next_sector_waits_until_the_glider_has_fallen() {
    let label = |name| label("LANTERN_WING", name);
    let mut console = console();
    console.run(50);
    for (name, value) in [("WavesLeft", 0), ("WaveCount", 0), ("Lives", 0), ("Safe", 0)] {
        console.poke(label(name), value);
    }
    console.poke(label("QueenDying"), 80);
    console.poke(HIT, 10);
    while console.peek(GAME_OVER) == 0 && console.frames < 400 {
        assert_eq!((console.peek(STATE), console.peek(SECTOR)), (PLAY, 1));
        console.run(1);
    }
    assert_eq!(console.peek_all([GAME_OVER, STATE]), [1, 2]);
}

#[test]
fn a_flare_takes_all_shots_from_the_sky() {
    let mut console = console();
    fly(&mut console, 12_000, |console| shots(console).len() > 3 && console.peek(SAFE) == 0);
    let flares = console.peek(FLARES);
    assert!(flares > 0);
    console.hold(B);
    console.run(2);
    assert_eq!(console.peek(FLARES), flares - 1);
    assert!(shots(&console).len() <= 1, "one may have been fired since");
}

#[test]
fn seed_and_buttons_decide_the_game() {
    let game = |seed: Option<[u8; 2]>, buttons: u8| {
        let mut console = started(Console::of(&rom_with_seed("LANTERN_WING", seed)));
        console.hold(A | buttons);
        console.run(400);
        (console.range(0xC000, 0xC030), console.range(SWARM, SWARM + 0x200), console.shades())
    };
    assert!(game(None, UP) == game(None, UP));
    assert!(game(None, UP).1 != game(Some([0x34, 0x12]), UP).1);
    assert!(game(None, UP).1 != game(None, DOWN).1);
}
