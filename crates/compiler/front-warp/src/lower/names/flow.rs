//! Names where control flow branches and joins.

use super::super::usage;
use super::{Binding, LoweringResult, Names, Writer};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Type;
use gbxcule_python_names::syntax::Stmt;
use gbxcule_warp_types::value::KnownValue;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::rc::Rc;

/// Bindings of all names at a point.
pub(in crate::lower) type Bindings<'a> = FxHashMap<&'a str, Binding<'a>>;

impl<'a> Names<'a> {
    /// Copies the bindings at this point.
    pub(in crate::lower) fn here(&self) -> Bindings<'a> {
        self.bindings.clone()
    }

    /// Makes the bindings of another point the current ones; returns the bindings that they
    /// replace.
    pub(in crate::lower) fn go_on_from(&mut self, bindings: Bindings<'a>) -> Bindings<'a> {
        std::mem::replace(&mut self.bindings, bindings)
    }

    /// Joins the arms of a branch that began with `before`. `accept` has the bindings at the end
    /// of the first arm; the second arm ends here. Each flag is true if control leaves its arm.
    /// In a loop, a variable that such an arm bound first may be read after the loop.
    pub(in crate::lower) fn join(
        &mut self,
        before: &Bindings<'a>,
        (accept, accept_leaves): (Bindings<'a>, bool),
        reject_leaves: bool,
        in_loop: bool,
    ) {
        let reject = std::mem::take(&mut self.bindings);
        let (mut names, gone) = match (accept_leaves, reject_leaves) {
            // No statement behind the `if` sees a binding of a branch that leaves.
            (true, false) => (seen_after(before, reject), accept),
            (false, true) => (seen_after(before, accept), reject),
            _ => {
                self.bindings = merged(before, accept, reject);
                return;
            }
        };
        for (name, binding) in gone.into_iter().filter(|_| in_loop) {
            if let Binding::Local(local) | Binding::KnownValue(_, Some(local)) = binding {
                names.entry(name).or_insert(Binding::Local(local));
            }
        }
        self.bindings = names;
    }

    /// Prepares the bindings of names for a loop. Iterators of unrolled loops and copies of
    /// constants that the body changes become variables; other names known from the text may not
    /// change in it, all as in NVIDIA Warp.
    pub(in crate::lower) fn enter_loop(
        &mut self,
        b: &mut Writer<'_, 'a>,
        body: &'a [Stmt],
        span: Span,
    ) -> LoweringResult<Bindings<'a>> {
        for name in usage::assigned(body) {
            let Some(Binding::KnownValue(known, kept)) = self.bindings.get(name).cloned() else {
                continue;
            };
            if known.as_f64().is_none() {
                continue;
            }
            if self.iterators.contains(name) || self.copies.contains(name) {
                let local = match kept {
                    Some(local) => local,
                    None => {
                        let value = b.materialize(&known, span)?;
                        self.store_local(b, name, value)
                    }
                };
                self.bindings.insert(name, Binding::Local(local));
                continue;
            }
            let constructor = match known {
                KnownValue::Bool(_) => "bool",
                KnownValue::Int(_) => "int",
                _ => "float",
            };
            let message = format!("constant `{name}` changes in a loop that isn't unrolled");
            let help = format!("make it a variable before the loop: `{name} = {constructor}(..)`");
            return Err(Diagnostic::error(Code::ConstantInLoop, span, message).help(help).into());
        }
        Ok(self.here())
    }

    /// Bindings of names after a loop, whose body ran any number of times and may have ended
    /// early.
    pub(in crate::lower) fn leave_loop(
        &mut self,
        before: &Bindings<'a>,
        target: Option<&'a str>,
        body: &'a [Stmt],
    ) {
        let after = std::mem::take(&mut self.bindings);
        let assigned = usage::assigned(body);
        self.bindings.reserve(after.len());
        for (name, binding) in after {
            let binding = match binding {
                Binding::KnownValue(_, Some(local)) if assigned.contains(&name) => {
                    Binding::Local(local)
                }
                other => other,
            };
            let joined = match before.get(name) {
                Some(old) if Some(name) != target => joined(old, &binding),
                _ => Some(binding),
            };
            if let Some(binding) = joined
                && is_seen_after(before, name, &binding)
            {
                self.bindings.insert(name, binding);
            }
        }
    }

    /// Records the target of a loop that is unrolled.
    pub(in crate::lower) fn note_iterator(&mut self, target: &'a str) {
        self.iterators.insert(target);
    }

    /// Binds the target of an unrolled loop to the number of a round.
    pub(in crate::lower) fn bind_round(
        &mut self,
        b: &mut Writer<'_, 'a>,
        target: &'a str,
        number: i128,
        is_last: bool,
    ) {
        let outlives = self.usage.is_rebound(target) && !self.usage.is_loop_index(target);
        let local = if outlives && is_last || self.locals.contains_key(target) {
            let value = b.i32(number as i32);
            Some(self.store_local(b, target, value))
        } else {
            None
        };
        self.bindings.insert(target, Binding::KnownValue(KnownValue::Int(number), local));
    }

    /// Binds the target of a loop, in its body, to the loop's index.
    pub(in crate::lower) fn bind_index(
        &mut self,
        b: &mut Writer<'_, 'a>,
        target: &'a str,
        index: Value,
    ) {
        let needs_variable = self.usage.needs_variable(target, false, false);
        let binding = match needs_variable && !self.usage.is_loop_index(target) {
            true => Binding::Local(self.store_local(b, target, index)),
            false => Binding::Value(index),
        };
        self.bindings.insert(target, binding);
    }

    /// Binds the target of a loop over a query to a variable.
    pub(in crate::lower) fn bind_found(
        &mut self,
        b: &mut Writer<'_, 'a>,
        target: &'a str,
    ) -> gbxcule_ir::place::PlaceId {
        let local = self.local(b, target, Type::I32);
        self.bindings.insert(target, Binding::Local(local));
        b.local_place(local)
    }
}

