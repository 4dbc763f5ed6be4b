//! Parts of docs/gradients.md that tests write, between `<!-- name: begin -->` and
//! `<!-- name: end -->`.

use std::path::Path;

/// Checks that a part of the document has a text, or writes the text there.
pub(crate) fn hold(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/gradients.md");
    let document = std::fs::read_to_string(&path).expect("docs/gradients.md");
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) = document.split_once(&begin).expect("the beginning of the part");
    let (found, after) = rest.split_once(&end).expect("the end of the part");
    if std::env::var_os("GBXCULE_WRITE_GRADIENTS").is_some() {
        let document = format!("{before}{begin}{text}{end}{after}");
        std::fs::write(&path, document).expect("docs/gradients.md is written");
    } else {
        assert_eq!(found, text, "{name}: run again with GBXCULE_WRITE_GRADIENTS=1");
    }
}
