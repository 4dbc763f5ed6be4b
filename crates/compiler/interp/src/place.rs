//! Addresses of places, and reads and writes there.

use super::memory::{Handle as ArrayHandle, Memory};
use super::thread::{STACK, Thread};
use super::{Array, Fault, Manner};
use gbxcule_ir::arena::{Arena, Handle};
use gbxcule_ir::constant::Table;
use gbxcule_ir::function::PassMode;
use gbxcule_ir::layout::descriptor;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::ty::{Shape, Type};

/// First region that is a table.
const TABLES: u32 = STACK + 1;

const fn address(region: u32, offset: u64) -> u64 {
    (region as u64) << 32 | offset
}

impl Thread<'_, '_> {
    /// Computes the address of a place.
    pub(super) fn place(&mut self, id: PlaceId) -> Result<u64, Fault> {
        let place = self.body.places[id];
        let frame = self.frame;
        let (mut at, mut ty) = match place.root {
            Root::Local(local) => {
                (address(STACK, self.base + frame.local(local)), self.body.locals[local].ty)
            }
            Root::Param(position) => {
                let param =
                    &self.interpreter.module.functions[self.function].params[position as usize];
                let slot = self.base + frame.param(position);
                let at = match param.mode {
                    PassMode::Value => address(STACK, slot),
                    PassMode::Shared | PassMode::Mutable => self.word_at(slot),
                };
                (at, param.ty)
            }
            Root::Table(table) => (
                address(TABLES + Handle::index(table) as u32, 0),
                self.interpreter.module.tables[table].ty,
            ),
            Root::Array(value) => (address(STACK, self.slot(value)), self.type_of(value)),
        };
        for &step in self.body.path(id) {
            (at, ty) = self.project(at, ty, step)?;
        }
        Ok(at)
    }

    /// Computes the address and type of a part of a place.
    fn project(&self, at: u64, ty: Type, step: Projection) -> Result<(u64, Type), Fault> {
        let types = &self.interpreter.module.types;
        let bytes = |ty: Type| types.layout(ty).map_or(0, |layout| layout.size);
        let component = || types.components(ty).map_or(Type::INVALID, |(of, _)| Type::scalar(of));
        let existing = |shape: Shape| types.find(&shape).unwrap_or(Type::INVALID);
        Ok(match (step, &types[ty]) {
            (Projection::Field(field), Shape::Struct(id)) => {
                let of = types.structure(*id).fields[field as usize].ty;
                (at + self.frames.field(*id, field), of)
            }
            (Projection::Field(0), &Shape::Transform(of)) => {
                (at, existing(Shape::Vector { len: 3, of }))
            }
            (Projection::Field(_), &Shape::Transform(of)) => {
                (at + 3 * u64::from(of.bytes()), existing(Shape::Quaternion(of)))
            }
            (Projection::Component(index), _) => {
                (at + u64::from(index) * bytes(component()), component())
            }
            (Projection::At(index), shape) => {
                let (of, extent) = match *shape {
                    Shape::Matrix { rows, cols, of } => {
                        (existing(Shape::Vector { len: cols, of }), i64::from(rows))
                    }
                    Shape::Fixed { of, len } => (of, i64::from(len)),
                    _ => (component(), types.components(ty).map_or(0, |(_, n)| i64::from(n))),
                };
                let index = self.index_within(index, extent)?;
                (at + index as u64 * bytes(of), of)
            }
            (Projection::Element(indices), &Shape::Array { of, .. }) => {
                let handle = self.bytes(at, descriptor::LAYOUT.size)?;
                let data = ArrayHandle::data_in(handle);
                if data == 0 {
                    return Err(Fault::AbsentArray);
                }
                let mut offset = 0i64;
                for (dim, &index) in self.body.value_lists[indices].iter().enumerate() {
                    let (extent, stride) = ArrayHandle::extent_in(handle, dim as u32);
                    offset += self.index_within(index, extent.into())? * i64::from(stride);
                }
                (moved(data, offset)?, of)
            }
            _ => unreachable!("check rule 5: projections fit"),
        })
    }

    /// Evaluates an index of any integer type inside `0..extent`; a negative one counts from the
    /// end.
    pub(super) fn index_within(&self, index: Value, extent: i64) -> Result<i64, Fault> {
        let index = self.get(index).as_int().unwrap_or_default();
        let wide = i128::from(extent);
        let counts_from_end = index < 0 && !self.interpreter.refusals.negative_indices;
        let from_begin = if counts_from_end { index + wide } else { index };
        if (0..wide).contains(&from_begin) {
            Ok(from_begin as i64)
        } else {
            Err(Fault::Index(index, extent))
        }
    }

    /// Returns the bytes at an address.
    pub(super) fn bytes(&self, at: u64, size: u64) -> Result<&[u8], Fault> {
        if (at >> 32) as u32 != STACK {
            return elsewhere(&self.interpreter.memory, &self.interpreter.module.tables, at, size);
        }
        bytes_at(&self.interpreter.stack, at, size)
    }

