//! Positions of the parameters, variables and values of each function in its stack frame.

use gbxcule_ir::arena::Handle;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{Function, FunctionId, LocalId, PassMode};
use gbxcule_ir::layout;
use gbxcule_ir::module::Module;
use gbxcule_ir::op::Value;
use gbxcule_ir::ty::{Scalar, Shape, StructId, Type, Types};

/// Frames of all functions, and offsets of all fields.
#[derive(Debug)]
pub(super) struct Frames {
    frames: Vec<Frame>,
    fields: Vec<Vec<u64>>,
}

/// Offsets in the stack frame of one function: first the parameters and variables, which begin as
/// zero, then the values, which are not cleared.
#[derive(Debug)]
pub(super) struct Frame {
    params: Vec<u64>,
    locals: Vec<u64>,
    values: Vec<Slot>,
    /// Bytes of the parameters.
    pub(super) param_bytes: u64,
    /// Bytes that are cleared when the function begins.
    pub(super) zeroed: u64,
    /// Positions and lengths of variables whose first contents do not matter.
    pub(super) scratch: Vec<(u64, u64)>,
    /// Bytes of the whole frame.
    pub(super) size: u64,
}

/// Place of a value in its frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Bytes from the frame's beginning.
    pub(super) offset: u64,
    /// Bytes of the value.
    pub(super) size: u64,
    /// Type of its components; `bool` if it has none.
    pub(super) of: Scalar,
    /// Number of its components, or 0.
    pub(super) count: u32,
}

impl Frames {
    pub(super) fn new(module: &Valid<Module>) -> Self {
        let frames = module.functions.iter().map(|(_, item)| Frame::new(&module.types, item));
        let structs = module.types.structs().iter();
        let fields = structs.map(|(_, item)| layout::field_offsets(&module.types, item));
        Self { frames: frames.collect(), fields: fields.map(Option::unwrap_or_default).collect() }
    }

    pub(super) fn of(&self, function: FunctionId) -> &Frame {
        &self.frames[Handle::index(function)]
    }

    pub(super) fn field(&self, structure: StructId, field: u32) -> u64 {
        self.fields[structure.index()][field as usize]
    }
}

impl Frame {
    fn new(types: &Types, function: &Function) -> Self {
        let mut end = 0u64;
        let mut place = |size: u64| {
            let offset = end;
            end = end.saturating_add(size).saturating_add(7) & !7;
            offset
        };
        let params = function.params.iter().map(|param| match param.mode {
            PassMode::Value => place(size(types, param.ty)),
            PassMode::Shared | PassMode::Mutable => place(8),
        });
        let params = params.collect();
        let param_bytes = place(0);
        let body = &function.body;
        let locals: Vec<u64> =
            body.locals.iter().map(|(_, local)| place(size(types, local.ty))).collect();
        let zeroed = place(0);
        let sizes = body.locals.iter().zip(&locals);
        let scratch = sizes.filter(|((_, local), _)| local.scratch);
        let scratch =
            scratch.map(|((_, local), &offset)| (offset, size(types, local.ty))).collect();
        let slot = |ty: Type| {
            let size = size(types, ty);
            let (of, count) = types.components(ty).unwrap_or((Scalar::Bool, 0));
            Slot { offset: place(size), size, of, count }
        };
        let values = body.values.iter().map(|(_, data)| data.ty).map(slot).collect();
        Self { params, locals, values, param_bytes, zeroed, scratch, size: end }
    }

    pub(super) fn param(&self, position: u32) -> u64 {
        self.params[position as usize]
    }

    pub(super) fn local(&self, local: LocalId) -> u64 {
        self.locals[Handle::index(local)]
    }

    pub(super) fn value(&self, value: Value) -> Slot {
        self.values[value.index()]
    }
}

/// Returns the size of a type in bytes. A tuple, which has no layout, has the size of a struct with
/// the same fields.
pub(super) fn size(types: &Types, ty: Type) -> u64 {
    match &types[ty] {
        Shape::Tuple(of) => tuple_offset(types, of, of.len()),
        _ => types.layout(ty).map_or(0, |layout| layout.size),
    }
}

/// Returns the byte offset of a part of a tuple; with the number of parts, the tuple's size.
pub(super) fn tuple_offset(types: &Types, of: &[Type], part: usize) -> u64 {
    let (mut end, mut widest) = (0u64, 1);
    for (position, &ty) in of.iter().enumerate() {
        let Some(layout) = types.layout(ty) else { continue };
        end = end.next_multiple_of(u64::from(layout.align));
        if position == part {
            return end;
        }
        end += layout.size;
        widest = widest.max(layout.align);
    }
    end.next_multiple_of(u64::from(widest))
}
