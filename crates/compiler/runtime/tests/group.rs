//! Kernels that are lowered for several threads at once, compared with the interpreter: grids and
//! rows that their number doesn't divide, threads that take different branches, layouts in which
//! neighbours aren't adjacent, and indices outside of the array.

#[path = "warp/native.rs"]
mod native;

use gbxcule_front_warp::Program as Text;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{Module, Shape};
use gbxcule_runtime::{Array, Device, Error, Kernel, compile};
use gbxcule_testkit::arbitrary::{Actual, RandomProgram};

const FUNCTIONS: &str = "
@wp.func
def halved(a: float, b: float):
    if a > b:
        return 0.5 * a
    return a - b

@wp.func
def both(v: wp.vec3, k: int):
    return v * float(k), k + 1

@wp.func
def put(o: wp.array2d(dtype=float), i: int, j: int, value: float):
    o[i, j] = value
";

/// Bodies of kernels over two dimensions, `i` and `j`.
const PLANE: &[&str] = &[
    "    o[i, j] = 2.0 * m[i, j] + p[i, j]",
    "    m[i, j] = m[i, j] + 1.0\n    m[i, j] = m[i, j] * 3.0",
    // Threads take different branches before the first store, and some store before others branch.
    "    if i == 0 or j == 0 or i == m.shape[0] - 1 or j == m.shape[1] - 1:\n        o[i, j] = m[i, j]\n        return\n    \
     o[i, j] = m[i - 1, j] + m[i + 1, j] + m[i, j - 1] + m[i, j + 1] - 4.0 * m[i, j]",
    "    if m[i, j] > 0.3:\n        o[i, j] = wp.sqrt(m[i, j])\n    else:\n        if p[i, j] > 0.5:\n            \
     o[i, j] = -1.0\n        p[i, j] = m[i, j]",
    "    o[i, j] = m[i, j]\n    if m[i, j] > 0.3:\n        o[i, j] = 7.0",
    "    s = float(0.0)\n    for k in range(n):\n        if m[i, j] > 0.5:\n            s += p[i, k]\n    o[i, j] = s",
    "    if j % 3 == 1:\n        return\n    o[i, j] = float(j)",
    "    if n > 2:\n        o[i, j] = 1.0\n    else:\n        o[i, j] = p[i, j]",
    // Indices from the end of a dimension, and of both dimensions.
    "    o[i, j] = m[i - 1, j - 2]",
    "    o[i, j] = m[-1 - i, -1 - j]",
    "    o[i, j] = p[0, m.shape[1] - 1 - j]",
    "    o[m.shape[0] - 1 - i, j] = m[i, j]",
    // Loops with vectors, counters and components as variables.
    "    s = float(0.0)\n    v = wp.vec3()\n    for k in range(n):\n        s = s * 0.5 + m[i, j] * float(k)\n        \
     v += wp.vec3(s, p[i, k], 1.0)\n        v[1] = s\n    o[i, j] = s + wp.dot(v, v) + v[n % 3]",
    "    k = int(0)\n    s = m[i, j]\n    while k < n:\n        k += 1\n        if k == 3:\n            continue\n        \
     s = wp.max(s, p[i, k])\n    o[i, j] = s",
    // A loop with a function that has no vector instruction, which excludes vectors.
    "    s = m[i, j]\n    for k in range(n):\n        s = wp.round(s * 3.0) * 0.25 + halved(s, p[i, k])\n        \
     if n > 3:\n            s += 0.5\n    o[i, j] = s",
    // Functions: early results, several results, arrays, variables passed by reference.
    "    o[i, j] = halved(m[i, j], float(n)) + halved(p[0, 0], 0.5)",
    "    w, k = both(wp.vec3(m[i, j], p[i, j], 2.0), n)\n    o[i, j] = w[0] - w[1] + float(k)",
    "    put(o, i, j, m[i, j])\n    put(p, i, j, o[i, j] + 1.0)",
    // Functions with a vector instruction, and functions without one.
    "    a = m[i, j] - 0.5\n    b = p[i, j]\n    c = wp.min(a, b) + wp.max(a, 0.0) + wp.abs(a) + wp.floor(8.0 * a)\n    \
     c += wp.ceil(a) + wp.trunc(9.0 * b) + wp.rint(7.0 * a) + wp.round(5.0 * a) + wp.sqrt(a) - a / b\n    \
     o[i, j] = c + wp.mod(a, 0.2) + wp.sign(a)",
    "    a = m[i, j]\n    b = p[i, j]\n    x = a < b and not (a == 0.25) or a != a\n    y = wp.where(x, a, b)\n    \
     z = wp.where(j > 2, 1.0, 2.0)\n    o[i, j] = y + z + float(x) + wp.where(n > 2, a, y) + wp.where(a >= b, 1.0, a)",
    "    v = wp.where(m[i, j] > p[i, j], wp.vec3(1.0, m[i, j], 2.0), wp.vec3())\n    o[i, j] = wp.length(v)",
    "    o[i, j] = float(wp.float64(m[i, j]) * wp.float64(0.1)) + float(wp.float16(p[i, j]))",
    "    o[i, j] = float(int(m[i, j] * 100.0) // 7 + j * 3 - i)",
    // Additions to elements that no other thread has and to shared ones; old values.
    "    o[i, j] += m[i, j]\n    p[i, j] -= 2.0",
    "    wp.atomic_add(o, 0, 0, 1.0)",
    "    o[i, j] = wp.atomic_add(p, i, j, m[i, j])",
    // Arrays that are views.
    "    row = m[i]\n    o[i, j] = row[j] + row[0]",
];

