//! ROMs that options of commands name.

use anyhow::Context;
use gbxcule_lab::artifact::RomImage;

/// Finds the ROM that an option names: a built-in one, else a file.
pub(crate) fn find(name_or_path: &str) -> anyhow::Result<RomImage> {
    RomImage::find(name_or_path).with_context(|| {
        let meant = gbxcule_assembler::meant_by(name_or_path);
        let meant = meant.map_or_else(String::new, |rom| format!(", such as {}", rom.name));
        format!("--rom takes a built-in ROM's name{meant} (see `gbxcule roms`), or a ROM file")
    })
}
