//! Rules 5 and 6, about places, and rule 12, about the places of one call.

use super::function::Checker;
use crate::diagnostic::Code;
use crate::function::PassMode;
use crate::place::{PlaceId, Projection, Root};
use crate::ty::{Scalar, Shape, Type};

impl Checker<'_> {
    /// Returns true if a place is right, and all its values are visible.
    pub(super) fn place(&mut self, id: PlaceId) -> bool {
        let Some(&place) = self.body.places.get(id) else {
            return self.fault(Code::IrHandle, "a place that doesn't exist");
        };
        let Some(path) = self.body.paths.get(place.path) else {
            return self.fault(Code::IrHandle, "a path that doesn't exist");
        };
        let root = match place.root {
            Root::Local(local) => self.body.locals.get(local).map(|local| local.ty),
            Root::Param(position) => {
                self.function.params.get(position as usize).map(|param| param.ty)
            }
            Root::Table(table) => self.module.tables.get(table).map(|table| table.ty),
            Root::Array(value) => {
                if !self.visible(value) {
                    return false;
                }
                let array = self.body.type_of(value);
                if !matches!(self.module.types[array], Shape::Array { .. }) || path.is_empty() {
                    return self.fault(
                        Code::IrPlace,
                        "a place in a value that is not the element of an array",
                    );
                }
                Some(array)
            }
        };
        let Some(mut ty) = root else {
            return self.fault(Code::IrHandle, "a place whose root doesn't exist");
        };
        for &step in path {
            let Some(next) = self.projected(ty, step) else {
                let ty = self.show(ty);
                return self.fault(Code::IrPlace, format!("a part of `{ty}` that it doesn't have"));
            };
            ty = next;
        }
        if ty != place.ty {
            let (found, stated) = (self.show(ty), self.show(place.ty));
            return self
                .fault(Code::IrPlace, format!("a place holds `{found}` but says `{stated}`"));
        }
        true
    }

    fn projected(&mut self, ty: Type, step: Projection) -> Option<Type> {
        let types = &self.module.types;
        let shape = &types[ty];
        Some(match (step, shape) {
            (Projection::Field(field), Shape::Struct(id)) => {
                types.structure(*id).fields.get(field as usize)?.ty
            }
            (Projection::Field(0), Shape::Transform(of)) => {
                types.find(&Shape::Vector { len: 3, of: *of })?
            }
            (Projection::Field(1), Shape::Transform(of)) => types.find(&Shape::Quaternion(*of))?,
            (Projection::Component(_), Shape::Scalar(_)) => return None,
            (Projection::Component(index), _) => {
                let (of, count) = types.components(ty)?;
                (index < count).then_some(Type::scalar(of))?
            }
            (Projection::At(index), _) => {
                let of = match *shape {
                    Shape::Matrix { cols, of, .. } => {
                        types.find(&Shape::Vector { len: cols, of })?
                    }
                    Shape::Fixed { of, .. } => of,
                    Shape::Vector { of, .. } | Shape::Quaternion(of) | Shape::Transform(of) => {
                        Type::scalar(of)
                    }
                    _ => return None,
                };
                self.is_index(index).then_some(of)?
            }
            (Projection::Element(indices), &Shape::Array { of, dims }) => {
                let indices = self.body.value_lists.get(indices)?;
                let all = indices.iter().all(|&index| self.is_index(index));
                (all && indices.len() == usize::from(dims)).then_some(of)?
            }
            _ => return None,
        })
    }

    fn is_index(&mut self, value: crate::op::Value) -> bool {
        self.visible(value) && self.body.type_of(value).as_scalar().is_some_and(Scalar::is_int)
    }

    /// Returns true if a right place may be written.
    pub(super) fn writable(&mut self, id: PlaceId) -> bool {
        let behind_handle = self.is_memory(id);
        let writable = match self.body.places[id].root {
            Root::Local(_) | Root::Array(_) => true,
            Root::Param(position) => {
                self.function.params[position as usize].mode == PassMode::Mutable
            }
            Root::Table(_) => false,
        };
        if writable || behind_handle {
            return true;
        }
        self.fault(Code::IrStore, "a write to a place that is only read")
    }

    /// Returns true if a place lies behind an array handle.
    pub(super) fn is_memory(&self, id: PlaceId) -> bool {
        self.body.path(id).iter().any(|step| matches!(step, Projection::Element(_)))
    }

    /// Returns true if two places may share memory, judged by roots and constant projections. The
    /// caller promises that memory behind different handles is separate.
    pub(super) fn overlap(&self, one: PlaceId, other: PlaceId) -> bool {
        if self.body.places[one].root != self.body.places[other].root {
            return false;
        }
        for (left, right) in self.body.path(one).iter().zip(self.body.path(other)) {
            match (left, right) {
                (Projection::Field(l), Projection::Field(r))
                | (Projection::Component(l), Projection::Component(r))
                    if l != r =>
                {
                    return false;
                }
                (Projection::Element(_), Projection::Element(_)) => return left == right,
                // A field of a transform may overlap the transform's components, and an index
                // that is known only at run time may overlap any other step.
                _ => {}
            }
        }
        // Memory behind a handle is not part of the place that holds the handle.
        let shorter = self.body.path(one).len().min(self.body.path(other).len());
        let behind = |id: PlaceId| {
            self.body.path(id)[shorter..].iter().any(|step| matches!(step, Projection::Element(_)))
        };
        !behind(one) && !behind(other)
    }
}
