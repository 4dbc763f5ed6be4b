//! Parses the words of a native snippet.

use crate::token::Token;
use crate::tree::{Expr, SnippetType, Stmt};
use gbxcule_ir::op::{BinaryOp, CompareOp};
use gbxcule_ir::ty::Scalar;

/// Reads all words.
pub(crate) fn parse(tokens: &[Token]) -> Result<Vec<Stmt>, String> {
    let mut parser = Parser { tokens, at: 0, level: 0 };
    let mut body = Vec::new();
    while parser.at < tokens.len() {
        body.extend(parser.stmt()?);
    }
    Ok(body)
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    level: usize,
}

/// Greatest depth of nested expressions and statements.
const MAX_LEVELS: usize = 64;

type Parsed<T> = Result<T, String>;

/// Operators by their level; the first level binds least.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Words that begin a refused construct.
const UNREAD: [&str; 14] = [
    "using",
    "typedef",
    "static",
    "static_assert",
    "template",
    "struct",
    "switch",
    "do",
    "goto",
    "continue",
    "volatile",
    "register",
    "extern",
    "constexpr",
];

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn word(&self) -> Option<&str> {
        match self.peek() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Takes a sign, if it is next.
    fn takes(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Sign(next)) if *next == sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_next = self.word() == Some(word);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.takes(sign) { Ok(()) } else { Err(self.instead(&format!("`{sign}`"))) }
    }

    fn instead(&self, of: &str) -> String {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(Token::Word(word)) => format!("`{word}`"),
            Some(Token::Sign(sign)) => format!("`{sign}`"),
            Some(Token::Int(..) | Token::Float(..)) => "a number".to_owned(),
        };
        format!("{found}, where {of} is expected")
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.level == MAX_LEVELS {
            return Err(format!("more than {MAX_LEVELS} levels of nesting"));
        }
        self.level += 1;
        let result = read(self);
        self.level -= 1;
        result
    }

    /// Parses the statements that one statement of C++ stands for: a declaration of several
    /// variables gives one statement for each, and `;` gives no statement.
    fn stmt(&mut self) -> Parsed<Vec<Stmt>> {
        self.nested(Self::any_stmt)
    }

    fn any_stmt(&mut self) -> Parsed<Vec<Stmt>> {
        if self.takes(";") {
            return Ok(Vec::new());
        }
        if self.takes("{") {
            let mut body = Vec::new();
            while !self.takes("}") {
                if self.peek().is_none() {
                    return Err(self.instead("`}`"));
                }
                body.extend(self.stmt()?);
            }
            return Ok(vec![Stmt::Block(body)]);
        }
        if let Some(word) = self.word().filter(|word| UNREAD.contains(word)) {
            return Err(format!("`{word}`"));
        }
        if self.takes_word("if") {
            let condition = self.condition()?;
            let accept = self.body()?;
            let reject = if self.takes_word("else") { Some(self.body()?) } else { None };
            return Ok(vec![Stmt::If(condition, accept, reject)]);
        }
        if self.takes_word("while") {
            let condition = self.condition()?;
            return Ok(vec![Stmt::While(Some(condition), self.body()?, None)]);
        }
        if self.takes_word("for") {
            return self.for_loop();
        }
        if self.takes_word("return") {
            let value = if self.takes(";") { None } else { Some(self.expr()?) };
            if value.is_some() {
                self.expect(";")?;
            }
            return Ok(vec![Stmt::Return(value)]);
        }
        if self.takes_word("break") {
            self.expect(";")?;
            return Ok(vec![Stmt::Break]);
        }
        // A tile's block has one thread, so there is no other thread to wait for.
        if self.takes_word("WP_TILE_SYNC") {
            ["(", ")", ";"].into_iter().try_for_each(|sign| self.expect(sign))?;
            return Ok(Vec::new());
        }
        let stmts = self.simple()?;
        self.expect(";")?;
        Ok(stmts)
    }

    fn condition(&mut self) -> Parsed<Expr> {
        self.expect("(")?;
        let condition = self.expr()?;
        self.expect(")")?;
        Ok(condition)
    }

    fn body(&mut self) -> Parsed<Box<Stmt>> {
        Ok(Box::new(Stmt::Block(self.stmt()?)))
    }

    fn for_loop(&mut self) -> Parsed<Vec<Stmt>> {
        self.expect("(")?;
        let mut all = Vec::new();
        if !self.takes(";") {
            all = self.simple()?;
            self.expect(";")?;
        }
        let condition = if self.takes(";") { None } else { Some(self.expr()?) };
        if condition.is_some() {
            self.expect(";")?;
        }
        let mut step = Vec::new();
        if !self.takes(")") {
            step = self.simple()?;
            self.expect(")")?;
        }
        let step = Some(Box::new(Stmt::Block(step)));
        all.push(Stmt::While(condition, self.body()?, step));
        Ok(vec![Stmt::Block(all)])
    }

    /// A declaration, an assignment, or a call.
    fn simple(&mut self) -> Parsed<Vec<Stmt>> {
        let before = self.at;
        while self.takes_word("const") {}
        if let Some(ty) = self.type_name()? {
            while self.takes_word("const") {}
            if self.word().is_some() {
                return self.declarations(ty);
            }
        }
        self.at = before;
        if self.takes("++") {
            let target = self.unary()?;
            return Ok(vec![Stmt::Assign(target, Some(BinaryOp::Add), Expr::Int(Scalar::I32, 1))]);
        }
        if self.takes("--") {
            let target = self.unary()?;
            let one = Expr::Int(Scalar::I32, 1);
            return Ok(vec![Stmt::Assign(target, Some(BinaryOp::Subtract), one)]);
        }
        let left = self.expr()?;
        for (sign, op) in [
            ("=", None),
            ("+=", Some(BinaryOp::Add)),
            ("-=", Some(BinaryOp::Subtract)),
            ("*=", Some(BinaryOp::Multiply)),
            ("/=", Some(BinaryOp::Divide)),
            ("%=", Some(BinaryOp::Remainder)),
            ("&=", Some(BinaryOp::And)),
            ("|=", Some(BinaryOp::Or)),
            ("^=", Some(BinaryOp::Xor)),
            ("<<=", Some(BinaryOp::ShiftLeft)),
            (">>=", Some(BinaryOp::ShiftRight)),
        ] {
            if self.takes(sign) {
                let value = self.expr()?;
                return Ok(vec![Stmt::Assign(left, op, value)]);
            }
        }
        for (sign, op) in [("++", BinaryOp::Add), ("--", BinaryOp::Subtract)] {
            if self.takes(sign) {
                return Ok(vec![Stmt::Assign(left, Some(op), Expr::Int(Scalar::I32, 1))]);
            }
        }
        Ok(vec![Stmt::Drop(left)])
    }

    fn declarations(&mut self, ty: SnippetType) -> Parsed<Vec<Stmt>> {
        let mut all = Vec::new();
        loop {
            let Some(Token::Word(name)) = self.peek().cloned() else {
                return Err(self.instead("a name"));
            };
            self.at += 1;
            let value = if self.takes("=") {
                Some(self.expr()?)
            } else if self.takes("(") {
                Some(Expr::Make(ty, self.arguments()?))
            } else {
                None
            };
            all.push(Stmt::Declare(ty, name, value));
            if !self.takes(",") {
                return Ok(all);
            }
        }
    }

    /// Arguments after an open bracket, and the bracket that closes them.
    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut all = Vec::new();
        if self.takes(")") {
            return Ok(all);
        }
        loop {
            all.push(self.expr()?);
            if self.takes(")") {
                return Ok(all);
            }
            self.expect(",")?;
        }
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let condition = parser.binary(0)?;
            if !parser.takes("?") {
                return Ok(condition);
            }
            let accept = parser.expr()?;
            parser.expect(":")?;
            let reject = parser.expr()?;
            Ok(Expr::Choose(Box::new(condition), Box::new(accept), Box::new(reject)))
        })
    }

    fn binary(&mut self, level: usize) -> Parsed<Expr> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        // Each operator nests the expression on its left.
        let mut length = 0;
        while let Some(sign) = signs.iter().find(|sign| self.takes(sign)) {
            length += 1;
            if length > MAX_LEVELS {
                return Err(format!("more than {MAX_LEVELS} operators in a row"));
            }
            let right = self.binary(level + 1)?;
            left = joined(sign, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            for (sign, make) in [
                ("-", Expr::Negate as fn(Box<Expr>) -> Expr),
                ("!", Expr::Not),
                ("~", Expr::Invert),
            ] {
                if parser.takes(sign) {
                    return Ok(make(Box::new(parser.unary()?)));
                }
            }
            if parser.takes("+") {
                let zero = Expr::Int(Scalar::I32, 0);
                return Ok(joined("+", Box::new(zero), Box::new(parser.unary()?)));
            }
            if let Some(sign) = ["*", "&"].into_iter().find(|sign| parser.takes(sign)) {
                return Err(format!("`{sign}` before a value"));
            }
            if let Some(cast) = parser.cast()? {
                return Ok(cast);
            }
            parser.postfix()
        })
    }

    /// `(float)x`
    fn cast(&mut self) -> Parsed<Option<Expr>> {
        let before = self.at;
        if self.takes("(")
            && let Some(ty) = self.type_name()?
        {
            if self.takes(")") {
                return Ok(Some(Expr::Make(ty, vec![self.unary()?])));
            }
            if self.takes("*") {
                return Err("pointers".to_owned());
            }
        }
        self.at = before;
        Ok(None)
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut value = self.primary()?;
        let mut length = 0;
        loop {
            length += 1;
            if length > MAX_LEVELS {
                return Err(format!("more than {MAX_LEVELS} levels of nesting"));
            }
            if self.takes("[") {
                let index = self.expr()?;
                self.expect("]")?;
                value = Expr::Element(Box::new(value), Box::new(index));
            } else if self.takes(".") {
                let Some(Token::Word(name)) = self.peek().cloned() else {
                    return Err(self.instead("a name"));
                };
                self.at += 1;
                value = Expr::Member(Box::new(value), name);
            } else if matches!(self.peek(), Some(Token::Sign("->"))) {
                return Err("pointers".to_owned());
            } else {
                return Ok(value);
            }
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        match self.peek().cloned() {
            Some(Token::Int(scalar, value)) => {
                self.at += 1;
                Ok(Expr::Int(scalar, value))
            }
            Some(Token::Float(scalar, value)) => {
                self.at += 1;
                Ok(Expr::Float(scalar, value))
            }
            Some(Token::Sign("(")) => {
                self.at += 1;
                let value = self.expr()?;
                self.expect(")")?;
                Ok(value)
            }
            Some(Token::Word(word)) => match word.as_str() {
                "true" | "false" => {
                    self.at += 1;
                    Ok(Expr::Bool(word == "true"))
                }
                "static_cast" | "reinterpret_cast" => {
                    self.at += 1;
                    self.cpp_cast(word == "static_cast")
                }
                _ => self.name_or_call(word),
            },
            _ => Err(self.instead("a value")),
        }
    }

    /// `static_cast<int>(x)`, `reinterpret_cast<float&>(x)`
    fn cpp_cast(&mut self, converts: bool) -> Parsed<Expr> {
        self.expect("<")?;
        let ty = self.type_name()?.ok_or_else(|| self.instead("a type"))?;
        if !converts {
            self.expect("&")?;
        }
        self.expect(">")?;
        let value = self.condition()?;
        match (converts, ty) {
            (true, ty) => Ok(Expr::Make(ty, vec![value])),
            (false, SnippetType::Scalar(scalar)) => Ok(Expr::Bits(scalar, Box::new(value))),
            (false, _) => Err("`reinterpret_cast`".to_owned()),
        }
    }

    fn name_or_call(&mut self, word: String) -> Parsed<Expr> {
        if let Some(ty) = self.type_name()? {
            self.expect("(")?;
            return Ok(Expr::Make(ty, self.arguments()?));
        }
        self.at += 1;
        let name = word.strip_prefix("wp::").unwrap_or(&word);
        if name.contains("::") {
            return Err(format!("`{word}`"));
        }
        if self.takes("(") {
            return Ok(Expr::Call(name.to_owned(), self.arguments()?));
        }
        Ok(Expr::Name(word))
    }

    /// A type, if one is next.
    fn type_name(&mut self) -> Parsed<Option<SnippetType>> {
        let Some(word) = self.word() else { return Ok(None) };
        if matches!(word, "unsigned" | "signed" | "long" | "short") {
            return self.integer_type().map(Some);
        }
        let word = word.strip_prefix("wp::").unwrap_or(word);
        let composite = matches!(word, "vec_t" | "mat_t");
        let ty = match word {
            "auto" => SnippetType::Auto,
            "vec_t" => SnippetType::Vector(0, Scalar::F32),
            "mat_t" => SnippetType::Matrix(0, 0, Scalar::F32),
            _ => match scalar_type(word).map(SnippetType::Scalar).or_else(|| short_type(word)) {
                Some(ty) => ty,
                None => return Ok(None),
            },
        };
        self.at += 1;
        if !composite {
            return Ok(Some(ty));
        }
        self.expect("<")?;
        let first = self.extent()?;
        self.expect(",")?;
        let second = match ty {
            SnippetType::Matrix(..) => {
                let second = self.extent()?;
                self.expect(",")?;
                Some(second)
            }
            _ => None,
        };
        let Some(SnippetType::Scalar(of)) = self.type_name()? else {
            return Err(self.instead("a type"));
        };
        self.expect(">")?;
        Ok(Some(match second {
            Some(second) => SnippetType::Matrix(first, second, of),
            None => SnippetType::Vector(first, of),
        }))
    }

    fn extent(&mut self) -> Parsed<u16> {
        match self.peek() {
            Some(&Token::Int(_, value @ 1..=1024)) => {
                self.at += 1;
                Ok(value as u16)
            }
            _ => Err(self.instead("a length")),
        }
    }

    /// `unsigned long long`, as on the systems that Warp runs on: `long` has 64 bits.
    fn integer_type(&mut self) -> Parsed<SnippetType> {
        let (mut unsigned, mut long, mut short) = (false, false, false);
        loop {
            match self.word() {
                Some("unsigned") => unsigned = true,
                Some("long") => long = true,
                Some("short") => short = true,
                Some("signed" | "int") => {}
                Some("char") => {
                    self.at += 1;
                    return Ok(SnippetType::Scalar(if unsigned { Scalar::U8 } else { Scalar::I8 }));
                }
                Some("double") => return Err(self.instead("an integer type")),
                _ => break,
            }
            self.at += 1;
        }
        Ok(SnippetType::Scalar(match (unsigned, long, short) {
            (false, true, _) => Scalar::I64,
            (true, true, _) => Scalar::U64,
            (false, _, true) => Scalar::I16,
            (true, _, true) => Scalar::U16,
            (false, ..) => Scalar::I32,
            (true, ..) => Scalar::U32,
        }))
    }
}

