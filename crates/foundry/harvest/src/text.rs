//! The text of a harvested row: several ways of cutting are tried in order, and the first text that
//! compiles to the IR of the kernel in its file is taken.

use crate::cut::{Reach, Sources, cut};
use crate::{GENERIC, KernelInFile};
use gbxcule_ir::{FunctionId, Module, Scalar, Shape, Type, Types, print};
use gbxcule_rows::row_program::{RowProgram, code};
use gbxcule_rows::structure::{Token, tokens};

/// Greatest number of the user's values in a cut that are left out in turn.
const MAX_VALUES: usize = 4;

/// A kernel's text, which compiles without the kernel's file.
pub(crate) struct OwnText {
    pub(crate) source: String,
    pub(crate) program: RowProgram,
    /// Names for which the text has the user's values.
    pub(crate) given: Vec<String>,
}

/// Returns the text of a kernel; `None` if no cut gives a text that compiles to the kernel.
pub(crate) fn own_text(kernel: &KernelInFile, sources: &mut Sources) -> Option<OwnText> {
    let ir = kernel.ir.as_ref().ok()?;
    let file = sources.file(&kernel.file)?;
    for reach in [Reach::All, Reach::Decorated] {
        let Some(whole) = cut(sources, &file, kernel.at, reach, &[]) else { continue };
        if let Some((source, program)) = compiled(kernel, &whole.text, ir) {
            return Some(OwnText { source, program, given: whole.given });
        }
        // Names inside functions keep the text's own values.
        let given = &whole.given[..whole.given.len().min(MAX_VALUES)];
        for subset in 1..1_usize << given.len() {
            let is_in = |(at, _): &(usize, &String)| subset >> at & 1 == 1;
            let defined: Vec<String> =
                given.iter().enumerate().filter(is_in).map(|(_, name)| name.clone()).collect();
            if let Some(other) = cut(sources, &file, kernel.at, reach, &defined)
                && let Some((source, program)) = compiled(kernel, &other.text, ir)
            {
                return Some(OwnText { source, program, given: other.given });
            }
        }
    }
    None
}

/// Returns a cut text, or the same with the types of its kernel, with its program, if the program
/// is the kernel in its file.
fn compiled(kernel: &KernelInFile, text: &str, ir: &str) -> Option<(String, RowProgram)> {
    let source = marked(text, &kernel.name);
    let types = kernel.types.as_ref().map(|types| typed(&source, &kernel.name, types));
    for source in [Some(source), types].into_iter().flatten() {
        match RowProgram::read_forward(&source) {
            // The reverse kernel is derived only for the text of the row.
            Ok(program) if print::module(&program.forward) == ir => {
                return Some((source, program.with_reverse()));
            }
            Err(faults) if code(&faults) == GENERIC => {}
            _ => break,
        }
    }
    None
}

/// Returns a text in which a function is decorated as a kernel, for a file that says `k =
/// wp.kernel(f)`.
fn marked(text: &str, name: &str) -> String {
    let is_marked = tokens(text).windows(4).any(|four| {
        let words = four.iter().map(|it| it.1);
        words.eq([
            Token::Mark("@"),
            Token::Name("wp", false),
            Token::Mark("."),
            Token::Name("kernel", true),
        ])
    });
    if is_marked {
        return text.to_owned();
    }
    text.replacen(&format!("\ndef {name}("), &format!("\n@wp.kernel\ndef {name}("), 1)
}

/// Returns a text that states the types of a generic kernel's parameters, which launches elsewhere
/// in its file determine.
fn typed(text: &str, name: &str, types: &[String]) -> String {
    format!("{text}\n\nwp.overload({name}, [{}])\n", types.join(", "))
}

/// Returns the types of a kernel's parameters as Python text; `None` if a type can't be written in
/// Python.
pub(crate) fn parameter_types(module: &Module, kernel: FunctionId) -> Option<Vec<String>> {
    let params = &module.functions[kernel].params;
    params.iter().map(|param| annotation(&module.types, param.ty)).collect()
}

fn annotation(types: &Types, ty: Type) -> Option<String> {
    let named = |of: Scalar| format!("wp.{}", of.spelled());
    Some(match &types[ty] {
        Shape::Scalar(of) => named(*of),
        Shape::Vector { len, of } => {
            format!("wp.types.vector(length={len}, dtype={})", named(*of))
        }
        Shape::Matrix { rows, cols, of } => {
            format!("wp.types.matrix(shape=({rows}, {cols}), dtype={})", named(*of))
        }
        Shape::Quaternion(of) => format!("wp.types.quaternion(dtype={})", named(*of)),
        Shape::Transform(of) => format!("wp.types.transformation(dtype={})", named(*of)),
        Shape::Struct(_) => types.spelled(ty),
        Shape::Array { of, dims } => {
            format!("wp.array(dtype={}, ndim={dims})", annotation(types, *of)?)
        }
        _ => return None,
    })
}
