//! PEARL_DRIFT's pictures, every line of them: the sea with its three scrolls and the bar below,
//! compared with a drawing of our own from the contents of video memory. Pixels that objects cover
//! are left out.

use crate::chance::random_buttons;
use crate::console::{Console, DOWN, LEFT, RIGHT, START, UP};

const GAME_OVER: u16 = 0xC003;
const SYMBOLS: [&str; 2] = ["HillScroll", "BedScroll"];
const HILLS_LINE: usize = 12;
const BED_LINE: usize = 84;
/// The first line below which the picture is only sand, also while the screen shakes.
const SAND_LINE: usize = 122;
const BAR_LINE: usize = 128;
const SAND: u8 = 2;
const WIDTH: usize = 160;

/// Returns rows of shades as a map's entries show their tiles, twice around.
fn drawn_map(tiles: &[u8], map: &[u8]) -> Vec<Vec<u8>> {
    let row = |line: usize| {
        let row: Vec<u8> = map[line / 8 * 32..][..32]
            .iter()
            .flat_map(|entry| {
                let row = &tiles[usize::from(*entry) * 16 + line % 8 * 2..];
                let (low, high) = (row[0], row[1]);
                (0..8).rev().map(move |bit| low >> bit & 1 | (high >> bit & 1) << 1)
            })
            .collect();
        [row.clone(), row].concat()
    };
    (0..map.len() / 4).map(row).collect()
}

/// Returns the pixels of a line that lie under an object's square.
fn covered(objects: &[u8], line: usize) -> Option<[bool; WIDTH]> {
    let mut under = None;
    for object in objects.chunks(4) {
        let (top, left) = (i32::from(object[0]) - 16, i32::from(object[1]) - 8);
        if (top..top + 16).contains(&(line as i32)) {
            let under = under.get_or_insert([false; WIDTH]);
            for x in left.max(0)..(left + 8).min(WIDTH as i32) {
                under[x as usize] = true;
            }
        }
    }
    under
}

fn is_drawn(shown: &[u8], wanted: &[u8], under: Option<[bool; WIDTH]>) -> bool {
    match under {
        None => shown == wanted,
        Some(under) => (0..WIDTH).all(|x| under[x] || shown[x] == wanted[x]),
    }
}

/// Registers and positions at the beginning of a picture.
struct Registers {
    scx: u8,
    scy: u8,
    scrolls: [u8; 2],
    objects: Vec<u8>,
}

impl Registers {
    fn of(console: &Console, places: [u16; 2]) -> Registers {
        Registers {
            scx: console.peek(0xFF43),
            scy: console.peek(0xFF42),
            scrolls: places.map(|place| console.peek(place)),
            objects: console.range(0xFE00, 0xFEA0),
        }
    }
}

/// Returns the scrolls that a line may have: the game computes the scrolls of the hills and of the
/// bed while the picture begins.
fn scrolls(line: usize, before: &Registers, after: &Registers) -> Vec<u8> {
    let near = |which: usize| {
        let (from, to) = (before.scrolls[which], after.scrolls[which]);
        [0, 1, 2].map(|ahead| from.wrapping_add(ahead)).into_iter().chain([to, to.wrapping_sub(1)])
    };
    match line {
        0..HILLS_LINE => vec![before.scx],
        HILLS_LINE => near(0).chain([before.scx]).collect(),
        BED_LINE => near(0).chain(near(1)).collect(),
        _ if line < BED_LINE => near(0).collect(),
        _ => near(1).collect(),
    }
}

/// Checks every line of every picture. The player presses random buttons, and START after the end
/// of each game.
#[test]
fn every_line_of_ten_thousand_pictures_is_drawn_where_it_belongs() {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game").rom();
    let places = SYMBOLS.map(|name| rom.address(name).expect("a label of the game"));
    let mut console = Console::with("PEARL_DRIFT");
    console.run(8);
    let tiles = console.range(0x8000, 0x9000);
    let sea = drawn_map(&tiles, &console.range(0x9800, 0x9A40));
    let (mut bar_map, mut bar) = (Vec::new(), Vec::new());
    let mut shaken = 0;
    let mut buttons = random_buttons(7, &[0, UP, DOWN, LEFT, RIGHT]);
    for frame in 0..10_000 {
        if frame % 8 == 0 {
            let held = buttons();
            let over = console.peek(GAME_OVER) == 1 && frame % 200 == 0;
            console.hold(if over { START } else { held });
        }
        let before = Registers::of(&console, places);
        let map = console.range(0x9C00, 0x9C40);
        if map != bar_map {
            (bar, bar_map) = (drawn_map(&tiles, &map), map);
        }
        console.run(1);
        let after = Registers::of(&console, places);
        let shades = console.shades();
        shaken += u32::from(before.scy != 0);
        for (line, shown) in shades.chunks(WIDTH).enumerate() {
            let under = covered(&before.objects, line);
            let is_right = if line >= BAR_LINE {
                is_drawn(shown, &bar[line - BAR_LINE][..WIDTH], under)
            } else {
                let row = &sea[line + usize::from(before.scy)];
                scrolls(line, &before, &after)
                    .into_iter()
                    .any(|scroll| is_drawn(shown, &row[usize::from(scroll)..][..WIDTH], under))
            };
            assert!(is_right, "line {line} of picture {frame}");
            if (SAND_LINE..BAR_LINE).contains(&line) {
                let sand = shown.iter().filter(|shade| **shade == SAND).count();
                assert!(sand > WIDTH / 2, "line {line} of picture {frame} is not sand");
            }
        }
    }
    assert!(shaken > 100, "the screen shook in {shaken} pictures");
}
