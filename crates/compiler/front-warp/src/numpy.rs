//! NumPy's arrays whose numbers the text says: `np.array([..])`, `np.eye(3)`, and what arithmetic
//! makes of them. Tables of programs are such arrays.

use super::annotation::Annotation;
use super::arithmetic::{MAX_RANGE, as_int};
use super::constant::{KnownValue, Unit};
use super::scope::ScopeId;
use super::syntax::{self, Arguments, Expr, Operator};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::eval;
use gbxcule_ir::op::BinaryOp;
use gbxcule_ir::ty::Scalar;
use std::rc::Rc;

/// Numbers in rows: the last extent runs fastest.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct NumberArray {
    dtype: Scalar,
    shape: Vec<usize>,
    numbers: Vec<Literal>,
}

impl NumberArray {
    /// An array, if its numbers fill its shape.
    fn value<'a>(
        dtype: Scalar,
        shape: Vec<usize>,
        numbers: Vec<Literal>,
    ) -> Option<KnownValue<'a>> {
        let fits = numbers.len() == shape.iter().product::<usize>() && numbers.len() <= MAX_RANGE;
        fits.then(|| KnownValue::NumberArray(Rc::new(Self { dtype, shape, numbers })))
    }

    /// Reads nested sequences and vectors; `None` if they aren't numbers in equal rows.
    fn read(value: &KnownValue<'_>, dtype: Option<Scalar>) -> Option<Self> {
        let (mut shape, mut parts) = (Vec::new(), Vec::new());
        gather(value, 0, &mut shape, &mut parts)?;
        let own = |part: &KnownValue<'_>| match part {
            KnownValue::Bool(_) => Scalar::Bool,
            KnownValue::Int(_) | KnownValue::Enumerator(..) => Scalar::I64,
            KnownValue::Typed(literal) => literal.scalar(),
            _ => Scalar::F64,
        };
        let found = parts.iter().map(own).try_fold(None, |all: Option<Scalar>, one| {
            all.map_or(Some(one), |all| joined(all, one)).map(Some)
        })?;
        let dtype = dtype.or(found).unwrap_or(Scalar::F64);
        let numbers: Vec<Literal> =
            parts.iter().map(|part| part.literal(dtype)).collect::<Option<_>>()?;
        (numbers.len() == shape.iter().product::<usize>() && numbers.len() <= MAX_RANGE)
            .then_some(Self { dtype, shape, numbers })
    }

    /// The numbers, in order.
    pub(super) fn parts<'a>(&self) -> Vec<KnownValue<'a>> {
        self.numbers.iter().map(|number| of_python(*number)).collect()
    }

    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Rows, or numbers: the parts that a loop goes over.
    pub(super) fn rows<'a>(&self) -> Vec<KnownValue<'a>> {
        match &self.shape[..] {
            [] | [_] => self.parts(),
            [_, inner @ ..] => {
                let width = inner.iter().product::<usize>().max(1);
                let row = |row: &[Literal]| Self::value(self.dtype, inner.to_vec(), row.to_vec());
                self.numbers.chunks(width).filter_map(row).collect()
            }
        }
    }

    /// Elements in lists, as `tolist` gives them.
    fn lists<'a>(&self) -> KnownValue<'a> {
        let rows = self.rows().into_iter().map(|row| match row {
            KnownValue::NumberArray(row) => row.lists(),
            number => number,
        });
        KnownValue::Sequence(rows.collect())
    }

    fn mapped<'a>(
        &self,
        dtype: Scalar,
        each: impl Fn(Literal) -> Option<Literal>,
    ) -> Option<KnownValue<'a>> {
        let numbers = self.numbers.iter().map(|number| each(*number)).collect::<Option<_>>()?;
        Self::value(dtype, self.shape.clone(), numbers)
    }

    /// Attribute of an array.
    pub(super) fn attribute<'a>(&self, name: &str) -> Option<KnownValue<'a>> {
        let number = |number: usize| KnownValue::Int(number as i128);
        Some(match name {
            "shape" => KnownValue::Sequence(self.shape.iter().copied().map(number).collect()),
            "size" => number(self.numbers.len()),
            "ndim" => number(self.shape.len()),
            "dtype" => KnownValue::Type(Annotation::Scalar(self.dtype)),
            "T" => {
                let [rows, cols] = self.shape[..] else { return None };
                let at = |at: usize| self.numbers[at % rows * cols + at / rows];
                let numbers = (0..rows * cols).map(at).collect();
                Self::value(self.dtype, vec![cols, rows], numbers)?
            }
            _ => return None,
        })
    }

    /// Result of a method.
    pub(super) fn method<'a>(&self, name: &str, args: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
        let whole = || self.numbers.clone();
        match (name, args) {
            ("tolist", []) => Some(self.lists()),
            ("copy", []) => Self::value(self.dtype, self.shape.clone(), whole()),
            ("flatten" | "ravel", []) => Self::value(self.dtype, vec![self.len()], whole()),
            ("item", []) if self.len() == 1 => self.parts().pop(),
            ("astype", [of]) => {
                let dtype = scalar_of(of)?;
                self.mapped(dtype, |number| Some(eval::convert(number, dtype)))
            }
            ("reshape", shape) => {
                let mut extents: Vec<i128> = match shape {
                    [KnownValue::Sequence(parts)] => {
                        parts.iter().map(as_int).collect::<Option<_>>()
                    }
                    parts => parts.iter().map(as_int).collect::<Option<_>>(),
                }?;
                let known: i128 = extents.iter().filter(|it| **it >= 0).product();
                if let Some(open) = extents.iter_mut().find(|it| **it == -1) {
                    *open = (self.len() as i128).checked_div(known)?;
                }
                let shape = extents.into_iter().map(|it| usize::try_from(it).ok());
                Self::value(self.dtype, shape.collect::<Option<_>>()?, whole())
            }
            ("sum" | "prod" | "min" | "max" | "mean", []) => self.reduced(name),
            _ => None,
        }
    }

    fn reduced<'a>(&self, name: &str) -> Option<KnownValue<'a>> {
        let (first, rest) = self.numbers.split_first()?;
        let joined = |op| rest.iter().try_fold(*first, |all, one| eval::binary(op, all, *one).ok());
        let extreme = |order| {
            let better = |best: Literal, one: &Literal| {
                if one.as_f64().partial_cmp(&best.as_f64()) == Some(order) { *one } else { best }
            };
            rest.iter().fold(*first, better)
        };
        Some(of_python(match name {
            "sum" if self.dtype != Scalar::Bool => joined(BinaryOp::Add)?,
            "prod" if self.dtype != Scalar::Bool => joined(BinaryOp::Multiply)?,
            "mean" if self.dtype.is_float() => {
                let sum = joined(BinaryOp::Add)?;
                Literal::float(self.dtype, sum.as_f64() / self.len() as f64)
            }
            "min" => extreme(std::cmp::Ordering::Less),
            "max" => extreme(std::cmp::Ordering::Greater),
            _ => return None,
        }))
    }

    /// Element or row at some indices.
    pub(super) fn at<'a>(&self, indices: &[i128]) -> Option<KnownValue<'a>> {
        let (first, rest) = indices.split_first()?;
        let rows = self.rows();
        let at = if *first < 0 { first + rows.len() as i128 } else { *first };
        match (rows.into_iter().nth(usize::try_from(at).ok()?)?, rest) {
            (row, []) => Some(row),
            (KnownValue::NumberArray(row), rest) => row.at(rest),
            _ => None,
        }
    }
}

