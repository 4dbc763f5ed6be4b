//! Arrays of 1 to 4 dimensions, strided, sharing memory when they are views.

mod copy;
mod view_bytes;

pub(crate) use view_bytes::{Rectangle, ViewBytes};

use crate::buffer::Buffer;
use crate::data_type::{DataType, Element};
use crate::device::Device;
use crate::error::Error;
use crate::stream::Stream;
use std::ops::Range;
use std::sync::Arc;

/// An array in the memory of the host, or of the device of the [`Stream`] that made it. Clones and
/// views share the memory.
///
/// ```
/// use gbxcule_runtime::Array;
///
/// let array = Array::from_slice(&[1.0f32, 2.0, 3.0, 4.0]);
/// let even = array.slice(0, 0..4, 2)?;
/// even.fill(0.0f32)?;
/// assert_eq!(array.to_vec::<f32>()?, [0.0, 2.0, 0.0, 4.0]);
/// assert!(array.slice(0, 0..5, 1).is_err());
/// # Ok::<(), gbxcule_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Array {
    pub(crate) data: Arc<Buffer>,
    pub(crate) gradient: Option<Arc<Buffer>>,
    data_type: DataType,
    offset: usize,
    shape: Vec<usize>,
    strides: Vec<isize>,
}

impl Array {
    /// Makes an array of zeros on the host, row-major without gaps.
    ///
    /// # Errors
    /// A shape without dimensions or with more than four; more bytes than the host can address.
    pub fn zeros(data_type: DataType, shape: &[usize]) -> Result<Self, Error> {
        Self::allocate(data_type, shape, |bytes| Ok(Buffer::zeroed(bytes)))
    }

    /// Makes an array, row-major without gaps, in memory that the given function allocates.
    pub(crate) fn allocate(
        data_type: DataType,
        shape: &[usize],
        make: impl FnOnce(usize) -> Result<Buffer, Error>,
    ) -> Result<Self, Error> {
        let (size, _) = data_type.layout();
        let elements = shape.iter().try_fold(1usize, |all, &extent| all.checked_mul(extent));
        let bytes = elements.and_then(|elements| elements.checked_mul(size));
        let Some(bytes) = bytes.filter(|&bytes| isize::try_from(bytes).is_ok()) else {
            return Err(Error::Array(format!("an array of shape {shape:?} is too large")));
        };
        let mut strides = vec![0; shape.len()];
        let mut stride = size as isize;
        for (dim, &extent) in shape.iter().enumerate().rev() {
            strides[dim] = stride;
            stride *= extent.max(1) as isize;
        }
        Self::in_buffer(Arc::new(make(bytes)?), data_type, 0, shape, &strides)
    }

    /// Makes a one-dimensional array of these elements on the host.
    pub fn from_slice<T: Element>(elements: &[T]) -> Self {
        let data = Buffer::copied_from(bytemuck::cast_slice(elements));
        Self {
            data: Arc::new(data),
            gradient: None,
            data_type: T::data_type(),
            offset: 0,
            shape: vec![elements.len()],
            strides: vec![size_of::<T>() as isize],
        }
    }

