//! Writes counts to files: `launches.tsv` has a line for each launch, `KERNEL.tsv` a line for each
//! instruction.

use super::count::Totals;
use super::module::Code;
use gbxcule_files::write_scratch;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// Writes the counts of a launch, and of all launches of its kernel so far.
pub fn write(
    folder: &Path,
    code: &Code,
    before: Totals,
    (blocks, threads): (u32, u32),
) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let (name, now) = (&code.program.kernel, code.counts.totals());
    let mut line = format!("{name}\t{blocks}\t{threads}");
    for count in now.since(before).0 {
        _ = write!(line, "\t{count}");
    }
    let path = folder.join("launches.tsv");
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    writeln!(file, "{line}")?;
    write_scratch(&folder.join(format!("{name}.tsv")), instructions(code).as_bytes())
}

/// Returns a line for each issued instruction: address, function, issues, lanes and text.
fn instructions(code: &Code) -> String {
    let mut out = String::new();
    let mut functions = code.program.functions.iter().peekable();
    let mut function = "";
    for (number, inst) in code.program.instructions.iter().enumerate() {
        while let Some((_, name)) = functions.next_if(|(at, _)| *at as usize <= number) {
            function = name;
        }
        let (issues, lanes) = code.counts.each[number];
        if issues != 0 {
            let (address, text) = (inst.address, &inst.text);
            _ = writeln!(out, "{address:x}\t{function}\t{issues}\t{lanes}\t{text}");
        }
    }
    out
}