/// Result of an operator of which an array is an operand.
pub(super) fn operator<'a>(
    op: Operator,
    left: &KnownValue<'a>,
    right: &KnownValue<'a>,
) -> Option<KnownValue<'a>> {
    let of = |value: &KnownValue<'a>| match value {
        KnownValue::NumberArray(array) => Some((**array).clone()),
        KnownValue::Sequence(_) => NumberArray::read(value, None),
        _ => None,
    };
    let number = |value: &KnownValue<'a>, dtype: Scalar| {
        let dtype = if matches!(value, KnownValue::Float(_)) && !dtype.is_float() {
            Scalar::F64
        } else {
            dtype
        };
        let literal = value.literal(dtype)?;
        Some(NumberArray { dtype, shape: Vec::new(), numbers: vec![literal] })
    };
    let (left, right) = match (of(left), of(right)) {
        (Some(left), Some(right)) => (left, right),
        (Some(array), None) => (array.clone(), number(right, array.dtype)?),
        (None, Some(array)) => (number(left, array.dtype)?, array),
        (None, None) => return None,
    };
    let is_quotient = op == Operator::Div;
    let mut dtype = joined(left.dtype, right.dtype)?;
    if is_quotient && !dtype.is_float() {
        dtype = Scalar::F64;
    }
    let shape = match (left.shape.is_empty(), right.shape.is_empty()) {
        (true, _) => right.shape.clone(),
        (_, true) => left.shape.clone(),
        _ if left.shape == right.shape => left.shape.clone(),
        _ => return None,
    };
    let at = |array: &NumberArray, at: usize| {
        eval::convert(array.numbers[if array.shape.is_empty() { 0 } else { at }], dtype)
    };
    let each = |position: usize| {
        let (l, r) = (at(&left, position), at(&right, position));
        let simple = match op {
            Operator::Add => BinaryOp::Add,
            Operator::Sub => BinaryOp::Subtract,
            Operator::Mult => BinaryOp::Multiply,
            Operator::Div => BinaryOp::Divide,
            Operator::Pow if dtype.is_float() => {
                return Some(Literal::float(dtype, l.as_f64().powf(r.as_f64())));
            }
            _ => return None,
        };
        eval::binary(simple, l, r).ok()
    };
    let count = shape.iter().product();
    NumberArray::value(dtype, shape, (0..count).map(each).collect::<Option<_>>()?)
}

