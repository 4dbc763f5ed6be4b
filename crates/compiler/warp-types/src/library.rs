//! Library that a text may import besides Warp: a Python module with functions, which exist as
//! IR, and with one type. A text can only pass a value of the type on; several parameters stand
//! for the value.

use crate::annotation::Annotation;
use crate::value::{KnownValue, WarpValue};
use gbxcule_ir::builtin;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::{FunctionId, Param};
use gbxcule_ir::source::Span;

/// A module that texts may import, for lowering into a [`gbxcule_ir::module::Module`] that has its
/// functions.
#[derive(Clone, Debug)]
pub struct Library {
    /// The name under which texts import the library.
    pub name: String,
    /// The name of the library's type.
    pub handle: String,
    /// The parameters that stand for a value of the type, in order.
    pub parts: Vec<Param>,
    /// Functions. A parameter with the name of a part gets that part, and a method's
    /// `self` gets the first part; the caller passes all other parameters.
    pub functions: Vec<(String, FunctionId)>,
    /// Labels of addresses, which texts write in quotes where a function takes an `address`. The
    /// low 16 bits are the address; the bits above hold the bank plus one, for a function that
    /// also takes a `bank`.
    pub labels: Vec<(String, u32)>,
}

impl Library {
    /// Function of a name.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().find(|(known, _)| known == name).map(|&(_, function)| function)
    }

    /// Looks up a member of the module, which the text writes as `written`.
    pub(crate) fn member<'a>(
        &self,
        attr: &str,
        written: &str,
        span: Span,
    ) -> Result<KnownValue<'a>, Box<Diagnostic>> {
        if attr == self.handle {
            return Ok(KnownValue::Dialect(WarpValue::Type(Annotation::Handle)));
        }
        if self.function(attr).is_some() {
            return Ok(KnownValue::Member(format!("{}.{attr}", self.name).into()));
        }
        Err(Box::new(self.unknown(attr, written, span)))
    }

    /// The address of a label, for a parameter of a function that takes a bank or takes none.
    pub fn address(
        &self,
        label: &str,
        takes_bank: bool,
        span: Span,
    ) -> Result<i128, Box<Diagnostic>> {
        let fault = |message| Diagnostic::error(Code::UndefinedName, span, message);
        let Some((_, place)) = self.labels.iter().find(|(known, _)| known == label) else {
            let fault = fault(format!("no label `{label}`"));
            let names = self.labels.iter().map(|(known, _)| known.as_str());
            return Err(Box::new(match builtin::nearest_of(label, names) {
                Some(near) => fault.help(format!("did you mean `{near}`?")),
                None if self.labels.is_empty() => {
                    fault.help("none is known here: give a `.sym` file, or write the address")
                }
                None => fault.help("labels are those of the `.sym` file; an address is a number"),
            }));
        };
        let (bank, address) = (place >> 16, i128::from(place & 0xFFFF));
        if bank > 0 && !takes_bank {
            let fault = fault(format!("the label `{label}` lies in bank {}", bank - 1));
            return Err(Box::new(
                fault.help("functions whose names end in `_bank` take the bank before the label"),
            ));
        }
        Ok(address)
    }

    /// Diagnostic for a name that the module doesn't have, which the text writes as `written`.
    pub fn unknown(&self, name: &str, written: &str, span: Span) -> Diagnostic {
        let message = format!("`{}` has no `{name}`", self.name);
        let fault = Diagnostic::error(Code::UnknownFunction, span, message);
        let names = self.functions.iter().map(|(name, _)| name.as_str());
        let prefix = written.strip_suffix(name).unwrap_or("");
        match builtin::nearest_of(name, names.chain([self.handle.as_str()])) {
            Some(near) => fault.help(format!("it has `{prefix}{near}`")),
            None => fault,
        }
    }

    /// Returns the part that a parameter of a function gets; `None` if the caller gives it.
    pub fn part(&self, param: &Param) -> Option<u32> {
        let is_part = |part: &Param| part.name == param.name;
        let position = self.parts.iter().position(is_part);
        position.or((param.name == "self").then_some(0)).map(|at| at as u32)
    }
}

/// Diagnostic for an attribute of a value of the library's type, which has no attributes.
pub(crate) fn no_attribute(library: Option<&Library>, attr: &str, span: Span) -> Box<Diagnostic> {
    let handle = library.map_or("", |library| &library.handle);
    let message = format!("a `{handle}` has no `{attr}`");
    let fault = Diagnostic::error(Code::UnknownAttribute, span, message);
    Box::new(fault.help("the functions of its module take it as an argument"))
}
