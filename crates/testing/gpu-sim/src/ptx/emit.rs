//! Prints a [`Module`] as C++: a function for each function, a statement for each instruction.
//!
//! Registers become variables of the C++ function, labels become labels. The stand-in for the
//! driver looks for these names: `on_device_KERNEL` launches; `_sizes` and `_threads` return the
//! sizes of its parameters and its most threads. A kernel's first parameter is the grid.

mod instruction;
mod name;
mod scope;

use super::syntax::{Function, Module, Space, Statement, Variable};
use super::{HEADER_NAME, Refusal, Refusals};
use instruction::instruction;
use scope::{Callees, Scope};
use std::fmt::Write as _;

/// Result with the reason why a part is not translated.
type Result<T> = std::result::Result<T, String>;

/// Prints a module, or reports all refused parts.
pub(super) fn module(module: &Module<'_>) -> std::result::Result<String, Refusals> {
    let mut printer = Printer {
        out: format!("#include \"{HEADER_NAME}\"\n\nnamespace ptx {{\n"),
        refusals: Vec::new(),
    };
    for it in &module.variables {
        let printed = printer.global(it);
        printer.note(it.line, printed);
    }
    // A definition replaces the declaration before it.
    let mut callees = Callees::default();
    for it in &module.functions {
        if it.body.is_some() || !callees.contains_key(it.name) {
            callees.insert(it.name, it);
        }
    }
    let defined = module.functions.iter().filter_map(|it| Some((it, it.body.as_ref()?)));
    for (it, _) in defined.clone() {
        _ = writeln!(printer.out, "{};", head(it));
    }
    for (it, body) in defined {
        printer.function(module, &callees, it, body);
    }
    printer.out += "\n} // namespace ptx\n";
    if printer.refusals.is_empty() { Ok(printer.out) } else { Err(Refusals(printer.refusals)) }
}

/// `static void F_name(Thread& thread, u8* M_result, u8* M_param)`
fn head(function: &Function<'_>) -> String {
    let passed = function.results.iter().chain(&function.params);
    let passed: String = passed.map(|it| format!(", u8* {}", name::memory(it.name))).collect();
    format!("static void {}(Thread& thread{passed})", name::function(function.name))
}

struct Printer {
    out: String,
    refusals: Vec<Refusal>,
}

impl Printer {
    fn note(&mut self, line: usize, result: Result<()>) {
        if let Err(reason) = result {
            self.refusals.push(Refusal { line, reason });
        }
    }

    fn global(&mut self, it: &Variable<'_>) -> Result<()> {
        let (out, name) = (&mut self.out, name::memory(it.name));
        if it.init.len() as u64 > it.count {
            return Err(format!("`{}` has more values than elements", it.name));
        }
        let bytes =
            it.init.iter().flat_map(|bits| bits.to_le_bytes()[..it.ty.bytes() as usize].to_vec());
        let bytes: Vec<String> = bytes.map(|byte| byte.to_string()).collect();
        let (size, values) = (it.bytes().max(1), bytes.join(", "));
        if it.space == Space::Global {
            // The driver finds a variable by its name, and its size by `_size`.
            _ = writeln!(out, "EXPORT const u32 {name}_size asm(\"{}_size\");", it.name);
            _ = writeln!(out, "const u32 {name}_size = {};", it.bytes());
            _ = writeln!(out, "EXPORT u8 {name}[{size}] asm(\"{}\");", it.name);
        }
        let linkage = if it.space == Space::Global { "" } else { "static const " };
        _ = writeln!(
            out,
            "{linkage}u8 {name}[{size}] __attribute__((aligned({}))) = {{{values}}};",
            it.align
        );
        Ok(())
    }

    fn function(
        &mut self,
        module: &Module<'_>,
        callees: &Callees<'_>,
        function: &Function<'_>,
        body: &[Statement<'_>],
    ) {
        let mut scope = Scope::new(module, callees, function);
        _ = writeln!(self.out, "\n{}\n{{\n    u32 carry = 0;", head(function));
        for statement in body {
            match statement {
                Statement::Open => self.out += "{\n",
                Statement::Close => self.out += "}\n",
                Statement::Label(label) => _ = writeln!(self.out, "{}:;", name::label(label)),
                Statement::Targets { name, labels } => scope.add_targets(name, labels),
                Statement::Registers { ty, name, count } => {
                    scope.add_registers(name, *ty, *count);
                    self.registers(&ty.register(), name, *count);
                }
                Statement::Variable(it) => {
                    scope.add_variable(it);
                    let (name, size) = (name::memory(it.name), it.bytes().max(1));
                    _ = writeln!(self.out, "    alignas({}) u8 {name}[{size}];", it.align);
                }
                Statement::Instruction(it) => match instruction(it, &scope) {
                    Ok(text) => _ = writeln!(self.out, "    {text}"),
                    Err(reason) => {
                        let reason = format!("`{}`: {reason}", it.mnemonic);
                        self.refusals.push(Refusal { line: it.line, reason });
                    }
                },
            }
        }
        self.out += "}\n";
        if function.is_entry {
            let printed = self.entry(function);
            self.note(function.line, printed);
        }
    }

    fn registers(&mut self, ty: &str, name: &str, count: Option<u64>) {
        let name = name::register(name);
        let Some(count) = count else {
            _ = writeln!(self.out, "    {ty} {name} = 0;");
            return;
        };
        for number in 0..count {
            _ = writeln!(self.out, "    {ty} {name}{number} = 0;");
        }
    }

    /// Prints the functions by which the host launches a kernel and asks for its parameters.
    fn entry(&mut self, kernel: &Function<'_>) -> Result<()> {
        let Some((_, arguments)) = kernel.params.split_first() else {
            return Err(format!("the kernel `{}` takes no grid", kernel.name));
        };
        let (symbol, function) = (name::symbol(kernel.name), name::function(kernel.name));
        let passed: String =
            (0..arguments.len()).map(|at| format!(", (u8*)arguments[{at}]")).collect();
        let sizes: String = arguments.iter().map(|it| format!("{}, ", it.bytes())).collect();
        _ = writeln!(
            self.out,
            "\nEXPORT void {symbol}(u32 blocks, u32 threads, const void* grid, void* const* arguments)\n{{\n    \
             launch(blocks, threads, [=](Thread& thread) {{ {function}(thread, (u8*)grid{passed}); }});\n}}\n\
             EXPORT const u32* {symbol}_sizes()\n{{\n    static const u32 sizes[] = {{{sizes}0}};\n    return sizes;\n}}\n\
             EXPORT const u32 {symbol}_threads;\nconst u32 {symbol}_threads = {};",
            kernel.max_threads
        );
        Ok(())
    }
}