/// Bodies of kernels over one dimension, `i`, with vectors.
const LINE: &[&str] = &[
    "    v[i] = v[i] * 2.0 + wp.vec3(1.0, x[i], 3.0)",
    "    own = v[i]\n    s = wp.vec3()\n    for j in range(n):\n        d = v[j] - own\n        s += d / (wp.dot(d, d) + 0.5)\n    \
     w[i] = s",
    "    y[i] = x[i] * 0.5\n    x[i] = y[i] + x[i]",
    "    y[i + 2] = x[i + 1] - x[i]",
    "    y[i] = x[(i * 7) % n]",
    "    y[i] = x[0]\n    w[i] = v[n]",
    "    if i >= n:\n        return\n    y[i] = x[i]",
    "    if x[i] > 0.5:\n        y[i] = 1.0\n        return\n    if x[i] > 0.25:\n        y[i] = 2.0\n        return\n    y[i] = 3.0",
    "    if x[i] > 0.5:\n        y[i] = 1.0\n    if x[i] > 0.25:\n        y[i] = 2.0",
    // Integers in vectors: conversions, operators, shifts by one amount and by several.
    "    k = int(x[i] * 3.0e9)\n    u = wp.uint32(x[i] * 6.0e9)\n    a = (k * 31 + n) ^ (k >> 2)\n    \
     b = (u << wp.uint32(3)) | (u & ~wp.uint32(255))\n    c = wp.where(k > 300, a, n - k)\n    \
     d = (u >> (u >> wp.uint32(28))) ^ (u >> ((u >> wp.uint32(29)) + wp.uint32(15)))\n    \
     w[i] = wp.vec3(float(c) + float(k), float(b), float(wp.where(u < wp.uint32(1 << 31), d, b)))\n    \
     y[i] = float(u >> (u >> wp.uint32(27))) + float(k << (k & 31)) + float(u >> wp.uint32(n * 30))",
    "    s = wp.rand_init(n, int(x[i] * 1000.0))\n    y[i] = wp.noise(s, v[i] * 3.0) + wp.randf(s)",
];

fn module(params: &str, body: &str, index: &str) -> Valid<Module> {
    let text = format!(
        "import warp as wp\n{FUNCTIONS}\n@wp.kernel\ndef k({params}, n: int):\n    {index} = wp.tid()\n{body}\n"
    );
    let mut sources = SourceMap::new();
    let id = sources.add("k.py", text);
    Text::parse(&sources, id)
        .and_then(|program| program.compile("k"))
        .and_then(check::module)
        .unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)))
}

