//! Finds the scripted players, `player.rs` in the folders of the games, and writes them as modules
//! with a table.

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo names the crate"));
    let games = root.join("../../../games").canonicalize().expect("the folder of the games");
    println!("cargo::rerun-if-changed={}", games.display());
    let entries = fs::read_dir(&games).expect("the folder of the games");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.retain(|folder| folder.join("player.rs").exists());
    folders.sort();
    let (mut modules, mut table) = (String::new(), String::new());
    for folder in &folders {
        let name = folder.file_name().and_then(|name| name.to_str()).expect("names are ASCII");
        let _ = writeln!(
            modules,
            "#[path = {:?}]\n#[allow(dead_code, reason = \"the games' tests use more of it\")]\nmod {name};",
            folder.join("player.rs")
        );
        let _ = write!(table, "({:?}, player!({name})), ", name.to_uppercase());
    }
    let text = format!("{modules}\nconst PLAYERS: &[(&str, Player)] = &[{table}];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo names a folder"));
    fs::write(out.join("players.rs"), text).expect("Cargo's folder");
}
