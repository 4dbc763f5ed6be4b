//! Writes kernels: the loop over the threads of a launch around the code of one thread.

use super::function::Writer;
use super::library;
use super::plain;
use super::statement::{Statements, returns_in_loop};
use gbxcule_ir::function::Residency;

pub(super) fn write(writer: &mut Writer<'_, '_>) {
    if writer.is_plain() {
        return plain::write_kernel(writer);
    }
    let symbol = writer.unit.function_name(writer.id).to_string();
    // A return inside a loop can't be a `continue` of the loop over the threads, so the thread's
    // code becomes a function.
    let apart = returns_in_loop(writer.body);
    writer.thread = writer.unit.names.local("thread");
    let args: Vec<String> = writer.params.clone();
    let one = apart.then(|| {
        let one = writer.unit.names.global(&format!("{symbol}_thread"));
        writer.open_function(&format!("void {one}"));
        body(writer, false);
        writer.depth = 0;
        writer.line("}");
        writer.unit.put("\n");
        one
    });
    let grid = writer.unit.names.local("grid");
    let mut params = writer.parameters();
    let spreads = writer.unit.cuda() && writer.function.diverges;
    let range = if writer.unit.cuda() {
        params.insert(0, format!("gbx::Grid {grid}"));
        let room = launch_bounds(writer.function.residency);
        writer.head(&format!("extern \"C\" __global__ void {room}{symbol}"), &params);
        None
    } else {
        let range = writer.unit.names.global(&format!("{symbol}_range"));
        params.insert(0, format!("const gbx::Grid& {grid}"));
        writer.head(&format!("static void {range}"), &params);
        Some(range)
    };
    writer.depth = 1;
    let thread = writer.thread.clone();
    let class = if spreads { "gbx::Spread" } else { "gbx::Thread" };
    writer
        .unit
        .put(&format!("    for ({class} {thread}({grid}); {thread}.runs(); {thread}.next()) {{\n"));
    writer.depth = 2;
    match one {
        Some(one) => {
            let args: String = args.iter().map(|arg| format!(", {arg}")).collect();
            writer.unit.put(&format!("        {one}({thread}{args});\n"));
        }
        None => body(writer, true),
    }
    writer.unit.put("    }\n}\n");
    writer.depth = 0;
    let Some(range) = range else { return };
    if let Some(prefix) = writer.unit.options.library {
        library::function(writer, prefix, &range);
    } else {
        writer.unit.put(&format!(
            "\nGBX_EXPORT int {symbol}(const gbx::Grid* grid, void* const* args, gbx::Fault* fault)\n{{\n    \
             return gbx::run({range}, grid, args, fault);\n}}\n"
        ));
    }
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

fn body(writer: &mut Writer<'_, '_>, continues: bool) {
    writer.top_locals();
    let block = writer.body.root;
    Statements::new(writer, continues).root(block);
}
