//! Finds code in CUDA answers that a host compiler accepts and a device can't run: exceptions,
//! run-time types, the standard library's functions for hosts, and kernels without `__global__`.
//! `compiled` checks an answer before it compiles CUDA as C++.

/// Keywords of C++ without a meaning on a device.
const WORDS: [&str; 5] = ["throw", "try", "catch", "dynamic_cast", "typeid"];

/// Names of the standard library that only the host has.
const HOST_NAMES: [&str; 39] = [
    "accumulate",
    "async",
    "basic_string",
    "cerr",
    "cout",
    "deque",
    "exception",
    "forward_list",
    "function",
    "future",
    "invalid_argument",
    "list",
    "logic_error",
    "make_shared",
    "make_unique",
    "map",
    "multimap",
    "multiset",
    "mutex",
    "ofstream",
    "ostringstream",
    "out_of_range",
    "priority_queue",
    "queue",
    "runtime_error",
    "set",
    "shared_ptr",
    "sort",
    "stable_sort",
    "stack",
    "string",
    "stringstream",
    "thread",
    "to_string",
    "unique_ptr",
    "unordered_map",
    "unordered_set",
    "valarray",
    "vector",
];

/// Returns the reason why a device can't run a text, if there is one; `symbol` names the text's
/// kernel.
pub(crate) fn refusal(text: &str, symbol: &str) -> Option<String> {
    let words = words(text);
    if let Some(word) = words.iter().find(|word| WORDS.contains(word)) {
        return Some(format!("error: a device has no `{word}`"));
    }
    let is_name_of_std = |at: usize| at >= 3 && words[at - 3..at] == ["std", ":", ":"];
    // After `using namespace std` a name needs no `std::`.
    let is_open = words.windows(2).any(|pair| pair[0] == "std" && pair[1] != ":");
    let host = |at: &usize| HOST_NAMES.contains(&words[*at]) && (is_open || is_name_of_std(*at));
    if let Some(at) = (0..words.len()).find(host) {
        return Some(format!("error: `std::{}` is the host's: a kernel can't use it", words[at]));
    }
    let mut places = words.iter().enumerate().filter(|(_, word)| **word == symbol).peekable();
    places.peek()?;
    let is_kernel = |(at, _): (usize, _)| {
        let before = words[..at].iter().rev().take_while(|word| !["{", "}", ";"].contains(word));
        before.into_iter().any(|word| *word == "__global__")
    };
    (!places.any(is_kernel)).then(|| format!("error: `{symbol}` is no kernel without `__global__`"))
}

/// Returns the names, numbers and signs of a text, without comments, strings and characters.
fn words(text: &str) -> Vec<&str> {
    let (mut words, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |at| at + 4)
        } else if first == '"' || first == '\'' {
            quoted(rest, first)
        } else if is_word(first) {
            // A number may have separators, as in 1'000.
            let is_part = |it: char| is_word(it) || it == '\'' && first.is_ascii_digit();
            rest.find(|it: char| !is_part(it)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let is_space = first.is_whitespace();
        let is_left_out = is_space || length > 1 && ['/', '"', '\''].contains(&first);
        if !is_left_out {
            words.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    words
}

/// Returns the length in bytes of a string or character literal, which ends at the latest at the
/// end of its line.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '\n' if !is_escaped => return at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if letter == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "extern \"C\" __global__ void __launch_bounds__(256) k(int n) { n; }\n";

    fn said(before: &str) -> String {
        refusal(&format!("{before}\n{KERNEL}"), "k").unwrap_or_default()
    }

    #[test]
    fn words_of_the_host_are_refused_and_the_same_words_elsewhere_are_not() {
        for (text, word) in [
            ("void f() { throw 1; }", "`throw`"),
            ("std::vector<float> v;", "`std::vector`"),
            ("using namespace std; vector<float> v;", "`std::vector`"),
            ("namespace s = std; s :: map<int, int> v;", "`std::map`"),
        ] {
            assert!(said(text).contains(word), "{text}: {}", said(text));
        }
        for text in [
            "// throw std::vector",
            "/* try */ const char* s = \"std::vector \\\" throw\"; char c = '\\'';",
            "int vector = 1'000'000, set = 'x'; float x = std::sqrt(2.0f) + std::min(1, 2);",
        ] {
            assert_eq!(said(text), "", "{text}");
        }
    }

    #[test]
    fn a_kernel_is_declared_as_one() {
        let is_refused = |text: &str| refusal(text, "k").is_some();
        assert!(!is_refused(KERNEL) && !is_refused("__global__ void k(int n);\nvoid k(int n) {}"));
        assert!(is_refused(&KERNEL.replace("__global__", "")));
        assert!(is_refused("__global__ void other() {}\nvoid k(int n) {}"));
        // A text without the kernel is refused by the compiler, with a better message.
        assert!(!is_refused("__global__ void other() {}"));
    }
}
