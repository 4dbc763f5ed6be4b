//! The line of a text that states its launch: `// launch: <<<(n + 255) / 256, 256>>>`.
//!
//! Grid, block and bytes of dynamic shared memory are integer expressions over the kernel's integer
//! parameters, with `+ - * / %`, brackets, `min` and `max`; grid and block may be a `dim3(x, y)` or
//! `dim3(x, y, z)` of such expressions.

use gbxcule_gpu_sim::sass::schedule::Extents;
use std::collections::BTreeMap;

/// Expressions of a launch, as a text states them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchLine {
    grid: String,
    block: String,
    shared: Option<String>,
}

/// Grid, block and bytes of dynamic shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stated {
    /// Blocks.
    pub blocks: Extents,
    /// Threads of a block.
    pub threads: Extents,
    /// Bytes of dynamic shared memory.
    pub shared_bytes: usize,
}

/// Greatest number of blocks of a launch.
const MAX_BLOCKS: i64 = 1 << 20;
/// Greatest number of bytes of a block's shared memory.
const MAX_SHARED_BYTES: i64 = 48 << 10;

impl LaunchLine {
    /// Finds the line in a text.
    pub fn find(text: &str) -> Option<Result<Self, String>> {
        let line = text.lines().find_map(|line| {
            let comment = line.trim_start().strip_prefix("//")?.trim_start();
            comment.strip_prefix("launch:")
        })?;
        let inside = line.trim().strip_prefix("<<<").and_then(|it| it.split_once(">>>"));
        let Some((inside, _)) = inside else {
            return Some(Err(format!(
                "`// launch:{line}`: write `// launch: <<<grid, block>>>` or `<<<grid, block, \
                 shared bytes>>>`"
            )));
        };
        let parts = split(inside);
        Some(match parts[..] {
            [grid, block] => Ok(Self { grid: grid.into(), block: block.into(), shared: None }),
            [grid, block, shared] => {
                Ok(Self { grid: grid.into(), block: block.into(), shared: Some(shared.into()) })
            }
            _ => Err(format!("`<<<{inside}>>>` has {} parts, 2 or 3 are allowed", parts.len())),
        })
    }

    /// Finds the line of one of several kernels, which lies between the preceding kernel's head and
    /// this kernel's head.
    pub fn of_kernel(text: &str, kernel: &str) -> Option<Result<Self, String>> {
        let heads: Vec<usize> = text.match_indices("__global__").map(|(at, _)| at).collect();
        let is_own = |head: &str| {
            let mut names = head.split(['{', ';']).next().unwrap_or("").split('(');
            names.any(|before| before.trim_end().rsplit([' ', '\n', '\t']).next() == Some(kernel))
        };
        let heads_of_kernel = (0..heads.len()).filter(|at| is_own(&text[heads[*at]..]));
        heads_of_kernel
            .filter_map(|at| {
                let from = at.checked_sub(1).map_or(0, |before| heads[before]);
                text[from..heads[at]].lines().rev().find_map(Self::find)
            })
            .next()
    }

    /// Computes the launch for values of the parameters.
    pub fn with(&self, names: &BTreeMap<String, i64>) -> Result<Stated, String> {
        let within = |what: &str, text: &str, least: i64, most: i64| {
            let value = evaluate(text, names)?;
            match (least..=most).contains(&value) {
                true => Ok(value),
                false => Err(format!("{what} is `{text}` = {value}, allowed is {least} to {most}")),
            }
        };
        let extents = |what: &str, text: &str, least: i64, most: i64| {
            let inside = text.strip_prefix("dim3").map(str::trim_start);
            let inside = inside.and_then(|it| it.strip_prefix('(')?.strip_suffix(')'));
            let parts = inside.map_or_else(|| vec![text], split);
            if parts.len() > 3 {
                return Err(format!("{what} is `{text}`, 1 to 3 extents are allowed"));
            }
            let mut extents = Extents([1; 3]);
            for (extent, part) in extents.0.iter_mut().zip(parts) {
                *extent = within(what, part, least, most)? as u32;
            }
            let count = extents.0.iter().map(|it| i64::from(*it)).product::<i64>();
            match count <= most {
                true => Ok(extents),
                false => Err(format!("{what} is `{text}` = {count}, allowed are {most}")),
            }
        };
        let shared = self.shared.as_deref();
        Ok(Stated {
            // A grid of 0 blocks is allowed and runs no thread.
            blocks: extents("the grid", &self.grid, 0, MAX_BLOCKS)?,
            threads: extents("the block", &self.block, 1, 1024)?,
            shared_bytes: shared
                .map_or(Ok(0), |text| within("the shared memory", text, 0, MAX_SHARED_BYTES))?
                as usize,
        })
    }
}

/// Splits a text at the commas outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}