/// Result of a function of NumPy that takes or gives arrays.
fn function<'a>(
    name: &str,
    args: &[KnownValue<'a>],
    dtype: Option<Scalar>,
) -> Option<KnownValue<'a>> {
    let filled = |shape: &KnownValue<'a>, value: &KnownValue<'a>, default: Scalar| {
        let dtype = dtype.unwrap_or(default);
        let shape: Vec<usize> = match shape {
            KnownValue::Sequence(parts) => extents(parts)?,
            one => extents(std::slice::from_ref(one))?,
        };
        let count = shape.iter().try_fold(1, |all: usize, one| all.checked_mul(*one))?;
        let count = Some(count).filter(|count| *count <= MAX_RANGE)?;
        NumberArray::value(dtype, shape, vec![value.literal(dtype)?; count])
    };
    match (name, args) {
        ("array" | "asarray" | "ascontiguousarray", [value]) => {
            let array = match (value, dtype) {
                (KnownValue::NumberArray(array), None) => (**array).clone(),
                (KnownValue::NumberArray(array), Some(dtype)) => {
                    return array.mapped(dtype, |number| Some(eval::convert(number, dtype)));
                }
                (value, dtype) => NumberArray::read(value, dtype)?,
            };
            NumberArray::value(array.dtype, array.shape, array.numbers)
        }
        ("zeros", [shape]) => filled(shape, &KnownValue::Int(0), Scalar::F64),
        ("ones", [shape]) => filled(shape, &KnownValue::Int(1), Scalar::F64),
        ("full", [shape, value @ KnownValue::Float(_)]) => filled(shape, value, Scalar::F64),
        ("full", [shape, value @ KnownValue::Int(_)]) => filled(shape, value, Scalar::I64),
        ("eye" | "identity", [size]) => {
            let (size, dtype) = (as_int(size)?, dtype.unwrap_or(Scalar::F64));
            let size = usize::try_from(size).ok().filter(|size| *size <= 64)?;
            let at = |at: usize| Literal::int(dtype, i128::from(at / size == at % size));
            NumberArray::value(dtype, vec![size, size], (0..size * size).map(at).collect())
        }
        ("arange", bounds) if bounds.iter().all(|it| as_int(it).is_some()) => {
            let range = super::sequence::sequence_function("builtins.range", bounds)?;
            let array = NumberArray::read(&range, dtype.or(Some(Scalar::I64)))?;
            NumberArray::value(array.dtype, array.shape, array.numbers)
        }
        ("linspace", [start, stop, count]) => {
            linspace(start.as_f64()?, stop.as_f64()?, as_int(count)?, dtype)
        }
        _ => computed(name, args),
    }
}

