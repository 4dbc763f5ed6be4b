//! Faults of a dataset's folder that checks of single rows can't find: missing rows, unknown
//! columns and lines, and versions that this program can't check.

use crate::batch::{BLOCK_ROWS, MANIFEST, Manifest, read_file_brief};
use crate::data_file::{Format, declared_split, files, files_of};
use crate::error::SynthError;
use crate::jsonl;
use crate::row::{COMPILER_VERSION, GENERATOR_VERSION, Row};
use crate::table;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Describes the faults of a folder; `rows` are all its rows.
pub fn faults(folder: &Path, manifest: &Manifest, rows: &[Row]) -> Result<Vec<String>, SynthError> {
    let mut faults: Vec<String> = missing(manifest, rows).into_iter().collect();
    let Manifest { generator_version, compiler, .. } = manifest;
    if (*generator_version, compiler.as_str()) != (GENERATOR_VERSION, COMPILER_VERSION) {
        faults.push(format!(
            "{MANIFEST}: generator version {generator_version} of `{compiler}` made the rows, and this is version \
             {GENERATOR_VERSION} of `{COMPILER_VERSION}`: they can't be made again here; check them with the program that \
             made them"
        ));
    }
    let (format, paths) = files(folder)?;
    for path in &paths {
        let names = match format {
            Format::Parquet => table::foreign_columns(path)?,
            Format::Jsonl => jsonl::foreign_columns(path)?,
        };
        faults.extend(names.into_iter().map(|name| {
            let path = path.display();
            format!("{path}: rows have no column `{name}`, so nothing checks it: take it out")
        }));
    }
    faults.extend(misplaced(format, &paths)?);
    if format == Format::Parquet {
        faults.extend(foreign_lines(folder, &paths)?);
    }
    Ok(faults)
}

/// Describes the fault if rows of the manifest are missing. (If a row's number is too large, the
/// check `origin` fails.)
fn missing(manifest: &Manifest, rows: &[Row]) -> Option<String> {
    let numbers: BTreeSet<u64> = rows.iter().map(|row| row.id).collect();
    let (wanted, present) = (manifest.rows.unwrap_or(manifest.count), numbers.len() as u64);
    if present == wanted || present > wanted && manifest.rows.is_none() {
        return None;
    }
    let gap = (0..).zip(&numbers).find(|(wanted, number)| wanted != *number);
    let first = gap.map_or(present, |(wanted, _)| wanted);
    let others = match manifest.rows {
        Some(_) => String::new(),
        None => format!("; row {first} is the first that is missing"),
    };
    let remedy = match manifest.harvest.is_some() || manifest.rows.is_some() {
        true => "get the files as they were written".to_owned(),
        false => format!(
            "get the files that are missing, or make their blocks of {BLOCK_ROWS} rows by `{} --resume --out DIR`",
            manifest.command()
        ),
    };
    Some(format!(
        "{MANIFEST}: it declares {wanted} rows, and there are {present}{others}: {remedy}"
    ))
}

/// Describes files with a row of another split than the file's name declares: a user who loads a
/// split by its files' names could train on test rows.
fn misplaced(format: Format, paths: &[PathBuf]) -> Result<Vec<String>, SynthError> {
    let mut faults = Vec::new();
    for path in paths {
        let Some(split) = declared_split(path) else { continue };
        let rows = match format {
            Format::Parquet => table::read_splits(path)?,
            Format::Jsonl => read_file_brief(format, path)?,
        };
        if let Some(row) = rows.iter().find(|row| row.split != split) {
            let Row { id, split, .. } = row;
            faults.push(format!(
                "{}: row {id} is of the split `{split}`: move it into a file of that name",
                path.display()
            ));
        }
    }
    Ok(faults)
}

/// Describes files of JSON lines whose rows differ from those of the table beside them.
fn foreign_lines(folder: &Path, tables: &[PathBuf]) -> Result<Vec<String>, SynthError> {
    let mut faults = Vec::new();
    for path in files_of(folder, Format::Jsonl)? {
        let table = Path::new(Format::Parquet.folder()).join(path.file_name().unwrap_or_default());
        let table = folder.join(table).with_extension(Format::Parquet.extension());
        if !tables.contains(&table) {
            faults.push(format!(
                "{}: no Parquet file has these rows: remove the file",
                path.display()
            ));
        } else if !jsonl::holds(&path, &table::read_parquet(&table)?)? {
            faults.push(format!("{}: not the rows of the table beside it", path.display()));
        }
    }
    Ok(faults)
}
