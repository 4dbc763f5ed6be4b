//! Conditions of C++'s preprocessor: of `#if defined(__CUDA_ARCH__)` the branch of the host counts.

/// Words of code that needs the other threads of its block, or takes turns with others: a branch
/// for one thread alone doesn't stand for such a branch.
const TOGETHER: [&str; 9] = [
    "__threadfence",
    "atomic",
    "__sync",
    "__shfl",
    "__shared__",
    "__ballot",
    "__trap",
    "threadIdx",
    "cluster_",
];

/// The text with the host's branches of `#if defined(__CUDA_ARCH__)`.
pub(crate) fn host_branch(text: &str) -> Result<String, String> {
    if let Some(word) = TOGETHER.iter().find(|word| text.contains(**word)) {
        return Err(format!("`{word}`: threads are taken one by one here"));
    }
    let mut kept = String::new();
    // Of each open condition whether its branch counts; conditions in others count for nothing.
    let mut open: Vec<bool> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        let Some(directive) = trimmed.strip_prefix('#') else {
            if open.iter().all(|counts| *counts) {
                kept.push_str(line);
            }
            kept.push('\n');
            continue;
        };
        let words: Vec<&str> = directive
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '!'))
            .filter(|word| !word.is_empty())
            .collect();
        match words[..] {
            ["if", "defined", "__CUDA_ARCH__"] | ["ifdef", "__CUDA_ARCH__"] => open.push(false),
            ["if", "!defined", "__CUDA_ARCH__"] | ["ifndef", "__CUDA_ARCH__"] => open.push(true),
            ["else"] if !open.is_empty() => {
                let last = open.len() - 1;
                open[last] = !open[last];
            }
            ["endif"] if !open.is_empty() => _ = open.pop(),
            ["pragma", "unroll", ..] => {}
            _ => return Err(format!("`{trimmed}`")),
        }
        kept.push('\n');
    }
    if open.is_empty() { Ok(kept) } else { Err("`#if` without `#endif`".to_owned()) }
}
