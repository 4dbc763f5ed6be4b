//! Structs: arrays of them read and written by field, structs as parameters, structs built in a
//! variable.

use crate::ast::{Expr, Name, Stmt, Struct, Ty, VEC3};
use crate::draft::KernelBuilder;
use crate::identifiers;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    m.set_real(Scalar::F32);
    m.launch(1);
    let first = declare(m);
    let ty = Ty::Struct(first);
    let by_value = m.random().chance(30);
    let param = if by_value { m.value(ty) } else { m.input(ty) };
    let float = m.float_type();
    m.input(float);
    if m.random().chance(40) {
        m.value(float);
    }
    let mut whole = Expr::from(&param);
    if !by_value {
        whole = whole.index(m.here());
        if m.random().chance(70) {
            let of_struct = m.declared(first).name.to_lowercase();
            let name = m.name_from(&[&of_struct, &of_struct, "p", "item", "entry", "elem"]);
            m.push(Stmt::Assign(vec![Expr::from(&name)], whole));
            whole = Expr::from(&name);
        }
    }
    // Expressions read fields, never a whole struct.
    m.hide_all(ty);
    for (field, of) in m.declared(first).fields {
        m.reveal(whole.clone().attr(field), of);
    }
    m.bindings(&[float, VEC3], 2);
    if m.random().chance(30) {
        m.branch(float);
    }
    if m.random().chance(45) {
        write_struct(m, first, by_value);
    } else {
        let ty = if m.has_var(VEC3) && m.random().chance(50) { VEC3 } else { float };
        m.store(ty);
    }
}

/// Declares a struct of two to four fields, and returns its position.
fn declare(m: &mut KernelBuilder) -> usize {
    let name = m.name_from(&identifiers::structs());
    let mut fields: Vec<(Name, Ty)> =
        identifiers::fields(&name).map(|(field, ty)| (field.into(), ty)).collect();
    // The fields keep their order.
    let count = m.random().between(2, 4) as usize;
    while fields.len() > count {
        fields.remove(m.random().below(fields.len()));
    }
    m.declare(Struct { name, fields })
}

/// Builds a struct field by field and stores it, or stores fields where they lie.
fn write_struct(m: &mut KernelBuilder, at: usize, fresh: bool) {
    let out = m.output_here(Ty::Struct(at));
    let fields = m.declared(at).fields;
    let here = m.here();
    let built = fresh || m.random().chance(50);
    let place = if built {
        let name = m.name_from(&["next_state", "updated", "res", "made"]);
        let made = Expr::call(m.declared(at).name, vec![]);
        m.push(Stmt::Assign(vec![Expr::from(&name)], made));
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