/// Returns numbers from -0.1 to 1 in a scattered order, with an infinity and a NaN among them.
fn numbers(count: usize) -> Vec<u8> {
    let number = |at: usize| match at % 61 {
        17 => f32::INFINITY,
        29 => f32::NAN,
        31 => -0.0,
        _ => (at * 7919 % 1009) as f32 / 917.0 - 0.1,
    };
    (0..count).flat_map(|at| number(at).to_le_bytes()).collect()
}

/// Layout of an array's elements: dense, two elements apart, from the last element backwards, or
/// with the first dimension fastest.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Dense,
    Wide,
    Backwards,
    Transposed,
}

fn array(module: &Module, param: usize, buffer: usize, shape: &[u32], layout: Layout) -> Actual {
    let kernel = module.kernels().next().expect("one").0;
    let ty = module.functions[kernel].params[param].ty;
    let Shape::Array { of, .. } = module.types[ty] else { panic!("an array") };
    let size = module.types.layout(of).expect("stored").size as i32;
    let mut strides = Vec::new();
    let mut stride = size * if matches!(layout, Layout::Wide) { 2 } else { 1 };
    let order: Vec<usize> = match layout {
        Layout::Transposed => (0..shape.len()).collect(),
        _ => (0..shape.len()).rev().collect(),
    };
    strides.resize(shape.len(), 0);
    for dim in order {
        strides[dim] = stride;
        stride *= shape[dim] as i32;
    }
    let mut offset = 0;
    if matches!(layout, Layout::Backwards) {
        let last = shape.len() - 1;
        offset = (shape[last] as i32 - 1) * strides[last];
        strides[last] = -strides[last];
    }
    let shape = shape.to_vec();
    Actual::Array { buffer, offset: offset as u32, of, shape, strides, gradient: None }
}

/// Returns the checked and the unchecked kernel of a module, which all launches share.
fn kept(module: &Valid<Module>) -> [Kernel; 2] {
    [true, false].map(|checked| {
        let compiled = compile(module, Device::Cpu, native::build(checked));
        compiled.and_then(|compiled| compiled.kernel("k")).expect("compiles")
    })
}

fn agrees(program: &RandomProgram, said: &dyn Fn() -> String) {
    let expected = program.interpret().unwrap_or_else(|failure| panic!("{}: {failure:?}", said()));
    for checked in [true, false] {
        let found = native::run(program, checked).unwrap_or_else(|e| panic!("{}: {e}", said()));
        if let Some(difference) = program.difference(&expected, &found, 0) {
            panic!("{}, checked {checked}: {difference}", said());
        }
    }
}

#[test]
fn threads_of_a_plane_leave_what_the_interpreter_leaves() {
    for body in PLANE {
        let params =
            "m: wp.array2d(dtype=float), p: wp.array2d(dtype=float), o: wp.array2d(dtype=float)";
        let module = module(params, body, "i, j");
        let (kernel, _) = module.kernels().next().expect("one");
        let _kept = kept(&module);
        for (at, dims) in
            [[1, 1], [1, 4], [3, 5], [5, 3], [2, 8], [4, 13], [9, 6]].iter().enumerate()
        {
            for layout in [Layout::Dense, Layout::Wide, Layout::Backwards, Layout::Transposed] {
                // The arrays have rows and columns beyond the grid, because loops read up to five
                // of them.
                let shape = [dims[0].max(2), dims[1] + 6];
                let others = if at % 2 == 0 { layout } else { Layout::Dense };
                let layouts = [layout, others, Layout::Dense];
                let mut args: Vec<Actual> = (0..3)
                    .map(|param| array(&module, param, param, &shape, layouts[param]))
                    .collect();
                args.push(Actual::Bytes((at as i32).min(5).to_le_bytes().into()));
                let count = (shape[0] * shape[1] * 2) as usize;
                let buffers = vec![numbers(count), numbers(count + 7)[28..].into(), numbers(count)];
                let program = RandomProgram {
                    module: module.clone(),
                    kernel,
                    dims: dims.to_vec(),
                    buffers,
                    args,
                };
                agrees(&program, &|| format!("{dims:?} {layout:?}\n{body}"));
            }
        }
    }
}

