//! Measures a reverse launch beside the forward launch, here and in NVIDIA Warp on the CPU if
//! `GBXCULE_PYTHON` names a Python that has `warp-lang`; and how the cost grows with the iterations
//! of a loop. Rounds alternate, so that both run under the same conditions; the output has medians.
//! Warp's CPU uses one thread, so this does as well.
//!
//! `GBXCULE_THREADS=1 GBXCULE_PYTHON=.venv/bin/python cargo run --release -p gbxcule-runtime
//! --example gradient_speed`

#[path = "peer/process.rs"]
mod process;

use gbxcule_front_warp::Program;
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_passes::grad::reverses;
use gbxcule_runtime::{Argument, Array, Build, Device, Element, Kernel, compile};
use process::Peer;
use std::time::{Duration, Instant};

const ELEMENTS: usize = 4 << 20;
const ROUNDS: usize = 9;

fn main() {
    let mut peer = Peer::find("gradient_speed.py", ELEMENTS);
    let x =
        Array::zeros(f32::data_type(), &[ELEMENTS]).expect("fits").with_gradient().expect("fits");
    let y =
        Array::zeros(f32::data_type(), &[ELEMENTS]).expect("fits").with_gradient().expect("fits");
    let cases: [(&str, usize, Argument); 2] =
        [("saxpy", ELEMENTS, 0.5f32.into()), ("sines", ELEMENTS / 16, 100.into())];
    for (name, threads, number) in cases {
        let kernels = kernels(name);
        let args = [(&x).into(), (&y).into(), number];
        let ours = || kernels.each_ref().map(|kernel| run(kernel, threads, &args));
        let mut times = [const { Vec::new() }; 4];
        // The first launches compile.
        ours();
        peer.as_mut().map(|peer| peer.run(name));
        for _ in 0..ROUNDS {
            let theirs = peer.as_mut().map(|peer| peer.run(name)).unwrap_or_default();
            let theirs = theirs.into_iter().map(milliseconds);
            for (times, time) in times.iter_mut().zip(ours().into_iter().chain(theirs)) {
                times.push(time);
            }
        }
        let [forward, back, their_forward, their_back] = times.map(median);
        println!(
            "{name}: forward {forward:.1} ms, back {back:.1} ms, {:.2} times as long",
            back / forward
        );
        if peer.is_some() {
            println!(
                "    warp: forward {their_forward:.1} ms, back {their_back:.1} ms, {:.2} times as long; ours goes \
                 forward {:.2} and back {:.2} times as fast",
                their_back / their_forward,
                their_forward / forward,
                their_back / back
            );
        }
    }
    let [forward, back] = kernels("sines");
    for steps in [10, 1_000, 1_000_000] {
        let args = [(&x).into(), (&y).into(), steps.into()];
        // The number of threads makes the time long enough to measure.
        let threads = (1_000_000 / steps) as usize;
        let time = |kernel: &Kernel| median((0..3).map(|_| run(kernel, threads, &args)).collect());
        let (forward, back) = (time(&forward), time(&back));
        println!("{steps} iterations: back {:.1} times as long as forward", back / forward);
    }
}

/// Compiles a kernel of the script and its reverse.
fn kernels(name: &str) -> [Kernel; 2] {
    let mut sources = SourceMap::new();
    let id = sources.add("gradient_speed.py", include_str!("gradient_speed.py"));
    let module = Program::parse(&sources, id)
        .and_then(|program| program.compile("gradient_speed"))
        .and_then(check::module)
        .and_then(|module| {
            let kernels: Vec<_> = module.kernels().map(|(id, _)| id).collect();
            check::module(reverses(&module, &kernels)?.0)
        })
        .unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)));
    let compiled = compile(&module, Device::Cpu, Build::default()).expect("compiles");
    [name, &format!("adj_{name}")].map(|name| compiled.kernel(name).expect("it is there"))
}

/// Returns the milliseconds of a launch.
fn run(kernel: &Kernel, threads: usize, args: &[Argument]) -> f64 {
    let begin = Instant::now();
    kernel.launch(&[threads], args).expect("runs");
    milliseconds(begin.elapsed())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
