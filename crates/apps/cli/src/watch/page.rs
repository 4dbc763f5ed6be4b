//! The page's files, embedded in the binary.

/// Returns the file of a path: its content type and its text.
pub(crate) fn file(path: &str) -> Option<(&'static str, &'static str)> {
    const HTML: &str = "text/html; charset=utf-8";
    const CSS: &str = "text/css; charset=utf-8";
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    Some(match path {
        "/" => (HTML, include_str!("page/index.html")),
        "/style.css" => (CSS, include_str!("page/style.css")),
        "/main.js" => (SCRIPT, include_str!("page/main.js")),
        "/charts.js" => (SCRIPT, include_str!("page/charts.js")),
        "/link.js" => (SCRIPT, include_str!("page/link.js")),
        "/screen.js" => (SCRIPT, include_str!("page/screen.js")),
        "/finder.js" => (SCRIPT, include_str!("page/finder.js")),
        "/memory.js" => (SCRIPT, include_str!("page/memory.js")),
        "/mosaic.js" => (SCRIPT, include_str!("page/mosaic.js")),
        "/machine.js" => (SCRIPT, include_str!("page/machine.js")),
        "/sound.js" => (SCRIPT, include_str!("page/sound.js")),
        "/buttons.js" => (SCRIPT, include_str!("page/buttons.js")),
        _ => return None,
    })
}
