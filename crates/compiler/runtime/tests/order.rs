//! Launches on one thread leave the same memory as the interpreter, which runs the kernel's threads
//! one after another: kernels whose elements other threads read and write, and arrays that share
//! memory.

#[path = "warp/native.rs"]
mod native;

use gbxcule_front_warp::Program as Text;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Module, Scalar, Type};
use gbxcule_testkit::arbitrary::{Actual, Random, RandomProgram};

/// Returns true if launches run on one thread in this process. Else runs the test in a process
/// where they do.
fn is_on_one_thread(test: &str) -> bool {
    const NAME: &str = "GBXCULE_THREADS";
    if std::env::var(NAME).is_ok_and(|threads| threads == "1") {
        return true;
    }
    let program = std::env::current_exe().expect("the path of this program");
    let mut child = std::process::Command::new(program);
    let status = child.args(["--exact", test, "--nocapture"]).env(NAME, "1").status();
    assert!(status.expect("this program starts").success(), "{test} fails on one thread");
    false
}

fn module(body: &str, dims: &[u32]) -> Valid<Module> {
    let names = ["i", "r, i"][dims.len() - 1];
    let text = format!(
        "import warp as wp\n\n@wp.func\ndef put(a: wp.array(dtype=float), i: int, v: float):\n    a[i] = v\n\n\
         @wp.func\ndef take(a: wp.array(dtype=float), i: int):\n    return 0.5 * a[i] + a[i - 1]\n\n\
         @wp.kernel\ndef k(x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float), \
         c: wp.array(dtype=int), n: int):\n    {names} = wp.tid()\n{body}"
    );
    let mut sources = SourceMap::new();
    let id = sources.add("k.py", text);
    Text::parse(&sources, id)
        .and_then(|program| program.compile("k"))
        .and_then(check::module)
        .unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)))
}

/// Compares launches of `dims` threads, in one dimension or two. `buffers` has the number of the
/// buffer of floats for each of the three arrays.
fn agrees(body: &str, dims: &[u32], buffers: [usize; 3], shifts: [u32; 3]) {
    let module = module(body, dims);
    let (kernel, _) = module.kernels().next().expect("one");
    let len = 3 * dims[dims.len() - 1] + 12;
    let float = |buffer: usize, shift: u32| Actual::Array {
        buffer,
        offset: 4 * shift,
        of: Type::scalar(Scalar::F32),
        shape: vec![len],
        strides: vec![4],
        gradient: None,
    };
    let mut args: Vec<Actual> = (0..3).map(|at| float(buffers[at], shifts[at])).collect();
    args.push(Actual::Array {
        buffer: 3,
        offset: 0,
        of: Type::scalar(Scalar::I32),
        shape: vec![len],
        strides: vec![4],
        gradient: None,
    });
    args.push(Actual::Bytes(2i32.to_le_bytes().into()));
    let number = |at: u32| ((at * 7919 % 1009) as f32 / 917.0).to_le_bytes();
    let floats: Vec<u8> = (0..len + 4).flat_map(number).collect();
    let ints = (0..len).flat_map(|at| (at as i32 * 5 % 7).to_le_bytes()).collect();
    let memory = vec![floats.clone(), floats.clone(), floats, ints];
    let program = RandomProgram { module, kernel, dims: dims.into(), buffers: memory, args };
    let case = || format!("{dims:?} threads, memory {buffers:?} from {shifts:?}\n{body}");
    let expected = program.interpret().unwrap_or_else(|fault| panic!("{}: {fault:?}", case()));
    for checked in [true, false] {
        let actual = native::run(&program, checked).unwrap_or_else(|e| panic!("{}: {e}", case()));
        if let Some(difference) = program.difference(&expected, &actual, 0) {
            panic!("{}, checked {checked}: {difference}", case());
        }
    }
}

#[test]
fn a_sum_over_neighbours_runs_from_the_first_thread_to_the_last() {
    if !is_on_one_thread("a_sum_over_neighbours_runs_from_the_first_thread_to_the_last") {
        return;
    }
    agrees("    x[i + 1] = x[i + 1] + x[i]\n", &[9], [0, 1, 2], [0; 3]);
    agrees("    x[i] = x[i] + x[i - 1]\n", &[8], [0, 1, 2], [0; 3]);
}

