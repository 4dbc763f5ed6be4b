//! Checks arguments and lays them out as the block of bytes that compiled code reads.

use crate::argument::Argument;
use crate::array::Array;
use crate::buffer::{Buffer, ReadGuard, WriteGuard};
use crate::data_type::DataType;
use crate::device::Device;
use crate::error::Error;
use crate::overlap;
use crate::reflection::Reflection;
use crate::stream::Stream;
use gbxcule_ir::abi::Arguments;
use gbxcule_ir::eval;
use gbxcule_ir::layout::{descriptor, field_offsets};
use gbxcule_ir::{Literal, Module, Scalar, Shape, Struct, Type};
use std::sync::Arc;

/// Arguments in memory, and the locked buffers to which they point.
pub(crate) struct Packed<'a> {
    pub(crate) words: Vec<u64>,
    #[allow(dead_code, reason = "held, not read")]
    guards: Vec<Guard<'a>>,
}

enum Guard<'a> {
    Read(ReadGuard<'a>),
    Write(WriteGuard<'a>),
}

impl Guard<'_> {
    fn address(&mut self) -> u64 {
        match self {
            Self::Read(guard) => guard.address(),
            Self::Write(guard) => guard.address(),
        }
    }
}

/// Position of a handle in the block, and the buffer to which it points.
struct Pointer<'a> {
    buffer: &'a Arc<Buffer>,
    position: usize,
    offset: usize,
    written: bool,
}

/// Block of bytes that compiled code reads, still without the addresses of arrays.
pub(crate) struct ArgumentBlock<'a> {
    module: &'a Module,
    device: Device,
    /// The arguments, and after them the rows of arrays of structs.
    bytes: Vec<u8>,
    /// Offset of the rows.
    rows: usize,
    pointers: Vec<Pointer<'a>>,
    /// Positions of handles that point to rows, each with the position where the rows begin.
    inner: Vec<(usize, usize)>,
    /// True if the current argument's arrays may be written.
    written: bool,
    /// Stream of all arrays, on a CUDA device, and the first argument that has this stream.
    stream: Option<(&'a Stream, String)>,
}

/// Checks arguments against the kernel's parameters, and lays them out.
pub(crate) fn lay_out<'a>(
    module: &'a Module,
    reflection: &Reflection,
    layout: &Arguments,
    device: Device,
    args: &'a [Argument],
) -> Result<ArgumentBlock<'a>, Error> {
    let params = &reflection.parameters;
    if params.len() != args.len() {
        let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
        return Err(Error::ArgumentCount {
            kernel: reflection.name.clone(),
            wanted: params.len(),
            names: names.join(", "),
            found: args.len(),
        });
    }
    overlap::check(reflection, args)?;
    let rows = layout.size as usize;
    let mut block = ArgumentBlock {
        module,
        device,
        bytes: vec![0; rows],
        rows,
        pointers: Vec::new(),
        inner: Vec::new(),
        written: false,
        stream: None,
    };
    for ((param, arg), &offset) in params.iter().zip(args).zip(&layout.offsets) {
        block.written = param.written;
        let put = block.add_argument(param.ty, arg, offset as usize, &param.name);
        put.map_err(|(argument, reason)| Error::Argument {
            kernel: reflection.name.clone(),
            argument,
            reason,
        })?;
    }
    Ok(block)
}

/// Arguments of a launch on a device.
pub(crate) struct DeviceBlock {
    pub(crate) words: Vec<u64>,
    pub(crate) stream: Option<Stream>,
    /// Rows on the device, which live until the launch is queued.
    pub(crate) rows: Option<Array>,
}

/// Argument or part of an argument that doesn't fit, and the reason.
type ArgumentMismatch = (String, String);

impl<'a> ArgumentBlock<'a> {
    fn add_argument(
        &mut self,
        ty: Type,
        arg: &'a Argument,
        position: usize,
        path: &str,
    ) -> Result<(), ArgumentMismatch> {
        let module = self.module;
        let misfit = || {
            let reason = format!("needs `{}`, found {}", module.types.spelled(ty), arg.describe());
            Err((path.to_string(), reason))
        };
        match (&module.types[ty], arg) {
            (&Shape::Array { of, dims }, Argument::Array(array)) => {
                if DataType::of(module, of).as_ref() != Some(array.data_type())
                    || array.shape().len() != usize::from(dims)
                {
                    return misfit();
                }
                self.place(array, path)?;
                self.array(array, position);
                Ok(())
            }
            (&Shape::Array { dims, .. }, Argument::Absent) => {
                self.dimensions(dims, position);
                Ok(())
            }
            (&Shape::Array { of, dims: 1 }, Argument::Rows(rows)) => {
                self.rows(of, rows, position, path)
            }
            (&Shape::Scalar(scalar), _) => match literal(scalar, arg) {
                Some(literal) => {
                    eval::to_bytes(
                        literal,
                        &mut self.bytes[position..position + scalar.bytes() as usize],
                    );
                    Ok(())
                }
                None => misfit(),
            },
            (&Shape::Struct(id), Argument::Struct(fields)) => {
                self.structure(module.types.structure(id), fields, position, path)
            }
            (_, Argument::Value(found, bytes)) => {
                let wanted = DataType::of(module, ty);
                let Some(wanted) = wanted.filter(|wanted| same_image(wanted, found, bytes.len()))
                else {
                    return misfit();
                };
                let image = normalised(&wanted, bytes);
                self.bytes[position..position + image.len()].copy_from_slice(&image);
                Ok(())
            }
            _ => misfit(),
        }
    }

