//! Tests of what AMBER_ROAD's page in the documentation promises: lines, light, legs, and a player.

pub(crate) mod player;

use crate::chance::{random_buttons, rom_with_seed};
use crate::console::{A, B, ColorConsole, LEFT, RIGHT};
use player::{AMBER, BEND, Care, GAME_OVER, PLAY, STATE, THINGS, console, driver, started};

const LIVES: u16 = 0xC002;
const LEG: u16 = 0xC004;
const GAMES: u16 = 0xC00F;
const LIGHT: u16 = 0xC015;
const CRASH: u16 = 0xC017;
const SAFE: u16 = 0xC018;
const OVER: u8 = 2;
const BOULDER: u8 = 3;

/// The least points that the driver has when the fifth leg begins.
const DRIVER_POINTS: u16 = 700;

#[test]
fn start_begins_a_game_from_the_title() {
    let mut console = ColorConsole::with("AMBER_ROAD");
    console.run(100);
    assert_eq!(console.peek_all([STATE, GAMES]), [0, 0]);
    let console = started(console);
    assert_eq!(console.peek_all([STATE, GAMES, LIVES, LEG, GAME_OVER]), [PLAY, 1, 4, 1, 0]);
    assert_eq!(console.word(0xC000), 0);
}

/// Returns an address of the game's source.
fn label(name: &str) -> u16 {
    crate::console::label("AMBER_ROAD", name)
}

#[test]
fn tables_of_the_perspective_are_what_their_comment_says() {
    let console = ColorConsole::with("AMBER_ROAD");
    let [line_of, scale, distance] = ["LineOf", "Scale", "Distance"].map(label);
    for units in 1..=255_u8 {
        let line = (1400.0 / f32::from(units) - 5.0).round_ties_even().clamp(0.0, 127.0);
        assert_eq!(f32::from(console.peek(line_of + u16::from(units))), line, "{units} units");
    }
    for line in 0..80_u16 {
        let pixels = (148.0 * (f32::from(line) + 5.0) / 84.0).round_ties_even();
        assert_eq!(f32::from(console.peek(scale + line)), pixels, "line {line}");
        let units = (1400.0 / (f32::from(line) + 5.0)).round_ties_even() as u16;
        assert_eq!(console.peek(distance + line), units as u8, "line {line}");
    }
}

#[test]
fn sky_and_land_have_colors_for_each_line() {
    let mut console = console();
    console.run(300);
    let colors = console.colors();
    let first = |line: usize| colors[line * 160];
    let sky: std::collections::BTreeSet<u16> = (16..40).map(first).collect();
    assert!(sky.len() > 12, "{} colors of the sky", sky.len());
    let land: std::collections::BTreeSet<u16> = (64..100).map(first).collect();
    assert!(land.len() > 12, "{} colors of the land", land.len());
    let all: std::collections::BTreeSet<u16> = colors.iter().copied().collect();
    assert!(all.len() > 100, "{} colors in one picture", all.len());
}

/// Lines of the road whose first and last pixels are land have the width that the perspective
/// gives.
#[test]
fn a_straight_road_narrows_towards_the_middle_of_the_horizon() {
    let mut console = ColorConsole::with("AMBER_ROAD");
    console.run(60);
    let scroll = |console: &ColorConsole, line: u16| console.peek(label("LinesA") + line);
    let mut console = started(console);
    assert_eq!([0, 79].map(|line| scroll(&console, 64 + line)), [48, 48]);
    let mut bent = 0;
    for _ in 0..400 {
        console.hold(driver(&console, Care::FIRST));
        console.run(2);
        bent += u32::from(console.peek(BEND) != 0 && scroll(&console, 64) != scroll(&console, 143));
    }
    assert!(bent > 100, "bent in {bent} pictures");
}

#[test]
fn no_frame_is_left_out_while_the_driver_drives() {
    let mut console = console();
    let clock = label("Clock");
    console.run(60);
    let (mut before, mut left_out) = (console.peek(clock), 0);
    for _ in 0..2000 {
        console.hold(driver(&console, Care::FIRST));
        console.run(2);
        left_out += u32::from(console.peek(clock).wrapping_sub(before) != 2);
        before = console.peek(clock);
    }
    assert_eq!(left_out, 0);
}

#[test]
fn hblank_dma_brings_the_plants_of_the_next_land() {
    let mut console = console();
    console.run(10);
    let rom = gbxcule_assembler::by_name("AMBER_ROAD").expect("the game").rom();
    let art = |name: &str| rom.bytes[usize::from(label(name))..][..608].to_vec();
    assert!(console.video_memory()[0x2000..][..608] == art("PineArt"));
    while console.peek(LEG) == 1 && console.frames < 4000 {
        console.hold(driver(&console, Care::FIRST));
        console.run(2);
    }
    assert_eq!(console.peek(LEG), 2);
    console.run(3);
    assert!(console.video_memory()[0x2000..][..608] == art("CactusArt"));
}

