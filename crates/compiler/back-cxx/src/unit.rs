//! Writes one text: its sections in order, with the names and items that it needs.

use super::function;
use super::library::{self, LIBRARY_HEADER, LibraryFunction};
use super::live::Faults;
use super::name::Names;
use super::plain::{HELPERS, Plain};
use super::table;
use super::ty::Spelling;
use super::{Checks, Dialect, Entry, HEADER, HEADER_NAME, Options, Site, Text};
use gbxcule_ir::arena::Handle;
use gbxcule_ir::check::Valid;
use gbxcule_ir::constant::TableId;
use gbxcule_ir::function::{FunctionId, FunctionKind};
use gbxcule_ir::module::Module;
use gbxcule_ir::place::Root;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use std::borrow::Cow;

/// First line of a text without checks.
pub(super) const UNCHECKED: &str = "#define GBX_UNCHECKED";

/// State that all functions of a text share.
pub(super) struct Unit<'a> {
    pub(super) module: &'a Valid<Module>,
    pub(super) options: &'a Options<'a>,
    pub(super) spelling: Spelling,
    pub(super) names: Names,
    pub(super) out: String,
    /// Lines written so far.
    pub(super) line: u32,
    pub(super) sites: Vec<Site>,
    pub(super) library: Vec<LibraryFunction>,
    pub(super) faults: Faults,
    /// State of a text without the header.
    pub(super) plain: Option<Plain>,
    functions: Vec<String>,
    tables: Vec<String>,
    needed: Vec<bool>,
}

impl<'a> Unit<'a> {
    pub(super) fn new(
        module: &'a Valid<Module>,
        options: &'a Options<'a>,
        plain: Option<Plain>,
    ) -> Self {
        let needed = needed_functions(module, options);
        let (types, tables) = needed_items(module, &needed);
        let mut names = Names::default();
        if options.library.is_some() {
            names.global(library::DESCRIBE);
        }
        if plain.is_some() {
            HELPERS.iter().for_each(|helper| _ = names.global(helper));
        }
        // Kernels come first, so that their names stay unchanged.
        let mut functions = vec![String::new(); module.functions.len()];
        let kinds = [FunctionKind::Kernel, FunctionKind::Callable];
        let all = kinds
            .into_iter()
            .flat_map(|kind| module.functions.iter().filter(move |(_, f)| f.kind == kind));
        let kernels = |kind| kind == FunctionKind::Kernel;
        let mut callables = Vec::new();
        for (id, function) in all.filter(|(id, _)| needed[id.index()]) {
            if kernels(function.kind) {
                functions[id.index()] = names.symbol(&function.name);
            } else {
                callables.push(id);
            }
        }
        let spelling = Spelling::new(module, types, &mut names, plain.is_some());
        let tables =
            module
                .tables
                .iter()
                .map(|(id, table)| {
                    if tables[Handle::index(id)] {
                        names.global(&table.name)
                    } else {
                        String::new()
                    }
                })
                .collect();
        for id in callables {
            let name = &module.functions[id].name;
            functions[id.index()] =
                if plain.is_some() { names.device_function(name) } else { names.global(name) };
        }
        let (out, sites) = (String::new(), Vec::new());
        let faults = Faults::new(module, options.checks);
        Self {
            module,
            options,
            spelling,
            names,
            out,
            line: 0,
            sites,
            library: Vec::new(),
            faults,
            plain,
            functions,
            tables,
            needed,
        }
    }

    pub(super) fn write(mut self) -> Text {
        self.preamble();
        self.put("namespace program {\n\n");
        let structs = self.spelling.definitions(self.module);
        self.put(&structs);
        self.write_tables();
        for &id in self.module.call_order() {
            if self.needed[id.index()] && self.module.functions[id].kind == FunctionKind::Callable {
                function::write(&mut self, id);
            }
        }
        let module = self.module;
        let kernels: Vec<FunctionId> =
            module.kernels().map(|(id, _)| id).filter(|id| self.needed[id.index()]).collect();
        for &id in &kernels {
            function::write(&mut self, id);
        }
        if let Some(prefix) = self.options.library {
            library::describe(&mut self, prefix);
        }
        self.put("} // namespace program\n");
        if self.options.library.is_some() {
            self.put("} // namespace\n");
        }
        let kernels = kernels.into_iter().map(|kernel| {
            let symbol = self.functions[kernel.index()].clone();
            Entry { kernel, symbol, diverges: module.functions[kernel].diverges }
        });
        Text {
            kernels: kernels.collect(),
            source: self.out,
            functions: self.library,
            sites: self.sites,
            dialect: self.options.dialect,
        }
    }

    /// Writes a kernel and what it calls without the header.
    pub(super) fn write_plain(mut self) -> Option<String> {
        let structs = self.spelling.definitions(self.module);
        self.write_tables();
        let module = self.module;
        let callables = module.call_order().iter().copied();
        let kernels = module.kernels().map(|(id, _)| id);
        let is_callable = |id: &FunctionId| module.functions[*id].kind == FunctionKind::Callable;
        for id in callables.filter(is_callable).chain(kernels) {
            if self.needed[id.index()] {
                function::write(&mut self, id);
            }
        }
        let body = self.out.trim_end();
        let definitions = self.plain?.end(body)?;
        let words = [&structs, &definitions, body];
        let sized = |text: &&str| {
            ["int8_t", "int16_t", "int32_t", "int64_t"].iter().any(|it| text.contains(it))
        };
        let include = if words.iter().any(sized) { "#include <stdint.h>\n\n" } else { "" };
        Some(format!("{include}{structs}{definitions}{body}\n"))
    }

