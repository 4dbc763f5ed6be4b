//! Conditions of C++'s preprocessor: only the host's branch of `#if defined(__CUDA_ARCH__)` is
//! read.

/// Words of code that works together with other threads. The host's branch is written for one
/// thread and can't replace such code.
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

/// Returns the text with only the host's branches of `#if defined(__CUDA_ARCH__)`.
pub(crate) fn host_branch(text: &str) -> Result<String, String> {
    if let Some(word) = TOGETHER.iter().find(|word| text.contains(**word)) {
        return Err(format!("`{word}`, which works together with other threads"));
    }
    let mut host_text = String::new();
    // For each open condition, true in the host's branch.
    let mut open: Vec<bool> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        let Some(directive) = trimmed.strip_prefix('#') else {
            if open.iter().all(|is_host| *is_host) {
                host_text.push_str(line);
            }
            host_text.push('\n');
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
        host_text.push('\n');
    }
    if open.is_empty() { Ok(host_text) } else { Err("`#if` without `#endif`".to_owned()) }
}
