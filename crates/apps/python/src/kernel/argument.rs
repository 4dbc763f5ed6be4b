//! Converts Python's values to arguments of a launch. Arrays are used in place, all other values
//! are copied.
#![allow(unsafe_code, reason = "memory and streams that Python objects lend")]

use std::collections::BTreeSet;

use gbxcule_ir::{Module, Scalar, Shape, StructId, Type};
use gbxcule_runtime::{Argument, Array, DataType, Device, Error, Kernel, Stream};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyTuple};

use super::launch_target::{LaunchTarget, field_of};
use crate::array::DeviceArray;
use crate::dlpack::{Borrowed, CPU, CUDA, Element};
use crate::lent_array::LentArray;

/// Arguments of one launch, and the arrays borrowed for it.
pub(crate) struct Arguments {
    // The fields are dropped in this order: arrays before the memory under them.
    list: Vec<Argument>,
    borrowed: Vec<Borrowed>,
    #[allow(dead_code, reason = "held, not read")]
    lent: Vec<Py<LentArray>>,
    owners: BTreeSet<u64>,
}

impl Arguments {
    /// Converts Python's values to a kernel's parameters; arrays named in `gradients` are passed
    /// with their gradients.
    pub(crate) fn of(
        module: &Module,
        kernel: &Kernel,
        place: &LaunchTarget,
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
        let (borrowed, lent, owners) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut taker = ArgumentReader { module, place, borrowed, lent, owners };
        let mut list = Vec::new();
        for (parameter, value) in parameters.iter().zip(values.iter()) {
            let gradient = match gradients {
                Some(gradients) => gradients.get_item(&parameter.name)?,
                None => None,
            };
            let taken = taker.take(parameter.ty, &value, gradient.as_ref());
            list.push(taken.map_err(|error| {
                let cause = error.value(value.py());
                PyTypeError::new_err(format!("argument `{}`: {cause}", parameter.name))
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
        let ArgumentReader { borrowed, lent, owners, .. } = taker;
        Ok(Self { list, borrowed, lent, owners })
    }

    /// Makes the streams of the borrowed arrays' owners wait for the launch (on the CPU it has
    /// ended). So an owner uses or frees a borrowed array only after the launch.
    pub(crate) fn make_owners_wait(&self, place: &LaunchTarget) -> Result<(), Error> {
        let Some(stream) = place.stream.as_ref().filter(|_| !self.borrowed.is_empty()) else {
            return Ok(());
        };
        // SAFETY: the streams of arrays of this package, which the borrowed arrays keep, and the
        // caller's, which the caller of the Python function vouches for.
        let put = self.owners.iter().try_for_each(|owner| unsafe { stream.make_wait(*owner) });
        // If an owner's stream can't wait, the launch must end before the arrays are released.
        put.or_else(|error| stream.synchronize().and(Err(error)))
    }

    pub(crate) fn list(&self) -> &[Argument] {
        &self.list
    }
}

struct ArgumentReader<'a> {
    module: &'a Module,
    place: &'a LaunchTarget,
    borrowed: Vec<Borrowed>,
    lent: Vec<Py<LentArray>>,
    /// Streams of the borrowed arrays' owners.
    owners: BTreeSet<u64>,
}

/// Description of an array of any library, with strides in elements; `None` for C order.
struct ArrayDescription<'a> {
    element: Element,
    shape: &'a [i64],
    strides: Option<&'a [i64]>,
}

/// Array as a kernel indexes it, with strides in bytes.
struct IndexedArray {
    data_type: DataType,
    extents: Vec<usize>,
    strides: Vec<isize>,
}

impl ArgumentReader<'_> {
    fn take(
        &mut self,
        ty: Type,
        value: &Bound<'_, PyAny>,
        gradient: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Argument> {
        let gradient = gradient.filter(|gradient| !gradient.is_none());
        let shown = || self.module.types.spelled(ty);
        let misfit = || {
            let type_name = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("needs `{}`, found `{type_name}`", shown())))
        };
        let may_have = matches!(self.module.types[ty], Shape::Array { .. } | Shape::Struct(_));
        if gradient.is_some() && !may_have {
            let message = format!("is a `{}`, and only arrays have gradients", shown());
            return Err(PyTypeError::new_err(message));
        }
        match self.module.types[ty] {
            Shape::Array { .. } if value.is_none() => Ok(Argument::Absent),
            Shape::Array { of, dims: 1 }
                if value.is_instance_of::<PyList>()
                    && matches!(self.module.types[of], Shape::Struct(_)) =>
            {
                self.rows(of, value, gradient)
            }
            Shape::Array { of, dims } => {
                let array = self.array(of, dims, value)?;
                let Some(gradient) = gradient else {
                    return Ok(Argument::Array(array));
                };
                let beside = self.array(of, dims, gradient)?;
                let both = array.with_gradient_in(&beside);
                both.map(Argument::Array).map_err(|error| PyValueError::new_err(error.to_string()))
            }
            Shape::Scalar(scalar) => number(scalar, value)?.map_or_else(misfit, Ok),
            Shape::Struct(id) => self.structure(id, value, gradient),
            _ => {
                let Some(wanted) = DataType::of(self.module, ty) else { return misfit() };
                let taken = composite(&wanted, value)?;
                taken.map_err(|found| {
                    PyTypeError::new_err(format!(
                        "needs `{}`, found numbers of shape {found:?}",
                        shown()
                    ))
                })
            }
        }
    }