/// Computes the value of an expression.
fn evaluate(text: &str, names: &BTreeMap<String, i64>) -> Result<i64, String> {
    let mut reader = Reader { unread: text, names, depth: 0 };
    let value = reader.sum()?;
    match reader.unread.trim() {
        "" => Ok(value),
        unread => Err(format!("`{text}`: `{unread}` is not understood")),
    }
}

struct Reader<'a> {
    unread: &'a str,
    names: &'a BTreeMap<String, i64>,
    depth: u32,
}

impl Reader<'_> {
    fn takes(&mut self, sign: char) -> bool {
        let text = self.unread.trim_start();
        let after_sign = text.strip_prefix(sign);
        self.unread = after_sign.unwrap_or(text);
        after_sign.is_some()
    }

    fn sum(&mut self) -> Result<i64, String> {
        let mut value = self.product()?;
        loop {
            let operation: fn(i64, i64) -> Option<i64> = match () {
                () if self.takes('+') => i64::checked_add,
                () if self.takes('-') => i64::checked_sub,
                () => return Ok(value),
            };
            value = operation(value, self.product()?).ok_or("a launch beyond 64 bits")?;
        }
    }

    fn product(&mut self) -> Result<i64, String> {
        let mut value = self.term()?;
        loop {
            let operation: fn(i64, i64) -> Option<i64> = match () {
                () if self.takes('*') => i64::checked_mul,
                () if self.takes('/') => i64::checked_div,
                () if self.takes('%') => i64::checked_rem,
                () => return Ok(value),
            };
            value = operation(value, self.term()?).ok_or("a quotient by 0 in the launch")?;
        }
    }

    fn term(&mut self) -> Result<i64, String> {
        self.depth += 1;
        if self.depth > 100 {
            return Err("a launch with more than 100 terms".into());
        }
        if self.takes('(') {
            return self.sum().and_then(|value| self.closed(value));
        }
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = self.unread.find(|letter| !is_part(letter)).unwrap_or(self.unread.len());
        let (word, unread) = self.unread.split_at(length);
        self.unread = unread;
        if let Ok(number) = word.parse() {
            return Ok(number);
        }
        if matches!(word, "min" | "max") && self.takes('(') {
            let first = self.sum()?;
            if !self.takes(',') {
                return Err(format!("`{word}` takes two numbers"));
            }
            let second = self.sum()?;
            let value = if word == "min" { first.min(second) } else { first.max(second) };
            return self.closed(value);
        }
        self.names.get(word).copied().ok_or_else(|| {
            let names: Vec<&str> = self.names.keys().map(String::as_str).collect();
            format!("the launch asks for `{word}`: known are {}", names.join(", "))
        })
    }

    fn closed(&mut self, value: i64) -> Result<i64, String> {
        if self.takes(')') { Ok(value) } else { Err("the launch lacks a `)`".into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(text: &str) -> Result<Stated, String> {
        let names = BTreeMap::from([("n".to_owned(), 1000), ("x_n1".to_owned(), 7)]);
        LaunchLine::find(text).expect("a line")?.with(&names)
    }

    #[test]
    fn a_launch_is_computed_of_the_parameters() {
        let all = |blocks, threads, shared_bytes| {
            let (blocks, threads) = (Extents::line(blocks), Extents::line(threads));
            Ok(Stated { blocks, threads, shared_bytes })
        };
        assert_eq!(stated("//launch: <<<(n + 255) / 256, 256>>>"), all(4, 256, 0));
        let line = "int x;\n  // launch: <<<min(n * x_n1, 65), max(x_n1, 32), 4 * 2 - 1>>>();\n";
        assert_eq!(stated(line), all(65, 32, 7));
        let line = "// launch: <<<dim3((n + 31) / 32, x_n1), dim3(32, 4, 2)>>>";
        let (blocks, threads) = (Extents([32, 7, 1]), Extents([32, 4, 2]));
        assert_eq!(stated(line), Ok(Stated { blocks, threads, shared_bytes: 0 }));
        assert!(LaunchLine::find("// launches: <<<1, 1>>>").is_none());
    }

    #[test]
    fn wrong_launch_lines_are_refused() {
        for (text, part) in [
            ("// launch: 1, 2", "write"),
            ("// launch: <<<1>>>", "1 parts"),
            ("// launch: <<<m, 1>>>", "known are n, x_n1"),
            ("// launch: <<<1, 2000>>>", "= 2000, allowed is 1 to 1024"),
            ("// launch: <<<1 / 0, 1>>>", "quotient by 0"),
            ("// launch: <<<(1, 1), 1>>>", "lacks"),
            ("// launch: <<<1, dim3(64, 32)>>>", "= 2048, allowed are 1024"),
            ("// launch: <<<1, dim3(1, 1, 1, 1)>>>", "1 to 3 extents"),
            ("// launch: <<<1 2, 1>>>", "not understood"),
        ] {
            let message = stated(text).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
