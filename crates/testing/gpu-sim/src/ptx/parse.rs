//! Parses tokens to a [`Module`]: the directives that NVRTC prints, and statements.

use super::Refusals;
use super::syntax::{Function, Guard, Instruction, Module, Operand, Space, Statement, Variable};
use super::token::{Token, tokens};
use super::ty::Type;

type Result<T> = std::result::Result<T, Refusals>;

/// Greatest number of threads of a block, unless the kernel declares one.
const MAX_THREADS: u64 = 1024;

/// Reads a whole text.
pub(super) fn module(text: &str) -> Result<Module<'_>> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0 };
    let mut module = Module::default();
    while parser.peek().is_some() {
        parser.item(&mut module)?;
    }
    Ok(module)
}

struct Parser<'t> {
    tokens: Vec<(usize, Token<'t>)>,
    at: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.at).map(|(_, token)| *token)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(line, _)| *line)
    }

    fn refuse<T>(&self, what: &str) -> Result<T> {
        let found = match self.peek() {
            None => "the end of the text".into(),
            Some(Token::Word(word)) => format!("`{word}`"),
            Some(Token::Mark(mark)) => format!("`{mark}`"),
            Some(Token::Integer(_) | Token::F32(_) | Token::F64(_)) => "a number".into(),
        };
        Err(Refusals::one(self.line(), format!("{found} where {what} is known")))
    }

    fn takes(&mut self, token: Token<'_>) -> bool {
        let is_there = self.peek() == Some(token);
        self.at += usize::from(is_there);
        is_there
    }

    fn mark(&mut self, mark: char) -> Result<()> {
        if self.takes(Token::Mark(mark)) { Ok(()) } else { self.refuse(&format!("`{mark}`")) }
    }

    fn word(&mut self, what: &str) -> Result<&'t str> {
        let Some(Token::Word(word)) = self.peek() else { return self.refuse(what) };
        self.at += 1;
        Ok(word)
    }

    /// Reads a word that is not a directive.
    fn name(&mut self, what: &str) -> Result<&'t str> {
        match self.peek() {
            Some(Token::Word(word)) if !word.starts_with('.') => self.word(what),
            _ => self.refuse(what),
        }
    }

    fn integer(&mut self) -> Result<u64> {
        let Some(Token::Integer(number)) = self.peek() else { return self.refuse("an integer") };
        self.at += 1;
        Ok(number)
    }

    /// Reads items between commas, and the mark that ends the list.
    fn list<T>(
        &mut self,
        end: char,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.takes(Token::Mark(end)) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.takes(Token::Mark(end)) {
                return Ok(items);
            }
            self.mark(',')?;
        }
    }

    fn ty(&mut self) -> Result<Type> {
        let known = match self.peek() {
            Some(Token::Word(word)) => word.strip_prefix('.').and_then(Type::named),
            _ => None,
        };
        let Some(ty) = known else { return self.refuse("a type") };
        self.at += 1;
        Ok(ty)
    }

    fn item(&mut self, module: &mut Module<'t>) -> Result<()> {
        let line = self.line();
        if self.takes(Token::Word(".version")) || self.takes(Token::Word(".target")) {
            while self.peek().is_some() && self.line() == line {
                self.at += 1;
            }
            return Ok(());
        }
        if self.takes(Token::Word(".address_size")) {
            return if self.takes(Token::Integer(64)) { Ok(()) } else { self.refuse("64") };
        }
        _ = self.takes(Token::Word(".visible")) || self.takes(Token::Word(".weak"));
        let is_extern = self.takes(Token::Word(".extern"));
        if self.takes(Token::Word(".entry")) {
            module.functions.push(self.function(line, true)?);
        } else if self.takes(Token::Word(".func")) {
            module.functions.push(self.function(line, false)?);
        } else if is_extern {
            return self.refuse("a function after `.extern`");
        } else {
            let space = match self.peek() {
                Some(Token::Word(".global")) => Space::Global,
                Some(Token::Word(".const")) => Space::Const,
                _ => return self.refuse("a function, a global variable or a constant"),
            };
            self.at += 1;
            let mut variable = self.variable(line, space)?;
            if self.takes(Token::Mark('=')) {
                variable.init = self.initial()?;
            }
            self.mark(';')?;
            module.variables.push(variable);
        }
        Ok(())
    }

    /// Reads a variable after the name of its space, up to its initial value.
    fn variable(&mut self, line: usize, space: Space) -> Result<Variable<'t>> {
        let mut align = None;
        if self.takes(Token::Word(".align")) {
            align = Some(self.integer()?);
        }
        let ty = self.ty()?;
        if self.takes(Token::Word(".ptr")) {
            // These facts about a parameter's target are for NVIDIA's optimiser.
            _ = self.takes(Token::Word(".global"));
            if self.takes(Token::Word(".align")) {
                self.integer()?;
            }
        }
        let name = self.name("a variable's name")?;
        let mut count = 1;
        while self.takes(Token::Mark('[')) {
            // Only a parameter that takes no bytes is an array of unknown size.
            let extent = if self.takes(Token::Mark(']')) { 0 } else { self.extent()? };
            count *= extent;
        }
        let align = align.unwrap_or(ty.bytes());
        Ok(Variable { line, name, space, ty, count, align, init: Vec::new() })
    }

    fn extent(&mut self) -> Result<u64> {
        let extent = self.integer()?;
        self.mark(']')?;
        Ok(extent)
    }

    fn initial(&mut self) -> Result<Vec<u64>> {
        let number = |parser: &mut Self| match parser.number()? {
            Operand::Integer(bits) | Operand::F64(bits) => Ok(bits),
            Operand::F32(bits) => Ok(u64::from(bits)),
            _ => unreachable!("numbers only"),
        };
        if self.takes(Token::Mark('{')) { self.list('}', number) } else { Ok(vec![number(self)?]) }
    }

    fn function(&mut self, line: usize, is_entry: bool) -> Result<Function<'t>> {
        let results =
            if self.takes(Token::Mark('(')) { self.list(')', Self::param)? } else { Vec::new() };
        let name = self.name("a function's name")?;
        let params =
            if self.takes(Token::Mark('(')) { self.list(')', Self::param)? } else { Vec::new() };
        let mut max_threads = MAX_THREADS;
        let body = loop {
            match self.peek() {
                Some(Token::Mark(';')) => {
                    self.at += 1;
                    break None;
                }
                Some(Token::Mark('{')) => {
                    self.at += 1;
                    break Some(self.body()?);
                }
                Some(Token::Word(".maxntid" | ".reqntid")) => {
                    self.at += 1;
                    max_threads = self.numbers()?.into_iter().product();
                }
                Some(Token::Word(".minnctapersm" | ".maxnreg")) => {
                    self.at += 1;
                    self.numbers()?;
                }
                Some(Token::Word(".noreturn")) => self.at += 1,
                _ => return self.refuse("a function's body"),
            }
        };
        Ok(Function { line, name, is_entry, results, params, max_threads, body })
    }

    fn numbers(&mut self) -> Result<Vec<u64>> {
        let mut numbers = vec![self.integer()?];
        while self.takes(Token::Mark(',')) {
            numbers.push(self.integer()?);
        }
        Ok(numbers)
    }

    fn param(&mut self) -> Result<Variable<'t>> {
        let line = self.line();
        if self.takes(Token::Word(".param")) {
            self.variable(line, Space::Param)
        } else {
            self.refuse("`.param`")
        }
    }

    /// Reads statements and the brace that ends the body.
    fn body(&mut self) -> Result<Vec<Statement<'t>>> {
        let (mut statements, mut depth) = (Vec::new(), 0);
        loop {
            if self.takes(Token::Mark('{')) {
                depth += 1;
                statements.push(Statement::Open);
            } else if self.takes(Token::Mark('}')) {
                if depth == 0 {
                    return Ok(statements);
                }
                depth -= 1;
                statements.push(Statement::Close);
            } else {
                self.statement(&mut statements)?;
            }
        }
    }

    fn statement(&mut self, statements: &mut Vec<Statement<'t>>) -> Result<()> {
        let line = self.line();
        let space = match self.peek() {
            Some(Token::Word(".reg")) => {
                self.at += 1;
                return self.registers(statements);
            }
            Some(Token::Word(".pragma")) => {
                while !self.takes(Token::Mark(';')) {
                    if self.peek().is_none() {
                        return self.refuse("`;`");
                    }
                    self.at += 1;
                }
                return Ok(());
            }
            Some(Token::Word(".local")) => Some(Space::Local),
            Some(Token::Word(".param")) => Some(Space::Param),
            _ => None,
        };
        if let Some(space) = space {
            self.at += 1;
            statements.push(Statement::Variable(self.variable(line, space)?));
            return self.mark(';');
        }
        let is_label = self.tokens.get(self.at + 1).is_some_and(|it| it.1 == Token::Mark(':'));
        if is_label {
            let name = self.name("a label")?;
            self.mark(':')?;
            let statement = if self.takes(Token::Word(".branchtargets")) {
                let labels = self.list(';', |parser| parser.name("a label"))?;
                Statement::Targets { name, labels }
            } else {
                Statement::Label(name)
            };
            statements.push(statement);
            return Ok(());
        }
        statements.push(Statement::Instruction(self.instruction()?));
        Ok(())
    }

    fn registers(&mut self, statements: &mut Vec<Statement<'t>>) -> Result<()> {
        let ty = self.ty()?;
        let registers = self.list(';', |parser| {
            let name = parser.name("a register")?;
            let mut count = None;
            if parser.takes(Token::Mark('<')) {
                count = Some(parser.integer()?);
                parser.mark('>')?;
            }
            Ok(Statement::Registers { ty, name, count })
        })?;
        statements.extend(registers);
        Ok(())
    }

    fn instruction(&mut self) -> Result<Instruction<'t>> {
        let line = self.line();
        let mut guard = None;
        if self.takes(Token::Mark('@')) {
            let is_negated = self.takes(Token::Mark('!'));
            guard = Some(Guard { register: self.name("a predicate")?, is_negated });
        }
        let mnemonic = self.name("an instruction")?;
        let operands = self.list(';', Self::operand)?;
        Ok(Instruction { line, guard, mnemonic, operands })
    }

    fn operand(&mut self) -> Result<Operand<'t>> {
        match self.peek() {
            Some(Token::Mark('[')) => {
                self.at += 1;
                self.address()
            }
            Some(Token::Mark('{')) => {
                self.at += 1;
                Ok(Operand::Vector(self.list('}', Self::operand)?))
            }
            Some(Token::Mark('(')) => {
                self.at += 1;
                Ok(Operand::List(self.list(')', Self::operand)?))
            }
            Some(Token::Word(_)) => Ok(Operand::Name(self.name("an operand")?)),
            _ => self.number(),
        }
    }

    fn address(&mut self) -> Result<Operand<'t>> {
        let base = Box::new(self.operand()?);
        let mut offset = 0;
        if self.takes(Token::Mark('+')) {
            let line = self.line();
            let Operand::Integer(bits) = self.number()? else {
                return Err(Refusals::one(line, "an address with a float"));
            };
            offset = bits.cast_signed();
        }
        self.mark(']')?;
        Ok(Operand::Address { base, offset })
    }

    fn number(&mut self) -> Result<Operand<'t>> {
        let is_negative = self.takes(Token::Mark('-'));
        let operand = match self.peek() {
            Some(Token::Integer(bits)) if is_negative => Operand::Integer(bits.wrapping_neg()),
            Some(Token::Integer(bits)) => Operand::Integer(bits),
            Some(Token::F32(bits)) if !is_negative => Operand::F32(bits),
            Some(Token::F64(bits)) if !is_negative => Operand::F64(bits),
            _ => return self.refuse("a number"),
        };
        self.at += 1;
        Ok(operand)
    }
}
