//! Reverse kernels give the same gradients in every way of running: interpreter, compiled code, C++
//! text, and CUDA text compiled as C++.
//!
//! Threads add to gradients atomically, so the order of a sum may differ when threads run at once.
//! Here all ways run the threads one after another, and their results must agree bit for bit.
//! Compiled code on several threads must agree to 1e-12 of the largest gradient.

#[path = "../warp/native.rs"]
mod native;

use gbxcule_back_cxx::Dialect;
use gbxcule_front_warp::Program as Python;
use gbxcule_ir::check;
use gbxcule_ir::print;
use gbxcule_ir::source::SourceMap;
use gbxcule_passes::grad::reverses;
use gbxcule_runtime::{Array, Build, Device, Element, Error, compile};
use gbxcule_testkit::arbitrary::{Differentiable, Random, RandomProgram, differentiable, unit};
use gbxcule_testkit::{host, pattern};

/// Returns a launch of the reverse kernel with random gradients; `None` if the kernel is refused.
fn backward(case: &Differentiable) -> Option<RandomProgram> {
    let valid = check::module(case.module.clone()).expect("valid");
    let (module, kernels) = reverses(&valid, &[case.kernel]).ok()?;
    let after = case.forward(valid).interpret().expect("it runs");
    let mut random = Random::new(5);
    let gradients = case.arrays.iter();
    let gradients = gradients.map(|array| array.iter().map(|_| unit(&mut random)).collect());
    let module = check::module(module).expect("reverses are valid");
    Some(case.backward(module, kernels[0], &after, &gradients.collect::<Vec<Vec<f64>>>()))
}

/// Returns the memory after a launch of compiled code.
fn compiled(program: &RandomProgram) -> Vec<Vec<u8>> {
    native::run(program, true).expect("never faults")
}

#[test]
fn gradients_are_the_same_in_every_way_of_running() {
    let mut programs = Vec::new();
    for pattern in pattern::patterns() {
        programs.extend(backward(&pattern.case).map(|program| (pattern.name, program)));
    }
    let patterns = programs.len();
    assert!(patterns >= 30, "{patterns}");
    for seed in 0..6 {
        let program = backward(&differentiable(seed));
        programs.extend(program.map(|program| (format!("seed {seed}"), program)));
    }
    assert!(programs.len() - patterns >= 4, "{}", programs.len());
    agree("gradient", &programs);
}

/// The variable `GRADIENT_DRAWS=from..to` chooses the seeds.
#[test]
#[ignore = "takes minutes: run by name with GRADIENT_DRAWS=from..to"]
fn gradients_of_many_draws_are_the_same_in_every_way_of_running() {
    let range = std::env::var("GRADIENT_DRAWS").unwrap_or_else(|_| "100..200".into());
    let (from, to) = range.split_once("..").expect("from..to");
    let seeds = from.parse().expect("a seed")..to.parse::<u64>().expect("a seed");
    let draws: Vec<u64> = seeds.collect();
    let mut agreed = 0;
    // A host compiler takes long for a text of many kernels; a text of few kernels is mostly
    // headers.
    for seeds in draws.chunks(50) {
        let programs = seeds.iter().filter_map(|&seed| {
            backward(&differentiable(seed)).map(|program| (format!("seed {seed}"), program))
        });
        let programs: Vec<_> = programs.collect();
        agree("gradient_draws", &programs);
        agreed += programs.len();
    }
    println!("{agreed} of {} have a reverse, and agree in every way of running", draws.len());
}

/// Checks that interpreter, compiled code, C++ and CUDA text compiled as C++ agree bit for bit.
fn agree(name: &str, programs: &[(String, RandomProgram)]) {
    let all: Vec<RandomProgram> = programs.iter().map(|(_, program)| program.clone()).collect();
    let (host, _) = host::run(&format!("{name}_host"), Dialect::Host, &all);
    let (cuda, _) = host::run(&format!("{name}_cuda"), Dialect::Cuda, &all);
    for (((name, program), host), cuda) in programs.iter().zip(host).zip(cuda) {
        let expected = program.interpret().expect("never faults");
        assert_eq!([host.kind(), cuda.kind()], [None, None], "{name}");
        let ways = [("compiled", compiled(program)), ("C++", host.buffers), ("CUDA", cuda.buffers)];
        for (way, found) in ways {
            if let Some(difference) = program.difference(&expected, &found, 0) {
                panic!("{name}, {way}: {difference}\n{}", print::module(&program.module));
            }
        }
    }
}

/// Many threads add to one element's gradient at once; the number of threads changes only the
/// rounding.
#[test]
fn gradients_of_many_threads_at_once_agree_but_for_rounding() {
    let mut case = pattern::patterns().remove(0).case;
    assert_eq!(case.module.functions[case.kernel].name, "sum_dynamic");
    case.threads = 4_000;
    case.arrays[1] = (0..case.threads).map(|at| f64::from(at % 7) - 2.5).collect();
    let program = backward(&case).expect("differentiable");
    let (expected, found) = (program.interpret().expect("it runs"), compiled(&program));
    let numbers = |bytes: &[u8]| -> Vec<f64> {
        bytes.chunks(8).map(|number| f64::from_le_bytes(number.try_into().expect("8"))).collect()
    };
    let (expected, found) = (numbers(&expected[2]), numbers(&found[2]));
    let largest = expected.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    for (expected, found) in expected.into_iter().zip(found) {
        assert!((expected - found).abs() <= 1e-12 * largest, "{expected} {found}");
    }
}