    /// Lays out a struct's fields, which must have its names in its order.
    fn structure(
        &mut self,
        structure: &Struct,
        fields: &'a [(String, Argument)],
        position: usize,
        path: &str,
    ) -> Result<(), ArgumentMismatch> {
        if structure.fields.len() != fields.len() {
            let (wanted, found) = (structure.fields.len(), fields.len());
            let reason = format!("`{}` has {wanted} fields, found {found}", structure.name);
            return Err((path.to_string(), reason));
        }
        let offsets = field_offsets(&self.module.types, structure).unwrap_or_default();
        for ((field, offset), (name, arg)) in structure.fields.iter().zip(offsets).zip(fields) {
            let path = format!("{path}.{}", field.name);
            if field.name != *name {
                return Err((path, format!("missing; found `{name}` in its place")));
            }
            self.add_argument(field.ty, arg, position + offset as usize, &path)?;
        }
        Ok(())
    }

    /// Lays out rows behind the present content of the block, and a handle to the rows.
    fn rows(
        &mut self,
        of: Type,
        rows: &'a [Argument],
        position: usize,
        path: &str,
    ) -> Result<(), ArgumentMismatch> {
        let size = self.module.types.layout(of).map_or(0, |layout| layout.size as usize);
        let begin = self.bytes.len().next_multiple_of(8);
        let extents = i32::try_from(rows.len()).ok().zip(i32::try_from(size).ok());
        let Some((count, stride)) = extents else {
            return Err((path.to_string(), "has too many rows".into()));
        };
        self.bytes.resize(begin + rows.len() * size, 0);
        for (index, row) in rows.iter().enumerate() {
            if !matches!(row, Argument::Absent) {
                self.add_argument(of, row, begin + index * size, &format!("{path}[{index}]"))?;
            }
        }
        self.dimensions(1, position);
        for (field, word) in [(descriptor::SHAPE, count), (descriptor::STRIDES, stride)] {
            let position = position + field as usize;
            self.bytes[position..position + 4].copy_from_slice(&word.to_le_bytes());
        }
        self.inner.push((position + descriptor::DATA as usize, begin));
        Ok(())
    }

    fn dimensions(&mut self, dims: u8, position: usize) {
        let ndim = position + descriptor::NDIM as usize;
        self.bytes[ndim..ndim + 2].copy_from_slice(&u16::from(dims).to_le_bytes());
    }

    /// Checks that an array lies on the kernel's device, and in the same stream as the arrays
    /// before it.
    fn place(&mut self, array: &'a Array, path: &str) -> Result<(), ArgumentMismatch> {
        let misfit = |reason: String| Err((path.to_string(), reason));
        for buffer in [Some(&array.data), array.gradient.as_ref()].into_iter().flatten() {
            let stream = buffer.stream();
            let (found, wanted) = (stream.map_or(Device::Cpu, Stream::device), self.device);
            if found != wanted {
                let how = match wanted {
                    Device::Cpu => "copy it to the host",
                    Device::Cuda(_) => "make it in a stream of that device",
                };
                return misfit(format!(
                    "lies on `{found}`, but the kernel runs on `{wanted}`: {how}"
                ));
            }
            let Some(stream) = stream.filter(|_| wanted != Device::Cpu) else { continue };
            match &self.stream {
                None => self.stream = Some((stream, path.to_string())),
                Some((first_stream, _)) if *first_stream == stream => {}
                Some((_, first)) => {
                    return misfit(format!(
                        "is of another stream than `{first}`: a launch has one"
                    ));
                }
            }
        }
        Ok(())
    }

