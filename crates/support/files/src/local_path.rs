//! Distinguishes local paths from URLs. The system would take `s3://bucket/rows` for a folder `s3:`
//! in the working folder, and data that a job on a cluster writes to it would be lost with the
//! machine.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Refuses a URL, such as `s3://bucket/rows`, in the place of a path.
///
/// # Errors
/// The path begins with the scheme of a URL.
pub fn check_local(path: &Path) -> Result<()> {
    let text = path.to_string_lossy();
    if !is_url(&text) {
        return Ok(());
    }
    let message = format!(
        "`{text}` is a URL, and files are read and written by paths of this machine: name a folder and copy it with the \
         store's own program, or mount the store (docs/scale.md, \"Object stores\")"
    );
    Err(Error::new(ErrorKind::InvalidInput, message))
}

/// Returns true for a scheme, a colon and a slash. One slash is enough, because Python's `pathlib`
/// makes one of two; a single letter is a disk of Windows.
fn is_url(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(":/") else { return false };
    scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewFile, TemporaryFolder, check_writable, open, write_new};

    #[test]
    fn urls_are_no_paths_and_names_with_colons_are() {
        for url in
            ["s3://bucket/a", "gs:/bucket", "https://host/a.py", "file:///tmp/a", "abfs+x://a"]
        {
            assert!(check_local(Path::new(url)).is_err(), "{url}");
        }
        for path in ["a", "./s3://a", "runs/10:30/a", "C:/a", "a:b", "12:/a", ":/a", "/s3:/a"] {
            assert!(check_local(Path::new(path)).is_ok(), "{path}");
        }
    }

    #[test]
    fn nothing_is_read_or_made_at_a_url() {
        let url = Path::new("s3://bucket/rows");
        let refused = [
            open(url).map(drop),
            check_writable(url),
            NewFile::create(url).map(drop),
            NewFile::replacing(url, Path::new("a")).map(drop),
            write_new(url, "a", b"").map(drop),
            TemporaryFolder::inside(url).map(drop),
        ];
        for outcome in refused {
            assert!(outcome.expect_err("refused").to_string().contains("is a URL"));
        }
        assert!(!Path::new("s3:").exists());
    }
}