    /// Reads a list of structs, one for each element; `None` has no arrays.
    fn rows(
        &mut self,
        of: Type,
        value: &Bound<'_, PyAny>,
        gradient: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Argument> {
        let rows = value.try_iter()?.enumerate().map(|(position, row)| {
            let row = row?;
            if row.is_none() {
                return Ok(Argument::Absent);
            }
            let gradient = match gradient {
                Some(rows) => Some(rows.get_item(position)?),
                None => None,
            };
            self.take(of, &row, gradient.as_ref())
        });
        Ok(Argument::Rows(rows.collect::<PyResult<_>>()?))
    }

    /// Reads a struct's fields; `gradient` has the gradients of its arrays by name.
    fn structure(
        &mut self,
        id: StructId,
        value: &Bound<'_, PyAny>,
        gradient: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Argument> {
        let fields: Vec<(String, Type)> = (self.module.types.structure(id).fields.iter())
            .map(|field| (field.name.clone(), field.ty))
            .collect();
        let names = || fields.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let unknown = || {
            let Ok(given) = value.cast::<PyDict>() else { return Ok(()) };
            for key in given.keys() {
                if !fields.iter().any(|(name, _)| key.eq(name).unwrap_or(false)) {
                    let message = format!("the struct has no field `{key}`; it has {}", names());
                    return Err(PyTypeError::new_err(message));
                }
            }
            Ok(())
        };
        if value.cast::<PyDict>().is_ok_and(|given| given.len() != fields.len()) {
            unknown()?;
        }
        let mut field_arguments = Vec::new();
        for (name, ty) in &fields {
            let Some(part) = field_of(value, name)? else {
                unknown()?;
                return Err(PyTypeError::new_err(format!(
                    "field `{name}` is missing: a struct is a dictionary, or an object, with {}",
                    names()
                )));
            };
            let gradient = match gradient {
                Some(gradients) => field_of(gradients, name)?,
                None => None,
            };
            field_arguments.push((name.clone(), self.take(*ty, &part, gradient.as_ref())?));
        }
        Ok(Argument::Struct(field_arguments))
    }

    /// Converts an array in place.
    fn array(&mut self, of: Type, dims: u8, value: &Bound<'_, PyAny>) -> PyResult<Array> {
        if let Ok(array) = value.cast::<DeviceArray>()
            && let array = array.get().array()
            && array.stream() == self.place.stream.as_ref()
        {
            return self.device_array(of, dims, array);
        }
        if let Ok(lent) = value.cast::<LentArray>() {
            self.check_device(Device::Cpu)?;
            let array = self.borrowed_array(of, dims, lent.get().borrowed())?;
            self.lent.push(lent.clone().unbind());
            return Ok(array);
        }
        self.check_place(value)?;
        let stream = self.place.stream.as_ref();
        let records = self.records(of, value)?;
        let value = records.as_ref().unwrap_or(value);
        let borrowed = Borrowed::in_order_of(value, stream.and_then(Stream::handle))?;
        let array = self.borrowed_array(of, dims, &borrowed)?;
        if stream.is_some() {
            let ours = value.cast::<DeviceArray>().ok();
            let owner = ours.and_then(|ours| ours.get().array().stream()?.handle());
            self.owners.insert(owner.unwrap_or(self.place.caller));
        }
        self.borrowed.push(borrowed);
        Ok(array)
    }

    /// Converts memory that stays borrowed as long as the array lives.
    fn borrowed_array(&self, of: Type, dims: u8, borrowed: &Borrowed) -> PyResult<Array> {
        let described = ArrayDescription {
            element: borrowed.element(),
            shape: borrowed.shape(),
            strides: borrowed.strides(),
        };
        let IndexedArray { data_type, extents, strides } = self.index(of, dims, &described)?;
        let (below, above) = reach(&extents, &strides);
        let bytes = if extents.contains(&0) { 0 } else { below + above + data_type.layout().0 };
        let address = borrowed.address().wrapping_sub(below);
        // SAFETY: the producer vouches for all elements of this shape and these strides until
        // `borrowed` is dropped, and the arguments drop the array first. As for every library that
        // releases the interpreter while it works, the caller keeps other threads away from arrays
        // that a launch uses. On a device the producer has made our stream wait for its own, and
        // `make_owners_wait` makes its stream wait for ours before anything is dropped.
        let array = unsafe {
            match self.place.stream.as_ref() {
                None => Array::external(address, bytes, data_type, below, &extents, &strides),
                Some(stream) => {
                    let address = address.expose_provenance() as u64;
                    stream.external(address, bytes, data_type, below, &extents, &strides)
                }
            }
        };
        array.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Returns the bytes of a NumPy array of records, if the kernel needs structs with the same
    /// layout.
    fn records<'py>(
        &self,
        of: Type,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(dtype) = value.getattr_opt("dtype")? else { return Ok(None) };
        let Some(names) = dtype.getattr_opt("names")?.filter(|names| !names.is_none()) else {
            return Ok(None);
        };
        let names: Vec<String> = names.extract()?;
        let Some(wanted @ DataType::Struct(structure)) = &DataType::of(self.module, of) else {
            return Ok(None);
        };
        let fields = dtype.getattr("fields")?;
        let (mut laid_out, mut end) = (names.len() == structure.fields.len(), 0_usize);
        for (name, ty) in &structure.fields {
            let (size, align) = ty.layout();
            let begin = end.next_multiple_of(align);
            end = begin + size;
            let Ok(field) = fields.get_item(name) else {
                return Err(PyTypeError::new_err(format!("the records have no field `{name}`")));
            };
            let (field_dtype, at): (Bound<'_, PyAny>, usize) =
                (field.get_item(0)?, field.get_item(1)?.extract()?);
            let bytes: usize = field_dtype.getattr("itemsize")?.extract()?;
            laid_out &= (at, bytes) == (begin, size);
            let scalar = inside(ty).1.and_then(numpy_name);
            let base = field_dtype.getattr("base")?.getattr("name")?.extract::<String>()?;
            laid_out &= scalar.is_none_or(|scalar| scalar == base);
        }
        let size: usize = dtype.getattr("itemsize")?.extract()?;
        if !laid_out || size != wanted.layout().0 {
            return Err(PyTypeError::new_err(format!(
                "records of {size} bytes aren't laid out as `{}`, which has {} bytes; numpy.dtype(.., align=True) has \
                 fields as it has, in the same order",
                self.module.types.spelled(of),
                wanted.layout().0
            )));
        }
        // A new last dimension of one record is split into bytes, so that all strides stay
        // unchanged.
        let each =
            value.call_method1("__getitem__", ((value.py().Ellipsis(), value.py().None()),))?;
        Ok(Some(each.call_method1("view", ("uint8",))?))
    }

    /// Converts an array of this package.
    fn device_array(&self, of: Type, dims: u8, array: &Array) -> PyResult<Array> {
        let element = DeviceArray::element_of(array);
        let shape: Vec<i64> = array.shape().iter().map(|&extent| extent as i64).collect();
        // These arrays have no gaps.
        let described = ArrayDescription { element, shape: &shape, strides: None };
        let IndexedArray { data_type, extents, strides } = self.index(of, dims, &described)?;
        let array = array.view_as(data_type, array.offset(), &extents, &strides);
        array.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Checks that an array lies on the launch's device.
    fn check_place(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(ask) = value.getattr_opt("__dlpack_device__")? else { return Ok(()) };
        let (kind, ordinal): (i32, i32) = ask.call0()?.extract()?;
        let array_device = match (kind, u32::try_from(ordinal)) {
            (CPU, _) => Device::Cpu,
            (CUDA, Ok(ordinal)) => Device::Cuda(ordinal),
            _ => {
                let message = format!(
                    "lies on a device of DLPack's kind {kind}; there are the CPU (1) and CUDA (2)"
                );
                return Err(PyValueError::new_err(message));
            }
        };
        self.check_device(array_device)
    }

    /// Checks that a device is the launch's.
    fn check_device(&self, array_device: Device) -> PyResult<()> {
        let launch_device = self.place.device;
        if array_device == launch_device {
            return Ok(());
        }
        let how = match launch_device {
            Device::Cpu => "`numpy()` of a device array or `cpu()` of a tensor copies it",
            Device::Cuda(_) => "`gbxcule.kernel.array(.., device=..)` copies it there",
        };
        Err(PyValueError::new_err(format!(
            "lies on `{array_device}`, but the launch is on `{launch_device}`: {how}"
        )))
    }

    /// Returns the array as the kernel indexes it: if the elements are vectors or matrices, the
    /// last dimensions are theirs.
    fn index(&self, of: Type, dims: u8, array: &ArrayDescription<'_>) -> PyResult<IndexedArray> {
        let Some(data_type) = DataType::of(self.module, of) else {
            return Err(PyTypeError::new_err("arrays of structs that hold arrays can't be given"));
        };
        let (inner, scalar) = inside(&data_type);
        let wanted = scalar.map_or(Element { kind: 1, bits: 8, lanes: 1 }, Element::of);
        let (shape, outer) = (array.shape, usize::from(dims));
        let has_inner = shape[outer.min(shape.len())..]
            .iter()
            .map(|extent| *extent as usize)
            .eq(inner.iter().copied());
        // NumPy has no `bfloat16`, so the bits may come as integers.
        let is_bits = scalar == Some(Scalar::Bf16)
            && array.element == Element { kind: 1, bits: 16, lanes: 1 };
        if (array.element != wanted && !is_bits) || shape.len() < outer || !has_inner {
            return Err(PyTypeError::new_err(format!(
                "needs an array of `{}` in {dims} dimensions{}, found {} {shape:?}",
                self.module.types.spelled(of),
                if inner.is_empty() { String::new() } else { format!(" and {inner:?}") },
                array.element.name(),
            )));
        }
        let size = array.element.bytes() as isize;
        let strides = array.strides.map_or_else(|| c_order(shape), <[i64]>::to_vec);
        if strides[outer..] != c_order(shape)[outer..] && !inner.is_empty() {
            return Err(PyValueError::new_err(
                "the parts of an element must lie one after the other",
            ));
        }
        let extents = shape[..outer].iter().map(|extent| *extent as usize).collect();
        let strides = strides[..outer].iter().map(|stride| *stride as isize * size).collect();
        Ok(IndexedArray { data_type, extents, strides })
    }
}

/// Returns the number of bytes of the elements below and above the first.
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

/// Returns the dimensions within an element and the scalar type; bytes for structs.
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

fn number(scalar: Scalar, value: &Bound<'_, PyAny>) -> PyResult<Option<Argument>> {
    // The scalars of NumPy and torch convert to Python's own; NumPy's `float64` is a `float`, too.
    let is_own = value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyInt>();
    let number =
        if !is_own && value.hasattr("item")? { value.call_method0("item")? } else { value.clone() };
    if number.is_instance_of::<PyBool>() {
        let truth: bool = number.extract()?;
        let fits = scalar == Scalar::Bool;
        return Ok(Some(if fits { truth.into() } else { Argument::Int(truth.into()) }));
    }
    if number.is_instance_of::<PyInt>() {
        return Ok(Some(Argument::Int(number.extract()?)));
    }
    if number.is_instance_of::<PyFloat>() {
        return Ok(Some(Argument::Float(number.extract()?)));
    }
    Ok(None)
}

/// Reads a vector, matrix, quaternion or transform from any nested sequence or array; the error is
/// the shape of a value that doesn't fit.
fn composite(
    wanted: &DataType,
    value: &Bound<'_, PyAny>,
) -> PyResult<Result<Argument, Vec<usize>>> {
    let (inner, Some(scalar)) = inside(wanted) else {
        return Err(PyTypeError::new_err("fixed arrays of structs can't be given"));
    };
    let numpy = value.py().import("numpy")?;
    let Some(dtype) = numpy_name(scalar) else {
        return Err(PyTypeError::new_err("NumPy has no `bfloat16`: pass an array"));
    };
    let array = numpy.call_method1("ascontiguousarray", (value, dtype))?;
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    // As in NVIDIA Warp, a matrix may be given as the list of its numbers.
    let is_flat =
        matches!(wanted, DataType::Matrix(..)) && shape == [inner.iter().product::<usize>()];
    if shape != inner && !is_flat {
        return Ok(Err(shape));
    }
    let bytes = array.call_method0("tobytes")?.cast_into::<PyBytes>()?;
    Ok(Ok(Argument::Value(wanted.clone(), bytes.as_bytes().to_vec())))
}

fn numpy_name(scalar: Scalar) -> Option<String> {
    (scalar != Scalar::Bf16).then(|| Element::of(scalar).name())
}
