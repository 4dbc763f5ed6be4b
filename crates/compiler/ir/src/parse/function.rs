//! Functions: the head, variables, and statements. Open blocks stand on a stack, so that no text
//! makes the parser recurse.

use super::token::Token;
use super::{MAX_DEPTH, Parser, Result};
use crate::build::Builder;
use crate::function::{FunctionId, FunctionKind, LocalId, Param, PassMode, Residency};
use crate::module::Module;
use crate::op::Value;
use crate::stmt::{BlockId, Case};
use crate::ty::Type;
use rustc_hash::FxHashMap;

/// A function that was declared, and the position at which its body begins.
pub(super) struct Head<'t> {
    pub(super) name: &'t str,
    pub(super) function: FunctionId,
    params: Vec<&'t str>,
    pub(super) body: usize,
}

/// Reads `kernel name(x: array<f32, 1>) apart(x, y) {`, and declares the kernel.
pub(super) fn head<'t>(
    parser: &mut Parser<'t>,
    module: &mut Module,
    kind: FunctionKind,
) -> Result<Head<'t>> {
    parser.tokens.next();
    let name = parser.tokens.word("a function's name")?;
    let (names, params) = parameters(parser, module)?;
    let result = if parser.tokens.takes("->") { parser.ty(&mut module.types)? } else { Type::UNIT };
    let (disjoint, residency) = attributes(parser, &names)?;
    let own = own_name(name, |base| parser.functions.contains_key(base));
    let function = module.declare(own, params, result);
    let declared = &mut module.functions[function];
    declared.kind = kind;
    declared.disjoint = disjoint;
    declared.residency = residency;
    Ok(Head { name, function, params: names, body: parser.tokens.position() })
}

/// Reads `(x: array<f32, 1>, y: mut u8)`: the names in the text, and the parameters.
fn parameters<'t>(
    parser: &mut Parser<'t>,
    module: &mut Module,
) -> Result<(Vec<&'t str>, Vec<Param>)> {
    let (mut names, mut params) = (Vec::new(), Vec::<Param>::new());
    parser.tokens.mark("(")?;
    while !parser.tokens.takes(")") {
        if !params.is_empty() {
            parser.tokens.mark(",")?;
        }
        let param = parser.tokens.word("a parameter's name")?;
        parser.tokens.mark(":")?;
        let mode = match parser.tokens.peek() {
            Token::Word("ref") => PassMode::Shared,
            Token::Word("mut") => PassMode::Mutable,
            _ => PassMode::Value,
        };
        if mode != PassMode::Value {
            parser.tokens.next();
        }
        let ty = parser.ty(&mut module.types)?;
        let base_name = own_name(param, |base| names.contains(&base));
        params.push(Param { mode, ..Param::value(base_name, ty) });
        names.push(param);
    }
    Ok((names, params))
}

/// Reads `apart(x, y) blocks(32, 12) {`: pairs of parameters that don't overlap, and residency.
fn attributes(parser: &mut Parser<'_>, names: &[&str]) -> Result<(Vec<(u32, u32)>, Residency)> {
    let position = |parser: &mut Parser<'_>| {
        let name = parser.tokens.word("a parameter")?;
        let position = names.iter().position(|&it| it == name);
        let position =
            position.ok_or_else(|| parser.tokens.error(format!("no parameter `{name}`")))?;
        Ok(position as u32)
    };
    let (mut disjoint, mut residency) = (Vec::new(), Residency::Free);
    while !parser.tokens.takes("{") {
        match parser.tokens.word("`{`")? {
            "apart" => {
                parser.tokens.mark("(")?;
                let one = position(parser)?;
                parser.tokens.mark(",")?;
                let other = position(parser)?;
                disjoint.push((one, other));
            }
            "blocks" => {
                parser.tokens.mark("(")?;
                let threads = parser.count("a number of threads")?;
                let together = match parser.tokens.takes(",") {
                    true => Some(parser.count("a number of blocks")?),
                    false => None,
                };
                residency = Residency::Blocks { threads, together };
            }
            "registers" => {
                parser.tokens.mark("(")?;
                residency = Residency::Registers(parser.count("a number of registers")?);
            }
            other => {
                let message = format!("expected `apart`, `blocks` or `registers`, found `{other}`");
                return Err(parser.tokens.error(message));
            }
        }
        parser.tokens.mark(")")?;
    }
    Ok((disjoint, residency))
}

