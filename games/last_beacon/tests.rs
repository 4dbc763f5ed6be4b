//! Tests of what LAST_BEACON's page promises, and a scripted player that wins the game.

pub(crate) mod player;

use crate::chance::random_buttons;
use crate::console::{A, B, Begin, Console, DOWN, LEFT, RIGHT, START, UP, label};
use player::{
    BATTLE, CHARM, COINS, FLASK, FLASKS, FOE, GAME_OVER, HIT_POINTS, LEVEL, MAX_HITS, OVER, Player,
    ROOM, STATE, SWORD, TEXT, THINGS, WALKING,
};

const ROOMS_SEEN: u16 = 0xC009;
const GAMES: u16 = 0xC00F;
const LEARNED: u16 = 0xC012;
const EMBERS: u16 = 0xC025;
const BEST: u16 = 0xC026;

/// The key's number among the treasures.
const KEY: u16 = 6;

/// Puts treasure `number` of the ROM's list into the chest of the same number.
fn put_treasure(player: &mut Player, number: u16) {
    player.console.poke(label("LAST_BEACON", "Treasures") + number, number as u8);
}

fn score(console: &Console) -> u16 {
    console.word(0xC000)
}

/// Returns a function that draws buttons by the seed, all but START and SELECT.
fn random(seed: u32) -> impl FnMut() -> u8 {
    random_buttons(seed, &[A, A, B, UP, DOWN, LEFT, RIGHT, UP])
}

fn play_randomly(player: &mut Player, seed: u32, presses: u32) {
    let mut decide = random(seed);
    for _ in 0..presses {
        if player.peek(GAME_OVER) == 1 {
            return;
        }
        let button = decide();
        player.press(button, 8, 4);
    }
}

#[test]
fn the_title_waits_for_start() {
    let mut console = Console::with("LAST_BEACON");
    console.run(200);
    assert_eq!(console.peek_all([STATE, GAMES, HIT_POINTS]), [0, 0, 0]);
    console.hold(START);
    console.run(60);
    let begun = console.peek_all([STATE, GAMES, HIT_POINTS, GAME_OVER, ROOM]);
    assert_eq!(begun, [WALKING, 1, 20, 0, 9]);
}

#[test]
fn a_player_who_grows_first_brings_the_embers_home_and_wins() {
    let mut player = Player::starting_at(60);
    player.win();
    assert_eq!([STATE, GAME_OVER].map(|address| player.peek(address)), [OVER, 1]);
    assert_eq!((player.peek(THINGS), player.peek(EMBERS)), (0xFF, 3), "things and embers");
    let rooms = u16::from(player.peek(ROOMS_SEEN));
    let chests = 8;
    let learned = player.console.word(LEARNED);
    assert_eq!(score(&player.console), learned + 5 * rooms + 10 * chests + 400 + 500);
    assert!((1000..5000).contains(&player.presses), "{} presses", player.presses);

    let won = score(&player.console);
    player.press(START, 8, 60);
    assert_eq!([STATE, GAMES, GAME_OVER].map(|address| player.peek(address)), [WALKING, 2, 0]);
    assert_eq!((score(&player.console), player.console.word(BEST)), (5, won));
    assert_eq!(player.peek(THINGS), 0);
}

#[test]
fn a_beginner_who_goes_to_the_crypt_at_once_loses() {
    let mut player = Player::starting_at(60);
    put_treasure(&mut player, KEY);
    player.finish((14, 1, 2));
    player.finish((11, 4, 4));
    player.finish((19, 8, 4));
    assert_eq!([STATE, GAME_OVER, HIT_POINTS].map(|address| player.peek(address)), [OVER, 1, 0]);
    let last = score(&player.console);
    player.press(A, 8, 100);
    player.press(B, 8, 100);
    assert_eq!((player.peek(STATE), score(&player.console)), (OVER, last), "waits for START");
    player.press(START, 8, 60);
    assert_eq!([STATE, GAMES, HIT_POINTS].map(|address| player.peek(address)), [WALKING, 2, 20]);
}

#[test]
fn a_hero_who_stands_still_is_left_alone() {
    let mut player = Player::starting_at(60);
    player.console.run(2000);
    assert_eq!((player.peek(STATE), player.peek(HIT_POINTS), score(&player.console)), (1, 20, 5));
}

#[test]
fn the_same_buttons_give_the_same_game_and_others_another() {
    let after = |frame, seed| {
        let mut player = Player::starting_at(frame);
        player.walk_to(&[(5, 5, 1)]);
        play_randomly(&mut player, seed, 150);
        player.console.range(0xC000, 0xC040)
    };
    assert_eq!(after(60, 1), after(60, 1));
    assert_ne!(after(60, 1), after(60, 2));
    assert_ne!(after(60, 1), after(61, 1), "time on the title stirs chance");
}

