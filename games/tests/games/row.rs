//! The rows of the games: digests of their ROMs, and the tables of docs/games.md that are made from
//! the rows.

use std::fmt::Write;
use std::path::Path;

use gbxcule_games::{GAMES, Game};
use gbxcule_testkit::switch::hold_text;
use sha2::{Digest, Sha256};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/games.md");

fn digest(game: &Game) -> String {
    let rom = gbxcule_assembler::by_name(game.name).expect("every game is a built-in ROM");
    let hash = Sha256::digest(rom.bytes());
    hash.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[test]
fn roms_are_those_on_record() {
    let other = |game: &&Game| digest(game) != game.sha256;
    let wrong: Vec<String> = GAMES
        .iter()
        .filter(other)
        .map(|game| format!("{}: \"sha256\": \"{}\"", game.name, digest(game)))
        .collect();
    assert!(wrong.is_empty(), "on purpose? then game.json has\n{}", wrong.join("\n"));
}

/// Returns the path of a game's file as docs/games.md links it.
fn path(game: &Game, file: &str) -> String {
    format!("../games/{}/{file}", game.name.to_lowercase())
}

fn ids(game: &Game) -> String {
    let id = format!("`gbxcule/{}-v1`", game.title);
    match game.players {
        1 => id,
        _ => format!("{id}, alone; for two [PairEnv](link.md#pettingzoo)"),
    }
}

/// Returns tables, each with the mark before it.
fn tables() -> [(&'static str, String); 4] {
    let mut tables = [
        ("games", "| game | what it is | its difficulty | Gymnasium |\n|---|---|---|---|\n".into()),
        ("environments", String::from("| game | `actions` | frames of a step, pressed for |\n")),
        ("pictures", "| | |\n|---|---|\n".into()),
        ("variants", "| game | variants |\n|---|---|\n".into()),
    ];
    let [games, environments, pictures, variants] = tables.each_mut().map(|table| &mut table.1);
    environments.push_str("|---|---|---|\n");
    for game in GAMES {
        let name = game.name;
        let link = format!("[{name}]({})", path(game, "README.md"));
        let Game { kind, difficulty, actions, frames_per_step, .. } = game;
        let pressed = game.release_after_frames;
        let _ = writeln!(games, "| {link} | {kind} | {difficulty} | {} |", ids(game));
        let told = game.variants.iter().map(|(variant, what)| format!("`{variant}`: {what}"));
        if !game.variants.is_empty() {
            let _ = writeln!(variants, "| {name} | {} |", told.collect::<Vec<_>>().join("; "));
        }
        let _ = writeln!(environments, "| {name} | `{actions}` | {frames_per_step}, {pressed} |");
    }
    for pair in GAMES.chunks(2) {
        let cells =
            pair.iter().map(|game| format!(" ![{}]({}) |", game.name, path(game, "picture.png")));
        let _ = writeln!(pictures, "|{}", cells.collect::<String>());
    }
    tables
}

#[test]
fn the_page_has_a_row_and_a_picture_for_each_game() {
    let page = std::fs::read_to_string(PAGE).expect("docs/games.md");
    let mut expected = page.clone();
    for (name, table) in tables() {
        let (begin, end) = (format!("<!-- table: {name} -->\n"), "<!-- end -->");
        let (before, behind) = expected.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
        let (_, after) = behind.split_once(end).unwrap_or_else(|| panic!("no {end} after {begin}"));
        expected = format!("{before}{begin}{table}{end}{after}");
    }
    hold_text(Path::new(PAGE), &expected);
}

#[test]
fn every_game_has_its_files() {
    for game in GAMES {
        for file in ["README.md", "picture.png", "tests.rs"] {
            let folder = format!("{}/{}", env!("CARGO_MANIFEST_DIR"), game.name.to_lowercase());
            let path = std::path::Path::new(&folder).join(file);
            assert!(path.exists(), "{} is missing", path.display());
        }
    }
}