    fn array(&mut self, array: &'a Array, position: usize) {
        let (offset, written) = (array.offset(), self.written);
        let mut point = |buffer: &'a Arc<Buffer>, field: u32| {
            self.pointers.push(Pointer {
                buffer,
                position: position + field as usize,
                offset,
                written,
            });
        };
        point(&array.data, descriptor::DATA);
        if let Some(gradient) = &array.gradient {
            point(gradient, descriptor::GRAD);
        }
        // Every array has extents and strides that fit `i32`.
        let extents = array.shape().iter().map(|&extent| extent as i32);
        let strides = array.strides().iter().map(|&stride| stride as i32);
        for (first, words) in [
            (descriptor::SHAPE, extents.collect::<Vec<i32>>()),
            (descriptor::STRIDES, strides.collect()),
        ] {
            for (dim, word) in words.iter().enumerate() {
                let position = position + first as usize + 4 * dim;
                self.bytes[position..position + 4].copy_from_slice(&word.to_le_bytes());
            }
        }
        self.dimensions(array.shape().len() as u8, position);
    }

    /// Locks each buffer once, in the order of their addresses so that simultaneous launches never
    /// wait for each other in a circle, and fills the pointers in.
    pub(crate) fn lock(mut self) -> Packed<'a> {
        let identity = |pointer: &Pointer<'_>| Arc::as_ptr(pointer.buffer);
        self.pointers.sort_by_key(identity);
        let mut guards = Vec::new();
        for same in self.pointers.chunk_by(|one, other| identity(one) == identity(other)) {
            let buffer = same[0].buffer;
            let mut guard = if same.iter().any(|pointer| pointer.written) {
                Guard::Write(buffer.write())
            } else {
                Guard::Read(buffer.read())
            };
            let base = guard.address();
            for pointer in same {
                let address = base.wrapping_add(pointer.offset as u64);
                self.bytes[pointer.position..pointer.position + 8]
                    .copy_from_slice(&address.to_le_bytes());
            }
            guards.push(guard);
        }
        let mut words = words(&self.bytes);
        let base = words.as_ptr() as u64;
        for (position, begin) in self.inner {
            words[position / 8] = base + begin as u64;
        }
        Packed { words, guards }
    }

    /// Fills in the addresses of arrays on their device, and copies rows to the device. Also
    /// returns the arrays' stream, if there are arrays.
    pub(crate) fn on_device(mut self) -> Result<DeviceBlock, Error> {
        for pointer in &self.pointers {
            let address = pointer.buffer.address().wrapping_add(pointer.offset as u64);
            self.bytes[pointer.position..pointer.position + 8]
                .copy_from_slice(&address.to_le_bytes());
        }
        let stream = self.stream.map(|(stream, _)| stream.clone());
        // Rows without arrays have no stream, and no memory for a kernel to read.
        let rows = match &stream {
            Some(stream) if !self.inner.is_empty() => {
                Some(stream.from_slice(&self.bytes[self.rows..])?)
            }
            _ => None,
        };
        let base = rows.as_ref().and_then(Array::device_pointer);
        for (position, begin) in self.inner {
            let address = base.map_or(0, |base| base + (begin - self.rows) as u64);
            self.bytes[position..position + 8].copy_from_slice(&address.to_le_bytes());
        }
        Ok(DeviceBlock { words: words(&self.bytes[..self.rows]), stream, rows })
    }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    words.collect()
}

/// Converts an argument to a scalar, if the type holds its number.
fn literal(scalar: Scalar, arg: &Argument) -> Option<Literal> {
    match *arg {
        Argument::Scalar(literal) => (literal.scalar() == scalar).then_some(literal),
        Argument::Int(value) if scalar.is_float() => Some(Literal::int(scalar, value)),
        Argument::Int(value) => {
            Some(Literal::int(scalar, value)).filter(|literal| literal.as_int() == Some(value))
        }
        Argument::Float(value) if scalar.is_float() => Some(Literal::float(scalar, value)),
        Argument::Value(DataType::Scalar(of), ref bytes) => {
            let is_number = of == scalar && bytes.len() == of.bytes() as usize;
            is_number.then(|| eval::from_bytes(of, bytes))
        }
        _ => None,
    }
}

/// Returns true if both types have the same image: they are equal, or composites of equally many
/// scalars of one type.
fn same_image(wanted: &DataType, found: &DataType, bytes: usize) -> bool {
    fn scalars(ty: &DataType) -> Option<(Scalar, usize)> {
        Some(match ty {
            DataType::Scalar(of) => (*of, 1),
            DataType::Vector(len, of) => (*of, usize::from(*len)),
            DataType::Matrix(rows, cols, of) => (*of, usize::from(*rows) * usize::from(*cols)),
            DataType::Quaternion(of) => (*of, 4),
            DataType::Transform(of) => (*of, 7),
            DataType::Fixed(of, len) => {
                let (of, inner) = scalars(of)?;
                (of, inner * *len as usize)
            }
            DataType::Struct(_) => return None,
        })
    }
    let alike = wanted == found || scalars(wanted).is_some() && scalars(wanted) == scalars(found);
    alike && wanted.layout().0 == bytes
}

/// Returns the image with 0 or 1 for every `bool`.
fn normalised(ty: &DataType, bytes: &[u8]) -> Vec<u8> {
    match ty {
        DataType::Vector(_, Scalar::Bool) | DataType::Matrix(_, _, Scalar::Bool) => {
            bytes.iter().map(|&byte| u8::from(byte != 0)).collect()
        }
        _ => bytes.to_vec(),
    }
}
