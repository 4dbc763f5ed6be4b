//! Checks that the examples on a page give the output that the page shows.

use crate::switch::hold_text;
use std::path::Path;

/// Pairs of a path and a text.
pub type Files = Vec<(String, String)>;

/// Returns the expected text of a page. After each `python` block stands a `text` block with the
/// result of `said` for the block, unless the result is empty. A block with a path after `python`
/// is a file for the later blocks.
fn expected_page(page: &str, said: &dyn Fn(&str, &Files) -> String) -> String {
    let mut files = Files::new();
    let mut lines = page.lines().peekable();
    let mut out = String::new();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(path) = line.strip_prefix("```python") else { continue };
        let mut code = String::new();
        for line in lines.by_ref() {
            out.push_str(line);
            out.push('\n');
            if line == "```" {
                break;
            }
            code.push_str(line);
            code.push('\n');
        }
        if let Some(path) = path.strip_prefix(' ') {
            files.push((path.to_owned(), code));
            continue;
        }
        let message = said(&code, &files);
        if lines.peek() == Some(&"```text") {
            while lines.next().is_some_and(|line| line != "```") {}
            assert!(!message.is_empty(), "this should be refused, but is taken:\n{code}");
            out.push_str(&format!("```text\n{}\n```\n", message.trim_end()));
        } else {
            assert!(message.is_empty(), "this should be taken:\n{code}\n{message}");
        }
    }
    out
}

/// Compares a page with the results of its examples; `GBXCULE_BLESS=1` writes the page anew.
pub fn check_page(path: &Path, said: &dyn Fn(&str, &Files) -> String) {
    let page = std::fs::read_to_string(path).expect("a page");
    let wanted = expected_page(&page, said);
    hold_text(path, &wanted);
}
