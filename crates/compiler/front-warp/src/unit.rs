//! A program in Warp's dialect, and the state of the dialect for it.

use crate::library::Library;
use crate::reference::References;
use crate::trial::Trials;
use gbxcule_python_names::Files;
use gbxcule_python_values::Evaluator;
use std::rc::Rc;

/// A program in Warp's dialect.
pub(crate) type Unit<'a> = Evaluator<'a, Warp<'a>>;

/// Result of an evaluation.
pub(crate) type Evaluation<'a> = gbxcule_python_values::Evaluation<'a, Warp<'a>>;

/// A call that is evaluated.
pub(crate) type Call<'c, 'a> = gbxcule_python_values::Call<'c, 'a, Warp<'a>>;

/// State of the dialect for a program.
pub(crate) struct Warp<'a> {
    /// Library that the texts may import besides Warp and each other.
    pub(crate) library: Option<&'a Library>,
    pub(crate) references: Rc<References<'a>>,
    pub(crate) trials: Trials<'a>,
}

impl<'a> Warp<'a> {
    /// Makes the evaluator of a program that may import a library.
    pub(crate) fn unit(files: &'a Files, library: Option<&'a Library>) -> Unit<'a> {
        let references = Rc::new(References::read(files));
        Evaluator::new(files, Self { library, references, trials: Trials::default() })
    }
}
