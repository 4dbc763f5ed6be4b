//! Lowers statements of a snippet to IR, with C++'s conversions of numbers and with the functions
//! that Warp's C++ and the dialect have in common.

mod number;
mod statement;

use crate::tree::{Expr, SnippetType, Stmt};
use gbxcule_ir::build::Builder;
use gbxcule_ir::builtin::{self, BuiltinId, Visibility};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{FunctionId, LocalId, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, BinaryOp, UnaryOp, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use number::promotion;
use rustc_hash::{FxHashMap, FxHashSet};

/// A part of a snippet as IR, or the name of a construct that isn't read.
type Lowered<T> = Result<T, String>;

/// Fills a declared function with some statements.
pub(crate) fn lower(
    body: &[Stmt],
    module: &mut Module,
    function: FunctionId,
    result: Type,
) -> Lowered<()> {
    let b = Builder::new(module, function);
    let mut lowering = Lowering { b, result, scopes: vec![FxHashMap::default()], in_loop: 0 };
    let lowered = lowering.body(body);
    lowering.b.finish();
    lowered
}

/// Lowering of a snippet.
struct Lowering<'m> {
    b: Builder<'m>,
    result: Type,
    scopes: Vec<FxHashMap<String, Variable>>,
    in_loop: usize,
}

/// Meaning of a name in a snippet.
#[derive(Clone, Copy)]
enum Variable {
    Local(LocalId),
    /// A parameter by reference.
    Place(u32),
    /// An array, or a parameter without an assignment.
    Value(Value),
}

