//! Launches over slices: the arguments in the order of the parameters, then [`Launch::run`].

use crate::RunError;
use crate::error::Error;
use crate::kernel::Kernel;
use bytemuck::{cast_slice, cast_slice_mut};
use gbxcule_runtime::{Argument, Array, DataType, Element, Stream};

/// A launch whose arguments are added one by one. Slices are copied to the device; slices that the
/// launch may change are copied back at its end.
#[must_use = "`run` launches the kernel"]
pub struct Launch<'s> {
    kernel: Kernel,
    grid: Vec<usize>,
    stream: Result<Stream, Error>,
    arguments: Vec<Lent<'s>>,
    /// The first wrong call.
    refusal: Option<Error>,
}

/// Argument whose shape may still be set.
enum Lent<'s> {
    Value(Argument),
    Slice { elements: Memory<'s>, gradient: Option<Memory<'s>>, shape: Vec<usize> },
}

/// Elements of the caller, as bytes.
enum Memory<'s> {
    Read(DataType, &'s [u8]),
    Written(DataType, &'s mut [u8]),
}

impl Memory<'_> {
    fn upload(&self, stream: &Stream, shape: &[usize]) -> Result<Array, Error> {
        let (data_type, bytes): (&DataType, &[u8]) = match self {
            Self::Read(data_type, bytes) => (data_type, bytes),
            Self::Written(data_type, bytes) => (data_type, bytes),
        };
        let (size, _) = data_type.layout();
        let mut strides = vec![size as isize; shape.len()];
        for dim in (1..shape.len()).rev() {
            strides[dim - 1] = strides[dim] * shape[dim].max(1) as isize;
        }
        Ok(stream.from_bytes(bytes, data_type.clone(), 0, shape, &strides)?)
    }

    fn download(self, array: &Array) -> Result<(), Error> {
        if let Self::Written(_, bytes) = self {
            bytes.copy_from_slice(&array.memory_bytes()?);
        }
        Ok(())
    }
}

impl<'s> Launch<'s> {
    pub(crate) fn new(kernel: &Kernel, grid: &[usize]) -> Self {
        let stream = Stream::new(kernel.device()).map_err(Error::from);
        Self {
            kernel: kernel.clone(),
            grid: grid.to_vec(),
            stream,
            arguments: Vec::new(),
            refusal: None,
        }
    }

    /// Adds a number, a vector, a matrix or any other [`Argument`].
    pub fn value(mut self, value: impl Into<Argument>) -> Self {
        self.arguments.push(Lent::Value(value.into()));
        self
    }

    /// Adds an array of one dimension that the kernel only reads; see [`Self::shape`] for more.
    pub fn read<T: Element>(self, elements: &'s [T]) -> Self {
        self.lend(Memory::Read(T::data_type(), cast_slice(elements)), None, elements.len())
    }

    /// Adds an array that the kernel reads or writes. The slice has the new elements when
    /// [`Self::run`] returns.
    pub fn write<T: Element>(self, elements: &'s mut [T]) -> Self {
        let len = elements.len();
        self.lend(Memory::Written(T::data_type(), cast_slice_mut(elements)), None, len)
    }

    /// Adds an array and its gradient to a launch of a reverse, which changes the gradient.
    pub fn differentiate<T: Element>(self, elements: &'s [T], gradient: &'s mut [T]) -> Self {
        let len = elements.len();
        let gradient = Memory::Written(T::data_type(), cast_slice_mut(gradient));
        self.lend(Memory::Read(T::data_type(), cast_slice(elements)), Some(gradient), len)
    }

    fn lend(mut self, elements: Memory<'s>, gradient: Option<Memory<'s>>, len: usize) -> Self {
        self.arguments.push(Lent::Slice { elements, gradient, shape: vec![len] });
        self
    }

    /// Sets the shape, of up to four dimensions in row-major order, of the array that was added
    /// last. After anything else it is an error of [`Self::run`].
    pub fn shape(mut self, extents: &[usize]) -> Self {
        let follows = match self.arguments.last_mut() {
            Some(Lent::Slice { shape, .. }) => {
                *shape = extents.to_vec();
                return self;
            }
            Some(Lent::Value(value)) => format!("the value {value:?}"),
            None => "no argument".to_owned(),
        };
        let kernel = self.kernel.name().to_owned();
        self.refusal.get_or_insert(Error::Shape { kernel, shape: extents.to_vec(), follows });
        self
    }

    /// Launches the kernel, waits for its end and copies changed slices back.
    ///
    /// # Errors
    /// An argument doesn't fit its parameter, a slice added by [`Self::read`] may be written by the
    /// kernel, a shape doesn't fit its slice or follows no array, the grid is too large, the device
    /// is missing, or a thread faulted. Slices are then unchanged.
    pub fn run(self) -> Result<(), Error> {
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        let stream = self.stream?;
        let mut arguments = Vec::new();
        let mut lent = Vec::new();
        for (position, argument) in self.arguments.into_iter().enumerate() {
            match argument {
                Lent::Slice { elements: Memory::Read(..), gradient: None, .. }
                    if self.kernel.writes(position) =>
                {
                    return Err(result_lost(&self.kernel, position));
                }
                Lent::Value(value) => arguments.push(value),
                Lent::Slice { elements, gradient, shape } => {
                    let mut array = elements.upload(&stream, &shape)?;
                    if let Some(gradient) = gradient {
                        let uploaded = gradient.upload(&stream, &shape)?;
                        array = array.with_gradient_in(&uploaded)?;
                        lent.push((gradient, uploaded));
                    }
                    lent.push((elements, array.clone()));
                    arguments.push(array.into());
                }
            }
        }
        self.kernel.launch_arrays(&self.grid, &arguments)?;
        stream.synchronize()?;
        lent.into_iter().try_for_each(|(memory, array)| memory.download(&array))
    }
}

/// Error about a slice that is only lent for reading, where the kernel may write.
fn result_lost(kernel: &Kernel, position: usize) -> Error {
    let argument = kernel.parameters()[position].to_owned();
    let reason = "the kernel may write this array, and `read` would drop the result; add it by \
                  `write(&mut ..)`, or by `differentiate` in a launch of a reverse";
    Error::Run(RunError::Argument { kernel: kernel.name().into(), argument, reason: reason.into() })
}
