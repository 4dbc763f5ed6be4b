//! Writes one text: its sections in order.

use super::function;
use super::items::Items;
use super::library::{self, LIBRARY_HEADER, LibraryFunction};
use super::lines::Lines;
use super::name::Names;
use super::plain::{Definitions, HELPERS, PlainOptions};
use super::table;
use super::{Checks, Entry, HEADER, HEADER_NAME, Options, Text};
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{FunctionId, FunctionKind};
use gbxcule_ir::module::Module;
use gbxcule_ir::ty::Shape;

/// First line of a text without checks.
pub(super) const UNCHECKED: &str = "#define GBX_UNCHECKED";

/// State that all functions of a text share.
pub(super) struct Unit<'a> {
    pub(super) items: Items<'a>,
    pub(super) names: Names,
    pub(super) lines: Lines<'a>,
    /// Definitions of a text without the header.
    pub(super) definitions: Definitions,
    pub(super) library: Vec<LibraryFunction>,
}

impl<'a> Unit<'a> {
    pub(super) fn new(
        module: &'a Valid<Module>,
        options: &'a Options<'a>,
        plain: Option<PlainOptions<'a>>,
    ) -> Self {
        let mut names = Names::default();
        if options.library.is_some() {
            names.global(library::DESCRIBE);
        }
        if plain.is_some() {
            HELPERS.iter().for_each(|helper| _ = names.global(helper));
        }
        Self {
            items: Items::new(module, options, plain, &mut names),
            names,
            lines: Lines::new(options.sources),
            definitions: Definitions::default(),
            library: Vec::new(),
        }
    }

    pub(super) fn write(mut self) -> Text {
        let options = self.items.options;
        self.preamble();
        self.lines.put("namespace program {\n\n");
        self.lines.put(&self.items.spelling.definitions(self.items.module));
        self.write_tables();
        let kernels = self.write_functions();
        if let Some(prefix) = options.library {
            library::describe(&mut self, prefix);
        }
        self.lines.put("} // namespace program\n");
        if options.library.is_some() {
            self.lines.put("} // namespace\n");
        }
        let kernels = kernels.into_iter().map(|kernel| Entry {
            kernel,
            symbol: self.items.function(kernel).to_owned(),
            diverges: self.items.module.functions[kernel].diverges,
        });
        let kernels = kernels.collect();
        let (source, sites) = self.lines.into_parts();
        Text { kernels, source, functions: self.library, sites, dialect: options.dialect }
    }

    /// Writes kernels and what they call without the header.
    pub(super) fn write_plain(mut self) -> Option<String> {
        let structs = self.items.spelling.definitions(self.items.module);
        self.write_tables();
        self.write_functions();
        let (body, _) = self.lines.into_parts();
        let body = body.trim_end();
        let definitions = self.definitions.used_in(body);
        let words = [&structs, &definitions, body];
        let sized = |text: &&str| {
            ["int8_t", "int16_t", "int32_t", "int64_t"].iter().any(|it| text.contains(it))
        };
        let include = if words.iter().any(sized) { "#include <stdint.h>\n\n" } else { "" };
        let text = format!("{include}{structs}{definitions}{body}\n");
        (!self.items.is_refused()).then_some(text)
    }

    /// Writes what kernels call, then the kernels; returns the kernels.
    fn write_functions(&mut self) -> Vec<FunctionId> {
        let module = self.items.module;
        let is_callable = |id: &FunctionId| module.functions[*id].kind == FunctionKind::Callable;
        let callables = module.call_order().iter().copied().filter(is_callable);
        let kernels = module.kernels().map(|(id, _)| id);
        let needed: Vec<FunctionId> =
            callables.chain(kernels).filter(|id| self.items.needs(*id)).collect();
        needed.iter().for_each(|&id| function::write(self, id));
        needed.into_iter().filter(|id| !is_callable(id)).collect()
    }

    fn preamble(&mut self) {
        let (options, lines) = (self.items.options, &mut self.lines);
        let name: String = self.items.module.name.chars().filter(|c| !c.is_control()).collect();
        let (what, flag) = if self.items.is_cuda() {
            ("CUDA C++", "--fmad=false")
        } else {
            ("C++17 for the CPU", "-ffp-contract=off")
        };
        let name = name.trim_end_matches('\\');
        lines.put(&format!("// {name}: {what}, by gbxcule. Compile with {flag}.\n"));
        if options.checks == Checks::None {
            lines.put(&format!("{UNCHECKED}\n"));
        }
        if let Some(prefix) = options.library {
            lines.put(&library::opening(prefix));
        }
        if options.embed_header {
            lines.put(HEADER);
            lines.put("\n");
        } else {
            lines.put(&format!("#include \"{HEADER_NAME}\"\n\n"));
        }
        if options.library.is_some() {
            lines.put(LIBRARY_HEADER);
        }
    }

    fn write_tables(&mut self) {
        let (items, module) = (&self.items, self.items.module);
        for (id, table) in module.tables.iter().filter(|(id, _)| !items.table(*id).is_empty()) {
            let word = if items.is_cuda() { "static __device__ const" } else { "static const" };
            let values = table::initializer(module, table);
            let (ty, extent) = match module.types[table.ty] {
                Shape::Fixed { of, len } if items.is_plain() => (of, format!("[{len}]")),
                _ => (table.ty, String::new()),
            };
            let (of, name) = (items.spelling.of(ty), items.table(id));
            self.lines.put(&format!("{word} {of} {name}{extent} ={values};\n\n"));
        }
    }
}
