//! A text that is a library: it has each kernel as a function of C, and the types of the
//! parameters.
//!
//! A function `PREFIX_KERNEL(grid, parameters.., fault)` checks its grid and its arrays, runs
//! `begin..end` of the grid on the caller's thread, and returns the kind of the fault or 0.
//! `PREFIX_describe` turns a fault into a sentence with the place in the source.

mod declaration;

use std::fmt::Write as _;

use gbxcule_ir::function::FunctionId;

use super::function::Writer;
use super::literal::string;
use super::name::sound;
use super::unit::Unit;

pub use declaration::{c_header, rust_module};

/// Second header, embedded in the text of a library.
pub(super) const LIBRARY_HEADER: &str = include_str!("gbxcule_library.h");

/// A kernel as a function of C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LibraryFunction {
    /// Handle of the kernel.
    pub kernel: FunctionId,
    /// Symbol of the function.
    pub symbol: String,
    /// Names of the parameters between grid and fault.
    pub parameters: Vec<String>,
}

/// Name, behind the prefix, of the function that describes faults. No kernel may have this name.
pub(super) const DESCRIBE: &str = "describe";

/// Returns an identifier for the functions of a library, made of its name.
pub fn prefix(name: &str) -> String {
    sound(name).into_owned()
}

/// Returns the opening of a namespace around the rest of the text: programs may link several
/// libraries, whose structs and headers may differ under one name.
pub(super) fn opening(prefix: &str) -> String {
    let headers = ["math", "stddef", "stdint", "stdio", "string"];
    let includes: String = headers.iter().map(|name| format!("#include <{name}.h>\n")).collect();
    format!("{includes}\nnamespace {prefix}_library {{\n\n")
}

/// Writes the function of a kernel. `range` is the function that runs the kernel's threads.
pub(super) fn function(writer: &mut Writer<'_, '_>, prefix: &str, range: &str) -> LibraryFunction {
    let symbol = format!("{prefix}_{}", writer.items.function(writer.id));
    let [grid, fault] = ["grid", "fault"].map(|name| writer.names.local(name));
    let dims = writer.items.module.facts(writer.id).launch_dims;
    let parameters = writer.exprs.params.clone();
    let mut typed = writer.parameters();
    typed.insert(0, format!("const gbx::Grid* {grid}"));
    typed.push(format!("gbx::Fault* {fault}"));
    writer.lines.put("\n");
    writer.head(&format!("GBX_EXPORT GBX_PUBLIC int {symbol}"), &typed);
    for &(one, other) in &writer.function.disjoint {
        let [left, right] = [one, other].map(|position| &parameters[position as usize]);
        let (one, other) = (one + 1, other + 1);
        writer.lines.put(&format!(
            "    if (gbx::share({left}, {right}))\n        \
             return gbx::refuse({fault}, gbx::SHARED, {one}, {other});\n"
        ));
    }
    let arguments: String = parameters.iter().map(|name| format!(", {name}")).collect();
    writer.lines.put(&format!(
        "    return gbx::launch({range}, {dims}, {grid}, {fault}{arguments});\n}}\n"
    ));
    LibraryFunction { kernel: writer.id, symbol, parameters }
}

/// Writes the function that describes faults.
pub(super) fn describe(unit: &mut Unit<'_>, prefix: &str) {
    let mut rows = String::new();
    for site in unit.lines.sites() {
        let place = unit.lines.place(site.span);
        let place = place.map_or_else(String::new, |(file, line)| format!("{file}:{line}: "));
        let message = site.message.map_or_else(
            || "nullptr".to_owned(),
            |message| string(unit.items.module.text(message)),
        );
        _ = writeln!(rows, "    {{{}, {}, {message}}},", site.line, string(&place));
    }
    // The last row is never read: C++ has no arrays of 0 elements.
    unit.lines.put(&format!(
        "static const gbx::Site sites[] = {{\n{rows}    {{0, \"\", nullptr}},\n}};\n\n\
         GBX_EXPORT GBX_PUBLIC int {prefix}_{DESCRIBE}(const gbx::Fault* fault, char* text, size_t size)\n{{\n    \
         return gbx::describe(*fault, sites, sizeof sites / sizeof *sites - 1, text, size);\n}}\n\n"
    ));
}