fn joined(sign: &str, left: Box<Expr>, right: Box<Expr>) -> Expr {
    match sign {
        "||" | "&&" => Expr::Both(sign == "&&", left, right),
        "==" => Expr::Compare(CompareOp::Equal, left, right),
        "!=" => Expr::Compare(CompareOp::NotEqual, left, right),
        "<" => Expr::Compare(CompareOp::Less, left, right),
        ">" => Expr::Compare(CompareOp::Greater, left, right),
        "<=" => Expr::Compare(CompareOp::LessEqual, left, right),
        ">=" => Expr::Compare(CompareOp::GreaterEqual, left, right),
        "|" => Expr::Binary(BinaryOp::Or, left, right),
        "^" => Expr::Binary(BinaryOp::Xor, left, right),
        "&" => Expr::Binary(BinaryOp::And, left, right),
        "<<" => Expr::Binary(BinaryOp::ShiftLeft, left, right),
        ">>" => Expr::Binary(BinaryOp::ShiftRight, left, right),
        "+" => Expr::Binary(BinaryOp::Add, left, right),
        "-" => Expr::Binary(BinaryOp::Subtract, left, right),
        "*" => Expr::Binary(BinaryOp::Multiply, left, right),
        "/" => Expr::Binary(BinaryOp::Divide, left, right),
        _ => Expr::Binary(BinaryOp::Remainder, left, right),
    }
}

