//! Python's values as arguments of a launch: arrays in place, everything else by value.
#![allow(unsafe_code)]

use gbxcule_kernel::ir::{Module, Scalar, Shape, Type};
use gbxcule_runtime::{Argument, Array, DataType, Kernel};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyTuple};

use crate::dlpack::{Borrowed, CPU, Element};

/// The arguments of one launch, and the arrays borrowed for it.
pub(crate) struct Arguments {
    // Dropped in this order: arrays before the memory they lie over.
    list: Vec<Argument>,
    _borrowed: Vec<Borrowed>,
}

impl Arguments {
    /// Take Python's values as a kernel's parameters want them; arrays named among `gradients` get those beside them.
    pub(crate) fn of(
        module: &Module,
        kernel: &Kernel,
        values: &Bound<'_, PyTuple>,
        gradients: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let parameters = &kernel.reflection().parameters;
        if values.len() != parameters.len() {
            let names: Vec<&str> = parameters.iter().map(|it| it.name.as_str()).collect();
            return Err(PyTypeError::new_err(format!(
                "kernel `{}` takes {} arguments ({}), found {}",
                kernel.reflection().name,
                names.len(),
                names.join(", "),
                values.len()
            )));
        }
        let mut taker = Taker { module, borrowed: Vec::new() };
        let mut list = Vec::new();
        for (parameter, value) in parameters.iter().zip(values.iter()) {
            let gradient = match gradients {
                Some(gradients) => gradients.get_item(&parameter.name)?,
                None => None,
            };
            let taken = taker.take(parameter.ty, &value, gradient.as_ref());
            list.push(taken.map_err(|error| {
                let found = error.value(value.py());
                PyTypeError::new_err(format!("argument `{}`: {found}", parameter.name))
            })?);
        }
        if let Some(gradients) = gradients {
            for name in gradients.keys().extract::<Vec<String>>()? {
                if !parameters.iter().any(|parameter| parameter.name == name) {
                    return Err(PyTypeError::new_err(format!(
                        "no parameter `{name}` to have a gradient"
                    )));
                }
            }
        }
        Ok(Self { list, _borrowed: taker.borrowed })
    }

    pub(crate) fn list(&self) -> &[Argument] {
        &self.list
    }
}

struct Taker<'a> {
    module: &'a Module,
    borrowed: Vec<Borrowed>,
}

impl Taker<'_> {
    fn take(
        &mut self,
        ty: Type,
        value: &Bound<'_, PyAny>,
        gradient: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Argument> {
        let shown = || self.module.types.display(ty).to_string();
        let misfit = || {
            let found = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("needs `{}`, found `{found}`", shown())))
        };
        match self.module.types[ty] {
            Shape::Array { .. } if value.is_none() => Ok(Argument::Absent),
            Shape::Array { of, dims } => {
                let array = self.array(of, dims, value)?;
                let Some(gradient) = gradient.filter(|gradient| !gradient.is_none()) else {
                    return Ok(Argument::Array(array));
                };
                let beside = self.array(of, dims, gradient)?;
                let both = array.with_gradient_in(&beside);
                both.map(Argument::Array).map_err(|error| PyValueError::new_err(error.to_string()))
            }
            Shape::Scalar(scalar) => number(scalar, value)?.map_or_else(misfit, Ok),
            Shape::Struct(id) => {
                let fields: Vec<(String, Type)> = (self.module.types.structure(id).fields.iter())
                    .map(|field| (field.name.clone(), field.ty))
                    .collect();
                let mut taken = Vec::new();
                for (name, ty) in fields {
                    let part = match value.cast::<PyDict>() {
                        Ok(fields) => fields.get_item(&name)?,
                        Err(_) => value.getattr_opt(name.as_str())?,
                    };
                    let Some(part) = part else {
                        return Err(PyTypeError::new_err(format!("field `{name}` is missing")));
                    };
                    taken.push((name, self.take(ty, &part, None)?));
                }
                Ok(Argument::Struct(taken))
            }
            _ => match DataType::of(self.module, ty) {
                Some(wanted) => composite(&wanted, value)?.map_or_else(misfit, Ok),
                None => misfit(),
            },
        }
    }

    /// An array in place: its last dimensions are those of the elements, if these are vectors or matrices.
    fn array(&mut self, of: Type, dims: u8, value: &Bound<'_, PyAny>) -> PyResult<Array> {
        let Some(data_type) = DataType::of(self.module, of) else {
            return Err(PyTypeError::new_err("arrays of structs that hold arrays can't be given"));
        };
        let borrowed = Borrowed::of(value)?;
        if borrowed.device().kind != CPU {
            return Err(PyValueError::new_err("the array is not in the CPU's memory"));
        }
        let (inner, scalar) = inside(&data_type);
        let wanted = scalar.map_or(Element { kind: 1, bits: 8, lanes: 1 }, element);
        let (shape, found) = (borrowed.shape().to_vec(), borrowed.element());
        let outer = usize::from(dims);
        let has_inner = shape[outer.min(shape.len())..]
            .iter()
            .map(|extent| *extent as usize)
            .eq(inner.iter().copied());
        if found != wanted || shape.len() < outer || !has_inner {
            return Err(PyTypeError::new_err(format!(
                "needs an array of `{}` in {dims} dimensions{}, found {} {shape:?}",
                self.module.types.display(of),
                if inner.is_empty() { String::new() } else { format!(" and {inner:?}") },
                name(found),
            )));
        }
        let size = borrowed.element_bytes();
        let strides = borrowed.strides().map_or_else(|| c_order(&shape), <[i64]>::to_vec);
        if strides[outer..] != c_order(&shape)[outer..] && !inner.is_empty() {
            return Err(PyValueError::new_err(
                "the parts of an element must lie one after the other",
            ));
        }
        let extents: Vec<usize> = shape[..outer].iter().map(|extent| *extent as usize).collect();
        let strides: Vec<isize> =
            strides[..outer].iter().map(|stride| *stride as isize * size as isize).collect();
        let (below, above) = reach(&extents, &strides);
        let bytes = if extents.contains(&0) { 0 } else { below + above + data_type.layout().0 };
        let address = borrowed.address().wrapping_sub(below);
        // SAFETY: the producer vouches for all elements of this shape and these strides until `borrowed` is dropped, and
        // the arguments drop the array first. As for every library that releases the interpreter while it works, the
        // caller keeps other threads away from arrays that a launch uses.
        let array = unsafe { Array::lent(address, bytes, data_type, below, &extents, &strides) };
        self.borrowed.push(borrowed);
        array.map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// How far elements lie below and above the first, in bytes.
fn reach(extents: &[usize], strides: &[isize]) -> (usize, usize) {
    let (mut below, mut above) = (0, 0);
    for (extent, stride) in extents.iter().zip(strides) {
        let way = extent.saturating_sub(1) * stride.unsigned_abs();
        if *stride < 0 { below += way } else { above += way }
    }
    (below, above)
}

fn c_order(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim].max(1);
    }
    strides
}

