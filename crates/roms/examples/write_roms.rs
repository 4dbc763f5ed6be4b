//! Writes every built-in ROM and its symbols into a folder:
//! `cargo run -p gbxcule-roms --example write_roms -- DIR`.

use std::path::Path;
use std::{env, fs, io, process};

fn main() -> io::Result<()> {
    let Some(folder) = env::args().nth(1) else {
        eprintln!("usage: write_roms DIR");
        process::exit(2);
    };
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    for entry in gbxcule_roms::all() {
        fs::write(folder.join(format!("{}.gb", entry.name)), entry.bytes())?;
        fs::write(folder.join(format!("{}.sym", entry.name)), entry.rom().symbol_listing())?;
        println!("{:20} {} bytes", entry.name, entry.bytes().len());
    }
    Ok(())
}
