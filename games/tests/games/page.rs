//! The pages of the games: the addresses in them are those of the games' labels.

use std::collections::BTreeSet;

use gbxcule_games::GAMES;

fn page(path: &str) -> String {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the addresses of a cell such as `C000-C001` or `C002`.
fn range(cell: &str) -> Option<(u16, u16)> {
    let (first, last) = cell.split_once('-').unwrap_or((cell, cell));
    let number =
        |text: &str| (text.len() == 4).then(|| u16::from_str_radix(text, 16).ok()).flatten();
    Some((number(first)?, number(last)?))
}

/// Returns the ranges in the first cells of a page's tables.
fn ranges(page: &str) -> Vec<(u16, u16)> {
    let cell = |line: &str| range(line.strip_prefix("| ")?.split_once(" |")?.0);
    page.lines().filter_map(cell).collect()
}

/// Returns the addresses of a game's variables, and of the second byte where a game keeps its
/// progress in two bytes.
fn labels(name: &str) -> BTreeSet<u16> {
    let rom = gbxcule_assembler::by_name(name).unwrap_or_else(|| panic!("no ROM {name}")).rom();
    let places = rom.symbols.iter().map(|symbol| symbol.address);
    let halves = rom.address("Progress").map(|progress| progress + 1);
    places.chain(halves).filter(|place| (0xC000..0xE000).contains(place)).collect()
}

#[test]
fn addresses_on_the_pages_begin_and_end_with_a_variable() {
    let mut wrong = Vec::new();
    for name in GAMES.iter().map(|game| game.name) {
        let page = page(&format!("{}/README.md", name.to_lowercase()));
        let (ranges, labels) = (ranges(&page), labels(name));
        assert!(ranges.len() > 10, "{name} has {} rows", ranges.len());
        for (first, last) in ranges {
            if !labels.contains(&first) {
                wrong.push(format!("{name}: nothing begins at {first:04X}"));
            }
            // A variable ends before the next label, which follows at once or begins at an address
            // that 16 divides.
            let next = labels.range(last + 1..).next().copied().unwrap_or(0xE000);
            if next != last + 1 && next % 16 != 0 {
                wrong.push(format!("{name}: {first:04X}-{last:04X} ends within a variable"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_games_keep_what_they_share_at_the_same_places() {
    for (first, _) in ranges(&page("../docs/games.md")) {
        for name in GAMES.iter().map(|game| game.name) {
            assert!(labels(name).contains(&first), "{name} has nothing at {first:04X}");
        }
    }
}
