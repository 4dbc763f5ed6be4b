//! `gbxcule roms`.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use gbxcule_lab::artifact::write_whole;

use crate::print::say;

/// List the built-in ROMs, or write them as files
///
/// The ROMs are assembled from sources inside this program and have its licence; every command
/// takes them by name.
#[derive(Args)]
#[command(after_long_help = "EXAMPLE\n  gbxcule roms --out runs/roms")]
pub(crate) struct Roms {
    /// Write NAME.gb and NAME.sym of each ROM into this folder; by default the ROMs are only listed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Roms {
    pub(crate) fn run(self) -> anyhow::Result<bool> {
        let roms = || gbxcule_assembler::all().iter().chain(gbxcule_assembler::for_color());
        if let Some(folder) = &self.out {
            for rom in roms() {
                let file = |extension: &str| folder.join(format!("{}.{extension}", rom.name));
                let symbols = rom.rom().symbol_listing();
                write_whole(&file("gb"), rom.bytes())
                    .and_then(|()| write_whole(&file("sym"), symbols.as_bytes()))
                    .with_context(|| format!("writing {}", rom.name))?;
            }
        }
        for rom in roms() {
            say!("{:22} {}", rom.name, rom.purpose);
            say!("{:22}   leaves {}", "", rom.signature);
        }
        if let Some(folder) = self.out {
            say!("written to {}", folder.display());
        }
        Ok(true)
    }
}
