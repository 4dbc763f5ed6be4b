//! `gbxcule assemble`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use gbxcule_assembler::{Assembler, Folder};
use gbxcule_files::{MAX_TEXT_BYTES, is_same_file};
use gbxcule_lab::artifact::write_whole;

use crate::print::say;

/// Assemble your own game
///
/// Writes the cartridge and, beside it, its labels as a `.sym` file. A source may include the
/// `.inc` files of its own folder and those of the built-in games.
#[derive(Args)]
#[command(
    after_long_help = "EXAMPLE\n  gbxcule assemble examples/own_game/catch.asm --out runs/catch.gb"
)]
pub(crate) struct Assemble {
    /// The source in assembly language
    #[arg(value_name = "FILE")]
    source: PathBuf,
    /// File for the cartridge
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

impl Assemble {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let symbols = self.out.with_extension("sym");
        let replaces = |path: &Path| is_same_file(path, &self.source);
        ensure!(
            self.out != symbols && !replaces(&self.out) && !replaces(&symbols),
            "--out names the cartridge, such as game.gb: its labels go beside it, into a .sym file"
        );
        let text = read(&self.source)?;
        let name = self.source.display().to_string();
        let neighbours = Neighbours::of(&self.source)?;
        let assembler = gbxcule_assembler::includes().iter().fold(
            Assembler::new(&name, &text).with_folder(&neighbours),
            |assembler, (name, text)| assembler.with_include(name, text),
        );
        let rom = match assembler.rom() {
            Ok(rom) => rom,
            Err(errors) => bail!("{name} does not assemble:\n{errors}"),
        };
        write_whole(&self.out, &rom.bytes)
            .and_then(|()| write_whole(&symbols, rom.symbol_listing().as_bytes()))
            .with_context(|| format!("writing {}", self.out.display()))?;
        say!(
            "{} bytes in {}, labels in {}",
            rom.bytes.len(),
            self.out.display(),
            symbols.display()
        );
        Ok(true)
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    gbxcule_files::read_text(path, MAX_TEXT_BYTES)
        .with_context(|| format!("reading {}", path.display()))
}

/// The `.inc` files in the source's folder, which it may include.
#[derive(Debug)]
struct Neighbours {
    folder: PathBuf,
    names: Vec<String>,
}

impl Neighbours {
    fn of(source: &Path) -> anyhow::Result<Neighbours> {
        let folder = source.parent().filter(|folder| *folder != Path::new(""));
        let folder = folder.unwrap_or(Path::new(".")).to_path_buf();
        let reading = || format!("reading {}", folder.display());
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&folder).with_context(reading)? {
            let name = entry.with_context(reading)?.file_name();
            names.extend(name.to_str().filter(|name| name.ends_with(".inc")).map(String::from));
        }
        names.sort();
        Ok(Neighbours { folder, names })
    }
}

impl Folder for Neighbours {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn read(&self, name: &str) -> Result<String, String> {
        let text = gbxcule_files::read_text(&self.folder.join(name), MAX_TEXT_BYTES);
        text.map_err(|error| error.to_string())
    }
}
