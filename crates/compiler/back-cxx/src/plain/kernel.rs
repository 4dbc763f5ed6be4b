//! The head of a kernel: its launch, the index of a thread, and the guard.

use super::super::function::Writer;
use super::super::statement::Statements;
use gbxcule_ir::function::{FunctionKind, PassMode};
use gbxcule_ir::op::Op;
use gbxcule_ir::ty::{Shape, Type};

/// Names of indices that the kernel's author gave none.
const INDICES: [&str; 4] = ["i", "j", "k", "l"];

/// Threads of a block.
const BLOCK: u32 = 256;

/// Writes a kernel.
pub(in super::super) fn write(writer: &mut Writer<'_, '_>) {
    let Some(plain) = &writer.unit.plain else { return };
    let dims = plain.dims;
    let extents: Vec<String> =
        (0..dims).map(|dim| writer.unit.names.local(&format!("dim{dim}"))).collect();
    let count = extents.join(" * ");
    let points = if dims == 1 { count.clone() } else { format!("({count})") };
    let mut params: Vec<String> = extents.iter().map(|extent| format!("int {extent}")).collect();
    params.extend(writer.plain_parameters());
    let symbol = writer.unit.function_name(writer.id).to_owned();
    writer.unit.put(&format!("// launch: <<<({points} + {}) / {BLOCK}, {BLOCK}>>>\n", BLOCK - 1));
    writer.head(&format!("extern \"C\" __global__ void {symbol}"), &params);
    let indices: Vec<String> =
        (0..dims).map(|dim| writer.unit.names.local(index_name(writer, dim))).collect();
    let thread = match indices.as_slice() {
        [index] => index.clone(),
        _ => writer.unit.names.local("thread"),
    };
    writer.unit.put(&format!(
        "    const int {thread} = blockIdx.x * blockDim.x + threadIdx.x;\n    \
         if ({thread} >= {count})\n        return;\n"
    ));
    for (dim, index) in indices.iter().enumerate().filter(|_| dims > 1) {
        let inner = extents[dim + 1..].join(" * ");
        let inner = if dim + 2 < dims { format!("({inner})") } else { inner };
        let quotient =
            if inner.is_empty() { thread.clone() } else { format!("{thread} / {inner}") };
        let wraps = if dim > 0 { format!(" % {}", extents[dim]) } else { String::new() };
        writer.unit.put(&format!("    const int {index} = {quotient}{wraps};\n"));
    }
    if let Some(plain) = &mut writer.unit.plain {
        plain.indices = indices;
    }
    writer.depth = 1;
    writer.top_locals();
    let root = writer.body.root;
    Statements::new(writer, false).root(root);
    writer.depth = 0;
    writer.unit.put("}\n");
}

/// Name that the kernel's author gives an index of the launch.
fn index_name<'a>(writer: &Writer<'_, 'a>, dim: usize) -> &'a str {
    let own = |op: &Op| matches!(op, Op::LaunchIndex(found) if usize::from(*found) == dim);
    let mut all = writer.body.values.iter().filter(|(_, data)| own(&data.op));
    let named = all.find_map(|(_, data)| data.name);
    named.map_or(INDICES[dim & 3], |name| writer.module.text(name))
}

impl Writer<'_, '_> {
    pub(super) fn is_kernel(&self) -> bool {
        self.function.kind == FunctionKind::Kernel
    }

    /// A parameter that is no array.
    pub(super) fn plain_parameter(&self, ty: Type, mode: PassMode, name: &str) -> String {
        let word = if mode == PassMode::Shared { "const " } else { "" };
        if let Shape::Fixed { of, len } = *self.shape(ty) {
            return format!("{word}{} (&{name})[{len}]", self.ty(of));
        }
        let reference = if mode == PassMode::Value { "" } else { "&" };
        format!("{word}{}{reference} {name}", self.ty(ty))
    }
}
