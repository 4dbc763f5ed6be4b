//! Expressions of a wanted type, drawn again until they are plausible.

mod composite;
mod leaf;
mod scalar;

use super::plausibility;
use super::scope::{Scope, Signature};
use crate::ast::{Expr, Ty};
use std::ops::{Deref, DerefMut};

/// Greatest number of draws of one expression. The last draw stays even if it is implausible, and
/// `draft` then rejects the kernel.
const MAX_DRAWS: usize = 12;
/// Greatest number of expressions that a kernel draws again. After that implausible expressions
/// stay, and `draft` then rejects the kernel.
const MAX_REDRAWS: u32 = 300;
/// The least size of an expression that is often given a name.
const MIN_NAMED_SIZE: usize = 7;

/// Weights of a family: how often it draws each kind of expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    /// Weight of transcendental functions.
    pub(super) math: u32,
    /// Weight of `a if c else b` and `wp.where`.
    pub(super) select: u32,
    /// Weight of vectors, matrices, quaternions and numbers made of them.
    pub(super) geometry: u32,
    /// Weight of bit operations and integer division.
    pub(super) bits: u32,
    /// Maximum of levels in an expression.
    pub(super) depth: usize,
}

/// Draws expressions that read the definitions in scope.
pub(crate) struct Expressions {
    scope: Scope,
    weights: Weights,
    /// Number of expressions that may still be rejected and drawn again.
    redraws: u32,
}

impl Deref for Expressions {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl DerefMut for Expressions {
    fn deref_mut(&mut self) -> &mut Scope {
        &mut self.scope
    }
}

impl Expressions {
    pub(super) fn new(scope: Scope, weights: Weights) -> Self {
        Self { scope, weights, redraws: MAX_REDRAWS }
    }

    pub(super) fn into_scope(self) -> Scope {
        self.scope
    }

    pub(super) fn set_depth(&mut self, depth: usize) {
        self.weights.depth = depth;
    }

    /// Draws an expression of a type by `draw`, repeatedly until it is plausible. A long expression
    /// may get a name.
    pub(super) fn sound(&mut self, ty: Ty, draw: impl Fn(&mut Self) -> Expr) -> Expr {
        self.drawn(&draw, Scope::is_senseless).map_or_else(
            |expr| expr,
            |expr| {
                let long =
                    plausibility::size(&expr) >= MIN_NAMED_SIZE && plausibility::reads(&expr);
                if long && self.random().chance(60) { self.named(ty, expr) } else { expr }
            },
        )
    }

    /// Returns the first draw without a fault as `Ok`, or else the last draw as `Err`.
    pub(super) fn drawn(
        &mut self,
        draw: impl Fn(&mut Self) -> Expr,
        is_faulty: impl Fn(&Scope, &Expr) -> bool,
    ) -> Result<Expr, Expr> {
        let mark = self.mark();
        for _ in 1..MAX_DRAWS {
            let expr = draw(self);
            if !is_faulty(&self.scope, &expr) {
                return Ok(expr);
            }
            if self.redraws == 0 {
                return Err(expr);
            }
            self.redraws -= 1;
            self.reset(&mark);
        }
        Err(draw(self))
    }

    /// Returns an expression's value as a name, which can be repeated; defines a new name unless
    /// the expression is one.
    pub(super) fn named(&mut self, ty: Ty, expr: Expr) -> Expr {
        if plausibility::is_name_like(&expr) {
            return expr;
        }
        self.define_read(ty, expr)
    }

    /// Returns a call of a function of the text that returns a value of a type.
    pub(super) fn call(&mut self, ty: Ty, depth: usize) -> Option<Expr> {
        let function = self.function_for(ty)?;
        Some(self.call_of(function, depth))
    }

    pub(super) fn call_of(&mut self, function: Signature, depth: usize) -> Expr {
        let depth = depth.saturating_sub(1).min(1);
        let args = function.params.into_iter().map(|param| self.expr(param, depth)).collect();
        Expr::call(function.name, args)
    }

    /// Returns an expression of a type that absorbs all pending definitions.
    pub(super) fn closing(&mut self, ty: Ty) -> Expr {
        let depth = self.weights.depth;
        let draw = |m: &mut Self| {
            let value = m.expr(ty, depth);
            m.absorb_pending(value, ty, 0)
        };
        let plain =
            |m: &Scope, expr: &Expr| plausibility::is_name_like(expr) || m.is_senseless(expr);
        self.drawn(draw, plain).unwrap_or_else(|expr| expr)
    }
}
