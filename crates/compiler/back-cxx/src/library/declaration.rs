//! Declarations of a library's functions, and of their parameters' types, in C and in Rust.

use std::fmt::Write as _;

use gbxcule_ir::module::Module;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::LibraryFunction;
use crate::name::{Names, sound};

/// Types that all libraries share, in C.
const C_TYPES: &str = include_str!("gbx_types.h");

/// Types that all libraries have, in Rust.
const RUST_TYPES: &str = include_str!("gbx_types.rs.txt");

/// Keywords of Rust, and one of C, that C++ does not have.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "crate", "dyn", "final", "fn", "gen", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "restrict", "self", "super", "trait",
    "type", "typeof", "unsized", "use", "where", "yield",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Rust,
}

/// Writes a library's header for C and C++. `source` names the kernels' file.
pub fn c_header(
    module: &Module,
    functions: &[LibraryFunction],
    prefix: &str,
    source: &str,
) -> String {
    let guard = format!("{}_H", prefix.to_uppercase());
    let mut text = format!(
        "// {prefix}.h: kernels of {source} as functions of C, by gbxcule.\n#ifndef {guard}\n#define {guard}\n\n{C_TYPES}\n"
    );
    let declarations = Declarations::new(module, functions, prefix, Language::C);
    text += &declarations.types;
    text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    _ = writeln!(
        text,
        "// Writes the meaning of a fault into `text`, as `snprintf` does.\n\
         int {prefix}_describe(const gbx_fault* fault, char* text, size_t size);\n"
    );
    for function in functions {
        text += &declarations.function(function);
    }
    text + &format!("#ifdef __cplusplus\n}} // extern \"C\"\n#endif\n\n#endif // {guard}\n")
}

/// Writes a library's declarations for Rust: the text of a module. `source` names the kernels'
/// file.
pub fn rust_module(
    module: &Module,
    functions: &[LibraryFunction],
    prefix: &str,
    source: &str,
) -> String {
    let declarations = Declarations::new(module, functions, prefix, Language::Rust);
    let mut text = format!(
        "// {prefix}.rs: kernels of {source} as functions of C, by gbxcule.\n\n{RUST_TYPES}\n"
    );
    text += &declarations.types;
    text += "unsafe extern \"C\" {\n";
    _ = writeln!(
        text,
        "    /// Writes the meaning of a fault into `text`, as `snprintf` does.\n    \
         pub fn {prefix}_describe(fault: *const GbxFault, text: *mut std::ffi::c_char, size: usize) -> i32;"
    );
    for function in functions {
        text += &declarations.function(function);
    }
    text + "}\n"
}

/// Types of parameters, by name, and their definitions.
struct Declarations<'a> {
    module: &'a Module,
    prefix: &'a str,
    language: Language,
    types: String,
    defined: FxHashSet<Type>,
    /// Names given to structs.
    structs: FxHashMap<Type, String>,
    names: Names,
}

impl<'a> Declarations<'a> {
    fn new(
        module: &'a Module,
        functions: &[LibraryFunction],
        prefix: &'a str,
        language: Language,
    ) -> Self {
        let mut declarations = Self {
            module,
            prefix,
            language,
            types: String::new(),
            defined: FxHashSet::default(),
            structs: FxHashMap::default(),
            names: Names::default(),
        };
        for function in functions {
            for param in &module.functions[function.kernel].params {
                declarations.define(param.ty);
            }
        }
        declarations
    }

