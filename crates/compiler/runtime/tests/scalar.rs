//! Every compiled operation on scalars, compared with the arithmetic of `eval` on chosen values.

use gbxcule_ir::check;
use gbxcule_ir::eval;
use gbxcule_ir::{
    BinaryOp, Builder, CompareOp, Literal, Module, Native, Param, Scalar, Type, UnaryOp, Value,
};
use gbxcule_runtime::{Argument, Array, Build, DataType, Device, compile};
use gbxcule_testkit::arbitrary::distance;

/// Returns numbers of a type: small ones, large ones, edge cases, and many in between.
fn values(scalar: Scalar) -> Vec<Literal> {
    let bits = scalar.bits();
    let mut patterns: Vec<u64> = vec![0, 1, 2, 3, 7];
    patterns.extend((0..bits).flat_map(|bit| [1u64 << bit, (1u64 << bit).wrapping_sub(1)]));
    patterns.extend(patterns.clone().iter().map(|pattern| !pattern));
    // Multiples of a large odd number spread over all bits.
    patterns.extend((1..40u64).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let mut all: Vec<Literal> = patterns.iter().map(|&p| Literal::from_bits(scalar, p)).collect();
    if scalar.is_float() {
        let numbers =
            [0.5, 1.5, 2.5, -0.5, 0.1, 1e-3, 3.75, -7.25, 100.7, 65504.0, 65520.0, 1e9, 3e38];
        let numbers =
            numbers.into_iter().chain([f64::NAN, f64::INFINITY, -2_147_483_648.5, 1.9e19]);
        all.extend(numbers.map(|number| Literal::float(scalar, number)));
    }
    all.dedup();
    all
}

/// Runs `fill` on all rows of operands, as a kernel over arrays.
fn run(
    columns: &[Vec<Literal>],
    result: Scalar,
    fill: impl FnOnce(&mut Builder<'_>, &[Value]) -> Value,
) -> Vec<Literal> {
    let mut module = Module::new("m");
    let mut scalars: Vec<Scalar> = columns.iter().map(|column| column[0].scalar()).collect();
    scalars.push(result);
    let arrays: Vec<Type> =
        scalars.iter().map(|&of| module.types.array(Type::scalar(of), 1)).collect();
    let params = arrays.iter().map(|&array| Param::value("a", array)).collect();
    let id = module.declare_kernel("k", params);
    let mut b = Builder::new(&mut module, id);
    let i = b.launch_index(0);
    let mut places = Vec::new();
    for at in 0..scalars.len() {
        let array = b.param_place(at as u32);
        places.push(b.element(array, &[i]));
    }
    let operands: Vec<Value> = places[..columns.len()].iter().map(|&p| b.load(p)).collect();
    let value = fill(&mut b, &operands);
    b.store(places[columns.len()], value);
    b.finish();
    let module = check::module(module).expect("valid");
    let compiled = compile(&module, Device::Cpu, Build::default()).expect("compiles");
    let rows = columns[0].len();
    let image = |column: &[Literal], of: Scalar| {
        let size = of.bytes() as usize;
        let mut bytes = vec![0; size * column.len()];
        for (literal, bytes) in column.iter().zip(bytes.chunks_mut(size)) {
            eval::to_bytes(*literal, bytes);
        }
        let strides = [size as isize];
        Array::from_bytes(&bytes, DataType::Scalar(of), 0, &[column.len()], &strides)
    };
    let zeros = vec![Literal::from_bits(result, 0); rows];
    let all = columns.iter().chain([&zeros]).zip(&scalars);
    let arrays: Vec<Array> = all.map(|(c, &of)| image(c, of).expect("fits")).collect();
    let args: Vec<Argument> = arrays.iter().map(Argument::from).collect();
    compiled.kernel("k").expect("is there").launch(&[rows], &args).expect("runs");
    let bytes = arrays[columns.len()].memory_bytes().expect("its bytes");
    bytes.chunks(result.bytes() as usize).map(|part| eval::from_bytes(result, part)).collect()
}

/// Returns all pairs of two lists, as two columns.
fn pairs(left: &[Literal], right: &[Literal]) -> [Vec<Literal>; 2] {
    let all = || left.iter().flat_map(|&l| right.iter().map(move |&r| (l, r)));
    [all().map(|(l, _)| l).collect(), all().map(|(_, r)| r).collect()]
}

#[track_caller]
fn agree(what: &str, columns: &[Vec<Literal>], found: &[Literal], wanted: &[Literal], ulps: u64) {
    for (row, (&found, &wanted)) in found.iter().zip(wanted).enumerate() {
        let operands: Vec<Literal> = columns.iter().map(|column| column[row]).collect();
        let far = distance(found, wanted);
        assert!(far <= ulps, "{what} of {operands:?}: {found} for {wanted}, {far} ulps");
    }
}

#[test]
fn binary_operations_agree_on_every_type() {
    use BinaryOp::{Divide, FloorDivide, Remainder};
    let divides = |op| matches!(op, Divide | FloorDivide | Remainder);
    for scalar in Scalar::ALL {
        let all = values(scalar);
        for &op in BinaryOp::of(scalar) {
            let mut right = all.clone();
            if divides(op) && scalar.is_int() {
                right.retain(|literal| literal.bits() != 0);
            }
            let columns = pairs(&all, &right);
            let results = run(&columns, scalar, |b, args| b.binary(op, args[0], args[1]));
            let rows = columns[0].iter().zip(&columns[1]);
            let wanted: Vec<Literal> =
                rows.map(|(&l, &r)| eval::binary(op, l, r).expect("not by zero")).collect();
            agree(&format!("{} {}", scalar.name(), op.name()), &columns, &results, &wanted, 0);
        }
    }
}

#[test]
fn division_by_constants_agrees() {
    for scalar in [Scalar::I8, Scalar::I32, Scalar::I64, Scalar::U16, Scalar::U64] {
        for by in [-7, -1, 1, 2, 3, 10, 64] {
            let by = Literal::int(scalar, by);
            for op in [BinaryOp::Divide, BinaryOp::FloorDivide, BinaryOp::Remainder] {
                let column = [values(scalar)];
                let results = run(&column, scalar, |b, args| {
                    let by = b.literal(by);
                    b.binary(op, args[0], by)
                });
                let wanted: Vec<Literal> =
                    column[0].iter().map(|&l| eval::binary(op, l, by).expect("not 0")).collect();
                agree(
                    &format!("{} {} {by}", scalar.name(), op.name()),
                    &column,
                    &results,
                    &wanted,
                    0,
                );
            }
        }
    }
}

#[test]
fn comparisons_and_unary_operations_agree_on_every_type() {
    use CompareOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    for scalar in Scalar::ALL {
        let columns = pairs(&values(scalar), &values(scalar));
        let ops: &[CompareOp] = match scalar {
            Scalar::Bool => &[Equal, NotEqual],
            _ => &[Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual],
        };
        for &op in ops {
            let found = run(&columns, Scalar::Bool, |b, args| b.compare(op, args[0], args[1]));
            let rows = columns[0].iter().zip(&columns[1]);
            let wanted: Vec<Literal> =
                rows.map(|(&l, &r)| Literal::bool(eval::compare(op, l, r))).collect();
            agree(&format!("{} {}", scalar.name(), op.name()), &columns, &found, &wanted, 0);
        }
        let column = [values(scalar)];
        for op in [UnaryOp::Negate, UnaryOp::Not] {
            if op == UnaryOp::Negate && scalar == Scalar::Bool
                || op == UnaryOp::Not && scalar.is_float()
            {
                continue;
            }
            let found = run(&column, scalar, |b, args| b.unary(op, args[0]));
            let wanted: Vec<Literal> = column[0].iter().map(|&l| eval::unary(op, l)).collect();
            agree(&format!("{} {}", scalar.name(), op.name()), &column, &found, &wanted, 0);
        }
    }
}

#[test]
fn conversions_agree_between_all_types() {
    for from in Scalar::ALL {
        for to in Scalar::ALL.into_iter().filter(|&to| to != from) {
            let column = [values(from)];
            let found = run(&column, to, |b, args| b.convert(args[0], to));
            let wanted: Vec<Literal> = column[0].iter().map(|&l| eval::convert(l, to)).collect();
            agree(&format!("{} to {}", from.name(), to.name()), &column, &found, &wanted, 0);
        }
    }
}

#[test]
fn natives_stay_within_the_units_that_their_rows_allow() {
    for native in Native::all() {
        let row = native.row();
        for scalar in Scalar::ALL.into_iter().filter(|&scalar| row.domain.contains(scalar)) {
            let all = values(scalar);
            let columns = match row.arity {
                1 => vec![all],
                2 => pairs(&all, &all).to_vec(),
                _ => {
                    let [left, right] = pairs(&all, &all);
                    let third = all.iter().cycle().step_by(5).take(left.len()).copied().collect();
                    vec![left, right, third]
                }
            };
            let result = native.result(scalar);
            let found = run(&columns, result, |b, args| b.native(native, args));
            let wanted: Vec<Literal> = (0..columns[0].len())
                .map(|at| {
                    let args: Vec<Literal> = columns.iter().map(|column| column[at]).collect();
                    eval::native(native, &args)
                })
                .collect();
            let ulps = u64::from(row.ulps);
            agree(&format!("{} {}", scalar.name(), row.name), &columns, &found, &wanted, ulps);
        }
    }
}