    /// Returns the bytes at an address, to change them.
    pub(super) fn bytes_mut(&mut self, at: u64, size: u64) -> Result<&mut [u8], Fault> {
        let (region, offset) = ((at >> 32) as u32, (at & 0xffff_ffff) as usize);
        let bytes = match region {
            STACK => Some(self.interpreter.stack.as_mut_slice()),
            _ => self.interpreter.memory.region_mut(region),
        };
        bytes
            .and_then(|bytes| bytes.get_mut(offset..offset.checked_add(size as usize)?))
            .ok_or(Fault::Address)
    }

    /// Copies from the stack to an address.
    pub(super) fn copy(&mut self, to: u64, from: u64, size: u64) -> Result<(), Fault> {
        let (region, at) = ((to >> 32) as u32, (to & 0xffff_ffff) as usize);
        let (from, size) = (from as usize, size as usize);
        let interpreter = &mut *self.interpreter;
        let end = at.checked_add(size).ok_or(Fault::Address)?;
        if region == STACK {
            interpreter.stack.get(at..end).ok_or(Fault::Address)?;
            interpreter.stack.copy_within(from..from + size, at);
            return Ok(());
        }
        let place = interpreter.memory.region_mut(region).and_then(|bytes| bytes.get_mut(at..end));
        let (place, bytes) = (place.ok_or(Fault::Address)?, &interpreter.stack[from..from + size]);
        if let Some(races) = &mut interpreter.races {
            races.touch((to, size as u64), Manner::Write, *place != *bytes, self.stmt_span);
        }
        copy_bytes(place, bytes);
        Ok(())
    }

    /// Copies from an address to the stack.
    pub(super) fn fetch(&mut self, to: u64, from: u64, size: u64) -> Result<(), Fault> {
        let (to, len) = (to as usize, size as usize);
        if (from >> 32) as u32 == STACK {
            let at = (from & 0xffff_ffff) as usize;
            self.bytes(from, size)?;
            self.interpreter.stack.copy_within(at..at + len, to);
            return Ok(());
        }
        let interpreter = &mut *self.interpreter;
        let bytes = elsewhere(&interpreter.memory, &interpreter.module.tables, from, size)?;
        copy_bytes(&mut interpreter.stack[to..to + len], bytes);
        if let Some(races) = &mut interpreter.races {
            races.touch((from, size), Manner::Read, false, self.stmt_span);
        }
        Ok(())
    }

    /// Reads the handle of an array value.
    pub(super) fn handle(&self, array: Value) -> ArrayHandle {
        ArrayHandle::read(&self.interpreter.stack[self.slot(array) as usize..])
    }

    pub(super) fn put_handle(&mut self, value: Value, handle: &ArrayHandle) {
        let at = self.slot(value) as usize;
        let image = handle.image();
        self.interpreter.stack[at..][..image.len()].copy_from_slice(&image);
    }

    /// Makes a handle to a fixed array in place.
    pub(super) fn array_of(&mut self, place: PlaceId, ty: Type) -> Result<ArrayHandle, Fault> {
        let data = self.place(place)?;
        let types = &self.interpreter.module.types;
        let Shape::Array { dims, .. } = types[ty] else { unreachable!("check rule 4: an array") };
        let none = Array { data: None, gradient: None, dims, shape: [0; 4], strides: [0; 4] };
        let mut handle = ArrayHandle { data, ..ArrayHandle::read(&none.image()) };
        let mut inner = self.body.places[place].ty;
        for dim in 0..usize::from(dims) {
            let Shape::Fixed { of, len } = types[inner] else { break };
            handle.shape[dim] = len as i32;
            handle.strides[dim] = types.layout(of).map_or(0, |layout| layout.size as i32);
            inner = of;
        }
        Ok(handle)
    }
}

/// Copies bytes. Most values have four, which this copies without the call of `copy_from_slice`.
fn copy_bytes(to: &mut [u8], from: &[u8]) {
    match (<&mut [u8; 4]>::try_from(&mut *to), <&[u8; 4]>::try_from(from)) {
        (Ok(to), Ok(from)) => *to = *from,
        _ => to.copy_from_slice(from),
    }
}

/// Returns the bytes at an address outside of the stack.
fn elsewhere<'a>(
    memory: &'a Memory,
    tables: &'a Arena<Table>,
    at: u64,
    size: u64,
) -> Result<&'a [u8], Fault> {
    let region = (at >> 32) as u32;
    let bytes = memory.region(region).or_else(|| {
        let table = region.checked_sub(TABLES)? as usize;
        (table < tables.len()).then(|| &*tables[Handle::from_index(table)].bytes)
    });
    bytes_at(bytes.ok_or(Fault::Address)?, at, size)
}

/// Returns `size` bytes from an address's offset on.
fn bytes_at(region: &[u8], at: u64, size: u64) -> Result<&[u8], Fault> {
    let offset = (at & 0xffff_ffff) as usize;
    let end = offset.checked_add(size as usize).ok_or(Fault::Address)?;
    region.get(offset..end).ok_or(Fault::Address)
}

/// Moves an address by bytes, within its region.
pub(super) fn moved(at: u64, bytes: i64) -> Result<u64, Fault> {
    let to = at.wrapping_add_signed(bytes);
    if to >> 32 == at >> 32 { Ok(to) } else { Err(Fault::Address) }
}
