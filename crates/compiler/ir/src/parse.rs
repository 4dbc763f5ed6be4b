//! Reads the text that [`print`](crate::print) writes, and makes a module of it.
//!
//! `parse::module` is for IR from an unknown source, such as a language model's answer. Every text
//! ends as a module that [`check`](crate::check) has yet to accept, or as a [`ParseError`] with
//! line and column. A printed module, parsed and printed again, gives the same text.
//!
//! The printed form leaves some things out, which a parsed module lacks: spans, tables' bytes (a
//! text with a table is refused), gradients written by hand, advice on inlining. Functions with the
//! same name are told apart by the types of their parameters.

mod function;
mod literal;
mod operation;
mod token;
mod ty;

use crate::function::{FunctionId, FunctionKind};
use crate::module::Module;
use crate::ty::Type;
use function::{FunctionParser, Head};
use rustc_hash::FxHashMap;
use std::fmt;
use token::{Token, Tokens};

/// Greatest depth of nested blocks, and of nested types.
const MAX_DEPTH: usize = 200;

/// Error of a text that is not IR.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of what was found and what is allowed.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

type Result<T> = std::result::Result<T, ParseError>;

/// Parses a module.
///
/// # Errors
/// The first thing in the text that the printer would not have written.
pub fn module(text: &str) -> Result<Module> {
    let mut parser = Parser {
        tokens: Tokens::of(text)?,
        structs: FxHashMap::default(),
        functions: FxHashMap::default(),
    };
    let mut module = Module::new("kernel");
    // Functions call others that stand after them, so all signatures are read first.
    let mut declared = Vec::new();
    while parser.item(&mut module, &mut declared)? {}
    for head in declared {
        parser.tokens.go_to(head.body);
        FunctionParser::new(&mut parser, &mut module, &head)?.body()?;
    }
    Ok(module)
}

/// A text that is being parsed.
struct Parser<'t> {
    tokens: Tokens<'t>,
    structs: FxHashMap<&'t str, Type>,
    functions: FxHashMap<&'t str, Vec<FunctionId>>,
}

impl<'t> Parser<'t> {
    /// Reads one struct, or the head of a function, and skips the function's body. Returns false at
    /// the end.
    fn item(&mut self, module: &mut Module, declared: &mut Vec<Head<'t>>) -> Result<bool> {
        self.tokens.skip_lines();
        match self.tokens.peek() {
            Token::End => return Ok(false),
            Token::Word("struct") => self.structure(&mut module.types)?,
            Token::Word("kernel") => self.declaration(FunctionKind::Kernel, module, declared)?,
            Token::Word("func") => self.declaration(FunctionKind::Callable, module, declared)?,
            Token::Word("table") => {
                return Err(self.tokens.error("the bytes of a table aren't part of printed IR"));
            }
            other => {
                let message = format!("expected `struct`, `func` or `kernel`, found {other}");
                return Err(self.tokens.error(message));
            }
        }
        Ok(true)
    }

    fn declaration(
        &mut self,
        kind: FunctionKind,
        module: &mut Module,
        declared: &mut Vec<Head<'t>>,
    ) -> Result<()> {
        let head = function::head(self, module, kind)?;
        self.functions.entry(head.name).or_default().push(head.function);
        declared.push(head);
        self.tokens.skip_body()
    }
}
