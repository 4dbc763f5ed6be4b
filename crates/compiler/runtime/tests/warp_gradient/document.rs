//! Parts of docs/gradients.md that tests write, between `<!-- name: begin -->` and
//! `<!-- name: end -->`.

use gbxcule_testkit::switch::hold_text;
use std::path::Path;

/// Checks that a part of the document has a text, or writes the text there.
pub(crate) fn hold(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/gradients.md");
    let document = std::fs::read_to_string(&path).expect("docs/gradients.md");
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) = document.split_once(&begin).expect("the beginning of the part");
    let (_, after) = rest.split_once(&end).expect("the end of the part");
    hold_text(&path, &format!("{before}{begin}{text}{end}{after}"));
}
