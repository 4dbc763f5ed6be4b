//! Modules of Warp, Python and NumPy that the dialect knows without a file.

/// Warp's compiler itself, 1.5 MB of text in which there is nothing that a kernel could use.
const COMPILER_MODULES: [&str; 4] =
    ["warp._src.build", "warp._src.builtins", "warp._src.codegen", "warp._src.context"];

/// Returns the canonical name of a module that has several names.
pub fn canonical(path: &str) -> &str {
    match path {
        // Our Python package has Warp's names.
        "warp.types" | "warp._src.types" | "gbxcule.kernel" => "warp",
        "np" => "numpy",
        path => path,
    }
}

/// Returns true if no file is looked for when a text imports a module. `binds_first` is true for
/// `import a.b`, which binds `a`.
pub(crate) fn is_known(module: &str, binds_first: bool) -> bool {
    canonical(module) == "warp"
        || COMPILER_MODULES.contains(&module)
        || binds_first && module.starts_with("warp.")
        || matches!(
            module.split('.').next(),
            Some("math" | "numpy" | "typing" | "types" | "collections" | "gbxcule" | "__future__")
        )
}
