//! Reads the text of a program at a path. `gbxcule compile`, Python's `from_file`, the programs
//! of swarms, surveys, and all imports read files in this way.
//!
//! A text may come from any source, and messages quote texts. So only regular files of a limited
//! size are read, and only if they lie, with links resolved, in the program's own folder or below
//! it, or below a folder that the user named. The own folder of a program in a package is the
//! folder around the outermost package.

use gbxcule_ir::source::FileText;
use std::path::{Path, PathBuf};

/// Size of the largest file in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// Greatest number of folders above the file at which a package may begin.
const MAX_PACKAGE_DEPTH: usize = 32;

/// Reason for which a file isn't read.
#[derive(thiserror::Error, Debug)]
pub enum ReadError {
    /// The system refused to open or read the file.
    #[error("{0}")]
    System(#[from] std::io::Error),
    /// The file is a folder, a pipe or a device, is too large, or is not UTF-8 text.
    #[error("{0}")]
    Unsuitable(std::io::Error),
    /// The path or a link leads out of the allowed folders.
    #[error("it leads out of `{}`", .0.display())]
    Outside(PathBuf),
}

/// Folders in which the files of a program may lie.
#[derive(Clone, Debug)]
pub struct ProgramFiles {
    /// Folders with links resolved, the program's own first.
    folders: Vec<PathBuf>,
}

impl ProgramFiles {
    /// Allows the files of a program, given by the path of its main file, which need not exist.
    pub fn of(file: &Path) -> Self {
        let folder = file.parent().unwrap_or(Path::new(""));
        Self::below(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
    }

    /// Allows the files below a folder. If the folder is in a package, allows the files below the
    /// folder around the outermost package.
    pub fn below(folder: &Path) -> Self {
        let Ok(mut outermost) = folder.canonicalize() else { return Self { folders: Vec::new() } };
        for _ in 0..MAX_PACKAGE_DEPTH {
            if !is_in_package(&outermost) || !outermost.pop() {
                break;
            }
        }
        Self { folders: vec![outermost] }
    }

    /// Allows the files below another folder as well.
    #[must_use]
    pub fn and_below(mut self, folder: &Path) -> Self {
        self.folders.extend(folder.canonicalize());
        self
    }

    /// Returns the text of a file.
    pub fn text(&self, path: &Path) -> Result<String, ReadError> {
        let real = path.canonicalize()?;
        if !self.folders.iter().any(|folder| real.starts_with(folder)) {
            return Err(ReadError::Outside(self.folders.first().cloned().unwrap_or_default()));
        }
        gbxcule_files::read_text(&real, MAX_BYTES).map_err(|error| {
            // An error without a number comes from the reader itself: the file exists.
            if error.raw_os_error().is_none() {
                ReadError::Unsuitable(error)
            } else {
                ReadError::System(error)
            }
        })
    }

    /// Finds a file that a program imports.
    pub fn find(&self, path: &Path) -> FileText {
        match self.text(path) {
            Ok(text) => FileText::Text(text),
            Err(ReadError::System(_)) => FileText::Nothing,
            Err(refused) => FileText::Refused(refused.to_string()),
        }
    }
}

/// Returns true if a folder is a package of Python, or lies in one: a folder without an
/// `__init__.py` belongs to the package around it.
pub fn is_in_package(folder: &Path) -> bool {
    let is_package = |folder: &Path| folder.join("__init__.py").is_file();
    is_package(folder) || folder.parent().is_some_and(is_package)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir, write};

    fn refused(files: &ProgramFiles, path: &Path) -> String {
        files.text(path).expect_err("refused").to_string()
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_nothing_outside_of_the_folder() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().expect("a folder");
        let (own, other) = (root.path().join("own"), root.path().join("other"));
        create_dir(&own).and_then(|()| create_dir(&other)).expect("folders");
        write(other.join("secret"), "root:x:0").expect("a file");
        write(own.join("near.py"), "A = 1\n").expect("a file");
        symlink(other.join("secret"), own.join("sh.py")).expect("a link");
        symlink(&other, own.join("pkg")).expect("a link");
        symlink("near.py", own.join("same.py")).expect("a link");
        let files = ProgramFiles::of(&own.join("k.py"));
        for path in ["sh.py", "pkg/secret", "../other/secret"] {
            let message = refused(&files, &own.join(path));
            assert!(message.starts_with("it leads out of"), "{path}: {message}");
        }
        assert_eq!(files.text(&own.join("same.py")).expect("inside"), "A = 1\n");
        let named = files.and_below(&other);
        assert_eq!(named.text(&own.join("sh.py")).expect("named"), "root:x:0");
    }

    #[test]
    fn a_program_in_a_package_may_use_what_lies_beside_the_package() {
        let root = tempfile::tempdir().expect("a folder");
        let inner = root.path().join("pkg/sub");
        std::fs::create_dir_all(&inner).expect("folders");
        write(root.path().join("near.py"), "A = 1\n").expect("a file");
        let own = inner.join("k.py");
        assert!(ProgramFiles::of(&own).text(&root.path().join("near.py")).is_err());
        for folder in ["pkg", "pkg/sub"] {
            write(root.path().join(folder).join("__init__.py"), "").expect("a file");
        }
        assert!(ProgramFiles::of(&own).text(&root.path().join("near.py")).is_ok());
    }

    #[test]
    fn only_texts_of_a_reasonable_size_are_read() {
        let root = tempfile::tempdir().expect("a folder");
        let files = ProgramFiles::of(&root.path().join("k.py"));
        write(root.path().join("big.py"), vec![b' '; MAX_BYTES as usize + 1]).expect("a file");
        write(root.path().join("bytes.py"), [0xff, 0xfe]).expect("a file");
        create_dir(root.path().join("folder.py")).expect("a folder");
        assert_eq!(
            refused(&files, &root.path().join("big.py")),
            "this has 4194305 bytes or more, and at most 4 MiB are read"
        );
        assert_eq!(refused(&files, &root.path().join("bytes.py")), "this is no UTF-8 text");
        assert_eq!(refused(&files, &root.path().join("folder.py")), "this is a folder, not a file");
        assert!(matches!(files.find(&root.path().join("none.py")), FileText::Nothing));
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_not_opened() {
        let files = ProgramFiles::below(Path::new("/dev"));
        let message = "this is a pipe, a socket or a device, not a file";
        assert_eq!(refused(&files, Path::new("/dev/zero")), message);
        let root = tempfile::tempdir().expect("a folder");
        let pipe = root.path().join("pipe.py");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo runs").success());
        assert_eq!(refused(&ProgramFiles::of(&pipe), &pipe), message);
    }
}
