//! Codes of diagnostics: every reason for which a program is refused or stopped, in one table.
//!
//! Front ends, the checker, passes and launches take a code from here. `docs/dialect/refusals.md`
//! is written from the rows of [`CodeSource::Dialect`]. Tests compare this page and the headings of
//! `docs/gradients.md` with the table, and check that every row is used.

use crate::abi::FaultKind;
use std::fmt;

/// The part of the compiler that gives a code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CodeSource {
    /// The Python front end.
    Dialect,
    /// Programs of the swarm, which hold more rules than kernels.
    Program,
    /// Gradients.
    Gradient,
    /// The Rust front end, whose only users are this project's own sources.
    Subset,
    /// The checker of IR and its passes. A user of a front end never meets these codes.
    Ir,
    /// A launch: faults that stop a thread.
    Launch,
    /// The interpreter alone, which counts and limits the statements that it runs.
    Interpreter,
}

macro_rules! codes {
    ($($stage:ident { $($variant:ident $name:literal $meaning:literal,)* })*) => {
        /// Reason for which a program is refused or stopped.
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[doc = $meaning] $variant,)*)*
            /// A fault of a launch.
            Fault(FaultKind),
        }

        impl Code {
            /// Every code with which a text can be refused, in the order of the stages.
            /// [`FaultKind::ALL`] has the codes of launches.
            pub const ALL: &[Self] = &[$($(Self::$variant,)*)*];

            /// Returns the stable name, by which messages and surveys call the code.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$variant => $name,)*)*
                    Self::Fault(kind) => kind.code(),
                }
            }

            /// Returns a sentence that says what is wrong with the program.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $($(Self::$variant => $meaning,)*)*
                    Self::Fault(_) => "a thread of a launch stopped",
                }
            }

            /// Returns the part of the compiler that gives the code.
            pub const fn stage(self) -> CodeSource {
                match self {
                    $($(Self::$variant => CodeSource::$stage,)*)*
                    Self::Fault(_) => CodeSource::Launch,
                }
            }
        }
    };
}

