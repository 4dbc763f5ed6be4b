//! Calls of the Python functions around kernels: the arguments with which a text makes its
//! kernels.

use crate::dialect::Dialect;
use crate::evaluator::Evaluator;
use crate::frame::{FrameId, Values};
use crate::value::KnownValue;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_python_names::syntax::{self, CallSite, Expr, ExprCall, StmtFunctionDef};
use gbxcule_python_names::{Owner, ScopeId};
use rustc_hash::FxHashMap;

/// Greatest number of calls that are followed for one function.
const MAX_FRAMES: usize = 64;

/// Frames of the calls of functions, among some calls of a text.
pub struct CallFrames<'c, 'a, D: Dialect<'a>> {
    values: &'c Evaluator<'a, D>,
    calls: &'c [CallSite<'a>],
    /// Frames by the scopes of the functions' bodies; empty for a function whose frames are being
    /// collected.
    frames: FxHashMap<ScopeId, Vec<FrameId>>,
}

impl<'c, 'a, D: Dialect<'a>> CallFrames<'c, 'a, D> {
    /// Prepares the frames of the functions that some calls call.
    pub fn new(values: &'c Evaluator<'a, D>, calls: &'c [CallSite<'a>]) -> Self {
        Self { values, calls, frames: FxHashMap::default() }
    }

    /// Returns the frames of the calls of the Python function whose body is a scope, each frame
    /// once. The list is empty if no call gives known arguments.
    pub fn of(&mut self, scope: ScopeId) -> Result<Vec<FrameId>, Box<Diagnostic>> {
        if let Some(frames) = self.frames.get(&scope) {
            return Ok(frames.clone());
        }
        self.frames.insert(scope, Vec::new());
        let mut frames = Vec::new();
        let values = self.values;
        let Owner::Function(def) = values.scopes.owner(scope) else { return Ok(frames) };
        for site in self.calls {
            if frames.len() >= MAX_FRAMES {
                break;
            }
            let Some(home) = self.may_call(site.call, def) else { continue };
            let mut outer = match values.scopes.owner(home) {
                Owner::Function(_) => self.of(home)?,
                _ => Vec::new(),
            };
            // A call may need no value of the function around it.
            if outer.is_empty() {
                outer.push(FrameId::NONE);
            }
            for outer in outer {
                for round in values.rounds(site, home, outer)? {
                    let given =
                        values.frames.run(round, || self.arguments(site.call, def, scope, home));
                    let Some((given, around)) = given else { continue };
                    let span = values.span(site.call);
                    let frame = values.frames.within(around, given, span)?;
                    if frame != around && !frames.contains(&frame) {
                        frames.push(frame);
                    }
                }
            }
        }
        self.frames.insert(scope, frames.clone());
        Ok(frames)
    }

    /// Returns the scope of a call, if the name that is called is the function's.
    fn may_call(&self, call: &ExprCall, def: &StmtFunctionDef) -> Option<ScopeId> {
        let scopes = &self.values.scopes;
        let calls_by_name = matches!(&*call.func, Expr::Name(name) if name.id == def.name.id);
        calls_by_name.then(|| scopes.at(syntax::start(call)))
    }

    /// Values of all parameters in a call of a function, and the frame around them; `None` for a
    /// call of another function, or with arguments that only Python knows.
    fn arguments(
        &self,
        call: &'a ExprCall,
        def: &'a StmtFunctionDef,
        body: ScopeId,
        scope: ScopeId,
    ) -> Option<(Values<'a, D::Value>, FrameId)> {
        let home = self.values.scopes.around(body);
        match self.values.known(&call.func, scope) {
            Ok(KnownValue::Python(called, _, around)) if std::ptr::eq(called, def) => {
                // A function at the top of a module sees no loop around the call.
                let around = match self.values.scopes.owner(home) {
                    Owner::Module => FrameId::NONE,
                    Owner::Function(_) | Owner::Class(_) => around,
                };
                let args = &call.arguments;
                let values = self.values.parameter_values(def, home, body, args, scope)?;
                (values.len() == def.parameters.len()).then_some((values, around))
            }
            _ => None,
        }
    }
}
