//! Indexed arrays: what is taken, as C++ text and as the IR of a reverse, and what is refused.

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_front_warp::Program;
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;

fn text_of(kernels: &str) -> Result<String, String> {
    let mut sources = SourceMap::new();
    let id = sources.add("k.py", format!("from typing import Any\nimport warp as wp\n{kernels}"));
    let module = Program::parse(&sources, id).and_then(|it| check::module(it.compile("k")?));
    let module = module.map_err(|faults| render(&faults, &sources))?;
    Ok(cxx::write(&module, &Options::new(Dialect::Host)).source)
}

#[test]
fn elements_are_found_through_the_list_of_each_dimension() {
    let text = text_of(
        "@wp.kernel
def k(a: wp.indexedarray(dtype=float, ndim=2), b: wp.indexedarray[int], x: wp.array[float]):
    i = wp.tid()
    row = a[i]
    x[i] = row[b[i]] + a[i][0] + float(len(a) + a.shape[1] + a.size + a.ndim)
    wp.atomic_add(a, i, 1, 2.0)
    a[i, 1] += x[i]
",
    );
    let text = text.unwrap_or_else(|message| panic!("{message}"));
    assert!(text.contains("= a.indices_1(0);"), "{text}");
    assert_eq!(text.matches("gbx::atomic_add(a.data(").count(), 2, "{text}");
}

#[test]
fn the_same_type_is_one_struct_in_all_kernels_and_functions() {
    let text = text_of(
        "@wp.func
def first(a: wp.indexedarray(dtype=Any)):
    return a[0]
@wp.kernel
def k(a: wp.indexedarray[float], x: wp.array[float]):
    x[0] = first(a)
@wp.kernel
def l(a: wp.indexedarray1d(dtype=float), x: wp.array[float]):
    x[0] = first(a)
",
    );
    let text = text.unwrap_or_else(|message| panic!("{message}"));
    assert_eq!(text.matches("struct indexedarray1d").count(), 1, "{text}");
}

#[test]
fn an_array_is_no_indexed_array_and_slices_of_one_are_refused() {
    let message = text_of(
        "@wp.func
def first(a: wp.indexedarray(dtype=float)):
    return a[0]
@wp.kernel
def k(x: wp.array[float]):
    x[0] = first(x)
@wp.kernel
def l(a: wp.indexedarray[float], x: wp.array[float]):
    x[0] = a[1:3][0]
",
    );
    let message = message.expect_err("refused");
    assert!(message.contains("no `first` takes `array[float32]`"), "{message}");
    assert!(message.contains("slices of indexed arrays aren't supported"), "{message}");
}
