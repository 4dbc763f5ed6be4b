//! Operations, places and operands.

use super::Result;
use super::function::{Binding, FunctionParser};
use super::literal::literal;
use super::token::Token;
use crate::builtin::Native;
use crate::function::FunctionId;
use crate::op::{Arg, AtomicOp, BinaryOp, CompareOp, Op, Selector, UnaryOp, Value};
use crate::place::PlaceId;
use crate::ty::{Shape, Type};

impl<'t> FunctionParser<'_, '_, 't> {
    /// Reads an operand: a name or a literal.
    pub(super) fn value(&mut self) -> Result<Value> {
        let begin = self.parser.tokens.position();
        let word = self.parser.tokens.word("a value")?;
        match (self.names.get(word), literal(word)) {
            (Some(&Binding::Value(value)), _) => Ok(value),
            (None, Some(literal)) => Ok(self.b.literal(literal)),
            _ => Err(self.parser.tokens.expected_at(begin, "a value")),
        }
    }

    /// Reads values with commas between them, up to a mark.
    pub(super) fn values(&mut self, end: &'static str) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        while !self.parser.tokens.takes(end) {
            if !values.is_empty() {
                self.parser.tokens.mark(",")?;
            }
            values.push(self.value()?);
        }
        Ok(values)
    }

    /// Reads `N` values with commas between them.
    fn operands<const N: usize>(&mut self) -> Result<[Value; N]> {
        let first = self.value()?;
        let mut operands = [first; N];
        for operand in operands.iter_mut().skip(1) {
            self.parser.tokens.mark(",")?;
            *operand = self.value()?;
        }
        Ok(operands)
    }

    fn ty(&mut self) -> Result<Type> {
        self.parser.ty(&mut self.b.module.types)
    }

    /// Reads an operation.
    pub(super) fn operation(&mut self) -> Result<Value> {
        let Token::Word(word) = *self.parser.tokens.peek() else { return self.typed() };
        match self.parser.tokens.ahead(1) {
            Token::Mark("(") => return self.call(word),
            Token::Mark("{") => return self.typed(),
            Token::Mark("<") if self.parser.is_type() => return self.typed(),
            _ => {}
        }
        let begin = self.parser.tokens.position();
        self.parser.tokens.next();
        Ok(match word {
            "zero" => {
                let ty = self.ty()?;
                self.b.zero(ty)
            }
            "select" => {
                let [condition, accept, reject] = self.operands()?;
                self.b.select(condition, accept, reject)
            }
            "bits" => {
                let (ty, value) = (self.ty()?, self.value()?);
                self.b.emit(Op::Bitcast(value), ty)
            }
            "splat" => {
                let (ty, value) = (self.ty()?, self.value()?);
                self.b.splat(ty, value)
            }
            "load" => {
                let place = self.place()?;
                self.b.load(place)
            }
            "atomic" => return self.atomic(),
            "launch" => {
                let dim = self.parser.count("a dimension")?;
                self.b.launch_index(dim)
            }
            "view" => return self.view(),
            "array" => return self.as_array(),
            "extent" => {
                let array = self.value()?;
                self.parser.tokens.mark(",")?;
                let dim = self.parser.count("a dimension")?;
                self.b.extent(array, dim)
            }
            "present" => {
                let array = self.value()?;
                self.b.present(array)
            }
            "gradient" => {
                let array = self.value()?;
                self.b.gradient(array)
            }
            "lowest" => {
                let key = self.value()?;
                self.b.lowest(key)
            }
            _ => return self.operator(word, begin),
        })
    }

    fn as_array(&mut self) -> Result<Value> {
        let place = self.place()?;
        let levels = self.levels(self.b.place_type(place));
        let dims = match self.parser.tokens.takes(",") {
            true => self.parser.count("a number of dimensions")?,
            false => levels,
        };
        Ok(self.b.as_array(place, dims))
    }

    /// Reads an operation by the name of its operator. A word that names no operator begins a type
    /// or a value.
    fn operator(&mut self, word: &str, begin: usize) -> Result<Value> {
        if let Some(op) = UnaryOp::named(word) {
            let operand = self.value()?;
            Ok(self.b.unary(op, operand))
        } else if let Some(op) = BinaryOp::named(word) {
            let [left, right] = self.operands()?;
            Ok(self.b.binary(op, left, right))
        } else if let Some(op) = CompareOp::named(word) {
            let [left, right] = self.operands()?;
            Ok(self.b.compare(op, left, right))
        } else if let Some(native) = Native::all().find(|it| it.row().name == word) {
            self.native(native)
        } else {
            self.parser.tokens.go_to(begin);
            if self.parser.is_type() { self.typed() } else { self.extract() }
        }
    }

    fn native(&mut self, native: Native) -> Result<Value> {
        let mut args = vec![self.value()?];
        while self.parser.tokens.takes(",") {
            args.push(self.value()?);
        }
        Ok(self.b.native(native, &args))
    }

    /// Reads `f64 %1`, a conversion, or `vec<2, f32> { %1, %2 }`.
    fn typed(&mut self) -> Result<Value> {
        let ty = self.ty()?;
        if self.parser.tokens.takes("{") {
            let parts = self.values("}")?;
            return Ok(self.b.construct(ty, &parts));
        }
        let value = self.value()?;
        Ok(self.b.emit(Op::Convert(value), ty))
    }

    /// Reads `%1.0` or `body.mass`.
    fn extract(&mut self) -> Result<Value> {
        let begin = self.parser.tokens.position();
        let word = self.parser.tokens.word("an operation")?;
        let (from, index) = self
            .part_of_value(word)
            .ok_or_else(|| self.parser.tokens.expected_at(begin, "an operation"))?;
        Ok(self.b.extract(from, index))
    }

    /// Returns the value and the position of its part that a word such as `%1.0` names.
    fn part_of_value(&self, word: &str) -> Option<(Value, u32)> {
        let (from, part) = word.rsplit_once('.')?;
        let &Binding::Value(from) = self.names.get(from)? else { return None };
        let types = &self.b.module.types;
        let index = match types[self.b.body().type_of(from)] {
            Shape::Struct(id) => {
                types.structure(id).fields.iter().position(|field| field.name == part)? as u32
            }
            _ => part.parse().ok()?,
        };
        Some((from, index))
    }

    /// Reads `name(%1, &place)`.
    fn call(&mut self, name: &'t str) -> Result<Value> {
        let begin = self.parser.tokens.position();
        let Some(candidates) = self.parser.functions.get(name).cloned() else {
            return Err(self.parser.tokens.error(format!("there is no function `{name}`")));
        };
        self.parser.tokens.next();
        self.parser.tokens.mark("(")?;
        let mut args = Vec::new();
        while !self.parser.tokens.takes(")") {
            if !args.is_empty() {
                self.parser.tokens.mark(",")?;
            }
            args.push(if self.parser.tokens.takes("&") {
                Arg::Place(self.place()?)
            } else {
                Arg::Value(self.value()?)
            });
        }
        let mut fitting = candidates.into_iter().filter(|&it| self.takes(it, &args));
        let message = match (fitting.next(), fitting.next()) {
            (Some(function), None) => return Ok(self.b.call(function, &args)),
            (None, _) => format!("no function `{name}` takes these arguments"),
            (Some(_), Some(_)) => {
                format!("several functions `{name}` take these arguments: give one another name")
            }
        };
        self.parser.tokens.go_to(begin);
        Err(self.parser.tokens.error(message))
    }

    fn takes(&self, function: FunctionId, args: &[Arg]) -> bool {
        let params = &self.b.module.functions[function].params;
        params.len() == args.len()
            && params.iter().zip(args).all(|(param, &arg)| {
                let by_value = param.mode == crate::function::PassMode::Value;
                param.ty == self.b.arg_type(arg) && by_value == matches!(arg, Arg::Value(_))
            })
    }

    /// Reads `atomic add x[%1], %2` or `atomic cas x[%1], %2 -> %3`.
    fn atomic(&mut self) -> Result<Value> {
        let word = self.parser.tokens.word("an atomic operation")?;
        let op = AtomicOp::named(word).ok_or_else(|| {
            self.parser.tokens.error(format!("there is no atomic operation `{word}`"))
        })?;
        let place = self.place()?;
        self.parser.tokens.mark(",")?;
        let value = self.value()?;
        if !self.parser.tokens.takes("->") {
            return Ok(self.b.atomic(op, place, value));
        }
        let (expected, value, ty) = (Some(value), self.value()?, self.b.place_type(place));
        Ok(self.b.emit(Op::Atomic { op, place, value, expected }, ty))
    }

    /// Reads `view %0[%1, %2 by %3 x %4]`.
    fn view(&mut self) -> Result<Value> {
        let array = self.value()?;
        self.parser.tokens.mark("[")?;
        let mut selectors = Vec::new();
        while !self.parser.tokens.takes("]") {
            if !selectors.is_empty() {
                self.parser.tokens.mark(",")?;
            }
            let start = self.value()?;
            selectors.push(if *self.parser.tokens.peek() == Token::Word("by") {
                self.parser.tokens.next();
                let step = self.value()?;
                self.parser.tokens.keyword("x")?;
                Selector::Range { start, len: self.value()?, step }
            } else {
                Selector::At(start)
            });
        }
        Ok(self.b.view(array, &selectors))
    }

    /// Returns the number of nested fixed arrays that become dimensions unless the text gives a
    /// number.
    fn levels(&self, ty: Type) -> u8 {
        crate::print::levels(&self.b.module.types, ty)
    }

    /// Splits a word into the root that it begins with and the part that leads on from there.
    pub(super) fn root(&self, word: &'t str) -> Option<(Binding, &'t str)> {
        let mut end = word.len();
        loop {
            if let Some(&binding) = self.names.get(&word[..end]) {
                let is_array = |value| {
                    let ty = self.b.body().type_of(value);
                    matches!(self.b.module.types[ty], Shape::Array { .. })
                };
                let is_root = match binding {
                    Binding::Value(value) => end == word.len() && is_array(value),
                    Binding::Local(_) | Binding::Param(_) => true,
                };
                if is_root {
                    return Some((binding, &word[end..]));
                }
            }
            end = word[..end].rfind('.')?;
        }
    }

    /// Reads a place such as `total`, `x[%1].mass` or `pose.q.3`.
    pub(super) fn place(&mut self) -> Result<PlaceId> {
        let begin = self.parser.tokens.position();
        let word = self.parser.tokens.word("a place")?;
        let Some((binding, mut rest)) = self.root(word) else {
            let expected = "a variable, parameter or array";
            return Err(self.parser.tokens.expected_at(begin, expected));
        };
        let mut place = match binding {
            Binding::Local(local) => self.b.local_place(local),
            Binding::Param(position) => self.b.param_place(position),
            Binding::Value(array) => self.b.array_place(array),
        };
        loop {
            for part in rest.split('.').skip(1) {
                place = self.part(place, part)?;
            }
            rest = "";
            if self.parser.tokens.takes("[") {
                let indices = self.values("]")?;
                let is_array =
                    matches!(self.b.module.types[self.b.place_type(place)], Shape::Array { .. });
                place = match indices.as_slice() {
                    _ if is_array => self.b.element(place, &indices),
                    &[index] => self.b.at(place, index),
                    _ => return Err(self.parser.tokens.error("one index leads to an element")),
                };
            } else if let Token::Word(word) = *self.parser.tokens.peek()
                && word.starts_with('.')
            {
                self.parser.tokens.next();
                rest = word;
            } else {
                return Ok(place);
            }
        }
    }

    fn part(&mut self, place: PlaceId, part: &str) -> Result<PlaceId> {
        let types = &self.b.module.types;
        let field = match (&types[self.b.place_type(place)], part) {
            (Shape::Struct(id), name) => {
                types.structure(*id).fields.iter().position(|field| field.name == name)
            }
            (_, "p") => Some(0),
            (_, "q") => Some(1),
            (_, index) => {
                let index = index
                    .parse()
                    .map_err(|_| self.parser.tokens.error(format!("there is no part `{index}`")))?;
                return Ok(self.b.component(place, index));
            }
        };
        let field =
            field.ok_or_else(|| self.parser.tokens.error(format!("there is no field `{part}`")))?;
        Ok(self.b.field(place, field as u32))
    }
}
