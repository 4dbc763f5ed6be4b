//! Writes kernels: the loop over the threads of a launch around the code of one thread.

use super::function::Writer;
use super::library::{self, LibraryFunction};
use super::plain::{self, BlockWork};
use super::statement::{Statements, returns_in_loop};
use gbxcule_ir::function::Residency;

/// Writes a kernel; returns its function in a library.
pub(super) fn write(writer: &mut Writer<'_, '_>) -> Option<LibraryFunction> {
    if let Some(plain) = &writer.items.plain {
        plain::write_kernel(writer, plain);
        return None;
    }
    let symbol = writer.items.function(writer.id);
    // A return inside a loop can't be a `continue` of the loop over the threads, so the thread's
    // code becomes a function.
    let apart = returns_in_loop(writer.exprs.body);
    let thread = writer.names.local("thread");
    writer.exprs.thread.clone_from(&thread);
    let one = apart.then(|| {
        let one = writer.names.global(&format!("{symbol}_thread"));
        writer.open_function(&format!("void {one}"));
        Statements::write(writer, false, BlockWork::default());
        writer.lines.depth = 0;
        writer.lines.line("}");
        writer.lines.put("\n");
        one
    });
    let grid = writer.names.local("grid");
    let mut params = writer.parameters();
    let spreads = writer.items.is_cuda() && writer.function.diverges;
    let range = if writer.items.is_cuda() {
        params.insert(0, format!("gbx::Grid {grid}"));
        let room = launch_bounds(writer.function.residency);
        writer.head(&format!("extern \"C\" __global__ void {room}{symbol}"), &params);
        None
    } else {
        let range = writer.names.global(&format!("{symbol}_range"));
        params.insert(0, format!("const gbx::Grid& {grid}"));
        writer.head(&format!("static void {range}"), &params);
        Some(range)
    };
    writer.lines.depth = 1;
    let class = if spreads { "gbx::Spread" } else { "gbx::Thread" };
    let rounds = format!("{class} {thread}({grid}); {thread}.runs(); {thread}.next()");
    writer.lines.put(&format!("    for ({rounds}) {{\n"));
    writer.lines.depth = 2;
    match one {
        Some(one) => {
            let args: String = writer.exprs.params.iter().map(|arg| format!(", {arg}")).collect();
            writer.lines.put(&format!("        {one}({thread}{args});\n"));
        }
        None => Statements::write(writer, true, BlockWork::default()),
    }
    writer.lines.put("    }\n}\n");
    writer.lines.depth = 0;
    let range = range?;
    if let Some(prefix) = writer.items.options.library {
        return Some(library::function(writer, prefix, &range));
    }
    writer.lines.put(&format!(
        "\nGBX_EXPORT int {symbol}(const gbx::Grid* grid, void* const* args, gbx::Fault* fault)\n{{\n    \
         return gbx::run({range}, grid, args, fault);\n}}\n"
    ));
    None
}

/// Writes CUDA's launch bounds: the part of a multiprocessor that a kernel may take.
fn launch_bounds(residency: Residency) -> String {
    match residency {
        Residency::Free => String::new(),
        Residency::Blocks { threads, together: None } => format!("__launch_bounds__({threads}) "),
        Residency::Blocks { threads, together: Some(blocks) } => {
            format!("__launch_bounds__({threads}, {blocks}) ")
        }
        Residency::Registers(count) => format!("__maxnreg__({count}) "),
    }
}