impl Lowering<'_> {
    fn body(&mut self, body: &[Stmt]) -> Lowered<()> {
        let result = self.result;
        self.parameters(&assigned(body));
        body.iter().try_for_each(|stmt| self.stmt(stmt))?;
        if result != Type::UNIT && !self.b.diverged() {
            return Err("a way without `return`".to_owned());
        }
        let id = self.b.function_id();
        self.b.module.functions[id].result = result;
        Ok(())
    }

    fn parameters(&mut self, changed: &FxHashSet<&str>) {
        for at in 0..self.b.function().params.len() as u32 {
            let param = &self.b.function().params[at as usize];
            let (name, ty, mode) = (param.name.clone(), param.ty, param.mode);
            let variable = if mode == PassMode::Mutable {
                Variable::Place(at)
            } else if matches!(self.b.shape(ty), Shape::Array { .. })
                || !changed.contains(name.as_str())
            {
                Variable::Value(self.b.arg(at))
            } else {
                let value = self.b.arg(at);
                let local = self.b.local(&*name, ty);
                let place = self.b.local_place(local);
                self.b.store(place, value);
                Variable::Local(local)
            };
            self.scopes[0].insert(name, variable);
        }
    }

    fn variable(&self, name: &str) -> Lowered<Variable> {
        let variable = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        variable.copied().ok_or_else(|| format!("`{name}`, which nothing declares"))
    }

    /// A place that is written.
    fn target(&mut self, target: &Expr) -> Lowered<PlaceId> {
        match target {
            Expr::Name(name) => match self.variable(name)? {
                Variable::Local(local) => Ok(self.b.local_place(local)),
                Variable::Place(at) => Ok(self.b.param_place(at)),
                Variable::Value(_) => Err(format!("a new array for `{name}`")),
            },
            Expr::Element(base, index) => self.element(base, index),
            _ => Err("a value on the left of `=`".to_owned()),
        }
    }

    /// An element of an array of one dimension, or a component of a vector that is a variable.
    fn element(&mut self, base: &Expr, index: &Expr) -> Lowered<PlaceId> {
        // `a.data[i]` is `a[i]`.
        let base = match base {
            Expr::Member(base, name) if name == "data" => base,
            base => base,
        };
        let index = self.expr(index)?;
        if !self.b.ty(index).as_scalar().is_some_and(Scalar::is_int) {
            return Err("an index that isn't an integer".to_owned());
        }
        if let Expr::Name(name) = base
            && let Variable::Value(array) = self.variable(name)?
            && matches!(self.b.shape(self.b.ty(array)), Shape::Array { .. })
        {
            return match self.b.shape(self.b.ty(array)) {
                Shape::Array { dims: 1, .. } => {
                    let memory = self.b.array_place(array);
                    Ok(self.b.element(memory, &[index]))
                }
                _ => Err(format!("memory of `{name}`, which has several dimensions")),
            };
        }
        let named = match base {
            Expr::Name(name) => match self.variable(name)? {
                Variable::Value(value) => Some((name, value)),
                _ => None,
            },
            _ => None,
        };
        let place = match named {
            Some((name, value)) => self.b.stored(name, value),
            None => self.target(base)?,
        };
        match *self.b.shape(self.b.place_type(place)) {
            Shape::Vector { .. } => Ok(self.b.at(place, index)),
            _ => Err("`[..]` behind a value that is neither array nor vector".to_owned()),
        }
    }

    fn expr(&mut self, expr: &Expr) -> Lowered<Value> {
        Ok(match expr {
            Expr::Bool(value) => self.b.bool(*value),
            Expr::Int(scalar, value) => self.b.literal(Literal::int(*scalar, *value)),
            Expr::Float(scalar, value) => self.b.literal(Literal::float(*scalar, *value)),
            Expr::Name(name) => match self.variable(name)? {
                Variable::Value(array) => array,
                Variable::Local(local) => {
                    let place = self.b.local_place(local);
                    self.b.load(place)
                }
                Variable::Place(at) => {
                    let place = self.b.param_place(at);
                    self.b.load(place)
                }
            },
            Expr::Element(base, index) => {
                let place = self.element(base, index)?;
                self.b.load(place)
            }
            Expr::Member(_, name) => return Err(format!("`.{name}`")),
            Expr::Call(name, arguments) => return self.call(name, arguments),
            Expr::Make(ty, arguments) => return self.make(*ty, arguments),
            Expr::Bits(to, value) => {
                let value = self.expr(value)?;
                return self.bits(value, *to);
            }
            Expr::Negate(value) => {
                let value = self.promoted(value)?;
                self.b.unary(UnaryOp::Negate, value)
            }
            Expr::Not(value) => {
                let value = self.truth(value)?;
                self.b.unary(UnaryOp::Not, value)
            }
            Expr::Invert(value) => {
                let value = self.promoted(value)?;
                if !self.scalar_of(value)?.is_int() {
                    return Err("`~` before a float".to_owned());
                }
                self.b.unary(UnaryOp::Not, value)
            }
            Expr::Binary(op, left, right) => {
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                return self.binary(*op, left, right);
            }
            Expr::Compare(op, left, right) => {
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                let (left, right) = self.common_type(left, right)?;
                self.b.compare(*op, left, right)
            }
            Expr::Both(and, left, right) => return self.both(*and, left, right),
            Expr::Choose(condition, accept, reject) => {
                return self.choose(condition, accept, reject);
            }
        })
    }

    fn bits(&mut self, value: Value, to: Scalar) -> Lowered<Value> {
        let from = self.scalar_of(value)?;
        let is_bool = from == Scalar::Bool || to == Scalar::Bool;
        if is_bool || from.bits() != to.bits() {
            return Err("`reinterpret_cast` to another size".to_owned());
        }
        Ok(self.b.bitcast(value, to))
    }

    /// Lowers `a && b` or `a || b`: the right operand is evaluated only if the left one doesn't
    /// decide.
    fn both(&mut self, and: bool, left: &Expr, right: &Expr) -> Lowered<Value> {
        let left = self.truth(left)?;
        let place = self.b.temporary("both", Type::BOOL);
        self.b.store(place, left);
        let enters = if and { left } else { self.b.not(left) };
        self.b.open_block();
        let right = self.truth(right);
        if let Ok(right) = right {
            self.b.store(place, right);
        }
        let accept = self.b.close_block();
        let reject = self.b.empty_block();
        self.b.if_blocks(enters, accept, reject);
        right?;
        Ok(self.b.load(place))
    }

    fn choose(&mut self, condition: &Expr, accept: &Expr, reject: &Expr) -> Lowered<Value> {
        let condition = self.truth(condition)?;
        if !(is_plain(accept) && is_plain(reject)) {
            return Err("`?` before operands that may fault".to_owned());
        }
        let accept = self.expr(accept)?;
        let reject = self.expr(reject)?;
        let (accept, reject) = match self.b.ty(accept) == self.b.ty(reject) {
            true => (accept, reject),
            false => self.common_type(accept, reject)?,
        };
        Ok(self.b.select(condition, accept, reject))
    }

    fn promoted(&mut self, value: &Expr) -> Lowered<Value> {
        let value = self.expr(value)?;
        let scalar = promotion(self.scalar_of(value)?);
        Ok(self.number_as(value, scalar))
    }

    fn truth(&mut self, value: &Expr) -> Lowered<Value> {
        let value = self.expr(value)?;
        self.scalar_of(value)?;
        Ok(self.number_as(value, Scalar::Bool))
    }

    fn type_of(&mut self, ty: SnippetType) -> Lowered<Type> {
        let types = &mut self.b.module.types;
        Ok(match ty {
            SnippetType::Auto => return Err("`auto` as a type of a value".to_owned()),
            SnippetType::Scalar(scalar) => Type::scalar(scalar),
            SnippetType::Vector(len, of) => types.vector(len, of),
            SnippetType::Matrix(rows, cols, of) => types.matrix(rows, cols, of),
        })
    }

    /// A value of a type: a conversion, or a vector or matrix of its parts.
    fn make(&mut self, ty: SnippetType, given: &[Expr]) -> Lowered<Value> {
        let ty = self.type_of(ty)?;
        let mut parts = Vec::with_capacity(given.len());
        for part in given {
            parts.push(self.expr(part)?);
        }
        let (scalar, count) = self.b.module.types.components(ty).unwrap_or((Scalar::F32, 0));
        if ty.as_scalar().is_some() {
            return match parts[..] {
                [] => Ok(self.b.zero_of(ty)),
                [part] => self.value_as(part, ty),
                _ => Err("a number of several parts".to_owned()),
            };
        }
        for part in &mut parts {
            *part = self.value_as(*part, Type::scalar(scalar))?;
        }
        match parts[..] {
            [] => Ok(self.b.zero_of(ty)),
            [part] => Ok(self.b.splat(ty, part)),
            _ if parts.len() == count as usize => Ok(self.b.construct(ty, &parts)),
            _ => Err(format!("{} parts of a `{}`", parts.len(), self.b.shown(ty))),
        }
    }

    /// A function of C's library or of Warp's.
    fn call(&mut self, name: &str, arguments: &[Expr]) -> Lowered<Value> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.expr(argument)?);
        }
        if let Some(&(_, row, of)) = BIT_COUNTS.iter().find(|(named, ..)| *named == name) {
            for value in &mut values {
                *value = self.value_as(*value, Type::scalar(of))?;
            }
            let row = builtin::find(row).filter(|_| values.len() == 1);
            let count = row.and_then(|row| call_row(&mut self.b, row, &values));
            return count.ok_or_else(|| format!("`{name}(..)` of such types"));
        }
        // C's functions whose names end with `f` convert their arguments to floats.
        let single = name.strip_suffix('f').filter(|short| C_FUNCTIONS.contains(short));
        let row = match single {
            Some(short) => {
                for value in &mut values {
                    *value = self.value_as(*value, Type::F32)?;
                }
                if short == "fabs" { "abs" } else { short }
            }
            None => name,
        };
        let row = builtin::find(row)
            .filter(|&row| builtin::row(row).visibility == Visibility::Dialect)
            .filter(|&row| {
                builtin::row(row).signatures.iter().any(|it| it.params.len() == values.len())
            })
            .ok_or_else(|| format!("`{name}(..)`"))?;
        call_row(&mut self.b, row, &values).ok_or_else(|| format!("`{name}(..)` of such types"))
    }
}