/// `numpy.linspace(start, stop, count)`
fn linspace<'a>(
    start: f64,
    stop: f64,
    count: i128,
    dtype: Option<Scalar>,
) -> Option<KnownValue<'a>> {
    let count = usize::try_from(count).ok().filter(|it| *it <= MAX_RANGE)?;
    let dtype = dtype.unwrap_or(Scalar::F64);
    let step = (stop - start) / (count.checked_sub(1)?.max(1)) as f64;
    let at = |at: usize| match at + 1 == count && count > 1 {
        true => Literal::float(dtype, stop),
        false => Literal::float(dtype, at as f64 * step + start),
    };
    NumberArray::value(dtype, vec![count], (0..count).map(at).collect())
}

/// Result of a function of NumPy on arrays.
fn computed<'a>(name: &str, args: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
    let array = |at: usize| match args.get(at)? {
        KnownValue::NumberArray(array) => Some((**array).clone()),
        value => NumberArray::read(value, None),
    };
    match (name, args) {
        ("sum" | "prod" | "min" | "max" | "mean", [_]) => array(0)?.reduced(name),
        ("linalg.norm", [_]) => {
            let squares = array(0)?.numbers.iter().map(|it| it.as_f64().powi(2)).sum::<f64>();
            Some(KnownValue::Float(squares.sqrt()))
        }
        ("dot", [left, right]) => match operator(Operator::Mult, left, right)? {
            KnownValue::NumberArray(array) if array.shape.len() == 1 => array.reduced("sum"),
            _ => None,
        },
        ("cross", [_, _]) => {
            let numbers = |at: usize| -> Option<[f64; 3]> {
                let numbers: Vec<f64> = array(at)?.numbers.iter().map(|it| it.as_f64()).collect();
                numbers.try_into().ok()
            };
            let (l, r) = (numbers(0)?, numbers(1)?);
            let at = |i: usize, j: usize| Literal::float(Scalar::F64, l[i] * r[j] - l[j] * r[i]);
            NumberArray::value(Scalar::F64, vec![3], vec![at(1, 2), at(2, 0), at(0, 1)])
        }
        (_, [KnownValue::NumberArray(array)]) => {
            let function: fn(f64) -> f64 = match name {
                "sqrt" => f64::sqrt,
                "exp" => f64::exp,
                "sin" => f64::sin,
                "cos" => f64::cos,
                "tan" => f64::tan,
                "log" => f64::ln,
                "abs" => f64::abs,
                "floor" => f64::floor,
                "ceil" => f64::ceil,
                _ => return None,
            };
            let dtype = if array.dtype.is_float() { array.dtype } else { Scalar::F64 };
            array.mapped(dtype, |number| Some(Literal::float(dtype, function(number.as_f64()))))
        }
        _ => None,
    }
}

impl<'a> Unit<'a> {
    /// Result of a function of NumPy that takes or gives arrays; `None` if only Python knows it.
    pub(super) fn numpy_call(
        &self,
        name: &str,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Option<KnownValue<'a>> {
        let dtype = match args.keywords.iter().find(|it| it.arg.as_deref() == Some("dtype")) {
            Some(keyword) => Some(self.numpy_scalar(&keyword.value, scope)?),
            None => None,
        };
        if args.keywords.len() > usize::from(dtype.is_some()) {
            return None;
        }
        let known = args.args.iter().map(|arg| Some(self.settled(self.known(arg, scope).ok()?)));
        let mut values: Vec<KnownValue<'a>> = known.collect::<Option<_>>()?;
        let takes_dtype = matches!(name, "array" | "asarray" | "zeros" | "ones");
        let dtype = match (&args.args[..], takes_dtype) {
            ([_, of], true) => {
                values.pop();
                Some(self.numpy_scalar(of, scope)?)
            }
            _ => dtype,
        };
        function(name, &values, dtype)
    }

