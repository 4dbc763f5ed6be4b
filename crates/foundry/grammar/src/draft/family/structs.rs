//! Structs: arrays of them read and written by field, structs as parameters, structs built in a
//! variable.

use crate::ast::{Expr, Name, Stmt, Struct, Ty, VEC3};
use crate::draft::{KernelBuilder, Var};
use crate::identifiers;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    m.real = Scalar::F32;
    m.launch(1);
    let first = declare(m);
    let ty = Ty::Struct(first);
    let by_value = m.random.chance(30);
    let param = if by_value { m.value(ty) } else { m.input(ty) };
    // The fields of the struct are still to be read; the struct as a whole is not.
    m.vars.iter_mut().filter(|var| var.ty == ty).for_each(|var| var.used = true);
    m.arrays.iter_mut().filter(|array| array.ty == ty).for_each(|array| array.used = true);
    let float = m.float_type();
    m.input(float);
    if m.random.chance(40) {
        m.value(float);
    }
    let mut whole = Expr::from(&param);
    if !by_value {
        whole = whole.index(m.here());
        if m.random.chance(70) {
            let own = m.structs[first].name.to_lowercase();
            let name = m.name_from(&[&own, &own, "p", "item", "entry", "elem"]);
            m.push(Stmt::Assign(vec![Expr::from(&name)], whole));
            whole = Expr::from(&name);
        }
    }
    // Expressions read fields, never a whole struct.
    m.vars.retain(|var| var.ty != ty);
    m.arrays.retain(|array| array.ty != ty);
    for (field, of) in m.structs[first].fields.clone() {
        m.vars.push(Var { expr: whole.clone().attr(field), ty: of, used: false });
    }
    m.bindings(&[float, VEC3], 2);
    if m.random.chance(30) {
        m.branch(float);
    }
    if m.random.chance(45) {
        write_struct(m, first, by_value);
    } else {
        let ty = if m.vars.iter().any(|var| var.ty == VEC3) && m.random.chance(50) {
            VEC3
        } else {
            float
        };
        m.store(ty);
    }
}

/// Declares a struct of two to four fields, and returns its position.
fn declare(m: &mut KernelBuilder) -> usize {
    let name = m.name_from(&identifiers::structs());
    let mut fields: Vec<(Name, Ty)> =
        identifiers::fields(&name).map(|(field, ty)| (field.into(), ty)).collect();
    // The fields keep their order.
    let count = m.random.between(2, 4) as usize;
    while fields.len() > count {
        fields.remove(m.random.below(fields.len()));
    }
    m.structs.push(Struct { name, fields });
    m.structs.len() - 1
}

/// Builds a struct field by field and stores it, or stores fields where they lie.
fn write_struct(m: &mut KernelBuilder, at: usize, fresh: bool) {
    let shape = m.dims.clone();
    let out = m.output(Ty::Struct(at), shape);
    let fields = m.structs[at].fields.clone();
    let here = m.here();
    let built = fresh || m.random.chance(50);
    let place = if built {
        let name = m.name_from(&["next_state", "updated", "res", "made"]);
        m.push(Stmt::Assign(
            vec![Expr::from(&name)],
            Expr::call(m.structs[at].name.clone(), vec![]),
        ));
        Expr::from(&name)
    } else {
        Expr::from(&out).index(here.clone())
    };
    let last = fields.len() - 1;
    for (number, (field, ty)) in fields.into_iter().enumerate() {
        let value = if number == last { m.closing(ty) } else { m.expr(ty, 2) };
        m.push(Stmt::Assign(vec![place.clone().attr(field)], value));
    }
    if built {
        m.push(Stmt::Assign(vec![Expr::from(&out).index(here)], place));
    }
}