/// Bit-counting functions of C compilers, each with the builtin that counts the same bits and the
/// type to which its argument converts. In C the count of zeros is undefined for 0.
const BIT_COUNTS: [(&str, &str, Scalar); 6] = [
    ("__builtin_clz", "leading_zeros", Scalar::U32),
    ("__builtin_clzll", "leading_zeros", Scalar::U64),
    ("__builtin_ctz", "trailing_zeros", Scalar::U32),
    ("__builtin_ctzll", "trailing_zeros", Scalar::U64),
    ("__builtin_popcount", "bit_count", Scalar::U32),
    ("__builtin_popcountll", "bit_count", Scalar::U64),
];

/// Functions of C's library that mean the same in the dialect, without the `f` at the end of their
/// names. `asin` and `acos` are missing because they clamp in the dialect, `fmin` and `fmax`
/// because they ignore NaN in C.
const C_FUNCTIONS: [&str; 15] = [
    "atan", "atan2", "ceil", "cos", "cosh", "exp", "fabs", "floor", "log", "pow", "sin", "sinh",
    "sqrt", "tan", "tanh",
];

/// Names of variables that are assigned to, as a whole or in part.
fn assigned(body: &[Stmt]) -> FxHashSet<&str> {
    let mut names = FxHashSet::default();
    let mut todo: Vec<&Stmt> = body.iter().collect();
    while let Some(stmt) = todo.pop() {
        match stmt {
            Stmt::Block(body) => todo.extend(body),
            Stmt::If(_, accept, reject) => {
                todo.extend([accept].into_iter().chain(reject).map(|it| &**it));
            }
            Stmt::While(_, body, step) => {
                todo.extend([body].into_iter().chain(step).map(|it| &**it));
            }
            Stmt::Assign(target, ..) => {
                let mut target = target;
                while let Expr::Element(base, _) | Expr::Member(base, _) = target {
                    target = base;
                }
                if let Expr::Name(name) = target {
                    names.insert(name.as_str());
                }
            }
            Stmt::Declare(..) | Stmt::Return(_) | Stmt::Break | Stmt::Drop(_) => {}
        }
    }
    names
}

