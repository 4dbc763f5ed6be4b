//! Rounds of the loops around calls.

use crate::dialect::Dialect;
use crate::evaluator::Evaluator;
use crate::frame::FrameId;
use crate::sequence::iterated;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{CallSite, Expr};

/// Greatest number of rounds of the loops around a call that are evaluated.
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
                // A loop over a value that isn't known counts as one round.
                let parts = match parts.and_then(|over| iterated(&over)) {
                    Some(parts) => parts.into_iter().map(Some).collect(),
                    None => vec![None],
                };
                for value in parts {
                    let values = match (each.target, value) {
                        (Expr::Name(name), Some(value)) => vec![(scope, name.id.as_str(), value)],
                        _ => Vec::new(),
                    };
                    if inner.len() < MAX_ROUNDS {
                        let span = self.span(each.over);
                        inner.push(self.frames.within(outer, values, span)?);
                    }
                }
            }
            rounds = inner;
        }
        Ok(rounds)
    }
}