/// Returns the name without the suffix by which the printer distinguishes it from an earlier
/// equal name.
fn own_name<'t>(name: &'t str, is_known: impl Fn(&'t str) -> bool) -> &'t str {
    match name.rsplit_once('.') {
        Some((base, number))
            if number.bytes().all(|digit| digit.is_ascii_digit()) && is_known(base) =>
        {
            base
        }
        _ => name,
    }
}

/// Meaning of a name in a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binding {
    Local(LocalId),
    Param(u32),
    Value(Value),
}

/// A statement of which some blocks are still open.
enum Open {
    Accept(Value),
    Reject(Value, BlockId),
    For {
        index: Value,
        range: [Value; 3],
    },
    Header,
    Body {
        header: BlockId,
        condition: Value,
    },
    /// A switch, with its finished cases and the labels of the open one: `None` before the first
    /// case, no labels for the default.
    Switch {
        selector: Value,
        cases: Vec<Case>,
        labels: Option<Vec<i64>>,
    },
}

/// A function that is being parsed.
pub(super) struct FunctionParser<'p, 'm, 't> {
    pub(super) parser: &'p mut Parser<'t>,
    pub(super) b: Builder<'m>,
    pub(super) names: FxHashMap<&'t str, Binding>,
    open: Vec<Open>,
}

impl<'p, 'm, 't> FunctionParser<'p, 'm, 't> {
    pub(super) fn new(
        parser: &'p mut Parser<'t>,
        module: &'m mut Module,
        head: &Head<'t>,
    ) -> Result<Self> {
        let mut names = FxHashMap::default();
        for (position, name) in (0..).zip(&head.params) {
            if names.insert(*name, Binding::Param(position)).is_some() {
                return Err(parser.tokens.error(format!("there are two parameters `{name}`")));
            }
        }
        Ok(Self { parser, b: Builder::new(module, head.function), names, open: Vec::new() })
    }

    /// Reads the body up to its end.
    pub(super) fn body(mut self) -> Result<()> {
        self.variables()?;
        loop {
            self.parser.tokens.skip_lines();
            if self.parser.tokens.takes("}") {
                let Some(open) = self.open.pop() else { break };
                self.close(open)?;
            } else {
                self.statement()?;
            }
            self.parser.tokens.line()?;
        }
        self.b.finish();
        Ok(())
    }

    /// Reads lines such as `var x: f32` and `scratch tape: [f32; 256]`.
    fn variables(&mut self) -> Result<()> {
        loop {
            self.parser.tokens.skip_lines();
            let Token::Word(word @ ("var" | "scratch")) = *self.parser.tokens.peek() else { break };
            let named = matches!(self.parser.tokens.ahead(1), Token::Word(_));
            if !named || *self.parser.tokens.ahead(2) != Token::Mark(":") {
                break;
            }
            self.parser.tokens.next();
            let name = self.parser.tokens.word("a variable's name")?;
            self.parser.tokens.mark(":")?;
            let ty = self.parser.ty(&mut self.b.module.types)?;
            let base_name = own_name(name, |base| self.names.contains_key(base));
            let local = if word == "var" {
                self.b.local(base_name, ty)
            } else {
                self.b.scratch(base_name, ty)
            };
            self.bind(name, Binding::Local(local))?;
            self.parser.tokens.line()?;
        }
        Ok(())
    }

    fn bind(&mut self, name: &'t str, binding: Binding) -> Result<()> {
        match self.names.insert(name, binding) {
            None => Ok(()),
            Some(_) => Err(self.parser.tokens.error(format!("`{name}` is defined twice"))),
        }
    }

