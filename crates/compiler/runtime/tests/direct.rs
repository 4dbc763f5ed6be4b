//! Kernels called over memory that the caller lends.

use gbxcule_front_warp::Program;
use gbxcule_ir::check;
use gbxcule_ir::source::SourceMap;
use gbxcule_runtime::{Build, Device, DirectKernel, Error, SliceArgument, compile};

const TEXT: &str = "\
import warp as wp

@wp.struct
class Point:
    x: wp.float32
    n: wp.uint16

@wp.kernel
def move(points: wp.array(dtype=Point), by: wp.array(dtype=wp.float32), out: wp.array(dtype=wp.float32)):
    p = points[wp.tid()]
    out[1] = p.x + by[0] * wp.float32(p.n)

@wp.kernel
def rows(x: wp.array2d(dtype=wp.float32)):
    x[0, 0] = 1.0

@wp.struct
class Handle:
    x: wp.array(dtype=wp.float32)

@wp.kernel
def handles(all: wp.array(dtype=Handle)):
    all[0].x[0] = 1.0
";

#[repr(C)]
#[allow(dead_code, reason = "read by the kernel")]
struct Point {
    x: f32,
    n: u16,
}

fn direct(name: &str) -> Result<DirectKernel, Error> {
    let mut sources = SourceMap::new();
    let id = sources.add("direct.py", TEXT);
    let program = Program::parse(&sources, id).expect("Python");
    let module = check::module(program.compile("direct").expect("the dialect")).expect("valid");
    let compiled = compile(&module, Device::Cpu, Build::default()).expect("machine code");
    DirectKernel::new(compiled.kernel(name).expect("the kernel"))
}

#[test]
fn a_kernel_reads_and_writes_what_it_is_lent() {
    let mut kernel = direct("move").expect("arrays of one dimension");
    let mut out = [0.0_f32; 2];
    for n in 1..4 {
        let points = [Point { x: 0.5, n }];
        let mut args = [
            SliceArgument::read(&points),
            SliceArgument::read(&[2.0_f32]),
            SliceArgument::write(&mut out),
        ];
        kernel.run(&mut args).expect("no fault");
        assert_eq!(out, [0.0, 0.5 + 2.0 * f32::from(n)]);
    }
}

#[test]
fn written_memory_must_be_lent_for_writing_and_elements_must_fit() {
    let mut kernel = direct("move").expect("arrays of one dimension");
    let message = |kernel: &mut DirectKernel, args: &mut [SliceArgument<'_>]| {
        kernel.run(args).expect_err("refused").to_string()
    };
    let (points, numbers) = ([Point { x: 0.0, n: 1 }], [0.0_f32; 2]);
    assert_eq!(
        message(
            &mut kernel,
            &mut [
                SliceArgument::read(&points),
                SliceArgument::read(&numbers),
                SliceArgument::read(&numbers)
            ]
        ),
        "argument `out` of kernel `move`: the kernel writes it, but it was given for reading only"
    );
    let mut out = numbers;
    assert_eq!(
        message(
            &mut kernel,
            &mut [
                SliceArgument::read(&numbers),
                SliceArgument::read(&numbers),
                SliceArgument::write(&mut out)
            ]
        ),
        "argument `points` of kernel `move`: elements have 8 bytes, found 4"
    );
    assert_eq!(
        message(&mut kernel, &mut [SliceArgument::read(&points)]),
        "kernel `move` takes 3 arguments (points, by, out), found 1"
    );
}

#[test]
fn an_index_outside_is_a_fault() {
    let mut kernel = direct("move").expect("arrays of one dimension");
    let mut out = [0.0_f32; 1];
    let points = [Point { x: 0.0, n: 1 }];
    let mut args = [
        SliceArgument::read(&points),
        SliceArgument::read(&[1.0_f32]),
        SliceArgument::write(&mut out),
    ];
    let fault = kernel.run(&mut args).expect_err("outside").to_string();
    assert_eq!(fault, "kernel `move` stopped at thread (0): index 1 where there are 1 elements");
}

#[test]
fn arrays_of_more_dimensions_and_of_handles_are_refused() {
    for name in ["rows", "handles"] {
        let refused = direct(name).err().expect("refused").to_string();
        assert!(refused.contains("an array of one dimension is needed here"), "{refused}");
    }
}
