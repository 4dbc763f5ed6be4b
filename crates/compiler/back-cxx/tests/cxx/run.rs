//! Compiles the text with a host compiler and compares its results with the interpreter's: in the
//! host's dialect, and in CUDA's behind the header that makes it host C++.

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_interp::Number;
use gbxcule_ir::abi::FaultKind;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::eval;
use gbxcule_ir::{Builder, Literal, Module, Native, Op, Param, Scalar, Shape, Type, print};
use gbxcule_testkit::arbitrary::{self, Actual, Random, RandomProgram};
use gbxcule_testkit::host;
use gbxcule_testkit::sample;

/// Seeds of the programs in every run of the tests.
const SEEDS: std::ops::Range<u64> = 0..40;

fn agrees_with_the_interpreter(name: &str, dialect: Dialect, seeds: std::ops::Range<u64>) {
    let programs: Vec<RandomProgram> = seeds.clone().map(arbitrary::program).collect();
    let (outcomes, _) = host::run(name, dialect, &programs);
    for ((seed, program), outcome) in seeds.zip(&programs).zip(outcomes) {
        let expected = program.interpret().expect("random programs don't fault");
        let show = || print::module(&program.module);
        assert_eq!(outcome.fault[0], 0, "seed {seed}: {:?}\n{}", outcome.fault, show());
        let difference = program.difference(&expected, &outcome.buffers, 0);
        assert_eq!(difference, None, "seed {seed}\n{}", show());
    }
}

#[test]
fn host_text_of_random_programs_does_what_the_interpreter_does() {
    agrees_with_the_interpreter("random_host", Dialect::Host, SEEDS);
}

#[test]
fn cuda_text_of_random_programs_does_what_the_interpreter_does() {
    agrees_with_the_interpreter("random_cuda", Dialect::Cuda, SEEDS);
}

/// Makes a program of a sample's kernel over arrays and scalars.
fn program(module: Valid<Module>, dims: &[u32], args: Vec<Given>) -> RandomProgram {
    let kernel = module.kernels().next().expect("a kernel").0;
    let mut program =
        RandomProgram { module, kernel, dims: dims.into(), buffers: Vec::new(), args: Vec::new() };
    for (position, arg) in args.into_iter().enumerate() {
        program.args.push(match arg {
            Given::Scalar(bytes) => Actual::Bytes(bytes),
            Given::Array(bytes, shape) => {
                let param = &program.module.functions[kernel].params[position];
                let Shape::Array { of, .. } = program.module.types[param.ty] else {
                    panic!("no array")
                };
                program.buffers.push(bytes);
                Actual::dense(&program.module.types, program.buffers.len() - 1, of, &shape)
            }
            Given::Same(buffer, shape) => {
                let param = &program.module.functions[kernel].params[position];
                let Shape::Array { of, .. } = program.module.types[param.ty] else {
                    panic!("no array")
                };
                Actual::dense(&program.module.types, buffer, of, &shape)
            }
        });
    }
    program
}

enum Given {
    Scalar(Vec<u8>),
    Array(Vec<u8>, Vec<u32>),
    /// An array over the buffer of another.
    Same(usize, Vec<u32>),
}

fn scalar<T: Number>(number: T) -> Given {
    Given::Scalar(bytes(&[number]))
}

fn array<T: Number>(numbers: &[T], shape: &[u32]) -> Given {
    Given::Array(bytes(numbers), shape.into())
}

fn bytes<T: Number>(numbers: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    numbers.iter().for_each(|number| number.append(&mut bytes));
    bytes
}

fn samples() -> Vec<RandomProgram> {
    let floats: Vec<f32> = (0..7).map(|k| k as f32 * 0.7 - 2.0).collect();
    let doubles: Vec<f64> = (0..5).map(|k| f64::from(k) * 1.7 - 3.0).collect();
    let halves = [0x3c00_u16, 0xb800, 0x0001, 0x7bff, 0x4248];
    vec![
        program(
            sample::of("saxpy.py").module(),
            &[7],
            vec![array(&floats, &[7]), array(&floats, &[7]), scalar(1.5f32)],
        ),
        program(sample::of("collatz.ir").module(), &[2], vec![array(&[0i32; 20], &[2, 10])]),
        program(
            sample::of("machine.ir").module(),
            &[3],
            vec![scalar(42i32), array(&[0f32; 9], &[3])],
        ),
        program(
            sample::of("halves.ir").module(),
            &[5],
            vec![array(&halves, &[5]), array(&halves, &[5]), array(&doubles, &[5])],
        ),
        program(
            sample::of("leaving.ir").module(),
            &[1],
            vec![array(&[0i32], &[1]), scalar(9i32), scalar(3i32)],
        ),
        program(
            sample::of("leaving.ir").module(),
            &[1],
            vec![array(&[0i32], &[1]), scalar(-9i32), scalar(-2i32)],
        ),
        program(
            sample::of("leaving.ir").module(),
            &[1],
            vec![array(&[0i32], &[1]), scalar(i32::MAX), scalar(i32::MAX)],
        ),
        program(
            sample::of("order.ir").module(),
            &[1],
            vec![array(&[0i32; 6], &[6]), Given::Same(0, vec![6])],
        ),
    ]
}

