//! Text that kernels print.

use gbxcule_back_clif::Printed;
use gbxcule_ir::eval::{print_line, printf};
use gbxcule_ir::{Literal, Module, Type};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// Destination of printed text.
#[derive(Clone, Default, Debug)]
pub enum Output {
    /// Standard output.
    #[default]
    Standard,
    /// The end of a string.
    Text(Arc<Mutex<String>>),
    /// No destination: the text is dropped.
    Nowhere,
}

impl Output {
    /// Writes the text of one print statement at once, so that threads don't mix.
    pub(crate) fn write(&self, text: &str) {
        match self {
            // An error such as a closed pipe is ignored, because a kernel can't react to it.
            Self::Standard => _ = std::io::stdout().lock().write_all(text.as_bytes()),
            Self::Text(all) => {
                all.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
            }
            Self::Nowhere => {}
        }
    }
}

/// Returns the text of a print statement. Arguments lie one after the other, each at a multiple of
/// 16 bytes.
pub(crate) fn text(module: &Module, printed: &Printed, mut bytes: &[u8]) -> String {
    let mut args = Vec::with_capacity(printed.types.len());
    for &ty in &printed.types {
        let (value_bytes, rest) = bytes.split_at(space(module, ty).min(bytes.len()));
        args.push((ty, components(module, ty, value_bytes)));
        bytes = rest;
    }
    match printed.format {
        Some(format) => {
            let scalar = |(ty, parts): &(Type, Vec<Literal>)| ty.as_scalar().map(|_| parts[0]);
            let args: Vec<Option<Literal>> = args.iter().map(scalar).collect();
            printf(module.text(format), &args)
        }
        None => args.iter().map(|(ty, parts)| print_line(&module.types[*ty], parts)).collect(),
    }
}

/// Returns the size of all arguments of a print statement in bytes.
pub(crate) fn arguments_size(module: &Module, printed: &Printed) -> usize {
    printed.types.iter().map(|&ty| space(module, ty)).sum()
}

fn space(module: &Module, ty: Type) -> usize {
    let size = module.types.layout(ty).map_or(0, |layout| layout.size);
    size.next_multiple_of(16) as usize
}

fn components(module: &Module, ty: Type, bytes: &[u8]) -> Vec<Literal> {
    let Some((of, count)) = module.types.components(ty) else { return Vec::new() };
    let size = of.bytes() as usize;
    let parts = bytes.chunks_exact(size).take(count as usize);
    parts.map(|part| gbxcule_ir::eval::from_bytes(of, part)).collect()
}