codes! {
    Dialect {
        PythonSyntax "python-syntax" "the text can't be parsed as Python",
        TooComplex "too-complex" "a text that nests too deep or unrolls too far",
        UnsupportedSyntax "unsupported-syntax" "a part of Python that isn't in the dialect",
        NeedsPythonEvaluation "needs-python-evaluation" "a value that only a run of Python could tell",
        ImportedName "imported-name" "a name of a module that has no file beside the kernel's file",
        UndefinedName "undefined-name" "a name that nothing defines",
        UnknownType "unknown-type" "an annotation that names no type",
        UnknownAttribute "unknown-attribute" "a field, component or property that the value doesn't have",
        UnknownFunction "unknown-function" "a function that its module doesn't have",
        UnknownBuiltin "unknown-builtin" "a name that Warp doesn't have",
        MissingAnnotation "missing-annotation" "a parameter without a type",
        GenericKernel "generic-kernel" "types of a generic kernel that can't be found, or don't fit",
        TypeMismatch "type-mismatch" "operands, arguments or stored values of the wrong type",
        WrongArguments "wrong-arguments" "the wrong number or names of arguments, indices or components",
        IndexOutOfRange "index-out-of-range" "a constant index outside of its array, vector, matrix or tile",
        NeedsConstant "needs-constant" "a number or shape that must be known before the launch",
        IntegerTooLarge "integer-too-large" "an integer that its type doesn't hold",
        ConstantInLoop "constant-in-loop" "a constant that changes in a dynamic loop",
        OutsideLoop "outside-loop" "`break` or `continue` without a loop",
        KernelResult "kernel-result" "a kernel that returns a value",
        TidInFunction "tid-in-function" "`wp.tid()` outside a kernel",
        NoValue "no-value" "the value of a call that gives none",
        NotCallable "not-callable" "a call of a value that isn't a function",
        Recursion "recursion" "a function that calls itself",
        FunctionRebound "function-rebound" "a name that stands for several functions",
        NotWritable "not-writable" "a store to an expression that is neither a variable nor an element",
        UnsupportedValue "unsupported-value" "a string, `None` or type used as a value",
        UnsupportedIteration "unsupported-iteration" "a loop over a value that is neither a `range` nor a query",
        UnsupportedTile "unsupported-tile" "functions of tiles that this compiler doesn't have",
        UnsupportedMesh "unsupported-mesh" "queries of meshes that this compiler doesn't have",
        UnsupportedTexture "unsupported-texture" "textures",
        UnsupportedBvh "unsupported-bvh" "queries of hierarchies of boxes that this compiler doesn't have",
        UnsupportedHashGrid "unsupported-hash-grid" "queries of hash grids that this compiler doesn't have",
        UnsupportedDense "unsupported-dense" "dense linear algebra",
        UnsupportedNative "unsupported-native" "C++ in a native snippet that this compiler doesn't read",
        UnsupportedPointer "unsupported-pointer" "raw pointers and strides of arrays",
        UnsupportedAdjoint "unsupported-adjoint" "adjoints outside of a gradient by hand, or of a value without an adjoint",
        UnsupportedGradientCall "unsupported-gradient-call" "`wp.grad` of a function that uses arrays or gives no float",
        UnsupportedFabricArray "unsupported-fabric-array" "fabric arrays",
        UnsupportedIndexedArray "unsupported-indexed-array" "slices of indexed arrays",
        UnsupportedFixedArray "unsupported-fixed-array" "fixed arrays as types, kept or returned",
        UnsupportedAtomic "unsupported-atomic" "atomic operations that the type doesn't have",
        UnsupportedVariadic "unsupported-variadic" "functions with any number of arguments",
        UnsupportedSliceAssignment "unsupported-slice-assignment" "a store to a slice of a value other than a vector or matrix",
        UnsupportedBreakpoint "unsupported-breakpoint" "breakpoints",
        NoKernel "no-kernel" "a text without the kernel that is asked for",
        Refused "refused" "a kernel that uses a definition which another message refuses",
    }
    Program {
        WrongCall "wrong-call" "a program that may only look writes to the machine",
    }
    Gradient {
        GradOverwritten "grad-overwritten" "an element is overwritten whose old value is needed",
        GradAtomic "grad-atomic" "the order of atomic operations decides",
        GradLocalArray "grad-local-array" "an array is made in the kernel",
        GradStoredArray "grad-stored-array" "a struct with an array is stored",
        GradBits "grad-bits" "a float is made of the bits of another",
        GradOfGradient "grad-of-gradient" "the kernel uses gradients itself",
        GradByHand "grad-by-hand" "a gradient by hand doesn't fit its function",
        GradReplay "grad-replay" "a function with a replay gives floats",
    }
    Subset {
        RustSyntax "rust-syntax" "the text can't be parsed as Rust",
        RustSubset "rust-subset" "a part of Rust that isn't in the subset",
        RustName "rust-name" "a name that nothing defines",
        RustType "rust-type" "types that don't fit",
        RustConst "rust-const" "a constant that can't be computed",
        RustRecursion "rust-recursion" "a function that calls itself",
        RustEntry "rust-entry" "an entry point that the program doesn't have",
    }
    Ir {
        IrHandle "ir-handle" "a handle that points at nothing",
        IrType "ir-type" "a type that doesn't exist or can't be used there",
        IrScope "ir-scope" "a value that is used outside of its block",
        IrOperation "ir-operation" "operands that don't fit their operation",
        IrPlace "ir-place" "a place whose parts don't fit",
        IrStore "ir-store" "a store that doesn't fit",
        IrCondition "ir-condition" "a condition or selector of the wrong type",
        IrLoop "ir-loop" "a loop whose parts don't fit",
        IrReturn "ir-return" "a result that is missing or doesn't fit",
        IrBlock "ir-block" "blocks that don't form a tree",
        IrCall "ir-call" "a call that doesn't fit its function",
        IrAlias "ir-alias" "places of one call that overlap",
        IrKernel "ir-kernel" "a kernel with a result or with references",
        IrEscape "ir-escape" "an array of the kernel's own that leaves it",
        Detach "detach" "memory that can't be moved out of its struct",
    }
    Interpreter {
        Address "address" "an address that lies in no buffer",
        Budget "budget" "more statements than the budget allows",
        Stack "stack" "more memory for variables than the interpreter has",
        Arguments "arguments" "arguments that don't fit the function's parameters",
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.name(), f)
    }
}

impl PartialEq<str> for Code {
    fn eq(&self, name: &str) -> bool {
        self.name() == name
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, name: &&str) -> bool {
        self.name() == *name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_stable_words_and_each_occurs_once() {
        let faults = FaultKind::ALL.map(|(kind, _)| Code::Fault(kind));
        let names: Vec<&str> = Code::ALL.iter().chain(&faults).map(|code| code.name()).collect();
        for name in &names {
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
        }
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    }
}
