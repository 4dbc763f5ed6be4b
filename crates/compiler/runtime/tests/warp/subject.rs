//! The kernels of a tree of Python files that compile, each in a module of its own.

use gbxcule_front_warp::{ImportOptions, Program, Texts};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, FunctionKind, Module, Op, Shape, Type};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A kernel of a file.
pub(crate) struct Subject {
    pub(crate) file: PathBuf,
    /// Line of the kernel's name, from 1 on.
    pub(crate) line: usize,
    pub(crate) name: String,
    pub(crate) module: Valid<Module>,
    pub(crate) kernel: FunctionId,
}

/// Contents of a source tree.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) found: usize,
    pub(crate) compiled: Vec<Subject>,
    import_options: ImportOptions,
}

impl Tree {
    /// Returns an empty tree for the programs of a folder.
    pub(crate) fn within(folder: &Path) -> Self {
        let tree = Some(folder.to_owned());
        Self {
            import_options: ImportOptions { tree, ..ImportOptions::default() },
            ..Self::default()
        }
    }

    /// Compiles all kernels of all files below a folder, in the order of their paths.
    pub(crate) fn add(&mut self, folder: &Path) {
        let mut files = Vec::new();
        collect(folder, &mut files);
        files.sort();
        let (mut sources, mut texts) = (SourceMap::new(), Texts::new(self.import_options.clone()));
        for file in files {
            let Ok(text) = std::fs::read_to_string(&file) else { continue };
            let id = sources.add(file.display().to_string(), text);
            let read = |path: &Path| std::fs::read_to_string(path).ok().into();
            let Ok(program) = Program::load(&mut texts, &mut sources, id, Some(&read)) else {
                continue;
            };
            let reader = program.reader().with_trial_types();
            for kernel in reader.kernels() {
                self.found += 1;
                let Ok(mut module) = reader.lower(kernel.position, "subject") else { continue };
                // Warp keeps the kernel that the last call of a function around it made.
                let made: Vec<FunctionId> = module
                    .functions
                    .handles()
                    .filter(|&id| module.functions[id].kind == FunctionKind::Kernel)
                    .collect();
                for (number, &earlier) in made.iter().rev().skip(1).enumerate() {
                    module.functions[earlier].name += &format!("_earlier_{number}");
                }
                let Ok(module) = check::module(module) else { continue };
                let (line, _) = sources.get(id).line_column(kernel.span.start);
                let (kernel, function) = module.kernels().last().expect("the kernel");
                let name = function.name.clone();
                self.compiled.push(Subject { file: file.clone(), line, name, module, kernel });
            }
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of Python files") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            files.push(path);
        }
    }
}

impl Subject {
    /// Returns the file below Warp's package, the line and the kernel's name.
    pub(crate) fn title(&self, package: &Path) -> String {
        let file = self.file.strip_prefix(package).unwrap_or(&self.file).display();
        format!("{file}:{} {}", self.line, self.name)
    }

    /// Returns the number of dimensions of the grid that the kernel asks for, at least 1.
    pub(crate) fn dims(&self) -> usize {
        let values = self.module.functions.iter().flat_map(|(_, f)| f.body.values.iter());
        let asked = values.map(|(_, value)| match value.op {
            Op::LaunchIndex(dim) => usize::from(dim) + 1,
            _ => 1,
        });
        asked.max().unwrap_or(1)
    }

    /// Returns true if the kernel computes floats by more than + - * / and roots.
    pub(crate) fn is_transcendental(&self) -> bool {
        let mut values = self.module.functions.iter().flat_map(|(_, f)| f.body.values.iter());
        values.any(
            |(_, value)| matches!(value.op, Op::Native { native, .. } if native.row().ulps > 0),
        )
    }

    /// Returns the parameters' types in NVIDIA Warp's words; empty if only the text can name one.
    pub(crate) fn types(&self) -> Vec<Value> {
        let params = &self.module.functions[self.kernel].params;
        params.iter().map(|param| spelled(&self.module, param.ty)).collect()
    }
}

fn spelled(module: &Module, ty: Type) -> Value {
    use gbxcule_ir::Scalar;
    let scalar = |of: Scalar| match of {
        Scalar::Bool => "bool".to_string(),
        Scalar::Bf16 => "bfloat16".to_string(),
        of if of.is_float() => format!("float{}", of.bits()),
        of if of.is_signed_int() => format!("int{}", of.bits()),
        of => format!("uint{}", of.bits()),
    };
    match module.types[ty] {
        Shape::Scalar(of) => scalar(of).into(),
        Shape::Vector { len, of } => json!(["vector", len, scalar(of)]),
        Shape::Matrix { rows, cols, of } => json!(["matrix", [rows, cols], scalar(of)]),
        Shape::Quaternion(of) => json!(["quaternion", scalar(of)]),
        Shape::Transform(of) => json!(["transformation", scalar(of)]),
        Shape::Array { of, dims } => json!(["array", spelled(module, of), dims]),
        _ => Value::Null,
    }
}
