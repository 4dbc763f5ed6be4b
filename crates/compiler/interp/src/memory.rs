//! Memory of the interpreted program: buffers of the host, the thread's stack and the module's
//! tables in one space of 64-bit addresses.
//!
//! The upper half of an address names the region, so that a wild index never reaches another
//! buffer. Addresses have a meaning only in the [`super::Interpreter`] whose handles hold them.

use gbxcule_ir::layout::descriptor;

pub(super) const BUFFERS: u32 = 1 << 31;

/// The buffers of an interpreter.
#[derive(Clone, Default, Debug)]
pub struct Memory {
    buffers: Vec<Vec<u8>>,
}

/// Names a buffer of the same interpreter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Buffer(u32);

impl Buffer {
    pub(super) fn from_index(index: u32) -> Self {
        Self(index)
    }

    /// Returns the number of buffers that were added before this one.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A buffer and a byte in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pointer {
    /// The buffer.
    pub buffer: Buffer,
    /// Bytes from the buffer's beginning.
    pub offset: u32,
}

impl Pointer {
    /// Returns the address that handles and references hold.
    pub fn address(self) -> u64 {
        u64::from(BUFFERS | self.buffer.0) << 32 | u64::from(self.offset)
    }
}

impl From<Buffer> for Pointer {
    fn from(buffer: Buffer) -> Self {
        Self { buffer, offset: 0 }
    }
}

impl Memory {
    /// Adds a buffer with these bytes.
    pub fn add(&mut self, bytes: impl Into<Vec<u8>>) -> Buffer {
        self.buffers.push(bytes.into());
        Buffer(self.buffers.len() as u32 - 1)
    }

    /// Adds a buffer with these numbers.
    pub fn add_slice<T: Number>(&mut self, numbers: &[T]) -> Buffer {
        let mut bytes = Vec::new();
        numbers.iter().for_each(|number| number.append(&mut bytes));
        self.add(bytes)
    }

    /// Returns the bytes of a buffer.
    pub fn bytes(&self, buffer: Buffer) -> &[u8] {
        &self.buffers[buffer.0 as usize]
    }

    /// Returns the bytes of a buffer, to change them.
    pub fn bytes_mut(&mut self, buffer: Buffer) -> &mut [u8] {
        &mut self.buffers[buffer.0 as usize]
    }

    /// Reads a buffer as numbers, without the remaining bytes of an incomplete number.
    pub fn read<T: Number>(&self, buffer: Buffer) -> Vec<T> {
        self.bytes(buffer).chunks_exact(size_of::<T>()).map(T::from_bytes).collect()
    }

    /// Returns the buffer of a region, if the region is a buffer.
    pub(super) fn region(&self, region: u32) -> Option<&[u8]> {
        self.buffers.get(region.checked_sub(BUFFERS)? as usize).map(Vec::as_slice)
    }

    pub(super) fn region_mut(&mut self, region: u32) -> Option<&mut [u8]> {
        self.buffers.get_mut(region.checked_sub(BUFFERS)? as usize).map(Vec::as_mut_slice)
    }
}

/// Strided array over buffers: a kernel's argument, or part of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    /// First element, or `None` for an absent array.
    pub data: Option<Pointer>,
    /// Gradient of the first element, or `None`.
    pub gradient: Option<Pointer>,
    /// Number of dimensions, 1 to 4.
    pub dims: u8,
    /// Elements in each dimension.
    pub shape: [i32; 4],
    /// Bytes from one index to the next in each dimension.
    pub strides: [i32; 4],
}

impl Array {
    /// Makes an array of a buffer, or of its part from a pointer on, row-major without gaps.
    pub fn dense(data: impl Into<Pointer>, element_bytes: u32, shape: &[u32]) -> Self {
        let mut array = Self {
            data: Some(data.into()),
            gradient: None,
            dims: shape.len() as u8,
            shape: [0; 4],
            strides: [0; 4],
        };
        let mut stride = element_bytes as i32;
        for (dim, &extent) in shape.iter().enumerate().rev() {
            (array.shape[dim], array.strides[dim]) = (extent as i32, stride);
            stride *= extent as i32;
        }
        array
    }

    /// Returns the array with a gradient beside it.
    #[must_use]
    pub fn with_gradient(self, gradient: impl Into<Pointer>) -> Self {
        Self { gradient: Some(gradient.into()), ..self }
    }

    /// Returns the handle's memory image, as [`descriptor`] lays it out.
    pub fn image(&self) -> [u8; descriptor::LAYOUT.size as usize] {
        let address = |pointer: Option<Pointer>| pointer.map_or(0, Pointer::address);
        Handle {
            data: address(self.data),
            gradient: address(self.gradient),
            shape: self.shape,
            strides: self.strides,
            dims: self.dims,
        }
        .image()
    }
}

/// Array handle in the form that it has in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handle {
    pub(super) data: u64,
    pub(super) gradient: u64,
    pub(super) shape: [i32; 4],
    pub(super) strides: [i32; 4],
    pub(super) dims: u8,
}

impl Handle {
    /// Returns the address of the first element in a handle's bytes.
    pub(super) fn data_in(bytes: &[u8]) -> u64 {
        u64::from_bytes(&bytes[descriptor::DATA as usize..][..8])
    }

    /// Returns the elements in a dimension, and the bytes between them, in a handle's bytes.
    pub(super) fn extent_in(bytes: &[u8], dim: u32) -> (i32, i32) {
        let word = |at: u32| i32::from_bytes(&bytes[(at + 4 * dim) as usize..][..4]);
        (word(descriptor::SHAPE), word(descriptor::STRIDES))
    }

    pub(super) fn read(bytes: &[u8]) -> Self {
        let word = |at: u32| i32::from_bytes(&bytes[at as usize..][..4]);
        let four = |at: u32| [0, 4, 8, 12].map(|offset| word(at + offset));
        Self {
            data: Self::data_in(bytes),
            gradient: u64::from_bytes(&bytes[descriptor::GRAD as usize..][..8]),
            shape: four(descriptor::SHAPE),
            strides: four(descriptor::STRIDES),
            dims: bytes[descriptor::NDIM as usize],
        }
    }

    pub(super) fn image(&self) -> [u8; descriptor::LAYOUT.size as usize] {
        let mut bytes = Vec::with_capacity(descriptor::LAYOUT.size as usize);
        self.data.append(&mut bytes);
        self.gradient.append(&mut bytes);
        self.shape.iter().chain(&self.strides).for_each(|word| word.append(&mut bytes));
        u16::from(self.dims).append(&mut bytes);
        bytes.resize(descriptor::LAYOUT.size as usize, 0);
        let mut image = [0; descriptor::LAYOUT.size as usize];
        image.copy_from_slice(&bytes);
        image
    }
}

/// A number of the host with the bits of a scalar of the IR.
pub trait Number: Copy {
    /// Reads a value from exactly as many bytes as it has.
    fn from_bytes(bytes: &[u8]) -> Self;

    /// Appends the bytes of the number.
    fn append(self, bytes: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($ty:ident),*) => {$(
        impl Number for $ty {
            fn from_bytes(bytes: &[u8]) -> Self {
                let mut exact = [0; size_of::<Self>()];
                exact.copy_from_slice(bytes);
                Self::from_le_bytes(exact)
            }

            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        }
    )*};
}

numbers!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
