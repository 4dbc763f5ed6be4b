//! Functions that look like kernels but have no decorator that the front end knows: their decorator
//! comes from a file that the front end doesn't follow, or makes kernels when Python runs it.

use gbxcule_rows::structure::{Token, tokens};
use std::collections::HashSet;

/// A function that calls `wp.tid` in its own body, or that its file launches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unmarked {
    pub(crate) name: String,
    /// Offset of the function's name in the text, in bytes.
    pub(crate) at: usize,
}

/// A function of a text, while its body is read.
struct Function<'a> {
    name: &'a str,
    at: usize,
    /// True if `wp.func` decorates the function, which makes no kernel of it.
    is_device_function: bool,
    calls_tid: bool,
}

/// Returns the functions of a text that call `wp.tid` or are launched; device functions are left
/// out.
pub(crate) fn likely_kernels(text: &str) -> Vec<Unmarked> {
    let tokens = tokens(text);
    let kinds: Vec<Token<'_>> = tokens.iter().map(|it| it.1).collect();
    let mut functions: Vec<Function<'_>> = Vec::new();
    // Margins of the blocks around a line, each with the function whose body the block is.
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    let mut is_device_function = false;
    let launched = launched(&kinds);
    for (number, &kind) in kinds.iter().enumerate() {
        if let Token::Line(margin) = kind {
            // A token `Line` also follows brackets that span lines, in the middle of a line.
            if !is_at_margin(text, tokens[number].0) {
                continue;
            }
            open.retain(|(outer, _)| *outer < margin);
            let rest = &kinds[number + 1..];
            match rest {
                [Token::Mark("@"), ..] => is_device_function |= is_func(rest),
                [Token::Name("def", false), Token::Name(name, false), ..] => {
                    let at = tokens[number + 2].0;
                    open.push((margin, Some(functions.len())));
                    functions.push(Function { name, at, is_device_function, calls_tid: false });
                    is_device_function = false;
                }
                _ => {
                    if matches!(rest, [Token::Name("class", false), ..]) {
                        open.push((margin, None));
                    }
                    is_device_function = false;
                }
            }
            continue;
        }
        let is_tid =
            matches!(kinds[..number], [.., Token::Name("wp" | "warp", false), Token::Mark(".")])
                && kind == Token::Name("tid", true);
        if let (true, Some(&(_, Some(function)))) = (is_tid, open.last()) {
            functions[function].calls_tid = true;
        }
    }
    let is_likely =
        |it: &&Function<'_>| (it.calls_tid || launched.contains(it.name)) && !it.is_device_function;
    let wanted = functions.iter().filter(is_likely);
    wanted.map(|it| Unmarked { name: it.name.to_owned(), at: it.at }).collect()
}

/// Returns the names of kernels that a text launches by `wp.launch(NAME, ..)` and similar calls.
fn launched<'a>(tokens: &[Token<'a>]) -> HashSet<&'a str> {
    let name = |six: &[Token<'a>]| match six {
        [
            Token::Name("wp" | "warp", false),
            Token::Mark("."),
            Token::Name(call, true),
            Token::Mark("("),
            Token::Name(name, false),
            Token::Mark(","),
        ] if call.starts_with("launch") => Some(*name),
        _ => None,
    };
    tokens.windows(6).filter_map(name).collect()
}

/// Returns true if nothing but white space stands before a byte in its line.
fn is_at_margin(text: &str, at: usize) -> bool {
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[begin..at].trim().is_empty()
}

/// Returns true for the decorator `@wp.func` or one of its forms.
fn is_func(decorator: &[Token<'_>]) -> bool {
    match decorator {
        [_, Token::Name(_, false), Token::Mark("."), Token::Name(name, true), ..]
        | [_, Token::Name(name, false), ..] => name.starts_with("func"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_may_be_kernels_are_found_where_they_stand() {
        let text = "import warp as wp\n\n@wp.func\ndef f(x: float):\n    return x + float(wp.tid())\n\n\
            def make(n):\n    @dynamic(n)\n    def inner(x: wp.array(dtype=float)):\n        i = wp.tid()\n        \
            x[i] = 1.0\n    y = n\n    return inner\n\nclass A:\n    @mark\n    @other.mark(a=1)\n    def k(\n        \
            x: int,\n    ):\n        if x > 0:\n            i, j = warp.tid()\n\ndef plain():\n    \"wp.tid()\"  # wp.tid()\n\n@mark\n\
            def one():\n    wp.expect_near(1.0, 1.0)\n\nwp.launch(one, dim=1)\n";
        let found = likely_kernels(text);
        let names: Vec<(&str, &str)> =
            found.iter().map(|it| (it.name.as_str(), &text[it.at..it.at + 3])).collect();
        assert_eq!(names, [("inner", "inn"), ("k", "k(\n"), ("one", "one")]);
    }
}