#[test]
fn arrays_of_a_launch_that_share_memory_are_written_in_order() {
    if !is_on_one_thread("arrays_of_a_launch_that_share_memory_are_written_in_order") {
        return;
    }
    for body in [
        "    y[i] = x[i] * 2.0 + 1.0\n    z[i] = y[i] + x[i]\n",
        "    y[i] = x[i] + 1.0\n",
        "    y[3 * i] = x[3 * i + 2]\n    y[3 * i + 2] = x[3 * i]\n",
        "    y[c[i]] = x[i]\n",
    ] {
        for buffers in [[0, 1, 2], [0, 0, 2], [0, 0, 0]] {
            for shifts in [[0, 0, 0], [0, 1, 0], [1, 0, 2], [0, 3, 0]] {
                agrees(body, &[11], buffers, shifts);
            }
        }
    }
}

#[test]
fn a_sum_in_one_element_or_in_a_branch_is_as_its_threads_leave_it() {
    if !is_on_one_thread("a_sum_in_one_element_or_in_a_branch_is_as_its_threads_leave_it") {
        return;
    }
    let branch = "    s = float(0.0)\n    for j in range(9):\n        d = x[i + j]\n        if d < 0.5:\n            s += d\n        \
                  if not (d > y[j]):\n            s -= d * 2.0\n        if d != 0.25:\n            s = s * x[0]\n    z[i] = s\n";
    for body in [
        "    wp.atomic_add(y, n, x[i])\n",
        "    wp.atomic_sub(y, -1, x[i] * 0.7)\n",
        "    wp.atomic_max(y, 0, x[i])\n",
        "    wp.atomic_add(c, 1, c[i])\n",
        "    v = wp.atomic_add(y, n, x[i])\n    w = wp.atomic_add(z, 0, v)\n",
        "    v = wp.atomic_add(y, n, x[i])\n    z[i] = v\n",
        branch,
    ] {
        for buffers in [[0, 1, 2], [0, 0, 2]] {
            agrees(body, &[23], buffers, [0; 3]);
        }
    }
    // The element changes with each row, within a group or between two.
    for row in [4, 7, 16] {
        agrees("    wp.atomic_add(y, r, x[i])\n", &[5, row], [0, 1, 2], [0; 3]);
        agrees("    wp.atomic_add(y, r % 2, x[i])\n", &[5, row], [0, 1, 2], [0; 3]);
    }
}

fn index(random: &mut Random) -> &'static str {
    random.pick(&[
        "i",
        "i",
        "i",
        "i + 1",
        "i - 1",
        "i + 3",
        "2 * i",
        "3 * i + 1",
        "3 * i + 2",
        "i * n",
        "i + n",
        "n - i",
        "c[i]",
        "i / 2",
        "0",
        "-1 - i",
        "n",
        "i + j",
        "3 * i + j",
        "j",
    ])
}

fn statement(random: &mut Random) -> String {
    let array = |random: &mut Random| random.pick(&["x", "x", "y", "z"]);
    let (to, from, one, other) = (array(random), array(random), index(random), index(random));
    match random.below(7) {
        0..3 => format!("{to}[{one}] = {from}[{other}] * 0.5 + float(i)"),
        3 => format!("{to}[{one}] += {from}[{other}]"),
        4 => format!("put({to}, {one}, take({from}, {other}))"),
        5 => format!("wp.atomic_add(c, {one}, 3)"),
        _ => format!("{to}[{one}] = float(wp.atomic_add(c, {other}, 1))"),
    }
}

#[test]
fn random_kernels_that_read_and_write_neighbours_run_in_order() {
    if !is_on_one_thread("random_kernels_that_read_and_write_neighbours_run_in_order") {
        return;
    }
    for seed in 0..400 {
        let random = &mut Random::new(seed);
        let mut body = String::from("    j = 1\n");
        for _ in 0..1 + random.below(3) {
            let depth = if random.chance(30) {
                body += random.pick(&["    for j in range(3):\n", "    for j in range(n):\n"]);
                "        "
            } else {
                "    "
            };
            body += &format!("{depth}{}\n", statement(random));
        }
        let dims = 1 + random.below(14);
        let buffers = random.pick(&[[0, 1, 2], [0, 1, 2], [0, 0, 2], [0, 1, 1], [0, 0, 0]]);
        let shifts = random.pick(&[[0, 0, 0], [0, 0, 0], [0, 1, 2]]);
        agrees(&body, &[dims], buffers, shifts);
    }
}
