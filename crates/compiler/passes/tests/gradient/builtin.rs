//! Every row of the builtin table that takes and gives floats, at ordinary points.

use crate::oracle::{Case, Verdict, compare, unit};
use gbxcule_ir::builtin::{self, BuiltinId, Native};
use gbxcule_ir::{Arg, Builder, Module, Param, Scalar, Shape, Type, Value};
use gbxcule_testkit::arbitrary::Random;

/// Rows whose gradient can't be compared, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

const DRAWS: u64 = 2;

fn palette(module: &mut Module) -> Vec<Type> {
    let of = Scalar::F64;
    let mut types = vec![Type::F64, Type::I32];
    types.extend([2, 3, 4, 6].map(|len| module.types.vector(len, of)));
    types.extend([(2, 2), (3, 3), (4, 4), (2, 3)].map(|(r, c)| module.types.matrix(r, c, of)));
    types.extend([module.types.quaternion(of), module.types.transform(of)]);
    types
}

/// Makes an argument: floats are the next elements of `x`, an index is a constant.
fn argument(b: &mut Builder<'_>, ty: Type, next: &mut i32) -> Value {
    let mut element = |b: &mut Builder<'_>| {
        let (array, index) = (b.param_place(0), b.i32(*next));
        *next += 1;
        let cell = b.element(array, &[index]);
        b.load(cell)
    };
    match b.module.types.components(ty) {
        Some((Scalar::I32, _)) => b.i32(1),
        Some((_, count)) => {
            let parts: Vec<Value> = (0..count).map(|_| element(b)).collect();
            b.assemble(ty, &parts)
        }
        None => b.zero(ty),
    }
}

/// Stores all floats of a value.
fn write(b: &mut Builder<'_>, value: Value, next: &mut i32) {
    let ty = b.body().type_of(value);
    if let Shape::Tuple(of) = b.module.types[ty].clone() {
        for part in 0..of.len() as u32 {
            let part = b.extract(value, part);
            write(b, part, next);
        }
        return;
    }
    let float = b.module.types.components(ty).is_some_and(|(of, _)| of.is_float());
    for part in if float { b.parts(value) } else { Vec::new() } {
        let (array, index) = (b.param_place(1), b.i32(*next));
        *next += 1;
        let cell = b.element(array, &[index]);
        let part = b.convert(part, Scalar::F64);
        b.store(cell, part);
    }
}

fn called(row: BuiltinId, types: &[Type], module: Module, random: &mut Random) -> Option<Case> {
    let mut module = module;
    let array = module.types.array(Type::F64, 1);
    let params = vec![Param::value("x", array), Param::value("o", array)];
    let kernel = module.declare_kernel("k", params);
    let mut b = Builder::new(&mut module, kernel);
    let mut inputs = 0;
    let args: Vec<Arg> =
        types.iter().map(|&ty| Arg::Value(argument(&mut b, ty, &mut inputs))).collect();
    let value = b.builtin(row, &args)?;
    let mut outputs = 0;
    write(&mut b, value, &mut outputs);
    b.finish();
    let x: Vec<f64> = (0..inputs).map(|_| 0.5 + 0.35 * unit(random)).collect();
    let o = (0..outputs).map(|_| unit(random)).collect();
    let differentiable = inputs > 0 && outputs > 0;
    differentiable.then(|| Case {
        module,
        kernel,
        threads: 1,
        arrays: vec![x, o],
        numbers: Vec::new(),
    })
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
fn every_builtin_of_floats_agrees_with_central_differences() {
    let mut module = Module::new("m");
    let types = palette(&mut module);
    let by_arity: Vec<_> = (0..4).map(|arity| combinations(&types, arity)).collect();
    let (mut right, mut wrong, mut rough, mut refused) = (0, Vec::new(), Vec::new(), Vec::new());
    for (id, row) in builtin::rows() {
        let mut arities: Vec<usize> = row.signatures.iter().map(|s| s.params.len()).collect();
        arities.sort_unstable();
        arities.dedup();
        for args in arities.iter().filter_map(|&arity| by_arity.get(arity)).flatten() {
            let mut random = Random::new(5);
            if builtin::resolve(id, args, &mut module.types.clone()).is_none() {
                continue;
            }
            for _ in 0..DRAWS {
                let Some(case) = called(id, args, module.clone(), &mut random) else { break };
                let shown: Vec<String> =
                    args.iter().map(|&ty| module.types.display(ty).to_string()).collect();
                let name = format!("{}({})", row.name, shown.join(", "));
                match compare(&case) {
                    Verdict::Right => right += 1,
                    Verdict::Rough => rough.push(name),
                    Verdict::Refused(what) => refused.push(format!("{name}: {}", what[0].message)),
                    Verdict::Wrong(what) => {
                        let what = what.lines().next().unwrap_or_default().to_owned();
                        wrong.push(format!("{name}: {what}"));
                    }
                }
            }
        }
    }
    println!("{right} right");
    let known = |name: &String| EXCEPTIONS.iter().any(|(row, _)| name.starts_with(row));
    for list in [&mut wrong, &mut rough, &mut refused] {
        list.retain(|name| !known(name));
    }
    assert!(wrong.is_empty(), "wrong:\n{}", wrong.join("\n"));
    assert!(rough.is_empty(), "rough:\n{}", rough.join("\n"));
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
    assert!(right > 300, "{right}");
}

/// Checks the natives that no row of the table calls, or whose results rows use only in part.
#[test]
fn every_native_with_partials_agrees_with_central_differences() {
    for native in Native::all().filter(|native| native.row().domain.contains(Scalar::F64)) {
        if native.row().result.is_some() {
            continue;
        }
        for point in [[0.37, 0.81, 0.23], [0.74, -0.52, 0.61]] {
            let mut module = Module::new("m");
            let array = module.types.array(Type::F64, 1);
            let params = vec![Param::value("x", array), Param::value("o", array)];
            let kernel = module.declare_kernel("k", params);
            let mut b = Builder::new(&mut module, kernel);
            let mut next = 0;
            let args: Vec<Value> =
                (0..native.row().arity).map(|_| argument(&mut b, Type::F64, &mut next)).collect();
            let value = b.native(native, &args);
            write(&mut b, value, &mut 0);
            b.finish();
            let arrays = vec![point.to_vec(), vec![0.0]];
            let case = Case { module, kernel, threads: 1, arrays, numbers: Vec::new() };
            assert_eq!(compare(&case), Verdict::Right, "{native:?} at {point:?}");
        }
    }
}
