//! Measures kernels' compilation and launches, beside NVIDIA Warp's CPU if `GBXCULE_PYTHON` names a
//! Python that has `warp-lang`. Rounds alternate, so that both run under the same conditions; the
//! output has medians.
//!
//! `GBXCULE_PYTHON=.venv/bin/python cargo run --release -p gbxcule-runtime --example launch_speed`
//!
//! With a device as argument (`-- cuda:0`) kernels run there: the program waits for each launch,
//! and the last line has the time of a launch without a wait.

#[path = "peer/process.rs"]
mod process;

use gbxcule_front_warp::Program;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Builder, Module, Native, Param, Type};
use gbxcule_runtime::{Argument, Build, Device, Element, Kernel, Stream, compile};
use process::Peer;
use std::time::{Duration, Instant};

const ELEMENTS: usize = 4 << 20;
const ROUNDS: usize = 9;
const MANY: u32 = 1000;

fn main() {
    let (build, checked) = (Build::default(), "checked");
    let device = std::env::args().nth(1).unwrap_or("cpu".into());
    let device: Device = device.parse().unwrap_or_else(|error| panic!("{error}"));
    let stream = Stream::new(device).unwrap_or_else(|error| panic!("{error}"));
    let mut peer = Peer::find("launch_speed.py", ELEMENTS);
    compile_speed(device, peer.as_mut());
    for (name, module, args) in [saxpy(&stream), sines(&stream), empty(&stream)] {
        let kernel = compile(&module, device, build).and_then(|c| c.kernel(name));
        let kernel = kernel.expect("compiles");
        let threads = if name == "empty" { 1 } else { ELEMENTS };
        let mut times = [Vec::new(), Vec::new()];
        run(&stream, &kernel, threads, &args);
        for _ in 0..ROUNDS {
            times[0].push(run(&stream, &kernel, threads, &args));
            times[1].extend(peer.as_mut().into_iter().flat_map(|peer| peer.run(name)));
        }
        let [ours, theirs] = times.map(median);
        print!("{name:6} {checked}: {:9.1} us", ours.as_secs_f64() * 1e6);
        match theirs.as_secs_f64() {
            0.0 => println!(),
            theirs => println!(
                ", warp {:9.1} us, {:.2} times as fast",
                theirs * 1e6,
                theirs / ours.as_secs_f64()
            ),
        }
        if name == "empty" {
            let begin = Instant::now();
            (0..MANY).for_each(|_| kernel.launch(&[threads], &args).expect("runs"));
            let each = begin.elapsed() / MANY;
            stream.synchronize().expect("runs");
            println!("empty, not waited for: {:.2} us", each.as_secs_f64() * 1e6);
        }
    }
}

/// Measures the time from source text to code that is ready to run, for the samples in
/// `docs/samples`. Warp does the same once, with an empty cache, after a kernel that warmed it up.
fn compile_speed(device: Device, mut peer: Option<&mut Peer>) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/samples");
    let files = std::fs::read_dir(folder).expect("docs/samples").map(|file| file.expect("a file"));
    let mut paths: Vec<_> = files.map(|file| file.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "py"));
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a sample");
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            let mut sources = SourceMap::new();
            let id = sources.add("sample", text.clone());
            let program = Program::parse(&sources, id).expect("Python");
            let module = program.compile("sample").and_then(check::module).expect("valid");
            // No kernel holds the code, so the next round compiles it again.
            compile(&module, device, Build::default()).expect("compiles");
            times.push(begin.elapsed());
        }
        let name = path.file_stem().unwrap_or_default().display().to_string();
        let ours = median(times).as_secs_f64() * 1e3;
        print!("source to machine code, {name:10}: {ours:6.2} ms");
        match &mut peer {
            Some(peer) => {
                let theirs = peer.run(&format!("compile {}", path.display()));
                println!(", warp {:7.1} ms", theirs[0].as_secs_f64() * 1e3);
            }
            None => println!(),
        }
    }
}

type Case = (&'static str, Valid<Module>, Vec<Argument>);

fn saxpy(stream: &Stream) -> Case {
    let mut module = Module::new("saxpy");
    let array = module.types.array(Type::F32, 1);
    let params =
        vec![Param::value("x", array), Param::value("y", array), Param::value("a", Type::F32)];
    let kernel = module.declare_kernel("saxpy", params);
    let mut b = Builder::new(&mut module, kernel);
    let i = b.launch_index(0);
    let (x, y) = (b.param_place(0), b.param_place(1));
    let (x, y) = (b.element(x, &[i]), b.element(y, &[i]));
    let (a, x) = (b.arg(2), b.load(x));
    let product = b.mul(a, x);
    let old = b.load(y);
    let sum = b.add(product, old);
    b.store(y, sum);
    b.finish();
    let [x, y] = [(); 2].map(|()| stream.zeros(f32::data_type(), &[ELEMENTS]).expect("fits"));
    ("saxpy", check::module(module).expect("valid"), vec![x.into(), y.into(), 0.5f32.into()])
}

fn sines(stream: &Stream) -> Case {
    let mut module = Module::new("sines");
    let array = module.types.array(Type::F32, 1);
    let kernel = module.declare_kernel("sines", vec![Param::value("x", array)]);
    let mut b = Builder::new(&mut module, kernel);
    let i = b.launch_index(0);
    let x = b.param_place(0);
    let x = b.element(x, &[i]);
    let v = b.local("v", Type::F32);
    let v = b.local_place(v);
    let first = b.load(x);
    b.store(v, first);
    let (zero, end, one) = (b.i32(0), b.i32(100), b.i32(1));
    b.for_range("step", [zero, end, one], |b, _| {
        let now = b.load(v);
        let sine = b.native(Native::Sin, &[now]);
        let half = b.f32(0.5);
        let next = b.add(sine, half);
        b.store(v, next);
    });
    let last = b.load(v);
    b.store(x, last);
    b.finish();
    let x = stream.zeros(f32::data_type(), &[ELEMENTS]).expect("fits");
    ("sines", check::module(module).expect("valid"), vec![x.into()])
}

fn empty(stream: &Stream) -> Case {
    let mut module = Module::new("empty");
    let array = module.types.array(Type::F32, 1);
    let kernel = module.declare_kernel("empty", vec![Param::value("x", array)]);
    Builder::new(&mut module, kernel).finish();
    let x = stream.zeros(f32::data_type(), &[1]).expect("fits");
    ("empty", check::module(module).expect("valid"), vec![x.into()])
}

fn run(stream: &Stream, kernel: &Kernel, threads: usize, args: &[Argument]) -> Duration {
    let begin = Instant::now();
    kernel.launch(&[threads], args).and_then(|()| stream.synchronize()).expect("runs");
    begin.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