    /// Gives a name to a value that was just made.
    fn define(&mut self, name: &'t str, value: Value) -> Result<()> {
        let base_name = own_name(name, |base| self.names.contains_key(base));
        if !name.starts_with('%') {
            self.b.rename(value, base_name);
        }
        self.bind(name, Binding::Value(value))
    }

    fn open(&mut self, open: Open) -> Result<()> {
        if self.open.len() >= MAX_DEPTH {
            let message = format!("blocks nest {MAX_DEPTH} deep at most");
            return Err(self.parser.tokens.error(message));
        }
        // The blocks of a switch are opened by its labels.
        if !matches!(open, Open::Switch { .. }) {
            self.b.open_block();
        }
        self.open.push(open);
        Ok(())
    }

    fn statement(&mut self) -> Result<()> {
        let word = match *self.parser.tokens.peek() {
            Token::Word(word) => word,
            _ => return Err(self.parser.tokens.expected("a statement")),
        };
        let second = self.parser.tokens.ahead(1).clone();
        if second == Token::Mark("=") || second == Token::Mark("[") {
            return self.assignment(word);
        }
        if let Some(Open::Switch { .. }) = self.open.last()
            && matches!(word, "case" | "default")
        {
            return self.case(word);
        }
        match word {
            "if" => {
                let condition = self.value_and_brace()?;
                self.open(Open::Accept(condition))
            }
            "for" => self.for_loop(),
            "while" => {
                self.parser.tokens.next();
                self.parser.tokens.mark("{")?;
                self.open(Open::Header)
            }
            "switch" => {
                let selector = self.value_and_brace()?;
                self.open(Open::Switch { selector, cases: Vec::new(), labels: None })
            }
            "break" => self.leaf(Builder::break_loop),
            "continue" => self.leaf(Builder::continue_loop),
            "return" => self.return_value(),
            "print" | "printf" if second == Token::Mark("(") => self.print(word),
            "assert" => {
                self.parser.tokens.next();
                let condition = self.value()?;
                self.parser.tokens.mark(",")?;
                let message = self.parser.tokens.quoted()?;
                self.b.assert(condition, &message);
                Ok(())
            }
            "trap" => {
                self.parser.tokens.next();
                let message = self.parser.tokens.quoted()?;
                self.b.trap(&message);
                Ok(())
            }
            // A call or an atomic operation without a result.
            _ => self.operation().map(drop),
        }
    }

    /// Reads `if %1 {`, up to the brace; returns the value.
    fn value_and_brace(&mut self) -> Result<Value> {
        self.parser.tokens.next();
        let value = self.value()?;
        self.parser.tokens.mark("{")?;
        Ok(value)
    }

    fn return_value(&mut self) -> Result<()> {
        self.parser.tokens.next();
        let value = match self.parser.tokens.peek() {
            Token::Word(_) => Some(self.value()?),
            _ => None,
        };
        self.b.ret(value);
        Ok(())
    }

