//! Types as lists of scalars, and the offsets of these in memory.

use cranelift_codegen::ir::{Type as ClifType, types};
use gbxcule_ir::layout::{descriptor, field_offsets};
use gbxcule_ir::{Module, Scalar, Shape, Type};
use std::cell::OnceCell;

/// Greatest number of scalars of a value that doesn't lie in memory.
pub(crate) const MAX_LEAVES: u64 = 64;

/// Scalar of a value. Pointers of array handles count as `u64`, unlike in
/// `gbxcule_ir::layout::leaves`, which knows only numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Leaf {
    pub(crate) scalar: Scalar,
    pub(crate) offset: i32,
}

/// Storable type, split into scalars.
#[derive(Debug)]
pub(crate) struct Flat {
    /// Number of scalars.
    pub(crate) count: u64,
    /// All scalars; empty if there are too many.
    pub(crate) leaves: Vec<Leaf>,
    /// Offsets and dimensions of the array handles inside, if `leaves` isn't empty.
    pub(crate) handles: Vec<(i32, u8)>,
    pub(crate) size: u64,
}

impl Flat {
    /// Returns true if values of the type lie in memory.
    pub(crate) fn is_large(&self) -> bool {
        self.count > MAX_LEAVES
    }
}

/// All types of a module, each split when it is first asked for.
#[derive(Debug)]
pub(crate) struct Flats<'a> {
    module: &'a Module,
    flats: Box<[OnceCell<Flat>]>,
    counts: Box<[OnceCell<u64>]>,
}

impl<'a> Flats<'a> {
    pub(crate) fn new(module: &'a Module) -> Self {
        let types = module.types.shapes().len();
        let flats = (0..types).map(|_| OnceCell::new()).collect();
        Self { module, flats, counts: (0..types).map(|_| OnceCell::new()).collect() }
    }

    /// Returns a storable type, split into scalars.
    pub(crate) fn of(&self, ty: Type) -> &Flat {
        self.flats[ty.index()].get_or_init(|| {
            let count = self.count(ty);
            let size = self.module.types.layout(ty).map_or(0, |layout| layout.size);
            let mut flat = Flat { count, leaves: Vec::new(), handles: Vec::new(), size };
            if !flat.is_large() {
                push(self.module, ty, 0, &mut flat);
            }
            flat
        })
    }

    /// Counts the scalars of a storable type. `check` limits how deep types nest, and each type is
    /// counted once.
    pub(crate) fn count(&self, ty: Type) -> u64 {
        let types = &self.module.types;
        *self.counts[ty.index()].get_or_init(|| match types[ty] {
            Shape::Array { dims, .. } => 2 + 2 * u64::from(dims),
            Shape::Fixed { of, len } => self.count(of).saturating_mul(u64::from(len)),
            Shape::Struct(id) => {
                let fields = &types.structure(id).fields;
                fields.iter().fold(0, |sum: u64, f| sum.saturating_add(self.count(f.ty)))
            }
            _ => types.components(ty).map_or(0, |(_, count)| u64::from(count)),
        })
    }
}

/// Adds the leaves of a type that lies at `base`.
fn push(module: &Module, ty: Type, base: i32, flat: &mut Flat) {
    let types = &module.types;
    match types[ty] {
        Shape::Array { dims, .. } => {
            flat.handles.push((base, dims));
            let mut leaf = |scalar, index: u32| {
                flat.leaves.push(Leaf { scalar, offset: base + index as i32 });
            };
            leaf(Scalar::U64, descriptor::DATA);
            leaf(Scalar::U64, descriptor::GRAD);
            (0..u32::from(dims)).for_each(|dim| leaf(Scalar::I32, descriptor::SHAPE + 4 * dim));
            (0..u32::from(dims)).for_each(|dim| leaf(Scalar::I32, descriptor::STRIDES + 4 * dim));
        }
        Shape::Fixed { of, len } => {
            let size = types.layout(of).map_or(0, |layout| layout.size) as i32;
            (0..len as i32).for_each(|index| push(module, of, base + index * size, flat));
        }
        Shape::Struct(id) => {
            let structure = types.structure(id);
            let offsets = field_offsets(types, structure).unwrap_or_default();
            for (field, offset) in structure.fields.iter().zip(offsets) {
                push(module, field.ty, base + offset as i32, flat);
            }
        }
        _ => {
            let Some((scalar, count)) = types.components(ty) else { return };
            flat.leaves.extend(
                (0..count)
                    .map(|index| Leaf { scalar, offset: base + (index * scalar.bytes()) as i32 }),
            );
        }
    }
}

/// Returns the register type of a scalar. 16-bit floats are kept as bits.
pub(crate) const fn clif_type(scalar: Scalar) -> ClifType {
    match scalar {
        Scalar::Bool | Scalar::I8 | Scalar::U8 => types::I8,
        Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16 => types::I16,
        Scalar::I32 | Scalar::U32 => types::I32,
        Scalar::I64 | Scalar::U64 => types::I64,
        Scalar::F32 => types::F32,
        Scalar::F64 => types::F64,
    }
}