fn integers() -> Vec<RandomProgram> {
    let mut programs = Vec::new();
    let numbers = [0, 1, -1, 7, i32::MIN, i32::MAX];
    for (k, &a) in numbers.iter().enumerate() {
        for f in [f32::NAN, 3.9, -3.9, 1e20, -1e20] {
            let (byte, wide) =
                ([0u8, 255, 128, 16, 3, 77][k], [0i64, -1, i64::MAX, i64::MIN, 5, 300][k]);
            let outs = [array(&[0i32; 13], &[13]), array(&[0u8; 6], &[6]), array(&[0i64; 3], &[3])];
            let args = [scalar(a), scalar(byte), scalar(wide), scalar(f)]
                .into_iter()
                .chain(outs)
                .collect();
            programs.push(program(sample::of("integers.ir").module(), &[1], args));
        }
    }
    programs
}

fn same_as_interpreter(name: &str, dialect: Dialect, programs: &[RandomProgram]) {
    let (outcomes, _) = host::run(name, dialect, programs);
    for (number, (program, outcome)) in programs.iter().zip(outcomes).enumerate() {
        match program.interpret() {
            Ok(expected) => {
                assert_eq!(outcome.kind(), None, "{name} {number}");
                assert_eq!(
                    program.difference(&expected, &outcome.buffers, 0),
                    None,
                    "{name} {number}"
                );
            }
            Err(failure) => {
                let Some(kind) = failure.fault.kind() else { panic!("{name} {number}: {failure}") };
                assert_eq!(outcome.kind(), Some(kind), "{name} {number}: {failure}");
            }
        }
    }
}

#[test]
fn samples_do_what_the_interpreter_does() {
    same_as_interpreter("samples_host", Dialect::Host, &samples());
    same_as_interpreter("samples_cuda", Dialect::Cuda, &samples());
}

#[test]
fn integers_wrap_saturate_and_fault_as_in_the_interpreter() {
    assert!(integers().iter().all(|program| program.interpret().is_ok()));
    same_as_interpreter("integers_host", Dialect::Host, &integers());
    same_as_interpreter("integers_cuda", Dialect::Cuda, &integers());
}

#[test]
fn faults_are_those_of_the_interpreter() {
    let mut programs = Vec::new();
    for which in 0..7 {
        for n in [-5, -4, 0, 2, 4] {
            let out = array(&[1i32, 2, 3, 4], &[4]);
            programs.push(program(
                sample::of("faults.ir").module(),
                &[1],
                vec![out, scalar(which), scalar(n)],
            ));
        }
    }
    assert!(programs.iter().filter(|program| program.interpret().is_err()).count() > 15);
    same_as_interpreter("faults_host", Dialect::Host, &programs);
    same_as_interpreter("faults_cuda", Dialect::Cuda, &programs);
}

#[test]
fn a_fault_names_its_line() {
    let program = program(
        sample::of("faults.ir").module(),
        &[1],
        vec![array(&[1i32, 2, 3, 4], &[4]), scalar(0i32), scalar(9i32)],
    );
    let text = cxx::write(
        &program.module,
        &Options { kernel: Some(program.kernel), ..Options::new(Dialect::Host) },
    );
    let wanted = 1 + text
        .source
        .lines()
        .position(|line| line.contains("out(0) = out(n)"))
        .expect("the store");
    let (outcomes, _) = host::run("fault_line", Dialect::Host, std::slice::from_ref(&program));
    assert_eq!(outcomes[0].kind(), Some(FaultKind::Index));
    assert_eq!(outcomes[0].fault[1..], [wanted as i64, 9, 4]);
}

#[test]
fn prints_are_those_of_the_interpreter() {
    let program = program(
        sample::of("machine.ir").module(),
        &[3],
        vec![scalar(7i32), array(&[0f32; 9], &[3])],
    );
    let (_, printed) = host::run("prints", Dialect::Host, std::slice::from_ref(&program));
    assert_eq!(printed, "8 of 8\n8 of 8\n8 of 8\n");
}

