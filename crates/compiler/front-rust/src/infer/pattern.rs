//! Patterns of `match`: integers, enums, `bool`, in ranges and alternatives.

use super::Infer;
use crate::constant::Const;
use crate::item::Refused;
use crate::name::Named;
use crate::ty::{Int, Ty};
use gbxcule_ir::diagnostic::Code;

/// Inclusive ranges, which may exceed their type; `None` stands for all values.
pub(super) type Ranges = Option<Vec<(i128, i128)>>;

impl Infer<'_, '_> {
    /// Returns the numbers that a pattern matches, among the values of a type.
    pub(super) fn ranges(&mut self, pattern: &syn::Pat, ty: &Ty) -> Result<Ranges, Refused> {
        match pattern {
            syn::Pat::Wild(_) => Ok(None),
            syn::Pat::Paren(inner) => self.ranges(&inner.pat, ty),
            syn::Pat::Or(any) => {
                let mut all = Some(Vec::new());
                for case in &any.cases {
                    let ranges = self.ranges(case, ty)?;
                    all = all.zip(ranges).map(|(mut all, more)| {
                        all.extend(more);
                        all
                    });
                }
                Ok(all)
            }
            syn::Pat::Range(range) => {
                if !self.types.is_integer(ty) {
                    return Err(self.refuse_construct(range, "a range of this type"));
                }
                let start = match &range.start {
                    Some(start) => self.number(start, ty)?,
                    None => i128::MIN,
                };
                let end = match (&range.end, &range.limits) {
                    (Some(end), syn::RangeLimits::Closed(_)) => self.number(end, ty)?,
                    (Some(end), syn::RangeLimits::HalfOpen(_)) => self.number(end, ty)? - 1,
                    (None, _) => i128::MAX,
                };
                Ok(Some(vec![(start, end)]))
            }
            syn::Pat::Lit(literal) => {
                let number = self.number(&syn::Expr::Lit(literal.clone()), ty)?;
                Ok(Some(vec![(number, number)]))
            }
            syn::Pat::Path(path) => {
                let number = self.named_number(&path.path, ty)?;
                Ok(Some(vec![(number, number)]))
            }
            syn::Pat::Ident(name)
                if name.subpat.is_none() && name.by_ref.is_none() && name.mutability.is_none() =>
            {
                if self.program.find_value(&[&name.ident], self.scope).is_none() {
                    return Err(self.refuse_construct(name, "a pattern that binds a name"));
                }
                let number = self.named_number(&name.ident.clone().into(), ty)?;
                Ok(Some(vec![(number, number)]))
            }
            syn::Pat::Guard(guard) => Err(self.refuse_construct(guard, "a guard of a `match` arm")),
            other => Err(self.refuse_construct(other, "this pattern")),
        }
    }

    /// Returns the number of a constant, or of a literal that may be negative.
    fn number(&mut self, expr: &syn::Expr, ty: &Ty) -> Result<i128, Refused> {
        if let syn::Expr::Path(path) = expr {
            return self.named_number(&path.path, ty);
        }
        let ty = self.types.resolve(ty).unwrap_or(Ty::Int(Int::I32));
        self.program.number(expr, &ty, self.scope)
    }

    fn named_number(&mut self, path: &syn::Path, ty: &Ty) -> Result<i128, Refused> {
        let (found, number) = match self.program.value_named(path, self.scope)? {
            Named::Variant(id, number) => (Ty::Enum(id), number),
            Named::Const(id) => {
                let value = self.program.const_value(id, self.span(path))?;
                match &*value {
                    Const::Scalar(literal) => {
                        (self.program.const_type(id), literal.as_int().unwrap_or_default())
                    }
                    Const::Parts(_) => {
                        return Err(self.refuse_construct(path, "a composite as pattern"));
                    }
                }
            }
            Named::Function(_) => return Err(self.refuse_construct(path, "a function as pattern")),
        };
        if !self.types.unify(&found, ty) {
            let message = format!(
                "a pattern of `{}` is needed here, found one of `{}`",
                self.show(ty),
                self.show(&found)
            );
            return Err(self.refuse(Code::RustType, self.span(path), message));
        }
        Ok(number)
    }
}
