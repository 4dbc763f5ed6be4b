//! Types and structs.

use super::token::Token;
use super::{MAX_DEPTH, Parser, Result};
use crate::source::Span;
use crate::ty::{Field, Scalar, Struct, Type, Types};

impl<'t> Parser<'t> {
    /// Reads `struct Body { mass: f32, at: vec<3, f32> }`.
    pub(super) fn structure(&mut self, types: &mut Types) -> Result<()> {
        self.tokens.keyword("struct")?;
        let name = self.tokens.word("a struct's name")?;
        if self.structs.contains_key(name) {
            return Err(self.tokens.error(format!("there are two structs `{name}`")));
        }
        self.tokens.mark("{")?;
        let mut fields: Vec<Field> = Vec::new();
        while !self.tokens.takes("}") {
            if !fields.is_empty() {
                self.tokens.mark(",")?;
            }
            let field = self.tokens.word("a field's name")?;
            self.tokens.mark(":")?;
            let ty = self.ty(types)?;
            fields.push(Field { name: field.into(), ty, span: Span::NONE });
        }
        self.tokens.line()?;
        let definition = Struct { name: name.into(), fields, span: Span::NONE };
        let ty = types.define_struct(definition);
        self.structs.insert(name, ty);
        Ok(())
    }

    /// Returns true if a type comes next, rather than another name.
    pub(super) fn is_type(&self) -> bool {
        match *self.tokens.peek() {
            Token::Mark("(" | "[") => true,
            Token::Word("vec" | "mat" | "quat" | "transform" | "array")
                if *self.tokens.ahead(1) == Token::Mark("<") =>
            {
                true
            }
            Token::Word(word) => Scalar::named(word).is_some() || self.structs.contains_key(word),
            _ => false,
        }
    }

    /// Reads a type.
    pub(super) fn ty(&mut self, types: &mut Types) -> Result<Type> {
        self.nested_type(types, 0)
    }

    fn nested_type(&mut self, types: &mut Types, depth: usize) -> Result<Type> {
        if depth > MAX_DEPTH {
            return Err(self.tokens.error(format!("types nest {MAX_DEPTH} deep at most")));
        }
        if self.tokens.takes("[") {
            let of = self.nested_type(types, depth + 1)?;
            self.tokens.mark(";")?;
            let len = self.count("a number of elements")?;
            self.tokens.mark("]")?;
            return Ok(types.fixed(of, len));
        }
        if self.tokens.takes("(") {
            return self.tuple(types, depth);
        }
        if !self.is_type() {
            return Err(self.tokens.expected("a type"));
        }
        let word = self.tokens.word("a type")?;
        let generic = *self.tokens.peek() == Token::Mark("<");
        let ty = match word {
            "vec" if generic => {
                let len = self.extent("<")?;
                let of = self.component(",")?;
                types.vector(len, of)
            }
            "mat" if generic => {
                let (rows, cols) = (self.extent("<")?, self.extent(",")?);
                let of = self.component(",")?;
                types.matrix(rows, cols, of)
            }
            "quat" if generic => {
                let of = self.component("<")?;
                types.quaternion(of)
            }
            "transform" if generic => {
                let of = self.component("<")?;
                types.transform(of)
            }
            "array" if generic => {
                self.tokens.mark("<")?;
                let of = self.nested_type(types, depth + 1)?;
                let dims = self.extent(",")?;
                let dims = u8::try_from(dims).unwrap_or(u8::MAX);
                types.array(of, dims)
            }
            name => {
                let declared = self.structs.get(name).copied();
                return declared
                    .or_else(|| Scalar::named(name).map(Type::scalar))
                    .ok_or_else(|| self.tokens.error(format!("there is no type `{name}`")));
            }
        };
        self.tokens.mark(">")?;
        Ok(ty)
    }

    /// Reads the remaining types of a tuple.
    fn tuple(&mut self, types: &mut Types, depth: usize) -> Result<Type> {
        let mut parts = Vec::new();
        while !self.tokens.takes(")") {
            if !parts.is_empty() {
                self.tokens.mark(",")?;
            }
            parts.push(self.nested_type(types, depth + 1)?);
        }
        Ok(types.tuple(&parts))
    }

    fn component(&mut self, before: &'static str) -> Result<Scalar> {
        self.tokens.mark(before)?;
        let word = self.tokens.word("a scalar type")?;
        Scalar::named(word)
            .ok_or_else(|| self.tokens.error(format!("`{word}` is not a scalar type")))
    }

    fn extent(&mut self, before: &'static str) -> Result<u16> {
        self.tokens.mark(before)?;
        self.count("a number up to 65535")
    }

    /// Reads a number without a type.
    pub(super) fn count<N: std::str::FromStr>(&mut self, what: &str) -> Result<N> {
        let begin = self.tokens.position();
        self.tokens.word(what)?.parse().map_err(|_| self.tokens.expected_at(begin, what))
    }
}