/// Makes a kernel that applies a native builtin to each element.
fn native_program(native: Native, of: Scalar, inputs: &[Vec<Literal>]) -> RandomProgram {
    let mut module = Module::new(native.row().name);
    let ty = module.types.array(Type::scalar(of), 1);
    let out = module.types.array(Type::scalar(native.result(of)), 1);
    let mut params: Vec<Param> =
        ["x", "y", "z"].into_iter().take(inputs.len()).map(|name| Param::value(name, ty)).collect();
    params.push(Param::value("out", out));
    let kernel = module.declare_kernel("apply", params);
    let mut b = Builder::new(&mut module, kernel);
    let i = b.launch_index(0);
    let args: Vec<_> = (0..inputs.len() as u32)
        .map(|param| {
            let place = b.param_place(param);
            let place = b.element(place, &[i]);
            b.load(place)
        })
        .collect();
    let result = b.native(native, &args);
    let place = b.param_place(inputs.len() as u32);
    let place = b.element(place, &[i]);
    b.store(place, result);
    b.finish();
    let count = inputs[0].len() as u32;
    let mut args: Vec<Given> = inputs
        .iter()
        .map(|input| {
            let mut bytes = vec![0; input.len() * of.bytes() as usize];
            for (literal, cell) in input.iter().zip(bytes.chunks_mut(of.bytes() as usize)) {
                eval::to_bytes(*literal, cell);
            }
            Given::Array(bytes, vec![count])
        })
        .collect();
    let result_bytes = native.result(of).bytes() as usize;
    args.push(Given::Array(vec![0; result_bytes * count as usize], vec![count]));
    program(check::module(module).expect("valid"), &[count], args)
}

#[test]
fn native_builtins_are_within_the_bounds_of_their_rows() {
    let mut random = Random::new(3);
    let mut programs = Vec::new();
    let mut bounds = Vec::new();
    for native in Native::all() {
        let row = native.row();
        for of in Scalar::ALL.into_iter().filter(|&of| row.domain.contains(of)) {
            let mut input = || -> Vec<Literal> {
                let odd = [
                    0.0,
                    -0.0,
                    1.0,
                    -1.0,
                    0.5,
                    -0.5,
                    2.5,
                    -2.5,
                    1e-30,
                    f64::INFINITY,
                    f64::NEG_INFINITY,
                    f64::NAN,
                ];
                let spread =
                    (0..100).map(|_| f64::from(random.below(1 << 20)) / f64::from(1 << 17) - 4.0);
                odd.into_iter().chain(spread).map(|value| Literal::float(of, value)).collect()
            };
            let inputs: Vec<Vec<Literal>> = (0..row.arity).map(|_| input()).collect();
            programs.push(native_program(native, of, &inputs));
            // A 16-bit float is rounded from a float that may be off.
            let small = matches!(of, Scalar::F16 | Scalar::Bf16);
            bounds.push(if small { 1.min(row.ulps) } else { row.ulps });
        }
    }
    for (name, dialect) in [("natives_host", Dialect::Host), ("natives_cuda", Dialect::Cuda)] {
        let (outcomes, _) = host::run(name, dialect, &programs);
        for ((program, outcome), &ulps) in programs.iter().zip(outcomes).zip(&bounds) {
            let expected = program.interpret().expect("natives don't fault");
            let difference = program.difference(&expected, &outcome.buffers, u64::from(ulps));
            let of =
                program.module.types.display(program.module.functions[program.kernel].params[0].ty);
            assert_eq!(difference, None, "{name}: {} on {of}", program.module.name);
        }
    }
}

/// Returns true if a module has only exact operations.
fn is_exact(module: &Module) -> bool {
    let mut values = module.functions.iter().flat_map(|(_, function)| function.body.values.iter());
    !values.any(|(_, data)| matches!(data.op, Op::Native { native, .. } if native.row().ulps > 0))
}

#[test]
#[ignore = "takes minutes"]
fn every_builtin_does_what_the_interpreter_does() {
    let cases = arbitrary::cases();
    for (name, dialect) in [("rows_host", Dialect::Host), ("rows_cuda", Dialect::Cuda)] {
        for cases in cases.chunks(200) {
            let programs: Vec<RandomProgram> = cases.iter().map(|case| case.program(1)).collect();
            let (outcomes, _) = host::run(name, dialect, &programs);
            for ((case, program), outcome) in cases.iter().zip(&programs).zip(outcomes) {
                let expected = program.interpret().expect("builtins don't fault");
                // A result computed from a sine may be off by more than the sine.
                let ulps = if is_exact(&program.module) { 0 } else { 64 };
                let difference = program.difference(&expected, &outcome.buffers, ulps);
                assert_eq!(difference, None, "{name}: {}", case.name());
            }
        }
    }
}