/// The reverse of `o[t] = x[t] ** 2 ..` needs the values that `x` had before.
#[test]
fn arrays_that_a_reverse_keeps_apart_must_not_share_memory() {
    let pattern =
        pattern::patterns().into_iter().find(|pattern| pattern.name == "store_load_store");
    let case = pattern.expect("a pattern").case;
    let program = backward(&case).expect("differentiable");
    let module = &program.module;
    let compiled = compile(module, Device::Cpu, Build::default()).expect("compiles");
    let kernel = compiled.kernel("adj_store_load_store").expect("the reverse");
    let whole = Array::from_slice(&[0.5; 12]).with_gradient().expect("small");
    let part = |from: usize, to: usize| whole.slice(0, from..to, 1).expect("a part");
    let launch =
        |x: Array, o: Array| kernel.launch(&[2], &[x.into(), o.into(), 5.into(), 3.into()]);
    launch(part(0, 6), part(6, 12)).expect("they lie apart");
    let error = launch(part(0, 6), part(5, 11)).expect_err("they share an element");
    assert!(matches!(&error, Error::Overlap { one, other, .. } if one == "x" && other == "o"));
    assert_eq!(
        error.to_string(),
        "arguments `x` and `o` of kernel `adj_store_load_store` must not share memory: the gradient \
         needs what `x` held, and the launch wrote to `o`"
    );
}

/// An array without a gradient is a constant, and needs no memory for a gradient.
#[test]
fn arrays_without_gradient_take_part_as_constants() {
    let pattern =
        pattern::patterns().into_iter().find(|pattern| pattern.name == "store_load_store");
    let program = backward(&pattern.expect("a pattern").case).expect("differentiable");
    let compiled = compile(&program.module, Device::Cpu, Build::default()).expect("compiles");
    let kernel = compiled.kernel("adj_store_load_store").expect("the reverse");
    let x = Array::from_slice(&[0.5; 6]);
    let o = Array::from_slice(&[0.25; 4]).with_gradient().expect("small");
    let gradient = o.gradient().expect("it has one");
    gradient.fill(1.0).expect("f64");
    kernel.launch(&[2], &[(&x).into(), (&o).into(), 5.into(), 3.into()]).expect("it runs");
    assert!(x.gradient().is_none());
    assert_eq!(gradient.to_vec::<f64>().expect("f64"), [0.0, 0.0, 1.0, 1.0]);
}

/// The reverse of `o[t] = x[t] * y[t]` adds to elements that no other thread has without atomics.
/// It must not if `x` and `y` are parts of one array, or if all elements of `x` are one element.
#[test]
fn gradients_of_memory_that_is_shared_lose_nothing() {
    const THREADS: usize = 200_000;
    let text = "import warp as wp\n\n@wp.kernel\ndef k(x: wp.array(dtype=float), y: wp.array(dtype=float), o: \
                wp.array(dtype=float)):\n    i = wp.tid()\n    o[i] = x[i] * y[i]\n";
    let mut sources = SourceMap::new();
    let id = sources.add("k.py", text);
    let module = Python::parse(&sources, id).and_then(|program| program.compile("k"));
    let module = module.and_then(check::module).expect("a kernel");
    let kernels: Vec<_> = module.kernels().map(|(id, _)| id).collect();
    let module = check::module(reverses(&module, &kernels).expect("differentiable").0);
    let module = module.expect("valid");
    let compiled = compile(&module, Device::Cpu, Build::default()).expect("compiles");
    let kernel = compiled.kernel("adj_k").expect("the reverse");
    let o = Array::from_slice(&vec![0.0f32; THREADS]).with_gradient().expect("small");
    let launch = |x: &Array, y: &Array| {
        o.gradient().expect("it has one").fill(1.0f32).expect("f32");
        kernel.launch(&[THREADS], &[x.into(), y.into(), (&o).into()]).expect("it runs");
    };
    let whole = Array::from_slice(&vec![1.0f32; THREADS + 1]).with_gradient().expect("small");
    let all = |array: &Array| array.gradient().expect("it has one").to_vec::<f32>().expect("f32");
    let part = |from: usize| whole.slice(0, from..from + THREADS, 1).expect("a part");
    let apart =
        [(); 2].map(|()| Array::from_slice(&vec![1.0f32; THREADS]).with_gradient().expect("small"));
    for round in 1..=3u8 {
        let round = f32::from(round);
        launch(&apart[0], &apart[1]);
        assert!(apart.iter().all(|array| all(array).iter().all(|&found| found == round)));
        launch(&part(0), &part(1));
        let found = all(&whole);
        assert_eq!([found[0], found[THREADS]], [round; 2]);
        assert!(found[1..THREADS].iter().all(|&found| found == 2.0 * round));
    }
    // Sums of ones are exact up to 2^24.
    let one = Array::from_slice(&[1.0f32]);
    let one = one.view_as(f32::data_type(), 0, &[THREADS], &[0]).expect("one element");
    let one = one.with_gradient().expect("small");
    launch(&one, &apart[0]);
    assert_eq!(all(&one)[0], THREADS as f32);
}
