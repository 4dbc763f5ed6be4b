//! Offsets of the arguments of a launch.

use crate::{FunctionId, Module};

/// Positions of a kernel's arguments in the block of bytes that a launch reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arguments {
    /// Byte offset of each argument.
    pub offsets: Vec<u64>,
    /// Bytes of all arguments together.
    pub size: u64,
}

impl Arguments {
    /// Places the arguments in order, each at a multiple of 8 bytes.
    pub fn new(module: &Module, kernel: FunctionId) -> Self {
        let (mut offsets, mut size) = (Vec::new(), 0u64);
        for param in &module.functions[kernel].params {
            offsets.push(size);
            let size_of_param = module.types.layout(param.ty).map_or(0, |layout| layout.size);
            size += size_of_param.next_multiple_of(8);
        }
        Self { offsets, size }
    }
}
