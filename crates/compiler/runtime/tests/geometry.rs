//! Queries of geometry from Rust: tables as arguments of a launch.

use gbxcule_front_warp::Program;
use gbxcule_ir::check;
use gbxcule_ir::source::SourceMap;
use gbxcule_runtime::geometry::PointCells;
use gbxcule_runtime::{Argument, Array, Build, Device, Error, Kernel, compile};

const TEXT: &str = "
import warp as wp

@wp.kernel
def count(grid: wp.uint64, x: wp.array(dtype=wp.vec3), radius: float, out: wp.array(dtype=int)):
    i = wp.tid()
    for index in wp.hash_grid_query(grid, x[i], radius):
        if wp.length(x[index] - x[i]) <= radius:
            out[i] += 1
";

fn kernel() -> Kernel {
    let mut sources = SourceMap::default();
    let id = sources.add("count.py", TEXT);
    let module = Program::parse(&sources, id).and_then(|program| program.compile("count"));
    let module = module.and_then(check::module).expect("it compiles");
    let compiled = compile(&module, Device::Cpu, Build::default()).expect("the CPU");
    compiled.kernel("count").expect("it is there")
}

/// Returns a row of the table of hash grids in the library's layout.
fn row(points: &[[f32; 3]], extents: [i32; 3], cells_per_unit: f32) -> Argument {
    let cells = PointCells::new(points, extents, cells_per_unit);
    let array = |numbers: &[i32]| Argument::from(Array::from_slice(numbers));
    Argument::Struct(vec![
        ("extents".into(), extents.into()),
        ("cells_per_unit".into(), f64::from(cells_per_unit).into()),
        ("starts".into(), array(&cells.starts)),
        ("points".into(), array(&cells.points)),
    ])
}

fn counted(grid: u64, rows: Vec<Argument>, points: &[[f32; 3]]) -> Result<Vec<i32>, Error> {
    let x = Array::from_slice(points);
    let out = Array::from_slice(&vec![0i32; points.len()]);
    let args = [grid.into(), (&x).into(), 1.5f32.into(), (&out).into(), Argument::Rows(rows)];
    kernel().launch(&[points.len()], &args)?;
    out.to_vec()
}

fn points() -> Vec<[f32; 3]> {
    let at = |n: u32| (n.wrapping_mul(2_654_435_761) >> 20) as f32 / 512.0;
    (0..200).map(|n| [at(3 * n), at(3 * n + 1), at(3 * n + 2)]).collect()
}

#[test]
fn a_grid_is_found_by_its_id_among_others() {
    let points = points();
    let rows = vec![Argument::Absent, row(&[], [2, 2, 2], 1.0), row(&points, [6, 5, 4], 0.7)];
    let near = |one: &[f32; 3], other: &[f32; 3]| {
        let away: f32 = (0..3).map(|axis| (one[axis] - other[axis]).powi(2)).sum();
        away.sqrt() <= 1.5
    };
    let count = |one: &[f32; 3]| points.iter().filter(|other| near(one, other)).count() as i32;
    let expected: Vec<i32> = points.iter().map(count).collect();
    assert_eq!(counted(2, rows.clone(), &points).expect("a grid"), expected);
    // A grid without points, and an id that no grid has.
    assert_eq!(counted(1, rows.clone(), &points).expect("a grid"), vec![0; 200]);
    assert_eq!(counted(0, rows, &points).expect("no grid"), vec![0; 200]);
}

#[test]
fn an_id_behind_the_table_is_a_fault() {
    let error = counted(9, vec![Argument::Absent], &points()).expect_err("a fault");
    assert!(error.to_string().contains("index 9 where there are 1 elements"), "{error}");
}
