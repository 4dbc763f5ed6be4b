//! Names of a PTX text as names in C++. A letter in front distinguishes the kinds from each other
//! and from C++'s own names.

/// A register.
pub(super) fn register(name: &str) -> String {
    mangled("R", name)
}

/// A variable in memory.
pub(super) fn memory(name: &str) -> String {
    mangled("M", name)
}

/// A function or a kernel.
pub(super) fn function(name: &str) -> String {
    mangled("F", name)
}

/// A label.
pub(super) fn label(name: &str) -> String {
    mangled("L", name)
}

/// Name by which the host finds a kernel.
pub(super) fn symbol(kernel: &str) -> String {
    format!("on_device_{kernel}")
}

fn mangled(kind: &str, name: &str) -> String {
    format!("{kind}_{}", name.replace('$', "S_").replace('%', ""))
}