    /// Defines a type after the types that it is made of.
    fn define(&mut self, ty: Type) {
        if !self.defined.insert(ty) {
            return;
        }
        let module = self.module;
        let fields: Vec<(String, String)> = match module.types[ty] {
            Shape::Scalar(_) | Shape::Tuple(_) | Shape::Invalid => return,
            // The user lays out the memory of the elements, and needs the declaration of their
            // type.
            Shape::Array { of, .. } => return self.define(of),
            Shape::Vector { len, of } => vec![self.items(self.scalar(of), &[len.into()])],
            Shape::Quaternion(of) => vec![self.items(self.scalar(of), &[4])],
            Shape::Transform(of) => vec![self.items(self.scalar(of), &[7])],
            Shape::Matrix { rows, cols, of } => {
                vec![self.items(self.scalar(of), &[rows.into(), cols.into()])]
            }
            Shape::Fixed { of, len } => {
                self.define(of);
                vec![self.items(&self.name(of), &[len])]
            }
            Shape::Struct(id) => {
                let structure = module.types.structure(id);
                let name = self.names.global(&structure.name);
                self.structs.insert(ty, name);
                structure.fields.iter().for_each(|field| self.define(field.ty));
                let mut names = Names::default();
                let mut of_field = |name: &str| self.word(&names.global(&sound(name)));
                let named =
                    structure.fields.iter().map(|it| (of_field(&it.name), self.name(it.ty)));
                let fields: Vec<_> = named.collect();
                if fields.is_empty() {
                    vec![("unused".into(), self.scalar(Scalar::U8).into())]
                } else {
                    fields
                }
            }
        };
        let (name, structure) = (self.name(ty), matches!(module.types[ty], Shape::Struct(_)));
        let body = match self.language {
            Language::C => {
                let fields: String =
                    fields.iter().map(|(name, ty)| format!(" {ty} {name};")).collect();
                format!("typedef struct {{{fields} }} {name};\n")
            }
            Language::Rust => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, ty)| format!("    pub {name}: {ty},\n")).collect();
                format!(
                    "#[repr(C)]\n#[derive(Clone, Copy, Debug)]\npub struct {name} {{\n{}}}\n\n",
                    fields.concat()
                )
            }
        };
        // Other libraries define the same composite.
        self.types += &match self.language {
            Language::C if !structure => {
                let guard = name.to_uppercase();
                format!("#ifndef {guard}\n#define {guard}\n{body}#endif\n\n")
            }
            Language::C => body + "\n",
            Language::Rust => body,
        };
    }

    /// Returns the field with the items of a composite: its name with extents in C, its type in
    /// Rust.
    fn items(&self, of: &str, extents: &[u32]) -> (String, String) {
        match self.language {
            Language::C => {
                let extents: String = extents.iter().map(|extent| format!("[{extent}]")).collect();
                (format!("items{extents}"), of.to_owned())
            }
            Language::Rust => {
                let nested = |inner: String, extent: &u32| format!("[{inner}; {extent}]");
                ("items".to_owned(), extents.iter().rev().fold(of.to_owned(), nested))
            }
        }
    }

    fn scalar(&self, scalar: Scalar) -> &'static str {
        let (c, rust) = match scalar {
            Scalar::Bool => ("bool", "bool"),
            Scalar::I8 => ("int8_t", "i8"),
            Scalar::I16 => ("int16_t", "i16"),
            Scalar::I32 => ("int32_t", "i32"),
            Scalar::I64 => ("int64_t", "i64"),
            Scalar::U8 => ("uint8_t", "u8"),
            Scalar::U16 => ("uint16_t", "u16"),
            Scalar::U32 => ("uint32_t", "u32"),
            Scalar::U64 => ("uint64_t", "u64"),
            Scalar::F16 => ("gbx_half", "GbxHalf"),
            Scalar::Bf16 => ("gbx_bfloat16", "GbxBfloat16"),
            Scalar::F32 => ("float", "f32"),
            Scalar::F64 => ("double", "f64"),
        };
        if self.language == Language::C { c } else { rust }
    }

    fn name(&self, ty: Type) -> String {
        match self.module.types[ty] {
            Shape::Scalar(of) => self.scalar(of).to_owned(),
            Shape::Array { .. } => self.shared("array"),
            Shape::Struct(_) => {
                let name = self.structs[&ty].clone();
                if self.language == Language::C { format!("{}_{name}", self.prefix) } else { name }
            }
            _ => self.shared(&self.suffix(ty)),
        }
    }

    /// Returns the name of a type that libraries share.
    fn shared(&self, name: &str) -> String {
        if self.language == Language::C {
            return format!("gbx_{name}");
        }
        let word = |word: &str| {
            let (first, others) = word.split_at(usize::from(!word.is_empty()));
            first.to_uppercase() + others
        };
        format!("Gbx{}", name.split('_').map(word).collect::<String>())
    }

    fn suffix(&self, ty: Type) -> String {
        match self.module.types[ty] {
            Shape::Scalar(of) => of.name().to_owned(),
            Shape::Vector { len, of } => format!("vec{len}_{}", of.name()),
            Shape::Matrix { rows, cols, of } => format!("mat{rows}x{cols}_{}", of.name()),
            Shape::Quaternion(of) => format!("quat_{}", of.name()),
            Shape::Transform(of) => format!("transform_{}", of.name()),
            Shape::Fixed { of, len } => format!("fixed{len}_{}", self.suffix(of)),
            Shape::Array { .. } => "array".to_owned(),
            Shape::Struct(_) => format!("{}_{}", self.prefix, self.name(ty)),
            Shape::Tuple(_) | Shape::Invalid => unreachable!("kernels take no such parameter"),
        }
    }

    /// Returns the name, or one like it if the name is a keyword of C or Rust.
    fn word(&self, name: &str) -> String {
        if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
    }

    fn function(&self, function: &LibraryFunction) -> String {
        let kernel = &self.module.functions[function.kernel];
        let spelled: Vec<String> = kernel
            .params
            .iter()
            .map(|param| format!("{}: {}", param.name, self.module.types.spelled(param.ty)))
            .collect();
        let signature = format!("{}({})", kernel.name, spelled.join(", "));
        let apart = kernel.disjoint.iter().map(|&(one, other)| {
            let [one, other] = [one, other].map(|at| &kernel.params[at as usize].name);
            format!("`{one}` and `{other}` must share no memory.")
        });
        let comments: Vec<String> = std::iter::once(signature).chain(apart).collect();
        let parameters = function.parameters.iter().zip(&kernel.params);
        let parameters = parameters.map(|(name, param)| (self.word(name), self.name(param.ty)));
        let symbol = &function.symbol;
        let is_c = self.language == Language::C;
        let mark = if is_c { "//" } else { "    ///" };
        let comments: String = comments.iter().map(|it| format!("{mark} {it}\n")).collect();
        let parameters: String = parameters
            .map(
                |(name, ty)| {
                    if is_c { format!(", {ty} {name}") } else { format!(", {name}: {ty}") }
                },
            )
            .collect();
        if is_c {
            return format!("{comments}int {symbol}(const gbx_grid*{parameters}, gbx_fault*);\n\n");
        }
        format!(
            "{comments}    pub fn {symbol}(grid: *const GbxGrid{parameters}, fault: *mut GbxFault) -> i32;\n"
        )
    }
}