    fn preamble(&mut self) {
        let name: String = self.module.name.chars().filter(|c| !c.is_control()).collect();
        let what = if self.cuda() { "CUDA C++" } else { "C++17 for the CPU" };
        let flag = if self.cuda() { "--fmad=false" } else { "-ffp-contract=off" };
        let name = name.trim_end_matches('\\');
        self.put(&format!("// {name}: {what}, by gbxcule. Compile with {flag}.\n"));
        if self.options.checks == Checks::None {
            self.put(&format!("{UNCHECKED}\n"));
        }
        if let Some(prefix) = self.options.library {
            self.put(&library::opening(prefix));
        }
        if self.options.embed_header {
            self.put(HEADER);
            self.put("\n");
        } else {
            self.put(&format!("#include \"{HEADER_NAME}\"\n\n"));
        }
        if self.options.library.is_some() {
            self.put(LIBRARY_HEADER);
        }
    }

    fn write_tables(&mut self) {
        let module = self.module;
        for (id, table) in module.tables.iter() {
            let name = &self.tables[Handle::index(id)];
            if name.is_empty() {
                continue;
            }
            let word = if self.cuda() { "static __device__ const" } else { "static const" };
            let values = table::initializer(module, table);
            let (ty, extent) = match (&self.plain, &module.types[table.ty]) {
                (Some(_), &Shape::Fixed { of, len }) => (of, format!("[{len}]")),
                _ => (table.ty, String::new()),
            };
            let text = format!("{word} {} {name}{extent} ={values};\n\n", self.spelling.of(ty));
            self.put(&text);
        }
    }

    pub(super) fn cuda(&self) -> bool {
        self.options.dialect == Dialect::Cuda
    }

    /// Appends text and counts its lines.
    pub(super) fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.line += text.bytes().filter(|&byte| byte == b'\n').count() as u32;
    }

    pub(super) fn function_name(&self, id: FunctionId) -> &str {
        &self.functions[id.index()]
    }

    pub(super) fn table_name(&self, id: TableId) -> &str {
        &self.tables[Handle::index(id)]
    }

    /// Returns the file and line of a span.
    pub(super) fn place(&self, span: Span) -> Option<(String, usize)> {
        let source = self.options.sources?.get(span.source()?);
        let (line, _) = source.line_column(span.start);
        Some((source.name.replace(|c: char| c.is_control(), " "), line))
    }

    /// Returns the number and text of a span's line.
    pub(super) fn quote(&self, span: Span) -> Option<(usize, Cow<'a, str>)> {
        let source = self.options.sources?.get(span.source()?);
        let (line, _) = source.line_column(span.start);
        let text = source.line(line).trim();
        // A comment that ends with a backslash would go on in the next line.
        let text = text.trim_end_matches(|c: char| c == '\\' || c.is_whitespace());
        if !text.contains(char::is_control) {
            return Some((line, Cow::Borrowed(text)));
        }
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let end = text.trim_end_matches(|c: char| c == '\\' || c.is_whitespace()).len();
        Some((line, Cow::Owned(text[..end].to_owned())))
    }
}

fn needed_functions(module: &Valid<Module>, options: &Options<'_>) -> Vec<bool> {
    let Some(kernel) = options.kernel else { return vec![true; module.functions.len()] };
    let mut needed = vec![false; module.functions.len()];
    needed[kernel.index()] = true;
    for &id in module.call_order().iter().rev() {
        if needed[id.index()] {
            module.facts(id).callees.iter().for_each(|callee| needed[callee.index()] = true);
        }
    }
    needed
}

/// Marks the types and tables that functions mention.
fn needed_items(module: &Valid<Module>, needed: &[bool]) -> (Vec<bool>, Vec<bool>) {
    let mut types = vec![false; module.types.shapes().len()];
    let mut tables = vec![false; module.tables.len()];
    Scalar::ALL.into_iter().for_each(|of| types[Type::scalar(of).index()] = true);
    for (id, function) in module.functions.iter() {
        if !needed[id.index()] {
            continue;
        }
        let body = &function.body;
        // Values that are never reached may have any type.
        let mut need = |ty: Type| {
            if ty != Type::INVALID
                && let Some(type_needed) = types.get_mut(ty.index())
            {
                *type_needed = true;
            }
        };
        need(function.result);
        function.params.iter().for_each(|param| need(param.ty));
        body.locals.iter().for_each(|(_, local)| need(local.ty));
        body.values.iter().for_each(|(_, data)| need(data.ty));
        for (_, place) in body.places.iter() {
            if let Root::Table(id) = place.root
                && let Some(table) = module.tables.get(id)
            {
                tables[Handle::index(id)] = true;
                need(table.ty);
            }
        }
    }
    (types, tables)
}
