//! Launches that programs made under `python -m gbxcule.warp --record FOLDER`, found by the place
//! of their kernel.

use gbxcule_rows::error::SynthError;
use gbxcule_rows::harvested::{RecordedFrom, RecordedLaunch};
use serde::Deserialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Greatest number of bytes of a file of recorded launches.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// Recorded launches of the kernels below a folder.
#[derive(Default)]
pub struct Recordings {
    /// Files with launches of the kernel at a file, a line, and with a name.
    files: HashMap<(PathBuf, usize, String), Vec<PathBuf>>,
    /// True if recorded inputs are taken before inputs are drawn.
    pub(crate) is_first: bool,
}

/// The beginning of a recorded line, before the inputs.
#[derive(Deserialize)]
struct Head {
    file: PathBuf,
    line: usize,
    kernel: String,
    program: PathBuf,
    launch: u64,
    refused: Option<String>,
}

/// A launch, or the reason why the program did not record its inputs.
pub(crate) type Recorded = (RecordedFrom, Result<RecordedLaunch, String>);

impl Recordings {
    /// Lists the launches in a folder's files; with `is_first` they are taken before inputs are
    /// drawn.
    ///
    /// # Errors
    /// The folder has no recorded launch, or a file that is something else.
    pub fn below(folder: &Path, is_first: bool) -> Result<Self, SynthError> {
        let mut made = Self { is_first, ..Self::default() };
        let entries = std::fs::read_dir(folder).map_err(SynthError::file(folder))?;
        let mut paths = Vec::new();
        for entry in entries {
            paths.push(entry.map_err(SynthError::file(folder))?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|it| it == "jsonl"));
        paths.sort();
        for path in paths {
            let text = text(&path)?;
            let first = text.lines().next().unwrap_or_default();
            let head: Head = parsed(&path, first)?;
            let key = (head.file, head.line, head.kernel);
            made.files.entry(key).or_default().push(path);
        }
        if made.files.is_empty() {
            let reason = "it has no recorded launches: `python -m gbxcule.warp --record FOLDER PROGRAM` writes them";
            return Err(SynthError::data(folder, reason));
        }
        Ok(made)
    }

    /// Reads the launches of a kernel.
    pub(crate) fn of(
        &self,
        folder: &Path,
        (file, line, name): (&Path, usize, &str),
    ) -> Result<Vec<Recorded>, SynthError> {
        let file = file.canonicalize().map_err(SynthError::file(file))?;
        let folder = folder.canonicalize().map_err(SynthError::file(folder))?;
        let mut launches = Vec::new();
        for path in self.files.get(&(file, line, name.to_owned())).into_iter().flatten() {
            for line in text(path)?.lines() {
                let head: Head = parsed(path, line)?;
                let program = match head.program.strip_prefix(&folder) {
                    Ok(below) => below.display().to_string(),
                    Err(_) => head
                        .program
                        .file_name()
                        .map_or(String::new(), |it| it.to_string_lossy().into_owned()),
                };
                let from = RecordedFrom { program, launch: head.launch };
                let launch = match head.refused {
                    Some(reason) => Err(reason),
                    None => Ok(parsed(path, line)?),
                };
                launches.push((from, launch));
            }
        }
        Ok(launches)
    }
}

fn text(path: &Path) -> Result<String, SynthError> {
    gbxcule_files::read_text(path, MAX_FILE_BYTES).map_err(SynthError::file(path))
}

fn parsed<'a, T: Deserialize<'a>>(path: &Path, line: &'a str) -> Result<T, SynthError> {
    serde_json::from_str(line).map_err(|error| {
        let reason =
            format!("it is no file of recorded launches ({error}): record the program again");
        SynthError::data(path, reason)
    })
}