    /// Makes an array over a copy of raw bytes on the host; strides are in bytes and may be 0 or
    /// negative.
    ///
    /// # Errors
    /// Elements beyond the bytes, or a shape and strides that no array can have.
    pub fn from_bytes(
        bytes: &[u8],
        data_type: DataType,
        offset: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, Error> {
        Self::in_buffer(Arc::new(Buffer::copied_from(bytes)), data_type, offset, shape, strides)
    }

    /// Views this array's memory with another type, shape and strides; `offset` counts from the
    /// beginning of the memory, not from this array's first element. The view has no gradient.
    ///
    /// # Errors
    /// Elements beyond the memory, or a shape and strides that no array can have.
    pub fn view_as(
        &self,
        data_type: DataType,
        offset: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, Error> {
        Self::in_buffer(Arc::clone(&self.data), data_type, offset, shape, strides)
    }

    pub(crate) fn in_buffer(
        data: Arc<Buffer>,
        data_type: DataType,
        offset: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, Error> {
        let refuse = |reason: String| Err(Error::Array(reason));
        if !(1..=4).contains(&shape.len()) || shape.len() != strides.len() {
            return refuse(format!("an array has 1 to 4 dimensions, found shape {shape:?}"));
        }
        if let Some(extent) = shape.iter().find(|&&extent| i32::try_from(extent).is_err()) {
            return refuse(format!("a dimension has at most 2147483647 elements, found {extent}"));
        }
        if let Some(stride) = strides.iter().find(|&&stride| i32::try_from(stride).is_err()) {
            return refuse(format!("a stride is at most 2147483647 bytes, found {stride}"));
        }
        let (_, align) = data_type.layout();
        let aligned = offset.is_multiple_of(align)
            && strides.iter().all(|stride| stride.unsigned_abs().is_multiple_of(align));
        if !aligned {
            return refuse(format!("elements of `{data_type}` lie at multiples of {align} bytes"));
        }
        let (shape, strides) = (shape.to_vec(), strides.to_vec());
        let array = Self { data, gradient: None, data_type, offset, shape, strides };
        let [low, high] = array.span();
        if low < 0 || high > array.data.size() as i128 {
            let shape = &array.shape;
            return refuse(format!("an array of shape {shape:?} reaches beyond its memory"));
        }
        Ok(array)
    }

    /// Returns the range of the memory's bytes from the lowest element to the end of the highest;
    /// empty if the array has no elements.
    pub(crate) fn span(&self) -> [i128; 2] {
        if self.is_empty() {
            return [0, 0];
        }
        // The sum of four products of i32 and i32 fits i128.
        let mut low = self.offset as i128;
        let mut high = low + self.data_type.layout().0 as i128;
        for (&extent, &stride) in self.shape.iter().zip(&self.strides) {
            let way = (extent as i128 - 1) * stride as i128;
            if way < 0 { low += way } else { high += way }
        }
        [low, high]
    }

    /// Uses another array as this array's gradient. Both must have the same type, shape and layout.
    ///
    /// # Errors
    /// The gradient differs in type, shape or layout.
    pub fn with_gradient_in(mut self, gradient: &Self) -> Result<Self, Error> {
        let layout = |array: &Self| (array.offset, array.data.size());
        let same = (&self.data_type, &self.shape, &self.strides)
            == (&gradient.data_type, &gradient.shape, &gradient.strides);
        if !same || layout(&self) != layout(gradient) {
            let reason = "a gradient has the type, shape and layout of its array";
            return Err(Error::Array(reason.into()));
        }
        self.gradient = Some(Arc::clone(&gradient.data));
        Ok(self)
    }

    /// Adds a gradient of zeros, on the same device and with the same layout.
    ///
    /// # Errors
    /// Too little memory on the device.
    pub fn with_gradient(mut self) -> Result<Self, Error> {
        self.gradient = Some(Arc::new(self.data.zeros_beside()?));
        Ok(self)
    }

    /// Returns the array's gradient, if it has one.
    pub fn gradient(&self) -> Option<Self> {
        let gradient = Arc::clone(self.gradient.as_ref()?);
        Some(Self { data: gradient, gradient: None, ..self.clone() })
    }

    /// Returns the array's device.
    pub fn device(&self) -> Device {
        self.stream().map_or(Device::Cpu, Stream::device)
    }

    /// Returns the stream in which the array was made; `None` for an array on the host that no
    /// stream made.
    pub fn stream(&self) -> Option<&Stream> {
        self.data.stream()
    }

    /// Returns the address of the first element in the memory of its CUDA device; `None` on the
    /// host. Valid while the array or a view of it lives. Synchronize its stream before reading
    /// ([`Stream::synchronize`]).
    pub fn device_pointer(&self) -> Option<u64> {
        let on_device = self.device() != Device::Cpu;
        on_device.then(|| self.data.address().wrapping_add(self.offset as u64))
    }

    /// Type of the elements.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// Elements in each dimension.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Bytes from one index to the next in each dimension.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Bytes from the beginning of the memory to the first element.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Elements in all.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns true if the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Returns a view of every `step`-th index of `range` in dimension `dim`; a negative step
    /// begins at the last index of the range and goes down.
    ///
    /// # Errors
    /// A dimension that the array does not have, a range beyond its extent, or a step of 0.
    pub fn slice(&self, dim: usize, range: Range<usize>, step: isize) -> Result<Self, Error> {
        let extent = self.extent(dim)?;
        if range.start > range.end || range.end > extent || step == 0 {
            let reason = format!("{range:?} by {step} reaches outside of {extent} elements");
            return Err(Error::Array(reason));
        }
        let mut part = self.clone();
        let len = range.len().div_ceil(step.unsigned_abs());
        let first = if step > 0 { range.start } else { range.end.saturating_sub(1) };
        part.shape[dim] = len;
        part.strides[dim] = self.strides[dim] * step;
        if len > 0 {
            part.offset = self.offset_of(dim, first);
        }
        let stride = part.strides[dim];
        i32::try_from(stride).map_err(|_| {
            Error::Array(format!("a stride is at most 2147483647 bytes, found {stride}"))
        })?;
        Ok(part)
    }

    /// Returns the part at one index of `dim`, without that dimension.
    ///
    /// # Errors
    /// A dimension that the array does not have, an index beyond its extent, or an array of one
    /// dimension.
    pub fn index_dim(&self, dim: usize, index: usize) -> Result<Self, Error> {
        let extent = self.extent(dim)?;
        if index >= extent || self.shape.len() == 1 {
            return Err(Error::Array(format!("index {index} where there are {extent} elements")));
        }
        let mut part = self.clone();
        part.offset = self.offset_of(dim, index);
        part.shape.remove(dim);
        part.strides.remove(dim);
        Ok(part)
    }

    /// Reverses the order of the dimensions; shares the memory.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut other = self.clone();
        other.shape.reverse();
        other.strides.reverse();
        other
    }

    fn extent(&self, dim: usize) -> Result<usize, Error> {
        let missing = || Error::Array(format!("no dimension {dim} in shape {:?}", self.shape));
        self.shape.get(dim).copied().ok_or_else(missing)
    }

    fn offset_of(&self, dim: usize, index: usize) -> usize {
        self.offset.wrapping_add_signed(self.strides[dim] * index as isize)
    }
}

impl<T: Element> From<Vec<T>> for Array {
    fn from(elements: Vec<T>) -> Self {
        Self::from_slice(&elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_share_memory_and_count_as_they_say() {
        let array = Array::zeros(i32::data_type(), &[3, 4]).expect("small");
        array.write(&(0..12).collect::<Vec<i32>>()).expect("12 elements");
        let column = array.index_dim(1, 2).expect("a column");
        assert_eq!(column.to_vec::<i32>().expect("i32"), [2, 6, 10]);
        let back = array.slice(1, 1..4, -2).expect("a slice");
        assert_eq!(back.to_vec::<i32>().expect("i32"), [3, 1, 7, 5, 11, 9]);
        assert_eq!(array.transposed().to_vec::<i32>().expect("i32")[..4], [0, 4, 8, 1]);
        column.fill(-1).expect("i32");
        assert_eq!(array.to_vec::<i32>().expect("i32")[..4], [0, 1, -1, 3]);
    }

    #[test]
    fn arrays_never_reach_beyond_their_memory() {
        let of = f32::data_type;
        let make = |offset, shape: &[usize], strides: &[isize]| {
            Array::from_bytes(&[0; 64], of(), offset, shape, strides).is_ok()
        };
        assert!(make(0, &[16], &[4]) && make(60, &[16], &[-4]) && make(0, &[1000, 16], &[0, 4]));
        assert!(!make(4, &[16], &[4]) && !make(56, &[16], &[-4]) && !make(0, &[17], &[4]));
        assert!(!make(2, &[1], &[4]) && !make(0, &[2], &[2]) && !make(0, &[], &[]));
        assert!(make(0, &[0, 5], &[1 << 20, 4]));
    }

    #[test]
    fn composites_are_read_as_arrays_of_their_scalars() {
        let array = Array::from_slice(&[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        assert_eq!(array.data_type().to_string(), "vec3f");
        assert!(array.to_vec::<f32>().is_err());
        let matrices = Array::zeros(DataType::Matrix(2, 2, gbxcule_ir::Scalar::F32), &[1]);
        let matrices = matrices.expect("small");
        matrices.write(&[[[1.0f32, 2.0], [3.0, 4.0]]]).expect("rows");
        assert_eq!(matrices.to_vec::<[f32; 4]>().expect("components"), [[1.0, 2.0, 3.0, 4.0]]);
    }
}
