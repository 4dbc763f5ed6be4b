//! Variables of a kernel that exist for arguments by reference alone.

use gbxcule_front_warp::Program;
use gbxcule_ir::print;
use gbxcule_ir::source::SourceMap;

const KERNEL: &str = "import warp as wp\n\n@wp.func\ndef twice(x: float):\n    return x + x\n\n\
    @wp.kernel\ndef k(x: wp.array(dtype=float)):\n    a = x[0] * 2.0\n    x[0] = twice(wp.max(a, 1.0)) + CALL(a)\n";
const LEND: &str = "\n@wp.func\ndef lend(x: wp.ref[float]):\n    x += 1.0\n    return x\n";

fn ir(text: &str) -> String {
    let mut sources = SourceMap::new();
    let id = sources.add("k.py", text);
    let program = Program::parse(&sources, id).expect("Python");
    print::module(&program.compile("k").expect("a kernel"))
}

#[test]
fn only_what_is_handed_to_a_reference_becomes_a_variable() {
    let kernel = KERNEL.replace("CALL", "twice");
    assert_eq!(ir(&kernel), ir(&format!("{kernel}{LEND}")));
    assert!(!ir(&kernel).contains("var a"));
    // Other functions have the names `twice` and `abs`, too.
    for call in ["lend", "second", "abs", "lender.twice"] {
        let text = format!(
            "{}{LEND}\nsecond = abs = lend\nclass lender:\n    twice = lend\n",
            KERNEL.replace("CALL", call)
        );
        assert!(ir(&text).contains("var a: f32"), "{}", ir(&text));
    }
}

#[test]
fn a_query_of_geometry_makes_variables_of_its_own_arguments_alone() {
    let kernel = KERNEL.replace("CALL", "twice");
    let grid = "\n@wp.func\ndef near(grid: wp.uint64, spot: wp.vec3, reach: float):\n    \
        query = wp.hash_grid_query(grid, spot, reach)\n    neighbour = int(0)\n    \
        wp.hash_grid_query_next(query, neighbour)\n    return wp.min(neighbour, 7)\n";
    assert_eq!(ir(&kernel), ir(&format!("{kernel}{grid}")), "a query elsewhere in the file");
    let used = "\n@wp.kernel\ndef count(grid: wp.uint64, reach: float, out: wp.array(dtype=int)):\n    \
        out[wp.tid()] = near(grid, wp.vec3(), reach)\n";
    let text = ir(&format!("import warp as wp\n{grid}{used}"));
    for (variable, is_one) in
        [("query", true), ("neighbour", true), ("reach", false), ("spot", false)]
    {
        assert_eq!(text.contains(&format!("var {variable}")), is_one, "{variable}\n{text}");
    }
}
