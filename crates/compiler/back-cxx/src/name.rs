//! Names: the user's names, changed to be valid in C++ and CUDA and unique where they are visible.
//!
//! The names of the module (functions, structs, tables, kernels) are chosen first. A function's own
//! names avoid those and all names that are visible around them; blocks beside each other may use
//! the same name.

use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// Names that C++, CUDA, the C library's macros and our header use already.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "Array", "BUFSIZ", "Bfloat16", "EOF", "Fixed", "HUGE_VAL", "HUGE_VALF", "Half", "INFINITY",
    "MATH_ERREXCEPT", "MATH_ERRNO", "Mat", "NAN", "NDEBUG", "NULL", "OVERFLOW", "Quat", "Transform",
    "UNDERFLOW", "Vec", "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "blockDim",
    "blockIdx", "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class",
    "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr",
    "constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "errno", "explicit", "export", "extern", "false", "float", "for", "friend", "gbx", "gbx_fault", "goto",
    "gridDim", "if", "inline", "int", "int16_t", "int32_t", "int64_t", "int8_t", "linux", "long", "main",
    "math_errhandling", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator",
    "or", "or_eq", "printf", "private", "program", "protected", "public", "register", "reinterpret_cast",
    "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "stderr",
    "stdin", "stdout", "struct", "switch", "template", "this", "threadIdx", "thread_local", "throw", "true",
    "try", "typedef", "typeid", "typename", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "union", "unix",
    "unsigned", "using", "virtual", "void", "volatile", "warpSize", "wchar_t", "while", "xor", "xor_eq",
];

/// Functions of the C library that headers declare: no kernel's symbol may have such a name.
#[rustfmt::skip]
const LIBRARY: &[&str] = &[
    "abort", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "atexit", "bcmp", "bcopy",
    "bzero", "cbrt", "ceil", "clock", "copysign", "cos", "cosh", "div", "drem", "erf", "erfc", "erfcinv",
    "erfinv", "exit", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "ffs", "finite", "floor", "fma", "fmax",
    "fmin", "fmod", "free", "frexp", "gamma", "getc", "gets", "hypot", "ilogb", "index", "isinf", "isnan", "j0",
    "j1", "jn", "labs", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "logb", "lrint", "lround", "malloc",
    "max", "memchr", "memcmp", "memcpy", "memmove", "memset", "min", "modf", "nan", "nearbyint", "nextafter",
    "norm", "pow", "puts", "putc", "rand", "random", "remainder", "remove", "remquo", "rename", "rewind",
    "rhypot", "rindex", "rint", "round", "rsqrt", "scalb", "scalbn", "significand", "sin", "sincos", "sinh",
    "sqrt", "strlen", "system", "tan", "tanh", "tgamma", "trunc", "write", "y0", "y1", "yn",
];

/// Chooses names.
#[derive(Debug, Default)]
pub(super) struct Names {
    globals: FxHashSet<String>,
    visible: FxHashSet<String>,
    /// Names in the order in which they became visible.
    order: Vec<String>,
    /// Lengths of `order` where blocks began.
    marks: Vec<usize>,
    /// Next suffix to try for each name, so that a thousand equal names don't take a million steps.
    next: FxHashMap<String, u32>,
}

impl Names {
    /// Chooses a name that is visible in the whole text.
    pub(super) fn global(&mut self, name: &str) -> String {
        let name = self.unique(&sound(name));
        self.globals.insert(name.clone());
        name
    }

    /// Chooses the symbol of a kernel.
    pub(super) fn symbol(&mut self, name: &str) -> String {
        let sound = sound(name);
        let taken = LIBRARY.contains(&&*sound);
        self.global(&if taken { sound + "_kernel" } else { sound })
    }

    /// Chooses the name of a function in a text without a namespace.
    pub(super) fn device_function(&mut self, name: &str) -> String {
        let sound = sound(name);
        let taken = LIBRARY.contains(&&*sound);
        self.global(&if taken { sound + "_of" } else { sound })
    }

    /// Chooses a name that is visible to the end of the innermost open block.
    pub(super) fn local(&mut self, name: &str) -> String {
        let name = self.unique(&sound(name));
        self.visible.insert(name.clone());
        self.order.push(name.clone());
        name
    }

    pub(super) fn open(&mut self) {
        self.marks.push(self.order.len());
    }

    pub(super) fn close(&mut self) {
        let mark = self.marks.pop().unwrap_or_default();
        self.order.drain(mark..).for_each(|name| _ = self.visible.remove(&name));
        if self.marks.is_empty() {
            self.next.clear();
        }
    }

    fn is_taken(&self, name: &str) -> bool {
        self.visible.contains(name) || self.globals.contains(name)
    }

    fn unique(&mut self, name: &str) -> String {
        if !self.is_taken(name) && RESERVED.binary_search(&name).is_err() {
            return name.to_string();
        }
        let mut number = self.next.get(name).copied().unwrap_or(1);
        let free = loop {
            let candidate = [name, "_", itoa::Buffer::new().format(number)].concat();
            number += 1;
            if !self.is_taken(&candidate) {
                break candidate;
            }
        };
        self.next.insert(name.to_string(), number);
        free
    }
}

/// Makes a name an identifier of C++ that isn't reserved for implementations.
pub(super) fn sound(name: &str) -> Cow<'_, str> {
    if is_sound(name) {
        return Cow::Borrowed(name);
    }
    let mut sound = String::with_capacity(name.len());
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if !(c == '_' && sound.ends_with('_')) {
            sound.push(c);
        }
    }
    let reserved =
        sound.strip_prefix('_').is_some_and(|rest| !rest.starts_with(char::is_lowercase));
    if reserved || sound.is_empty() || sound.starts_with(|c: char| c.is_ascii_digit()) {
        sound.insert(0, 'x');
    }
    if sound.starts_with("gbx_") || sound.starts_with("GBX_") {
        sound.insert_str(0, "x_");
    }
    Cow::Owned(sound)
}

/// Returns true if a name can stay unchanged, as most can.
fn is_sound(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !bytes.windows(2).any(|pair| pair == b"__")
        && !name.starts_with("gbx_")
        && !name.starts_with("GBX_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_are_sorted() {
        assert!(RESERVED.is_sorted());
    }

    #[test]
    fn names_become_identifiers_of_cxx() {
        let cases =
            [("x", "x"), ("größe", "gr_e"), ("__init__", "_init_"), ("_x", "_x"), ("_X", "x_X")];
        for (name, expected) in cases {
            assert_eq!(sound(name), expected);
        }
        assert_eq!(
            [sound("3d"), sound("a.b"), sound("gbx_fault"), sound("a__b")],
            ["x3d", "a_b", "x_gbx_fault", "a_b"]
        );
    }

    #[test]
    fn blocks_beside_each_other_share_names_but_nested_ones_do_not() {
        let mut names = Names::default();
        assert_eq!(names.global("dot"), "dot");
        names.open();
        assert_eq!(
            (names.local("t"), names.local("dot"), names.local("class")),
            ("t".into(), "dot_1".into(), "class_1".into())
        );
        names.open();
        assert_eq!(names.local("t"), "t_1");
        assert_eq!(names.local("u"), "u");
        names.close();
        assert_eq!(names.local("u"), "u");
    }

    #[test]
    fn kernels_do_not_take_the_symbols_of_the_library() {
        assert_eq!(Names::default().symbol("exp"), "exp_kernel");
    }
}