/// The dimensions within an element and what they are of; bytes for structs.
fn inside(ty: &DataType) -> (Vec<usize>, Option<Scalar>) {
    match ty {
        DataType::Scalar(of) => (vec![], Some(*of)),
        DataType::Vector(len, of) => (vec![usize::from(*len)], Some(*of)),
        DataType::Matrix(rows, columns, of) => {
            (vec![usize::from(*rows), usize::from(*columns)], Some(*of))
        }
        DataType::Quaternion(of) => (vec![4], Some(*of)),
        DataType::Transform(of) => (vec![7], Some(*of)),
        DataType::Fixed(of, len) => {
            let (mut inner, scalar) = inside(of);
            inner.insert(0, *len as usize);
            (inner, scalar)
        }
        DataType::Struct(_) => (vec![ty.layout().0], None),
    }
}

fn element(scalar: Scalar) -> Element {
    let kind = match scalar {
        Scalar::Bool => 6,
        Scalar::Bf16 => 4,
        _ if scalar.is_float() => 2,
        _ if scalar.is_signed_int() => 0,
        _ => 1,
    };
    Element { kind, bits: 8 * scalar.bytes() as u8, lanes: 1 }
}

fn name(element: Element) -> String {
    let kind = match element.kind {
        0 => "int",
        1 => "uint",
        2 => "float",
        4 => "bfloat",
        5 => "complex",
        6 => return "bool".to_string(),
        _ => "elements of kind",
    };
    format!("{kind}{}", element.bits)
}

fn number(scalar: Scalar, value: &Bound<'_, PyAny>) -> PyResult<Option<Argument>> {
    // NumPy's and torch's scalars give Python's own.
    let own = if value.hasattr("item")? { value.call_method0("item")? } else { value.clone() };
    if own.is_instance_of::<PyBool>() {
        let truth: bool = own.extract()?;
        let fits = scalar == Scalar::Bool;
        return Ok(Some(if fits { truth.into() } else { Argument::Int(truth.into()) }));
    }
    if own.is_instance_of::<PyInt>() {
        return Ok(Some(Argument::Int(own.extract()?)));
    }
    if own.is_instance_of::<PyFloat>() {
        return Ok(Some(Argument::Float(own.extract()?)));
    }
    Ok(None)
}

/// A vector, matrix, quaternion or transform from any nested sequence or array.
fn composite(wanted: &DataType, value: &Bound<'_, PyAny>) -> PyResult<Option<Argument>> {
    let (inner, Some(scalar)) = inside(wanted) else { return Ok(None) };
    let numpy = value.py().import("numpy")?;
    let Some(dtype) = numpy_name(scalar) else { return Ok(None) };
    let array = numpy.call_method1("ascontiguousarray", (value, dtype))?;
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    if shape != inner {
        return Ok(None);
    }
    let bytes: Vec<u8> = array.call_method0("tobytes")?.extract()?;
    Ok(Some(Argument::Value(wanted.clone(), bytes)))
}

fn numpy_name(scalar: Scalar) -> Option<String> {
    (scalar != Scalar::Bf16).then(|| name(element(scalar)))
}