#[test]
fn random_play_earns_a_small_part_of_what_winning_does() {
    let mut best = 0;
    for seed in 0..4 {
        let mut player = Player::starting_at(60);
        play_randomly(&mut player, seed, 1000);
        best = best.max(score(&player.console));
    }
    assert!((5..400).contains(&best), "{best}");
}

#[test]
fn the_cave_in_the_sea_wants_a_lantern_and_the_tower_three_embers() {
    let mut player = Player::starting_at(60);
    player.walk_to(&[(12, 3, 3)]);
    player.press(UP, 8, 30);
    assert_eq!((player.peek(STATE), player.peek(ROOM)), (TEXT, 12), "too dark");
    player.settle();
    assert_eq!(player.place(), (12, 3, 2));
    let mut player = Player::starting_at(60);
    player.train(5);
    player.rest();
    player.finish((3, 5, 3));
    player.press(UP, 8, 16);
    assert_eq!(player.place(), (3, 5, 4), "the gate is shut");
}

#[test]
fn the_trader_takes_coins_and_no_credit() {
    let mut player = Player::starting_at(60);
    for (coins, flasks) in [(12, 2), (4, 3), (4, 3)] {
        player.buy(FLASK);
        assert_eq!((player.console.word(COINS), player.peek(FLASKS)), (coins, flasks));
    }
    player.buy(SWORD);
    assert_eq!((player.console.word(COINS), player.peek(THINGS)), (4, 0));
}

#[test]
fn a_charm_that_gives_nothing_costs_nothing() {
    let mut player = Player::starting_at(60);
    for (hits, after, coins) in [(20, 25, 140), (96, 99, 140), (99, 99, 200)] {
        player.console.poke_word(COINS, 200);
        player.console.poke(MAX_HITS, hits);
        player.buy(CHARM);
        assert_eq!((player.peek(MAX_HITS), player.console.word(COINS)), (after, coins));
    }
}

#[test]
fn a_hero_has_999_coins_at_most() {
    let mut beside = Player::starting_at(60);
    beside.walk_to(&[(4, 2, 5), (4, 4, 5), (4, 3, 4), (4, 3, 6)]);
    for (before, after) in [(200, 225), (980, 999), (999, 999)] {
        let mut player = beside.clone();
        player.console.poke_word(COINS, before);
        put_treasure(&mut player, 3);
        player.finish((4, 3, 5));
        assert_eq!(player.console.word(COINS), after, "from {before}");
    }
}

#[test]
fn a_level_brings_hit_points() {
    let mut player = Player::starting_at(60);
    player.train(2);
    assert_eq!((player.peek(LEVEL), player.peek(MAX_HITS), player.peek(HIT_POINTS)), (2, 26, 26));
    assert!(player.console.word(LEARNED) >= 10);
}

#[test]
fn a_hero_can_run_from_a_beast() {
    let mut player = Player::starting_at(60);
    player.walk_to_grass();
    while player.peek(STATE) != BATTLE {
        player.press(LEFT, 8, 8);
        player.press(RIGHT, 8, 8);
    }
    player.console.run(200);
    let earned = score(&player.console);
    while player.peek(STATE) == BATTLE {
        player.press(UP, 2, 4);
        if player.peek(FOE) != 0 {
            player.press(A, 4, 60);
        }
        player.console.run(60);
    }
    assert_eq!((player.peek(STATE), player.peek(FOE)), (WALKING, 0));
    assert_eq!(score(&player.console), earned);
}

#[test]
fn the_title_a_room_and_a_battle_show_all_four_shades() {
    let mut player = Player::starting_at(60);
    let count = |console: &Console| {
        let shades = console.shades();
        (0..4).filter(|shade| shades.contains(shade)).count()
    };
    let mut title = Console::with("LAST_BEACON");
    title.run(60);
    assert_eq!((count(&title), count(&player.console)), (4, 4));
    player.walk_to_grass();
    while player.peek(STATE) != BATTLE {
        player.press(LEFT, 8, 8);
        player.press(RIGHT, 8, 8);
    }
    player.console.run(200);
    assert_eq!(count(&player.console), 4);
}

#[test]
fn twice_as_many_foes_come_in_the_wild_variant() {
    let presses = |begin| {
        let mut player = Player::beginning(Console::begun("LAST_BEACON", begin, 60));
        player.walk_to_grass();
        let before = player.presses;
        for _ in 0..40 {
            player.walk_to_grass();
            player.roam();
            player.console.poke(HIT_POINTS, 20);
        }
        player.presses - before
    };
    let (usual, wild) = (presses(Begin::Level(1)), presses(Begin::Variant(1, 4)));
    assert!(wild > usual, "{wild} presses in grass with more foes, {usual} else");
}
