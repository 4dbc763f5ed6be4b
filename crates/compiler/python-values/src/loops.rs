//! Rounds of comprehensions, and of the loops around calls.

use crate::arithmetic::MAX_RANGE;
use crate::dialect::{Dialect, Evaluation, Known};
use crate::evaluator::Evaluator;
use crate::frame::{FrameId, Values};
use crate::sequence::iterated;
use crate::value::{KnownValue, too_large};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{CallSite, Comprehension, Expr, end, start};

/// Most rounds of the loops around a call that are evaluated.
const MAX_ROUNDS: usize = 64;

impl<'a, D: Dialect<'a>> Evaluator<'a, D> {
    /// Frames of the rounds of the loops around a call.
    pub fn rounds(
        &self,
        site: &CallSite<'a>,
        scope: ScopeId,
        outer: FrameId,
    ) -> Result<Vec<FrameId>, Box<Diagnostic>> {
        let mut rounds = vec![outer];
        for each in &site.loops {
            let mut inner = Vec::new();
            for outer in rounds {
                let parts = self.frames.run(outer, || self.known(each.over, scope).ok());
                // One round stands for a loop over a value that isn't known.
                let parts = match parts.and_then(|over| iterated(&over)) {
                    Some(parts) => parts.into_iter().map(Some).collect(),
                    None => vec![None],
                };
                for value in parts {
                    let values = target_values::<D>(each.target, value, scope);
                    if inner.len() < MAX_ROUNDS {
                        let span = self.span(each.over);
                        inner.push(self.frames.within(outer, values, None, span)?);
                    }
                }
            }
            rounds = inner;
        }
        Ok(rounds)
    }

    /// List of a comprehension.
    pub(crate) fn comprehension(
        &self,
        each: &'a Expr,
        generators: &'a [Comprehension],
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a, D> {
        let mut parts = Vec::new();
        self.add_parts((each, expr, scope), generators, &mut parts, &mut 0)?;
        KnownValue::Sequence(parts.into()).checked(self.span(expr))
    }

    /// Adds the parts that the rounds of the first loop of a comprehension give.
    fn add_parts(
        &self,
        (each, expr, scope): (&'a Expr, &'a Expr, ScopeId),
        generators: &'a [Comprehension],
        parts: &mut Vec<Known<'a, D>>,
        rounds: &mut usize,
    ) -> Result<(), Box<Diagnostic>> {
        let unknown =
            || self.needs_python(expr, "this comprehension is only known when Python runs");
        let Some((first, others)) = generators.split_first() else {
            parts.push(self.known(each, scope)?);
            return Ok(());
        };
        let over = iterated(&self.known(&first.iter, scope)?).ok_or_else(unknown)?;
        for value in over {
            let values = target_values::<D>(&first.target, Some(value), scope);
            if values.is_empty() {
                return Err(unknown());
            }
            let (place, span) = (Some((start(expr), end(expr))), self.span(expr));
            let frame = self.frames.within(self.frames.open(), values, place, span)?;
            self.frames.run(frame, || {
                let mut conditions = first.ifs.iter().map(|it| self.known(it, scope).ok()?.truth());
                let is_in = conditions.try_fold(true, |all, one| Some(all && one?));
                if is_in.ok_or_else(unknown)? {
                    self.add_parts((each, expr, scope), others, parts, rounds)?;
                }
                Ok::<(), Box<Diagnostic>>(())
            })?;
            *rounds += 1;
            if *rounds > 4 * MAX_RANGE {
                return Err(too_large(self.span(expr)));
            }
        }
        Ok(())
    }
}

/// Names of a loop's target with their values in one round.
fn target_values<'a, D: Dialect<'a>>(
    target: &'a Expr,
    value: Option<Known<'a, D>>,
    scope: ScopeId,
) -> Values<'a, D::Value> {
    match (target, value) {
        (Expr::Name(name), Some(value)) => vec![(scope, name.id.as_str(), value)],
        (Expr::Tuple(tuple), Some(KnownValue::Sequence(parts)))
            if tuple.elts.len() == parts.len() =>
        {
            let pairs = tuple.elts.iter().zip(parts.iter().cloned());
            pairs
                .flat_map(|(target, value)| target_values::<D>(target, Some(value), scope))
                .collect()
        }
        _ => Vec::new(),
    }
}
