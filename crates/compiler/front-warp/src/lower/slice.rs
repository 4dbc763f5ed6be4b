//! Assignments to slices of vectors and matrices: `v[:2] = u`, `m[0, 1:] = u`.

use super::access::Access;
use super::component::{Selection, selected_places};
use super::control::Statements;
use super::operand::{LoweringResult, fault};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::ty::Shape;
use gbxcule_python_names::syntax::Expr;

impl<'a> Statements<'_, 'a> {
    /// Returns true if a target is a subscript with a slice.
    pub(super) fn is_slice(&self, target: &Expr) -> bool {
        let Expr::Subscript(subscript) = target else { return false };
        match &*subscript.slice {
            Expr::Slice(_) => true,
            Expr::Tuple(tuple) => tuple.elts.iter().any(|part| matches!(part, Expr::Slice(_))),
            _ => false,
        }
    }

    /// Writes the components of a slice: a vector or matrix as a whole, or a number to each.
    pub(super) fn store_slice(&mut self, target: &'a Expr, value: Value) -> LoweringResult<()> {
        let span = self.e.span(target);
        let Expr::Subscript(subscript) = target else { return Ok(()) };
        let place = match self.e.access(&subscript.value)? {
            Access::Place(place) if self.e.b.is_writable(place) => place,
            _ => {
                let message =
                    "this can't be written: it is neither a variable nor an element of an array";
                return fault(Code::NotWritable, span, message);
            }
        };
        let indices: Vec<&'a Expr> = match &*subscript.slice {
            Expr::Tuple(tuple) => tuple.elts.iter().collect(),
            one => vec![one],
        };
        let ty = self.e.b.place_type(place);
        let (rows, columns) = match (self.e.b.shape(ty).clone(), &indices[..]) {
            (Shape::Vector { len, .. }, [index]) => {
                (None, self.e.selection(index, u32::from(len))?)
            }
            (Shape::Quaternion(_), [index]) => (None, self.e.selection(index, 4)?),
            (Shape::Transform(_), [index]) => (None, self.e.selection(index, 7)?),
            (Shape::Matrix { rows, cols, .. }, [row, rest @ ..]) if rest.len() < 2 => {
                let (rows, cols) = (u32::from(rows), u32::from(cols));
                let rows = self.e.selection(row, rows)?;
                let columns = match rest {
                    [col] => self.e.selection(col, cols)?,
                    _ => Selection::Known((0..cols).collect(), true),
                };
                (Some((rows, cols)), columns)
            }
            _ => {
                let message = "only slices of vectors and matrices can be assigned to";
                return fault(Code::UnsupportedSliceAssignment, span, message);
            }
        };
        let b = &mut self.e.b;
        let components: Vec<_> = match (rows, columns) {
            (None, Selection::Known(columns, _)) => {
                columns.iter().map(|&at| b.component(place, at)).collect()
            }
            (Some((Selection::Known(rows, _), count)), Selection::Known(columns, _)) => {
                let at = rows.iter().flat_map(|r| columns.iter().map(move |c| r * count + c));
                at.map(|at| b.component(place, at)).collect()
            }
            (Some((rows, _)), columns) => selected_places(b, place, &rows, &columns),
            (None, Selection::Computed(_)) => unreachable!("a vector's only index is a slice"),
        };
        let scalar = self.e.b.scalar_in(ty);
        let (found, parts) = (self.e.b.ty(value), self.e.b.parts(value));
        let of = self.e.b.scalar_in(found);
        if of != scalar || (parts.len() != components.len() && found.as_scalar().is_none()) {
            let (count, found) = (components.len(), self.e.b.shown(found));
            let message = format!("this slice has {count} components, found `{found}`");
            return fault(Code::TypeMismatch, span, message);
        }
        for (at, component) in components.into_iter().enumerate() {
            let part = if found.as_scalar().is_some() { value } else { parts[at] };
            self.e.b.store(component, part);
        }
        Ok(())
    }
}