/// Returns true if an expression never faults, so that it may be evaluated even where its value
/// is not used.
fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Bool(_) | Expr::Int(..) | Expr::Float(..) | Expr::Name(_) => true,
        Expr::Element(..) | Expr::Member(..) | Expr::Call(..) | Expr::Both(..) => false,
        Expr::Make(_, parts) => parts.iter().all(is_plain),
        Expr::Bits(_, value) | Expr::Negate(value) | Expr::Not(value) | Expr::Invert(value) => {
            is_plain(value)
        }
        Expr::Binary(op, left, right) => {
            !matches!(op, BinaryOp::Divide | BinaryOp::Remainder)
                && is_plain(left)
                && is_plain(right)
        }
        Expr::Compare(_, left, right) => is_plain(left) && is_plain(right),
        Expr::Choose(condition, accept, reject) => {
            is_plain(condition) && is_plain(accept) && is_plain(reject)
        }
    }
}

/// Calls a builtin by its row with values; `None` if it doesn't take them.
fn call_row(b: &mut Builder<'_>, row: BuiltinId, values: &[Value]) -> Option<Value> {
    let mut args = Vec::with_capacity(values.len());
    for (position, &value) in values.iter().enumerate() {
        args.push(match builtin::takes_place(row, values.len(), position) {
            true => Arg::Place(b.stored("state", value)),
            false => Arg::Value(value),
        });
    }
    b.builtin(row, &args)
}
