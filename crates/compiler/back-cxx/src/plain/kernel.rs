//! A kernel: its launch, the index of a thread, the guard, and the sums of a block.

use super::super::function::Writer;
use super::super::lines::Lines;
use super::super::literal::literal;
use super::super::statement::Statements;
use super::super::ty::scalar as spell;
use super::PlainOptions;
use super::block_work::{self, BlockWork, Sum};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::op::Op;

/// Names of launch indices that the kernel doesn't name.
const INDICES: [&str; 4] = ["i", "j", "k", "l"];

/// Threads of a block.
const BLOCK: u32 = 256;

/// Threads of a block that makes tiles.
const TILE_BLOCK: u32 = 64;

/// Writes a kernel.
pub(in super::super) fn write(writer: &mut Writer<'_, '_>, plain: &PlainOptions<'_>) {
    let (module, body) = (writer.items.module, writer.exprs.body);
    let work = BlockWork::of(module, body, &writer.declarations, &writer.uses);
    let has_tiles = work.is_some();
    let sums = if has_tiles { Vec::new() } else { block_work::sums(body, &writer.uses) };
    let plain_kernel = plain.kernels.iter().find(|(kernel, _)| *kernel == writer.id);
    let dims = plain_kernel.map_or(1, |(_, dims)| *dims);
    let extents: Vec<String> =
        (0..dims).map(|dim| writer.names.local(&format!("dim{dim}"))).collect();
    let count = extents.join(" * ");
    let mut params: Vec<String> = extents.iter().map(|extent| format!("int {extent}")).collect();
    params.extend(writer.plain_parameters());
    let symbol = writer.items.function(writer.id);
    let launch = if has_tiles {
        format!("{count}, {TILE_BLOCK}")
    } else {
        format!("({count} + {}) / {BLOCK}, {BLOCK}", BLOCK - 1)
    };
    writer.lines.put(&format!("// launch: <<<{launch}>>>\n"));
    writer.head(&format!("extern \"C\" __global__ void {symbol}"), &params);
    let reductions = begin_sums(writer, &sums);
    indices(writer, &extents, has_tiles, !sums.is_empty());
    writer.lines.depth = if sums.is_empty() { 1 } else { 2 };
    Statements::write(writer, false, work.unwrap_or_default());
    writer.lines.depth = 0;
    if !sums.is_empty() {
        writer.lines.put("    }\n");
        end_sums(writer.lines, &reductions);
    }
    writer.lines.put("}\n");
}

/// Names of a sum: the array's element, the thread's variable, the memory of the block.
struct Reduction {
    element: String,
    thread_sum: String,
    shared: String,
}

/// Name that the kernel's author gives an index of the launch.
fn index_name<'a>(writer: &Writer<'_, 'a>, dim: usize) -> &'a str {
    let is_index = |op: &Op| matches!(op, Op::LaunchIndex(other) if usize::from(*other) == dim);
    let mut all = writer.exprs.body.values.iter().filter(|(_, data)| is_index(&data.op));
    let named = all.find_map(|(_, data)| data.name);
    named.map_or(INDICES[dim & 3], |name| writer.items.module.text(name))
}

/// Writes the index of the thread, or of its block, and the guard.
fn indices(writer: &mut Writer<'_, '_>, extents: &[String], has_tiles: bool, is_nested: bool) {
    let (dims, count) = (extents.len(), extents.join(" * "));
    let indices: Vec<String> =
        (0..dims).map(|dim| writer.names.local(index_name(writer, dim))).collect();
    let thread = match indices.as_slice() {
        [index] => index.clone(),
        _ => writer.names.local(if has_tiles { "block" } else { "thread" }),
    };
    let number = if has_tiles { "blockIdx.x" } else { "blockIdx.x * blockDim.x + threadIdx.x" };
    let guard = if is_nested {
        format!("    if ({thread} < {count}) {{\n")
    } else {
        format!("    if ({thread} >= {count})\n        return;\n")
    };
    writer.lines.put(&format!("    const int {thread} = {number};\n{guard}"));
    let margin = if is_nested { "        " } else { "    " };
    for (dim, index) in indices.iter().enumerate().filter(|_| dims > 1) {
        let inner = extents[dim + 1..].join(" * ");
        let inner = if dim + 2 < dims { format!("({inner})") } else { inner };
        let quotient =
            if inner.is_empty() { thread.clone() } else { format!("{thread} / {inner}") };
        let wraps = if dim > 0 { format!(" % {}", extents[dim]) } else { String::new() };
        writer.lines.put(&format!("{margin}const int {index} = {quotient}{wraps};\n"));
    }
    writer.exprs.launch.indices = Some(indices);
}

/// Declares the sums of a thread, and the memory in which they are reduced.
fn begin_sums(writer: &mut Writer<'_, '_>, sums: &[Sum]) -> Vec<Reduction> {
    let mut reductions = Vec::new();
    for sum in sums {
        let array = &writer.exprs.params[sum.param as usize];
        let shared = writer.names.local(&format!("{array}_shared"));
        let thread_sum = writer.names.local(&format!("{array}_sum"));
        let (of, zero) = (spell(sum.of), literal(Literal::from_bits(sum.of, 0)).text);
        writer.lines.put(&format!(
            "    __shared__ {of} {shared}[{BLOCK}];\n    {of} {thread_sum} = {zero};\n"
        ));
        let element = writer.exprs.literal_element(sum);
        let places = sum.places.iter().map(|&place| (place, thread_sum.clone()));
        writer.exprs.launch.sums.extend(places);
        reductions.push(Reduction { element, thread_sum, shared });
    }
    reductions
}

/// Adds the sums of a block's threads, and those of the block to the arrays.
fn end_sums(lines: &mut Lines<'_>, reductions: &[Reduction]) {
    for Reduction { thread_sum, shared, .. } in reductions {
        lines.put(&format!("    {shared}[threadIdx.x] = {thread_sum};\n"));
    }
    lines.put(&format!(
        "    __syncthreads();\n    for (int stride = {}; stride > 0; stride /= 2) {{\n        \
         if (threadIdx.x < stride) {{\n",
        BLOCK / 2
    ));
    for Reduction { shared, .. } in reductions {
        lines.put(&format!(
            "            {shared}[threadIdx.x] += {shared}[threadIdx.x + stride];\n"
        ));
    }
    lines.put("        }\n        __syncthreads();\n    }\n    if (threadIdx.x == 0) {\n");
    for Reduction { element, shared, .. } in reductions {
        lines.put(&format!("        atomicAdd(&{element}, {shared}[0]);\n"));
    }
    lines.put("    }\n");
}
