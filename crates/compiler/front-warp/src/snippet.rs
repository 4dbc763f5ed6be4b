//! Native snippets: the C++ text of `@wp.func_native`, read into a small tree.
//!
//! Only a part of C++ is read: numbers, vectors, variables, conditions, loops, elements of arrays.
//! Everything else is refused by name, so nothing is taken that could mean something else. Of
//! `#if defined(__CUDA_ARCH__)` the branch of the host counts, for all devices. `lower::snippet`
//! makes IR of the tree.

mod parser;
mod token;

use gbxcule_ir::op::{BinaryOp, CompareOp};
use gbxcule_ir::ty::Scalar;

/// Reads a snippet's text.
///
/// # Errors
/// The text has something that isn't read; the message quotes it.
pub(super) fn read(text: &str) -> Result<Vec<Stmt>, String> {
    parser::parse(&token::tokens(&host_branch(text)?)?)
}

/// A type that a snippet names.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum SnippetType {
    /// `auto`
    Auto,
    Scalar(Scalar),
    /// `wp::vec_t<3, wp::float32>`
    Vector(u16, Scalar),
    /// `wp::mat_t<2, 2, wp::float32>`
    Matrix(u16, u16, Scalar),
}

/// A statement.
#[derive(Debug)]
pub(super) enum Stmt {
    Block(Vec<Stmt>),
    /// `int a = 1;`
    Declare(SnippetType, String, Option<Expr>),
    /// `a = b`, `a += b`
    Assign(Expr, Option<BinaryOp>, Expr),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// The condition, the body, and what follows each round.
    While(Option<Expr>, Box<Stmt>, Option<Box<Stmt>>),
    Return(Option<Expr>),
    Break,
    /// An expression whose value is dropped.
    Drop(Expr),
}

/// An expression.
#[derive(Debug)]
pub(super) enum Expr {
    Bool(bool),
    Int(Scalar, i128),
    Float(Scalar, f64),
    Name(String),
    Element(Box<Expr>, Box<Expr>),
    Member(Box<Expr>, String),
    /// A function by its name without `wp::`.
    Call(String, Vec<Expr>),
    /// `(float)x`, `wp::vec3(x, y, z)`
    Make(SnippetType, Vec<Expr>),
    /// `reinterpret_cast<float&>(x)`
    Bits(Scalar, Box<Expr>),
    Negate(Box<Expr>),
    /// `!x`
    Not(Box<Expr>),
    /// `~x`
    Invert(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    /// `&&`, or `||` if it is false.
    Both(bool, Box<Expr>, Box<Expr>),
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// Words of code that needs the other threads of its block, or takes turns with others: a branch
/// for one thread alone doesn't stand for such a branch.
const TOGETHER: [&str; 10] = [
    "__threadfence",
    "atomic",
    "__sync",
    "__shfl",
    "__shared__",
    "__ballot",
    "__trap",
    "threadIdx",
    "WP_TILE_SYNC",
    "cluster_",
];

/// The text with the host's branches of `#if defined(__CUDA_ARCH__)`.
fn host_branch(text: &str) -> Result<String, String> {
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

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn the_branch_of_the_host_counts() {
        let text =
            "\n#if defined(__CUDA_ARCH__)\nreturn __frsqrt_rn(x);\n#else\nreturn x;\n#endif\n";
        assert_eq!(format!("{:?}", read(text)), "Ok([Return(Some(Name(\"x\")))])");
        let text = "#ifndef __CUDA_ARCH__\nreturn x;\n#endif";
        assert_eq!(format!("{:?}", read(text)), "Ok([Return(Some(Name(\"x\")))])");
    }

    #[test]
    fn what_is_not_read_is_named() {
        for (text, what) in [
            ("#if N > 3\n#endif", "`#if N > 3`"),
            ("__syncthreads();", "`__sync`: threads are taken one by one here"),
            (
                "#ifdef __CUDA_ARCH__\natomicAdd(c, 1);\n#else\nc[0] += 1;\n#endif",
                "`atomic`: threads are taken one by one here",
            ),
            ("*(int*)p = 3;", "`*` before a value"),
            ("asm(\"nop\");", "`\"`"),
            ("using T = int;", "`using`"),
            ("return wp::spam::egg(x);", "`wp::spam::egg`"),
            ("return x", "the end, where `;` is meant"),
            ("x = 1.0h;", "`1.0h`"),
            ("return {};", "`{`, where a value is meant"),
        ] {
            assert_eq!(read(text).err().as_deref(), Some(what), "{text}");
        }
        assert!(read(&"(".repeat(100_000)).is_err());
        assert!(read(&"{".repeat(100_000)).is_err());
        assert!(read(&format!("x = {};", "-".repeat(100_000))).is_err());
        assert!(read(&format!("x = {}1;", "1+".repeat(100_000))).is_err());
    }
}
