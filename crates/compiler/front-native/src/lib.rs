//! Native snippets: the C++ text of NVIDIA Warp's `@wp.func_native`, as a function of the IR.
//!
//! Only a part of C++ is read: numbers, vectors, variables, conditions, loops, elements of
//! arrays. Every other construct is refused by name, so no construct gets a wrong meaning. For
//! all devices only the host's branch of `#if defined(__CUDA_ARCH__)` is read.

mod host;
mod lower;
mod parser;
mod token;
mod tree;

use gbxcule_ir::function::FunctionId;
use gbxcule_ir::module::Module;
use gbxcule_ir::ty::Type;

/// A parsed snippet.
pub struct Snippet {
    body: Vec<tree::Stmt>,
}

impl Snippet {
    /// Reads a snippet's text.
    ///
    /// # Errors
    /// The text has a construct that isn't read; the message quotes it.
    pub fn read(text: &str) -> Result<Self, String> {
        let body = parser::parse(&token::tokens(&host::host_branch(text)?)?)?;
        Ok(Self { body })
    }

    /// Fills a declared function with the statements of the snippet, which knows the function's
    /// parameters by their names.
    ///
    /// # Errors
    /// A statement has a meaning that isn't known here; the message names it. The function's body
    /// can't be used then.
    pub fn lower(
        &self,
        module: &mut Module,
        function: FunctionId,
        result: Type,
    ) -> Result<(), String> {
        lower::lower(&self.body, module, function, result)
    }
}

#[cfg(test)]
mod tests {
    use super::Snippet;

    #[test]
    fn the_branch_of_the_host_counts() {
        let text =
            "\n#if defined(__CUDA_ARCH__)\nreturn __frsqrt_rn(x);\n#else\nreturn x;\n#endif\n";
        assert_eq!(
            format!("{:?}", Snippet::read(text).map(|it| it.body)),
            "Ok([Return(Some(Name(\"x\")))])"
        );
        let text = "#ifndef __CUDA_ARCH__\nreturn x;\n#endif";
        assert_eq!(
            format!("{:?}", Snippet::read(text).map(|it| it.body)),
            "Ok([Return(Some(Name(\"x\")))])"
        );
    }

    #[test]
    fn the_one_thread_of_a_tile_waits_for_no_other() {
        let read = Snippet::read("WP_TILE_SYNC();").map(|it| it.body.len());
        assert_eq!(read, Ok(0));
        assert!(Snippet::read("WP_TILE_SYNC(3);").is_err());
    }

    #[test]
    fn constructs_that_are_not_read_are_named() {
        for (text, what) in [
            ("#if N > 3\n#endif", "`#if N > 3`"),
            ("__syncthreads();", "`__sync`, which works together with other threads"),
            (
                "#ifdef __CUDA_ARCH__\natomicAdd(c, 1);\n#else\nc[0] += 1;\n#endif",
                "`atomic`, which works together with other threads",
            ),
            ("*(int*)p = 3;", "`*` before a value"),
            ("asm(\"nop\");", "`\"`"),
            ("using T = int;", "`using`"),
            ("return wp::spam::egg(x);", "`wp::spam::egg`"),
            ("return x", "the end, where `;` is expected"),
            ("x = 1.0h;", "`1.0h`"),
            ("return {};", "`{`, where a value is expected"),
        ] {
            assert_eq!(Snippet::read(text).err().as_deref(), Some(what), "{text}");
        }
        assert!(Snippet::read(&"(".repeat(100_000)).is_err());
        assert!(Snippet::read(&"{".repeat(100_000)).is_err());
        assert!(Snippet::read(&format!("x = {};", "-".repeat(100_000))).is_err());
        assert!(Snippet::read(&format!("x = {}1;", "1+".repeat(100_000))).is_err());
    }
}