    /// Scalar that a `dtype` means: Python's own types are the wide ones.
    pub(super) fn numpy_scalar(&self, of: &'a Expr, scope: ScopeId) -> Option<Scalar> {
        match of {
            Expr::Name(name) if name.id == "float" => Some(Scalar::F64),
            Expr::Name(name) if name.id == "int" => Some(Scalar::I64),
            of => scalar_of(&self.known(of, scope).ok()?),
        }
    }

    /// Element or row of an array, by one index or several.
    pub(super) fn element_of_array(
        &self,
        array: &NumberArray,
        index: &'a Expr,
        scope: ScopeId,
    ) -> Option<KnownValue<'a>> {
        let indices = match index {
            Expr::Tuple(tuple) => &tuple.elts[..],
            index => std::slice::from_ref(index),
        };
        let indices = indices.iter().map(|it| as_int(&self.settled(self.known(it, scope).ok()?)));
        array.at(&indices.collect::<Option<Vec<_>>>()?)
    }

    /// Result of a method of an array.
    pub(super) fn array_method(
        &self,
        array: &NumberArray,
        name: &str,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Option<KnownValue<'a>> {
        if name == "astype" {
            let dtype = self.numpy_scalar(syntax::argument(args, "dtype", 0)?, scope)?;
            return array.method(name, &[KnownValue::Type(Annotation::Scalar(dtype))]);
        }
        let values = args.args.iter().map(|arg| self.known(arg, scope).ok());
        let values: Vec<KnownValue<'a>> = values.collect::<Option<_>>()?;
        args.keywords.is_empty().then(|| array.method(name, &values))?
    }
}

fn scalar_of(value: &KnownValue<'_>) -> Option<Scalar> {
    match value {
        KnownValue::Type(Annotation::Scalar(of)) => Some(*of),
        _ => None,
    }
}

/// An element as Python has it: a number without a width.
fn of_python<'a>(number: Literal) -> KnownValue<'a> {
    match (number.scalar(), number.as_int()) {
        (Scalar::Bool, _) => KnownValue::Bool(number.bits() != 0),
        (_, Some(value)) => KnownValue::Int(value),
        _ => KnownValue::Float(number.as_f64()),
    }
}

/// Scalar that holds what two hold, where that is plain.
fn joined(one: Scalar, other: Scalar) -> Option<Scalar> {
    if one == other {
        return Some(one);
    }
    let (wide, narrow) = if one.bits() < other.bits() { (other, one) } else { (one, other) };
    match (one, other) {
        (Scalar::Bool, other) | (other, Scalar::Bool) => Some(other),
        _ if one.is_float() && other.is_float() => (wide.bits() > narrow.bits()).then_some(wide),
        _ if one.is_float() != other.is_float() => Some(Scalar::F64),
        (Scalar::I32, Scalar::I64) | (Scalar::I64, Scalar::I32) => Some(Scalar::I64),
        _ => None,
    }
}

fn extents(parts: &[KnownValue<'_>]) -> Option<Vec<usize>> {
    parts.iter().map(|it| usize::try_from(as_int(it)?).ok()).collect()
}

/// Deepest nesting of lists that make an array.
const MAX_DIMS: usize = 8;

/// Adds the numbers of nested lists, and finds their shape.
fn gather<'a>(
    value: &KnownValue<'a>,
    level: usize,
    shape: &mut Vec<usize>,
    parts: &mut Vec<KnownValue<'a>>,
) -> Option<()> {
    let inner = match value {
        KnownValue::Sequence(inner) => inner.to_vec(),
        KnownValue::NumberArray(array) => array.rows(),
        KnownValue::Composite(..) => super::sequence::iterated(value)?,
        number => {
            parts.push(number.clone());
            return (shape.len() == level).then_some(());
        }
    };
    match shape.get(level) {
        None if parts.is_empty() && level < MAX_DIMS => shape.push(inner.len()),
        Some(extent) if *extent == inner.len() => {}
        _ => return None,
    }
    inner.iter().try_for_each(|part| gather(part, level + 1, shape, parts))
}
