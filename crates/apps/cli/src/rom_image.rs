//! Finds the ROMs that options name.

use anyhow::Context;
use gbxcule_lab::artifact::RomImage;
use gbxcule_swarm::Rom;

use crate::print;

/// Finds a ROM by a built-in name, else by the path of its file. Warns of a short file.
pub(crate) fn find(name_or_path: &str) -> anyhow::Result<RomImage> {
    let image = RomImage::find(name_or_path).with_context(|| {
        let meant = gbxcule_assembler::meant_by(name_or_path);
        let meant = meant.map_or_else(String::new, |rom| format!(", such as {}", rom.name));
        format!("--rom takes a built-in ROM's name{meant} (see `gbxcule roms`), or a ROM file")
    })?;
    if let Some(warning) = Rom::new(&image.bytes).ok().and_then(|rom| rom.warning()) {
        print::error(&format!("warning: {name_or_path}: {warning}\n"));
    }
    Ok(image)
}