/// Bindings of names where two branches meet.
fn merged<'a>(
    before: &Bindings<'a>,
    accept: Bindings<'a>,
    mut reject: Bindings<'a>,
) -> Bindings<'a> {
    let mut merged = FxHashMap::with_capacity_and_hasher(accept.len(), FxBuildHasher);
    for (name, left) in accept {
        let binding = match reject.remove(name) {
            Some(right) => joined(&left, &right),
            None => Some(left),
        };
        if let Some(binding) = binding
            && is_seen_after(before, name, &binding)
        {
            merged.insert(name, binding);
        }
    }
    merged.extend(seen_after(before, reject));
    merged
}

/// Binding of a name that has either of two bindings; `None` if no binding stands for both.
fn joined<'a>(left: &Binding<'a>, right: &Binding<'a>) -> Option<Binding<'a>> {
    match (left, right) {
        (Binding::Refused, _) | (_, Binding::Refused) => Some(Binding::Refused),
        (Binding::KnownValue(one, local), Binding::KnownValue(other, second)) if one == other => {
            Some(Binding::KnownValue(one.clone(), local.or(*second)))
        }
        (
            Binding::KnownValue(_, Some(one)) | Binding::Local(one),
            Binding::KnownValue(_, Some(other)) | Binding::Local(other),
        ) if one == other => Some(Binding::Local(*one)),
        (Binding::Value(one), Binding::Value(other))
        | (Binding::Extents(one), Binding::Extents(other))
            if one == other =>
        {
            Some(left.clone())
        }
        (Binding::Param(one), Binding::Param(other)) if one == other => Some(left.clone()),
        (Binding::Tile(one), Binding::Tile(other)) if one == other => Some(left.clone()),
        (Binding::Tuple(one), Binding::Tuple(other)) if Rc::ptr_eq(one, other) => {
            Some(left.clone())
        }
        _ => None,
    }
}

/// Returns true if a binding made in a block is valid after it.
fn is_seen_after(before: &Bindings<'_>, name: &str, binding: &Binding<'_>) -> bool {
    match binding {
        Binding::Value(_) | Binding::Tuple(_) | Binding::Parts(_) | Binding::Extents(_) => {
            matches!(before.get(name), Some(old) if joined(old, binding).is_some())
        }
        _ => true,
    }
}

/// Returns the bindings made in a block that are valid after it.
fn seen_after<'a>(before: &Bindings<'a>, after: Bindings<'a>) -> Bindings<'a> {
    after.into_iter().filter(|(name, binding)| is_seen_after(before, name, binding)).collect()
}
