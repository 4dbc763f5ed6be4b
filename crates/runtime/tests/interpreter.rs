//! Compiled code against the interpreter, on random programs.

use gbxcule_kernel::arbitrary::{self, Actual, Options, Program};
use gbxcule_kernel::ir::print;
use gbxcule_runtime::{Argument, Array, Build, DataType, Device, compile};

/// Memory after the launch, as compiled code does it.
fn run(program: &Program, checked: bool) -> Vec<Vec<u8>> {
    let module = &program.module;
    let compiled = compile(module, Device::Cpu, Build { checked }).expect("compiles");
    let kernel = compiled.kernel(&module.functions[program.kernel].name).expect("the kernel");
    let whole = |bytes: &Vec<u8>| Array::from_slice(bytes);
    let buffers: Vec<Array> = program.buffers.iter().map(whole).collect();
    let params = &module.functions[program.kernel].params;
    let args = program.args.iter().zip(params).map(|(actual, param)| match actual {
        Actual::Bytes(bytes) => {
            Argument::Value(DataType::of(module, param.ty).expect("no handles"), bytes.clone())
        }
        Actual::Array { buffer, offset, of, shape, strides, .. } => {
            let of = DataType::of(module, *of).expect("no handles");
            let shape: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
            let strides: Vec<isize> = strides.iter().map(|&stride| stride as isize).collect();
            let array = buffers[*buffer].reinterpreted(of, *offset as usize, &shape, &strides);
            Argument::Array(array.expect("inside the buffer"))
        }
    });
    let args: Vec<Argument> = args.collect();
    let grid: Vec<usize> = program.dims.iter().map(|&dim| dim as usize).collect();
    kernel.launch(&grid, &args).expect("never faults");
    buffers.iter().map(Array::memory).collect()
}

fn agree(seeds: std::ops::Range<u64>, options: Options) {
    for seed in seeds {
        let program = arbitrary::program_with(seed, options);
        let expected = program.interpret().expect("ends");
        for checked in [true, false] {
            let found = run(&program, checked);
            if let Some(difference) = program.difference(&expected, &found, 0) {
                panic!(
                    "seed {seed}, checked {checked}: {difference}\n{}",
                    print::module(&program.module)
                );
            }
        }
    }
}

#[test]
fn random_programs_leave_the_same_memory() {
    agree(0..150, Options::default());
}

#[test]
fn random_programs_of_integers_leave_the_same_memory() {
    agree(0..60, Options { floats: false, halves: false, ..Options::default() });
}

#[test]
fn large_random_programs_leave_the_same_memory() {
    agree(0..6, Options { statements: 300, functions: 12, ..Options::default() });
}
