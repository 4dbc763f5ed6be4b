//! Pairs of arrays from which each thread reads before it writes, and only its own elements; the
//! reverse of a kernel with copies.

use gbxcule_front_warp::Program;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::source::SourceMap;
use gbxcule_ir::{FunctionId, Module};
use gbxcule_passes::grad::{grad, reads_before_writes, with_copies};

fn kernel(body: &str) -> (Valid<Module>, FunctionId) {
    let text = format!(
        "import warp as wp\n\n@wp.func\ndef f(a: wp.array(dtype=float), i: int):\n    return a[i]\n\n@wp.kernel\n\
         def k(x: wp.array(dtype=float), y: wp.array(dtype=float), m: wp.array2d(dtype=float), n: int):\n{body}"
    );
    let mut sources = SourceMap::new();
    let id = sources.add("k.py", text);
    let module = Program::parse(&sources, id).and_then(|program| program.compile("k"));
    let module = module.and_then(check::module).expect("a kernel");
    let kernel = module.kernels().next().expect("one").0;
    (module, kernel)
}

#[test]
fn a_pair_reads_only_elements_of_its_thread_and_before_they_are_written() {
    for (body, expected) in [
        ("    i = wp.tid()\n    x[i] = x[i] * x[i]\n", "xx"),
        ("    i = wp.tid()\n    y[i] = x[i] / float(x.shape[0])\n", "xy"),
        (
            "    i = wp.tid()\n    a = x[i + 1]\n    b = y[i + 1]\n    x[i + 1] = b\n    y[i + 1] = a\n",
            "xx yy",
        ),
        ("    i, j = wp.tid()\n    m[j, i] = wp.sin(m[j, i])\n", "mm"),
        ("    i = wp.tid()\n    for k in range(n):\n        y[i] = x[i]\n    x[i] = 1.0\n", "xx"),
        // Another thread writes the element, or may.
        ("    i = wp.tid()\n    x[i] = x[i + 1]\n", ""),
        ("    i = wp.tid()\n    x[i] = x[n]\n", ""),
        ("    i = wp.tid()\n    x[i - 1] = x[i - 1] * 2.0\n", ""),
        ("    i, j = wp.tid()\n    x[i] = x[i] * m[i, j]\n", ""),
        ("    i = wp.tid()\n    m[n, n] = x[i]\n    x[n] = 1.0\n", ""),
        // An earlier statement or iteration writes it.
        ("    i = wp.tid()\n    x[i] = 2.0\n    y[i] = x[i]\n", ""),
        ("    i = wp.tid()\n    for k in range(n):\n        x[i] = x[i] * x[i]\n", ""),
        // Other uses of the array hide accesses.
        ("    i = wp.tid()\n    x[i] = f(x, i) * x[i]\n", ""),
        ("    i = wp.tid()\n    row = m[i]\n    m[i, 0] = row[0] * m[i, 0]\n", ""),
        ("    i = wp.tid()\n    x[i] += x[i] * x[i]\n", ""),
    ] {
        let (module, kernel) = kernel(body);
        let params = &module.functions[kernel].params;
        let name = |param: u32| params[param as usize].name.as_str();
        let pairs = reads_before_writes(&module, kernel).pairs;
        let pairs: Vec<String> =
            pairs.into_iter().map(|(one, other)| format!("{}{}", name(one), name(other))).collect();
        assert_eq!(pairs.join(" "), expected, "{body}");
    }
}

#[test]
fn a_kernel_with_copies_has_a_reverse() {
    let (module, kernel) = kernel("    i = wp.tid()\n    x[i] = x[i] * x[i]\n");
    assert!(grad(&module, kernel).is_err());
    let copied = check::module(with_copies(&module, kernel, &[0])).expect("valid");
    let names: Vec<&str> =
        copied.functions[kernel].params.iter().map(|param| param.name.as_str()).collect();
    assert_eq!(names, ["x", "y", "m", "n", "x_before_launch"]);
    let reversed = grad(&copied, kernel).expect("a reverse");
    check::module(reversed).expect("valid");
}
