//! Rows of kernels that take structs with arrays, or query geometry by an id.

use gbxcule_harvest::harvest;
use gbxcule_rows::row::{Mode, Plan, Row, Texts};
use gbxcule_rows::row_array::{ArrayKind, arrays, executed};
use gbxcule_rows::validate::{Checks, has_failed, validate};
use gbxcule_rows::verdict::Verdict;
use serde_json::Value;

const PLAN: Plan =
    Plan { seed: 1, mode: Mode::Run, device: Texts::Both, host_every: 0, sampled: 100 };

const CODE: &str = r#"# SPDX-License-Identifier: MIT
import warp as wp


@wp.struct
class Spring:
    ends: wp.array2d(dtype=int)
    rest: wp.array(dtype=float)


@wp.struct
class Cloth:
    stiffness: float
    springs: Spring
    x: wp.array(dtype=wp.vec3)
    f: wp.array(dtype=wp.vec3)


@wp.kernel
def pull(gain: float, cloth: Cloth, energy: wp.array(dtype=float)):
    i = wp.tid()
    a = cloth.springs.ends[i, 0]
    b = cloth.springs.ends[i, 1]
    d = cloth.x[b] - cloth.x[a]
    stretch = wp.length(d) - cloth.springs.rest[i]
    wp.atomic_add(cloth.f, a, d * stretch * cloth.stiffness)
    energy[i] = gain * stretch * stretch


@wp.kernel
def nearest(mesh: wp.uint64, at: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    query = wp.mesh_query_point_no_sign(mesh, at[i], 10.0)
    if query.result:
        out[i] = wp.mesh_eval_position(mesh, query.face, query.u, query.v)


@wp.kernel
def count(tree: wp.uint64, low: wp.array(dtype=wp.vec3), out: wp.array(dtype=int)):
    i = wp.tid()
    query = wp.bvh_query_aabb(tree, low[i], low[i] + wp.vec3(0.7))
    found = int(0)
    hits = int(0)
    while wp.bvh_query_next(query, found):
        hits += 1 + found
    out[i] = hits


@wp.kernel
def density(grid: wp.uint64, x: wp.array(dtype=wp.vec3), radius: float, rho: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    for other in wp.hash_grid_query(grid, x[i], wp.abs(radius)):
        d = wp.length(x[i] - x[other])
        if d < wp.abs(radius):
            total += wp.abs(radius) - d
    rho[i] = total
"#;

fn rows() -> Vec<Row> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("code.py"), CODE).expect("a file");
    let made = harvest(folder.path(), "MIT", PLAN, 1, &|| ()).expect("a harvest");
    assert!(made.refused.is_empty(), "{:?}", made.refused);
    made.rows
}

#[test]
fn they_pass_every_check_and_their_texts_give_the_results() {
    let (rows, work) = (rows(), tempfile::tempdir().expect("a folder"));
    let names: Vec<&str> = rows.iter().map(|row| &*row.kernel).collect();
    assert_eq!(names, ["pull", "nearest", "count", "density"]);
    let wanted =
        Checks { host: Some(work.path().into()), host_texts: Texts::Both, ..Checks::default() };
    for (row, found) in rows.iter().zip(validate(&rows, &wanted).expect("checks")) {
        assert!(!has_failed(&found), "{}: {found:?}", row.kernel);
        for name in ["outputs", "machine_code", "cpp", "cuda_on_host"] {
            let check = found.iter().flatten().find(|it| it.check == name);
            let verdict = check.map(|it| &it.verdict);
            assert_eq!(verdict, Some(&Verdict::Pass), "{} {name}: {found:?}", row.kernel);
        }
    }
}

#[test]
fn a_struct_with_arrays_has_an_input_for_each_field_and_gradients_of_its_arrays() {
    let rows = rows();
    let names = |kind| {
        let all = arrays(&rows[0], kind).expect("arrays");
        all.into_iter().map(|it| it.name).collect::<Vec<_>>()
    };
    let all = [
        "gain",
        "cloth.stiffness",
        "cloth.springs.ends",
        "cloth.springs.rest",
        "cloth.x",
        "cloth.f",
        "energy",
    ];
    assert_eq!(names(ArrayKind::Inputs), all);
    assert_eq!(names(ArrayKind::Outputs), ["cloth.f", "energy"]);
    let gradients = names(ArrayKind::Gradients);
    assert!(gradients.iter().any(|it| it == "cloth.x"), "{gradients:?}");
    let signature: Value = serde_json::from_str(&rows[0].signature_json).expect("JSON");
    assert_eq!(signature[4]["name"], "cloth.x");
    let check = rows[0].checks().into_iter().find(|it| it.check == "differences");
    assert_eq!(check.map(|it| it.verdict), Some(Verdict::Pass));
    let [outputs, _] = executed(&rows[0]).expect("a launch");
    let stored = arrays(&rows[0], ArrayKind::Outputs).expect("arrays");
    assert_eq!(outputs[1].bytes.len(), stored[1].bytes.len());
}

/// A walk through a tree must find what a walk over all boxes finds.
#[test]
fn a_tree_finds_the_boxes_that_meet() {
    let rows = rows();
    let floats = |row: &Row, kind, name: &str| -> Vec<f32> {
        let all = arrays(row, kind).expect("arrays");
        let of = all.into_iter().find(|it| it.name == name).expect("an array");
        of.bytes.chunks(4).map(|it| f32::from_le_bytes(it.try_into().expect("four"))).collect()
    };
    let row = &rows[2];
    let nodes = floats(row, ArrayKind::Inputs, "bvhs.nodes");
    let low = floats(row, ArrayKind::Inputs, "low");
    let found = floats(row, ArrayKind::Outputs, "out");
    let found: Vec<u32> = found.iter().map(|it| it.to_bits()).collect();
    assert!(found.iter().any(|it| *it > 0), "{found:?}");
    for (low, found) in low.chunks(3).zip(found) {
        let mut hits = 0;
        for node in nodes.chunks(8) {
            let item = node[7].to_bits() as i32;
            let meets = (0..3).all(|k| node[k] <= low[k] + 0.7 && node[k + 4] >= low[k]);
            if item >= 0 && meets {
                hits += 1 + item as u32;
            }
        }
        assert_eq!(hits, found);
    }
}