#[test]
fn threads_of_a_line_leave_what_the_interpreter_leaves() {
    for body in LINE {
        let params = "x: wp.array(dtype=float), y: wp.array(dtype=float), v: wp.array(dtype=wp.vec3), \
                      w: wp.array(dtype=wp.vec3)";
        let module = module(params, body, "i");
        let (kernel, _) = module.kernels().next().expect("one");
        let _kept = kept(&module);
        for dims in 1..=14u32 {
            for layout in [Layout::Dense, Layout::Wide, Layout::Backwards] {
                let len = dims + 3;
                let mut args: Vec<Actual> =
                    (0..4).map(|param| array(&module, param, param, &[len], layout)).collect();
                args.push(Actual::Bytes((dims as i32 / 2 + 1).to_le_bytes().into()));
                let buffers = (0..4).map(|at| numbers(len as usize * 6 + at)).map(|mut bytes| {
                    bytes.truncate(len as usize * 24);
                    bytes
                });
                let buffers = buffers.collect();
                let program = RandomProgram {
                    module: module.clone(),
                    kernel,
                    dims: vec![dims],
                    buffers,
                    args,
                };
                agrees(&program, &|| format!("{dims} {layout:?}\n{body}"));
            }
        }
    }
}

#[test]
fn sines_of_a_group_are_those_of_single_threads() {
    let params = "x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float)";
    let module = module(params, "    y[i] = wp.sin(x[i])\n    z[i] = wp.cos(x[i])", "i");
    let [kernel, _] = kept(&module);
    let far = [1.0e5, -99_999.99, 1.0e30, f32::INFINITY, f32::NAN, -0.0, 1.0e-40];
    let near = (0..2_000).map(|at| (at as f32 - 1_000.0) * 0.37);
    let numbers: Vec<f32> = near.chain(far.into_iter().cycle().take(60)).collect();
    let run = |numbers: &[f32]| {
        let [x, y, z] = [0; 3].map(|_| Array::from_slice(numbers));
        let arguments = [(&x).into(), (&y).into(), (&z).into(), 0i32.into()];
        kernel.launch(&[numbers.len()], &arguments).expect("no index is outside");
        let results = [y, z].map(|array| array.to_vec::<f32>().expect("floats"));
        let bits = results.concat().into_iter().map(f32::to_bits);
        bits.collect::<Vec<u32>>()
    };
    for group in numbers.windows(4) {
        // Three threads are no group.
        let alone: Vec<u32> = [run(&group[..1]), run(&group[1..])].concat();
        let [first, second, a, b, c, d, e, f] = alone[..] else { panic!("eight results") };
        assert_eq!(run(group), [first, a, b, c, second, d, e, f], "{group:?}");
    }
}

#[test]
fn an_index_outside_is_found_in_each_thread_of_a_group() {
    let params = "x: wp.array(dtype=float), y: wp.array(dtype=float)";
    for body in [
        "    y[i] = x[i]",
        "    y[i] = 1.0\n    x[i + 1] = 2.0",
        "    y[i] = x[i - 40]",
        "    x[i] += 1.0",
    ] {
        let module = module(params, body, "i");
        let (kernel, _) = module.kernels().next().expect("one");
        let _kept = kept(&module);
        for len in 1..12u32 {
            let x = array(&module, 0, 0, &[len], Layout::Dense);
            let y = array(&module, 1, 1, &[50], Layout::Dense);
            let args = vec![x, y, Actual::Bytes(vec![0; 4])];
            let buffers = vec![vec![0; len as usize * 4], vec![0; 200]];
            let program =
                RandomProgram { module: module.clone(), kernel, dims: vec![40], buffers, args };
            let failure = program.interpret().expect_err("it leaves the array");
            let Err(Error::Fault(fault)) = native::run(&program, true) else {
                panic!("no fault: {len} {body}")
            };
            assert_eq!(fault.code, failure.diagnostic().code, "{len} {body}");
            if let Some(thread) = body.starts_with("    y[i] = x[i]").then_some(i64::from(len)) {
                assert_eq!(fault.thread, [thread], "{len} {body}");
            }
        }
    }
}
