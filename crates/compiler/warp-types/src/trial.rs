//! Values that are tried where only Python knows the real ones: for arguments of functions around
//! kernels, and for constants of modules without a file. Surveys ask for trials, to count the
//! kernels that would compile if a user gave such values. The text around a name decides which
//! values are tried; they are tried one after the other.

use crate::annotation::Annotation;
use crate::value::{KnownValue, WarpValue, type_value};
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::ScopeId;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Greatest number of trials of a kernel.
pub const MAX_ATTEMPTS: usize = 40;

/// Stands for the scope of members of modules without a file.
const ABSENT: ScopeId = ScopeId::MAX;

/// Stands for the scope of parameters of generic kernels.
const GENERIC: ScopeId = ScopeId::MAX - 1;

/// Stands for the scope of attributes of `self`.
const RECEIVER: ScopeId = ScopeId::MAX - 2;

/// A name for which a value is tried.
struct Choice<'a> {
    scope: ScopeId,
    name: Rc<str>,
    candidates: Vec<KnownValue<'a>>,
    chosen: usize,
}

/// Values that are tried now.
#[derive(Default)]
pub struct Trials<'a> {
    is_on: Cell<bool>,
    /// True while a lowering ends at its first fault, which tells how far the values led.
    is_brief: Cell<bool>,
    choices: RefCell<Vec<Choice<'a>>>,
}

impl<'a> Trials<'a> {
    /// Returns true if values are tried.
    pub fn is_on(&self) -> bool {
        self.is_on.get()
    }

    /// Returns true while a lowering ends at its first fault.
    pub fn is_brief(&self) -> bool {
        self.is_brief.get()
    }

    /// Makes the next lowering report all its faults with the chosen values.
    pub fn ask_for_all(&self) {
        self.is_brief.set(false);
    }

    /// Begins or ends trials, without any choice so far.
    pub fn set(&self, is_on: bool) {
        self.is_on.set(is_on);
        self.is_brief.set(is_on);
        self.choices.borrow_mut().clear();
    }

    /// Value chosen for a name; `None` if the name was not asked for before.
    fn chosen(&self, scope: ScopeId, name: &str) -> Option<KnownValue<'a>> {
        let choices = self.choices.borrow();
        let choice = choices.iter().find(|it| it.scope == scope && &*it.name == name)?;
        Some(choice.candidates[choice.chosen].clone())
    }

    /// Begins the trials of a name; returns the first of its values.
    fn begin(
        &self,
        scope: ScopeId,
        name: &str,
        candidates: Vec<KnownValue<'a>>,
    ) -> Option<KnownValue<'a>> {
        let first = candidates.first()?.clone();
        let choice = Choice { scope, name: name.into(), candidates, chosen: 0 };
        self.choices.borrow_mut().push(choice);
        Some(first)
    }

    /// Returns the number of values that each name may have, in the order in which the names were
    /// asked for.
    pub fn counts(&self) -> Vec<usize> {
        self.choices.borrow().iter().map(|choice| choice.candidates.len()).collect()
    }

    /// Chooses the first value for all names but one.
    pub fn choose(&self, which: usize, value: usize) {
        for (position, choice) in self.choices.borrow_mut().iter_mut().enumerate() {
            choice.chosen = if position == which { value } else { 0 };
        }
    }

    /// A type to try for `Any` in a parameter of a generic kernel.
    pub fn generic_type(&self, parameter: &str) -> Option<Annotation> {
        match self.of(GENERIC, parameter, types)? {
            KnownValue::Dialect(WarpValue::Type(ty)) => Some(ty),
            _ => None,
        }
    }

    /// A value to try for `self.a.b`, by its path.
    pub fn attribute(&self, path: &str) -> Option<KnownValue<'a>> {
        let name = path.rsplit('.').next().unwrap_or(path);
        self.of(RECEIVER, path, || by_name(name))
    }

    /// A value to try for a member of a module without a file, by its path.
    pub(crate) fn absent(&self, path: &str) -> Option<KnownValue<'a>> {
        self.of(ABSENT, path, || member_candidates(path))
    }

    /// The value chosen for a name, or else the first of its candidates; `None` if no values are
    /// tried.
    pub fn of(
        &self,
        scope: ScopeId,
        name: &str,
        candidates: impl FnOnce() -> Vec<KnownValue<'a>>,
    ) -> Option<KnownValue<'a>> {
        if !self.is_on() {
            return None;
        }
        self.chosen(scope, name).or_else(|| self.begin(scope, name, candidates()))
    }

    /// Keeps the chosen values as the first to try.
    pub fn keep(&self) {
        for choice in self.choices.borrow_mut().iter_mut() {
            choice.candidates.swap(0, choice.chosen);
            choice.chosen = 0;
        }
    }
}

/// Values for a member of a module without a file.
fn member_candidates<'a>(path: &str) -> Vec<KnownValue<'a>> {
    let bytes = path.bytes();
    let sum = bytes.fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    // Members of an enumeration differ.
    let (number, real) = (KnownValue::Int(i128::from(sum % 29)), KnownValue::Float(0.5));
    let name = path.rsplit('.').next().unwrap_or(path).to_lowercase();
    let is_real = ["val", "imp", "mu", "eps", "tol"].iter().any(|end| name.ends_with(end));
    if is_real { vec![real, number] } else { vec![number, real] }
}

pub(crate) fn flags<'a>() -> Vec<KnownValue<'a>> {
    vec![KnownValue::Bool(true), KnownValue::Bool(false)]
}

/// Values for a name that stands for a number.
pub fn numbers<'a>() -> Vec<KnownValue<'a>> {
    [4, 1, 3, 16, 0].map(KnownValue::Int).to_vec()
}

fn types<'a>() -> Vec<KnownValue<'a>> {
    let of = || Annotation::scalar(Scalar::F32);
    let vector = Annotation::Vector(Some(3), of());
    let array = Annotation::Array(of(), 1);
    let matrix = Annotation::Matrix(Some(3), Some(3), of());
    [Annotation::Scalar(Scalar::F32), vector, Annotation::Scalar(Scalar::I32), matrix, array]
        .map(type_value)
        .to_vec()
}

/// Values for a name about which the text says nothing else, by the words in the name.
pub fn by_name<'a>(name: &str) -> Vec<KnownValue<'a>> {
    let lower = name.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let begins = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    let functions =
        || ["warp.abs", "warp.min"].map(|path| KnownValue::Member(Rc::from(path))).to_vec();
    if begins(&["is_", "has_", "use_", "enable", "flg_", "with_", "do_", "include_", "needs_"]) {
        return [flags(), numbers()].concat();
    }
    if has(&["vec", "mat"]) {
        let mut types = types();
        types.swap(0, 1);
        return [types, numbers()].concat();
    }
    if has(&["type", "struct"]) {
        return [types(), numbers()].concat();
    }
    if has(&["func", "_fn", "callback"]) {
        return [functions(), types()].concat();
    }
    let real = vec![KnownValue::Float(0.5)];
    [numbers(), real, flags(), types(), functions()].concat()
}
