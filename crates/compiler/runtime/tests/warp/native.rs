//! Runs compiled code on the programs that the interpreter runs.

use gbxcule_runtime::{
    Argument, Array, Build, CodeFolder, Compiled, DataType, Device, Error, MadeModule, Output,
    Recipe, Stream, compile,
};
use gbxcule_testkit::arbitrary::{Actual, RandomProgram};
use std::sync::Arc;

/// Returns the memory after a launch on the CPU.
#[allow(dead_code, reason = "not every test that includes this runs on the CPU")]
pub(crate) fn run(program: &RandomProgram, checked: bool) -> Result<Vec<Vec<u8>>, Error> {
    run_in(&Stream::new(Device::Cpu)?, program, checked)
}

/// Returns the build for programs that the interpreter ran to the end.
pub(crate) fn build(checked: bool) -> Build {
    // SAFETY: the programs stay in their arrays.
    #[allow(unsafe_code, reason = "unchecked code is compared too")]
    if checked { Build::default() } else { unsafe { Build::unchecked() } }
}

/// Returns the memory after a launch in a stream.
pub(crate) fn run_in(
    stream: &Stream,
    program: &RandomProgram,
    checked: bool,
) -> Result<Vec<Vec<u8>>, Error> {
    let compiled = compile(&program.module, stream.device(), build(checked))?;
    launch(stream, program, &compiled)
}

/// Compiles a program and keeps its code on disk, finds the code there and launches both; returns
/// the memory that both leave. The process needs a cache of its own.
#[allow(dead_code, reason = "not every test that includes this keeps code")]
pub(crate) fn run_kept(program: &RandomProgram, checked: bool) -> Result<Vec<Vec<u8>>, Error> {
    let (module, stream) = (&program.module, Stream::new(Device::Cpu)?);
    let name = CodeFolder::key(&[format!("{module:?}").as_bytes()]);
    let recipe = Recipe::new(&name, &[], || Err("it is on disk".into()));
    let made = MadeModule { module: module.clone(), notes: String::new() };
    let reflection = |compiled: &Arc<Compiled>| {
        let kernel = compiled.kernel(&module.functions[program.kernel].name);
        kernel.map(|kernel| format!("{:?}", kernel.reflection()))
    };
    let compiled = recipe.compile(made, build(checked))?;
    let expected = (launch(&stream, program, &compiled), reflection(&compiled)?);
    drop(compiled);
    let kept_code = recipe.find(build(checked)).expect("code that was kept is found");
    assert_eq!((launch(&stream, program, &kept_code), reflection(&kept_code)?), expected);
    expected.0
}

fn launch(
    stream: &Stream,
    program: &RandomProgram,
    compiled: &Arc<Compiled>,
) -> Result<Vec<Vec<u8>>, Error> {
    let module = &program.module;
    let kernel = compiled.kernel(&module.functions[program.kernel].name)?;
    let whole = |bytes: &Vec<u8>| stream.from_slice(bytes);
    let buffers = program.buffers.iter().map(whole).collect::<Result<Vec<Array>, Error>>()?;
    let params = &module.functions[program.kernel].params;
    let args = program.args.iter().zip(params).map(|(actual, param)| match actual {
        Actual::Bytes(bytes) => {
            Argument::Value(DataType::of(module, param.ty).expect("no handles"), bytes.clone())
        }
        Actual::Array { buffer, offset, of, shape, strides, gradient } => {
            let of = DataType::of(module, *of).expect("no handles");
            let shape: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
            let strides: Vec<isize> = strides.iter().map(|&stride| stride as isize).collect();
            let view = |buffer: usize| {
                let view = buffers[buffer].view_as(of.clone(), *offset as usize, &shape, &strides);
                view.expect("inside the buffer")
            };
            let array = view(*buffer);
            Argument::Array(match gradient {
                Some(gradient) => {
                    array.with_gradient_in(&view(*gradient)).expect("the same layout")
                }
                None => array,
            })
        }
    });
    let args: Vec<Argument> = args.collect();
    let grid: Vec<usize> = program.dims.iter().map(|&dim| dim as usize).collect();
    // The tests don't use printed text; only the CPU can keep it from standard output.
    match stream.device() {
        Device::Cpu => kernel.launch_with_output(&grid, &args, Output::Text(Arc::default()))?,
        Device::Cuda(_) => kernel.launch(&grid, &args)?,
    }
    buffers.iter().map(Array::memory_bytes).collect()
}
