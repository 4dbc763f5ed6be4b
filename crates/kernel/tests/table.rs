//! Every row of the builtin table, built for every type it takes, is valid IR.

use gbxcule_kernel::check;
use gbxcule_kernel::diagnostic::Diagnostic;
use gbxcule_kernel::ir::builtin::{self, BuiltinId};
use gbxcule_kernel::ir::{Arg, Builder, Module, Param, Scalar, Type};

/// Types to draw arguments from.
fn palette(module: &mut Module) -> Vec<Type> {
    let mut types: Vec<Type> = Scalar::ALL.map(Type::scalar).into();
    for of in [Scalar::I32, Scalar::F16, Scalar::F32, Scalar::F64] {
        types.extend([2, 3, 4].map(|len| module.types.vector(len, of)));
        types.extend([(2, 2), (3, 3), (4, 4), (2, 3)].map(|(r, c)| module.types.matrix(r, c, of)));
        types.push(module.types.array(Type::scalar(of), 1));
        if of.is_float() {
            types.extend([module.types.quaternion(of), module.types.transform(of)]);
        }
    }
    types
}

fn call(row: BuiltinId, types: &[Type], module: &mut Module) -> bool {
    let params = types.iter().map(|&ty| Param::value("x", ty)).collect();
    let caller = module.declare("caller", params, Type::UNIT);
    let mut b = Builder::new(module, caller);
    let places: Vec<_> = types
        .iter()
        .enumerate()
        .map(|(at, &ty)| {
            let local = b.local("x", ty);
            let (place, value) = (b.local_place(local), b.arg(at as u32));
            b.store(place, value);
            place
        })
        .collect();
    let mut taken = false;
    // Which arguments are references is the row's business: try both ways for each.
    for mask in 0..1 << types.len() {
        let args: Vec<Arg> = (0..types.len())
            .map(|at| {
                if mask >> at & 1 == 1 {
                    Arg::Place(places[at])
                } else {
                    Arg::Value(b.arg(at as u32))
                }
            })
            .collect();
        taken |= b.builtin(row, &args).is_some();
    }
    b.finish();
    taken
}

fn combinations(types: &[Type], arity: usize) -> Vec<Vec<Type>> {
    let mut all = vec![Vec::new()];
    for _ in 0..arity {
        all = all
            .into_iter()
            .flat_map(|start| types.iter().map(move |&ty| [start.clone(), vec![ty]].concat()))
            .collect();
    }
    all
}

#[test]
fn every_row_builds_valid_ir() {
    for (id, row) in builtin::rows() {
        let mut module = Module::new(row.name);
        let types = palette(&mut module);
        for signature in row.signatures {
            let arity = signature.params.len();
            // Three and more arguments: the first two vary, the others repeat one of them.
            let mut found = false;
            for start in combinations(&types, arity.min(2)) {
                for last in start.clone().into_iter().chain([Type::F32, Type::I32]) {
                    let mut args = start.clone();
                    args.resize(arity, last);
                    if builtin::resolve(id, &args, &mut module.types).is_some() {
                        found |= call(id, &args, &mut module);
                    }
                }
            }
            assert!(found, "nothing fits a signature of `{}`", row.name);
        }
        let check: Result<_, Vec<Diagnostic>> = check::module(module);
        assert!(
            check.is_ok(),
            "`{}`: {:#?}",
            row.name,
            check.err().map(|faults| faults[0].clone())
        );
    }
}
