//! Launches that are given up: a kernel asks for an end at each place where it may run for long. A
//! test that fails here never ends.

use gbxcule_front_warp::Program;
use gbxcule_ir::check;
use gbxcule_ir::source::SourceMap;
use gbxcule_runtime::{Argument, Array, Build, Device, Kernel, compile};

/// Returns the kernel `k(a: wp.array(dtype=wp.int32))` of a text.
fn kernel(text: &str) -> Kernel {
    let mut sources = SourceMap::new();
    let id = sources.add("stop.py", format!("import warp as wp\n\n{text}"));
    let module = Program::parse(&sources, id).and_then(|program| program.compile("stop"));
    let module = module.and_then(check::module).expect("a right text");
    let compiled = compile(&module, Device::Cpu, Build::default()).expect("compiles");
    compiled.kernel("k").expect("is there")
}

fn given_up(text: &str, grid: &[usize]) -> i32 {
    let array = Array::from_slice(&[1_i32, 0]);
    let mut questions = 0;
    let mut go_on = || {
        questions += 1;
        questions < 2
    };
    let ended = kernel(text).launch_while(grid, &[Argument::from(&array)], &mut go_on);
    assert!(!ended.expect("no fault"), "{text}");
    array.to_vec::<i32>().expect("two numbers")[1]
}

#[test]
fn a_loop_without_end_is_given_up() {
    let text = "\
@wp.kernel
def k(a: wp.array(dtype=wp.int32)):
    while a[0] == 1:
        a[1] = a[1] + 1
    a[1] = -1
";
    assert_ne!(given_up(text, &[1]), -1);
    assert_ne!(given_up(text, &[1000]), -1);
}

#[test]
fn a_loop_that_always_continues_is_given_up() {
    let text = "\
@wp.kernel
def k(a: wp.array(dtype=wp.int32)):
    while True:
        if a[0] == 1:
            continue
        break
    a[1] = -1
";
    assert_eq!(given_up(text, &[1]), 0);
}

#[test]
fn a_loop_behind_another_and_within_another_is_given_up() {
    let text = "\
@wp.kernel
def k(a: wp.array(dtype=wp.int32)):
    n = int(0)
    while n < 3:
        n = n + 1
    for i in range(2):
        for j in range(2000000000):
            for l in range(2000000000):
                n = n + a[0]
    while n > 0:
        while a[0] == 1:
            n = n + 1
    a[1] = n
";
    assert_eq!(given_up(text, &[1]), 0);
}

#[test]
fn a_loop_in_a_function_is_given_up() {
    let text = "\
@wp.func
def wait(a: wp.array(dtype=wp.int32), i: wp.int32) -> wp.int32:
    n = int(0)
    while a[0] == 1:
        n = n + i
    return n

@wp.kernel
def k(a: wp.array(dtype=wp.int32)):
    a[1] = wait(a, wp.tid()) + wait(a, 3) - 1
";
    assert_eq!(given_up(text, &[4]), 0);
}

#[test]
fn many_threads_are_given_up_with_loops_and_without() {
    let text = "\
@wp.kernel
def k(a: wp.array(dtype=wp.int32)):
    wp.atomic_add(a, 1, wp.tid() * 0 + 1)
";
    // Perhaps no thread has run yet: other tests use the same threads of the host.
    assert_ne!(given_up(text, &[2_147_483_647]), i32::MAX);
    let text = "\
@wp.kernel
def k(a: wp.array(dtype=wp.int32)):
    i = wp.tid()
    for j in range(1000):
        wp.atomic_add(a, 1, a[0] + i * 0)
";
    given_up(text, &[2_147_483_647]);
}

#[test]
fn a_launch_that_is_repeated_for_ever_is_given_up() {
    let text = "\
@wp.kernel
def k(a: wp.array(dtype=wp.int32)):
    a[1] = a[1] + a[0]
";
    assert!(given_up(text, &[2_147_483_647, 2_147_483_647]) > 0);
}

#[test]
fn a_launch_that_may_go_on_comes_to_its_end_and_to_its_faults() {
    let text = "\
@wp.kernel
def k(a: wp.array(dtype=wp.int32)):
    i = wp.tid()
    n = int(0)
    while n < 5:
        n = n + 1
    wp.atomic_add(a, i // 100000, n)
";
    let array = Array::from_slice(&[0_i32, 0]);
    let run = |threads: usize| {
        kernel(text).launch_while(&[threads], &[Argument::from(&array)], &mut || true)
    };
    assert!(run(200_000).expect("no fault"));
    assert_eq!(array.to_vec::<i32>().expect("two numbers"), [500_000; 2]);
    let error = run(200_001).expect_err("an index too far").to_string();
    assert!(error.contains("index 2 where there are 2 elements"), "{error}");
}
