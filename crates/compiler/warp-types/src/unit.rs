//! A program in Warp's dialect, and the state of the dialect for it.

use crate::library::Library;
use crate::reference::References;
use crate::trial::Trials;
use gbxcule_python_names::Files;
use gbxcule_python_values::Evaluator;
use std::rc::Rc;

/// A program in Warp's dialect.
pub type Unit<'a> = Evaluator<'a, Warp<'a>>;

/// Result of an evaluation.
pub(crate) type Evaluation<'a> = gbxcule_python_values::Evaluation<'a, Warp<'a>>;

/// A call that is evaluated.
pub type Call<'c, 'a> = gbxcule_python_values::Call<'c, 'a, Warp<'a>>;

/// State of the dialect for a program.
pub struct Warp<'a> {
    /// Library that the texts may import besides Warp and each other.
    pub library: Option<&'a Library>,
    /// Functions that may take arguments by reference.
    pub references: Rc<References<'a>>,
    /// Values that are tried now.
    pub trials: Trials<'a>,
}

impl<'a> Warp<'a> {
    /// Makes the evaluator of a program that may import a library.
    pub fn unit(files: &'a Files, library: Option<&'a Library>) -> Unit<'a> {
        let references = Rc::new(References::read(files));
        Evaluator::new(files, Self { library, references, trials: Trials::default() })
    }
}
