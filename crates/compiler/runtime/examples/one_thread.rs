//! Measures launches on one thread beside NVIDIA Warp's on the CPU, if `GBXCULE_PYTHON` names a
//! Python that has `warp-lang`: checked, with default settings. Rounds alternate, so that both run
//! under the same conditions; the output has medians of processor time, and the sum of each
//! kernel's results.
//!
//! `GBXCULE_THREADS=1 GBXCULE_PYTHON=.venv/bin/python cargo run --release -p gbxcule-runtime
//! --example one_thread`

#[path = "peer/process.rs"]
mod process;

use gbxcule_front_warp::Program;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Scalar, check};
use gbxcule_runtime::{Argument, Array, Build, DataType, Device, Element, compile};
use process::Peer;
use rustix::time::{ClockId, clock_gettime};

const ELEMENTS: usize = 4 << 20;
const SIDE: usize = 1 << 11;
const BODIES: usize = 1 << 12;
const ROUNDS: usize = 31;

fn main() {
    let mut peer = Peer::find("one_thread.py", ELEMENTS);
    let mut sources = SourceMap::new();
    let id = sources.add("one_thread.py", include_str!("one_thread.py"));
    let module = Program::parse(&sources, id)
        .and_then(|program| program.compile("one_thread"))
        .and_then(check::module)
        .unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)));
    let compiled = compile(&module, Device::Cpu, Build::default()).expect("compiles");
    let (float, vector) = (f32::data_type(), DataType::Vector(3, Scalar::F32));
    let cases: [(&str, &[usize], DataType, Argument); 3] = [
        ("saxpy", &[ELEMENTS], float.clone(), 0.5f32.into()),
        ("heat", &[SIDE, SIDE], float, 0.1f32.into()),
        ("bodies", &[BODIES], vector, (BODIES as i32).into()),
    ];
    for (name, grid, of, number) in cases {
        let kernel = compiled.kernel(name).expect("it is there");
        let (bytes, _) = of.layout();
        let strides: Vec<isize> = match grid {
            [_, columns] => vec![(columns * bytes) as isize, bytes as isize],
            _ => vec![bytes as isize],
        };
        let numbers = [(); 2].map(|()| ramp(grid.iter().product::<usize>() * bytes / 4));
        let arrays = numbers
            .each_ref()
            .map(|numbers| numbers.view_as(of.clone(), 0, grid, &strides).expect("as many"));
        let args = [(&arrays[0]).into(), (&arrays[1]).into(), number];
        // The first launches compile.
        kernel.launch(grid, &args).expect("runs");
        peer.as_mut().map(|peer| peer.run(name));
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            let begin = processor_seconds();
            kernel.launch(grid, &args).expect("runs");
            times[0].push(processor_seconds() - begin);
            let theirs = peer.as_mut().map(|peer| peer.run(name)).unwrap_or_default();
            times[1].extend(theirs.iter().map(std::time::Duration::as_secs_f64));
        }
        let [ours, theirs] = times.map(median);
        let sum: f64 = numbers[1].to_vec::<f32>().expect("floats").into_iter().map(f64::from).sum();
        print!("{name:6} {:9.3} ms, sum {sum:e}", ours * 1e3);
        match peer {
            None => println!(),
            Some(_) => {
                println!("; warp {:9.3} ms; {:.2} of its time", theirs * 1e3, ours / theirs);
            }
        }
    }
}

/// Makes the numbers from 0 to 1 that the script uses.
fn ramp(len: usize) -> Array {
    let numbers: Vec<f32> = (0..len).map(|at| (at % 1009) as f32 / 1009.0).collect();
    Array::from_slice(&numbers)
}

fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