    fn leaf(&mut self, build: impl FnOnce(&mut Builder<'m>)) -> Result<()> {
        self.parser.tokens.next();
        build(&mut self.b);
        Ok(())
    }

    /// Reads `name = operation` or `place = value`.
    fn assignment(&mut self, word: &'t str) -> Result<()> {
        let begin = self.parser.tokens.position();
        if *self.parser.tokens.ahead(1) == Token::Mark("=") && self.is_definition(word) {
            self.parser.tokens.next();
            self.parser.tokens.next();
            let value = self.operation()?;
            return self.define(word, value);
        }
        self.parser.tokens.go_to(begin);
        let place = self.place()?;
        self.parser.tokens.mark("=")?;
        let value = self.value()?;
        self.b.store(place, value);
        Ok(())
    }

    /// Returns true if a line that begins with `word =` defines a value. The word `x.1` may also
    /// name a part of the variable `x`.
    fn is_definition(&self, word: &'t str) -> bool {
        if matches!(self.names.get(word), Some(Binding::Local(_) | Binding::Param(_))) {
            return false;
        }
        if self.root(word).is_none() {
            return true;
        }
        // A store is followed by one value, a definition by an operation.
        let one_word = *self.parser.tokens.ahead(3) == Token::Line;
        let is_value = match *self.parser.tokens.ahead(2) {
            Token::Word(right) => {
                matches!(self.names.get(right), Some(Binding::Value(_)))
                    || super::literal::literal(right).is_some()
            }
            _ => false,
        };
        !(one_word && is_value)
    }

    /// Reads `for i in range(0i32, %1, 1i32) {`.
    fn for_loop(&mut self) -> Result<()> {
        self.parser.tokens.next();
        let name = self.parser.tokens.word("the index of the loop")?;
        self.parser.tokens.keyword("in")?;
        self.parser.tokens.keyword("range")?;
        self.parser.tokens.mark("(")?;
        let start = self.value()?;
        self.parser.tokens.mark(",")?;
        let end = self.value()?;
        self.parser.tokens.mark(",")?;
        let step = self.value()?;
        self.parser.tokens.mark(")")?;
        self.parser.tokens.mark("{")?;
        let ty = self.b.body().type_of(start);
        let index = self.b.unnamed_index(ty);
        self.define(name, index)?;
        self.open(Open::For { index, range: [start, end, step] })
    }

    /// Reads `case 1, 2:` or `default:`, each of which ends the case before it.
    fn case(&mut self, word: &str) -> Result<()> {
        self.parser.tokens.next();
        let mut case_labels = Vec::new();
        if word == "case" {
            case_labels.push(self.parser.count("a label")?);
            while self.parser.tokens.takes(",") {
                case_labels.push(self.parser.count("a label")?);
            }
        }
        self.parser.tokens.mark(":")?;
        let Some(Open::Switch { cases, labels, .. }) = self.open.last_mut() else {
            unreachable!("the statement is in a switch")
        };
        match labels.replace(case_labels) {
            None => {}
            Some(before) if before.is_empty() => {
                return Err(self.parser.tokens.error("the default is the last of a switch"));
            }
            Some(before) => {
                let body = self.b.close_block();
                cases.push(Case { labels: before.into(), body });
            }
        }
        self.b.open_block();
        Ok(())
    }

    fn print(&mut self, word: &str) -> Result<()> {
        self.parser.tokens.next();
        self.parser.tokens.mark("(")?;
        let mut format = None;
        if word == "printf" {
            format = Some(self.parser.tokens.quoted()?);
            self.parser.tokens.mark(",")?;
        }
        let values = self.values(")")?;
        self.b.print(format.as_deref(), &values);
        Ok(())
    }

    /// Ends a block after its `}`.
    fn close(&mut self, open: Open) -> Result<()> {
        if let Open::Switch { selector, cases, labels } = open {
            if labels.is_none_or(|labels| !labels.is_empty()) {
                return Err(self.parser.tokens.error("a switch ends with `default:`"));
            }
            let default = self.b.close_block();
            self.b.switch(selector, cases, default);
            return Ok(());
        }
        let block = self.b.close_block();
        match open {
            Open::Accept(condition) => {
                if *self.parser.tokens.peek() == Token::Word("else") {
                    self.parser.tokens.next();
                    self.parser.tokens.mark("{")?;
                    return self.open(Open::Reject(condition, block));
                }
                let reject = self.b.empty_block();
                self.b.if_blocks(condition, block, reject);
            }
            Open::Reject(condition, accept) => self.b.if_blocks(condition, accept, block),
            Open::For { index, range } => self.b.for_block(index, range, block),
            Open::Header => {
                self.parser.tokens.keyword("test")?;
                // The literal `true` may stand here; the header defines it.
                let condition = self.value()?;
                self.parser.tokens.mark("{")?;
                return self.open(Open::Body { header: block, condition });
            }
            Open::Body { header, condition } => self.b.while_blocks(header, condition, block),
            Open::Switch { .. } => unreachable!("it was closed above"),
        }
        Ok(())
    }
}