fn scalar_type(word: &str) -> Option<Scalar> {
    Some(match word {
        "bool" => Scalar::Bool,
        "int" | "int32" | "int32_t" => Scalar::I32,
        "int8" | "int8_t" => Scalar::I8,
        "int16" | "int16_t" => Scalar::I16,
        "int64" | "int64_t" => Scalar::I64,
        "uint8" | "uint8_t" => Scalar::U8,
        "uint16" | "uint16_t" => Scalar::U16,
        "uint32" | "uint32_t" => Scalar::U32,
        "uint64" | "uint64_t" | "size_t" => Scalar::U64,
        "float" | "float32" => Scalar::F32,
        "double" | "float64" => Scalar::F64,
        _ => return None,
    })
}

/// `vec3`, `vec3d`, `mat22f`
fn short_type(word: &str) -> Option<SnippetType> {
    let (shape, of) = match word.split_at_checked(3)? {
        ("vec" | "mat", suffix) => {
            let digits = suffix.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let of = match &suffix[digits.len()..] {
                "" | "f" => Scalar::F32,
                "d" => Scalar::F64,
                "i" => Scalar::I32,
                _ => return None,
            };
            (digits, of)
        }
        _ => return None,
    };
    match (word.starts_with("vec"), shape) {
        (true, "2" | "3" | "4") => Some(SnippetType::Vector(shape.parse().ok()?, of)),
        (false, "22" | "33" | "44") => {
            let side = shape[..1].parse().ok()?;
            Some(SnippetType::Matrix(side, side, of))
        }
        _ => None,
    }
}
