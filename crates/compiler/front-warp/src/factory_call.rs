//! Calls of the Python functions around kernels: with which arguments a text makes its kernels.

use super::constant::{KnownValue, Unit};
use super::frame::{FrameId, Values};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_python_names::syntax::{self, CallSite, Expr, ExprCall, StmtFunctionDef};
use gbxcule_python_names::{BindingSource, Definition, Owner, ScopeId};
use rustc_hash::FxHashMap;

/// Frames of the calls of functions, by the scopes of their bodies; none of one that is being
/// looked at.
type CallFrames = FxHashMap<ScopeId, Vec<FrameId>>;

/// Most calls that are followed for one function.
const MAX_FRAMES: usize = 64;

impl<'a> Unit<'a> {
    /// The frames of the calls of the Python function around a scope, each once: none if it isn't
    /// called with arguments that are known.
    pub(super) fn factory_frames(
        &self,
        scope: ScopeId,
        calls: &[CallSite<'a>],
    ) -> Result<Vec<FrameId>, Box<Diagnostic>> {
        self.frames_of_calls(scope, calls, &mut CallFrames::default())
    }

    fn frames_of_calls(
        &self,
        scope: ScopeId,
        calls: &[CallSite<'a>],
        known: &mut CallFrames,
    ) -> Result<Vec<FrameId>, Box<Diagnostic>> {
        if let Some(frames) = known.get(&scope) {
            return Ok(frames.clone());
        }
        known.insert(scope, Vec::new());
        let mut frames = Vec::new();
        let Owner::Function(def) = self.scopes.owner(scope) else { return Ok(frames) };
        for site in calls {
            if frames.len() >= MAX_FRAMES {
                break;
            }
            let Some(at) = self.may_call(site.call, def, scope) else { continue };
            let outer = match self.scopes.owner(at) {
                Owner::Function(_) => self.frames_of_calls(at, calls, known)?,
                _ => Vec::new(),
            };
            // A call may need nothing of the function that it stands in.
            let outer = if outer.is_empty() { vec![FrameId::NONE] } else { outer };
            for outer in outer {
                for round in self.rounds(site, at, outer)? {
                    let given = self.framed(round, || self.values_given(site.call, def, scope, at));
                    let Some((values, around)) = given else { continue };
                    let frame = self.frame(values, around, self.span(site.call))?;
                    if frame != around && !frames.contains(&frame) {
                        frames.push(frame);
                    }
                }
            }
        }
        known.insert(scope, frames.clone());
        Ok(frames)
    }

    /// The scope of a call, unless it surely calls another function.
    fn may_call(&self, call: &ExprCall, def: &StmtFunctionDef, scope: ScopeId) -> Option<ScopeId> {
        let home = self.scopes.owner(self.scopes.around(scope));
        let at = || self.scopes.at(syntax::start(call));
        let may = match (&*call.func, home) {
            (Expr::Name(name), _) if name.id == def.name.id => true,
            // The result of a function can have any name.
            (Expr::Name(name), Owner::Function(_)) => {
                let bound = self.scopes.lookup(at(), name.id.as_str());
                let is_result =
                    |it: &Definition<'a>| matches!(it.source, BindingSource::Value(Expr::Call(_)));
                bound.is_some_and(|(bound, _)| bound.iter().any(is_result))
            }
            (Expr::Call(_), Owner::Function(_)) => true,
            (Expr::Attribute(attribute), Owner::Module) => attribute.attr.id == def.name.id,
            _ => false,
        };
        may.then(at)
    }

    /// Values of all parameters in a call of a function, and the frame around it; `None` if it
    /// calls another one, or with arguments that only Python knows.
    fn values_given(
        &self,
        call: &'a ExprCall,
        def: &'a StmtFunctionDef,
        scope: ScopeId,
        at: ScopeId,
    ) -> Option<(Values<'a>, FrameId)> {
        let home = self.scopes.around(scope);
        // Loops around the call are nothing to a function that no call made.
        let closure = |around: FrameId| match self.scopes.owner(home) {
            Owner::Module => FrameId::NONE,
            Owner::Function(_) | Owner::Class(_) => around,
        };
        let args = &call.arguments;
        match self.known(&call.func, at) {
            Ok(KnownValue::Python(found, _, around)) if std::ptr::eq(found, def) => {
                let values = self.given(def, home, scope, args, at)?;
                (values.len() == def.parameters.len()).then(|| (values, closure(around)))
            }
            _ => None,
        }
    }
}