#[test]
fn a_driver_passes_four_gates_by_amber_and_loses_a_plank_by_each_crash() {
    let mut console = console();
    let (mut crashes, mut legs) = (0, vec![1]);
    let (mut planks, mut most_light) = (4, 0);
    while console.peek(LEG) < 5 && console.frames < 12_000 {
        assert_eq!(console.peek(GAME_OVER), 0, "over on leg {}", console.peek(LEG));
        console.hold(driver(&console, Care::FIRST));
        let light = console.word(LIGHT);
        console.run(1);
        most_light = most_light.max(console.word(LIGHT).saturating_sub(light));
        let (leg, left) = (console.peek(LEG), console.peek(LIVES));
        if leg != legs[legs.len() - 1] {
            legs.push(leg);
            planks = left;
        }
        if left < planks {
            crashes += 1;
            assert_eq!(left, planks - 1);
            assert!(console.peek(CRASH) > 0);
            planks = left;
        }
    }
    assert_eq!(legs, [1, 2, 3, 4, 5]);
    assert!(crashes < 12, "{crashes} crashes");
    assert!(console.word(0xC000) > DRIVER_POINTS, "{} points", console.word(0xC000));
    assert!(most_light >= 600, "a gate brought {most_light} frames of light");
}

#[test]
fn chance_earns_a_third_of_what_the_driver_does() {
    for seed in [1, 2, 3] {
        let mut console = console();
        let mut buttons = random_buttons(seed, &[A, A | LEFT, A | RIGHT, A, B, 0]);
        while console.peek(GAME_OVER) == 0 && console.frames < 8000 {
            console.hold(buttons());
            console.run(4);
        }
        let score = console.word(0xC000);
        assert!(score < DRIVER_POINTS / 3, "{score} points by chance");
    }
}

#[test]
fn a_sled_that_stands_is_met_by_the_night_and_the_end_waits_for_start() {
    let mut console = console();
    console.run(3280);
    assert_eq!(console.peek(GAME_OVER), 0);
    console.run(40);
    let found = console.peek_all([GAME_OVER, STATE, LIVES]);
    assert_eq!((found, console.word(0xC000)), ([1, OVER, 4], 0));
    console.hold(A);
    console.run(100);
    assert_eq!(console.peek(GAMES), 1);
    let console = started(console);
    assert_eq!(console.peek_all([STATE, GAMES, LIVES, LEG, GAME_OVER]), [PLAY, 2, 4, 1, 0]);
}

/// Returns the colors of the first pixels of some lines.
fn left_edge(console: &ColorConsole, lines: std::ops::Range<usize>) -> Vec<u16> {
    let colors = console.colors();
    lines.map(|line| colors[line * 160]).collect()
}

#[test]
fn a_game_after_the_night_begins_in_full_daylight() {
    let mut console = console();
    console.run(3);
    let morning = left_edge(&console, 0..144);
    console.poke_word(LIGHT, 300);
    console.run(400);
    assert_eq!(console.peek(STATE), OVER);
    assert_ne!(left_edge(&console, 0..144), morning);
    let mut console = started(console);
    console.run(3);
    assert_eq!(left_edge(&console, 0..144), morning);
}

#[test]
fn the_sun_of_the_title_stays_below_the_name_and_its_day_has_no_jump() {
    let mut console = ColorConsole::with("AMBER_ROAD");
    console.run(40);
    let (mut light, mut darkest) = (console.word(LIGHT), u16::MAX);
    for _ in 0..960 {
        console.run(1);
        let now = console.word(LIGHT);
        assert!(now <= 2560 && now.abs_diff(light) <= 5, "from {light} to {now}");
        (light, darkest) = (now, darkest.min(now));
    }
    assert!(darkest < 5 && light > 2000, "dusk at {darkest}, then {light}");
}

/// Puts an object before the sled, which stands in the middle of the road.
fn put_before(console: &mut ColorConsole, kind: u8) {
    for (address, byte) in (THINGS..).zip([kind, 0, 0, 19, 0, 0, 0, 0]) {
        console.poke(address, byte);
    }
}

#[test]
fn light_stays_at_its_most() {
    for (before, after) in [(4000, 4019), (3829, 3848), (4062, 4079), (4079, 4079)] {
        let mut console = console();
        console.run(2);
        put_before(&mut console, AMBER);
        console.poke_word(LIGHT, before);
        console.run(1);
        assert_eq!((console.word(0xC000), console.word(LIGHT)), (5, after), "from {before}");
    }
}

#[test]
fn the_last_crash_has_its_message_even_if_another_one_ends_then() {
    let row = |console: &ColorConsole| console.video_memory()[0x1840..][..20].to_vec();
    let mut console = console();
    console.run(2);
    put_before(&mut console, BOULDER);
    for (address, byte) in [(LIVES, 1), (SAFE, 0), (label("MessageTime"), 1)] {
        console.poke(address, byte);
    }
    console.run(1);
    assert_eq!(console.peek(STATE), OVER);
    console.run(8);
    assert_eq!(row(&console), b" THE SLED IS BROKEN ");
}

#[test]
fn seed_and_buttons_decide_the_game() {
    let game = |seed: Option<[u8; 2]>, buttons: u8| {
        let mut console = started(ColorConsole::of(&rom_with_seed("AMBER_ROAD", seed)));
        console.hold(A | buttons);
        console.run(400);
        (console.range(0xC000, 0xC030), console.range(THINGS, THINGS + 80), console.colors())
    };
    assert!(game(None, LEFT) == game(None, LEFT));
    assert!(game(None, LEFT).1 != game(Some([0x34, 0x12]), LEFT).1);
    assert!(game(None, LEFT).0 != game(None, RIGHT).0);
}
