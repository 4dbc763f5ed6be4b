//! Queries of hash grids, bounding volume hierarchies and meshes, samples of volumes, and searches
//! in sparse matrices: a library in the dialect itself.
//!
//! The library's text is added to a program that mentions the library. Its functions look ids up in
//! a table: `wp.table_of(HashGrid)` is an array of all grids, by id. A function that uses a table
//! gets it as a further parameter, and so do its callers, up to the kernel. The code that launches
//! a kernel passes the tables.

use crate::unit::{Evaluation, Unit};
use crate::value::{KnownValue, type_value};
use gbxcule_python_names::Library;
use gbxcule_python_names::syntax::Expr;

/// The library.
pub const LIBRARY: Library = Library {
    name: "<geometry>",
    text: concat!(
        include_str!("geometry/hash_grid.py"),
        include_str!("geometry/bvh.py"),
        include_str!("geometry/mesh.py"),
        include_str!("geometry/mesh_ray.py"),
        include_str!("geometry/sparse.py"),
        include_str!("geometry/volume.py"),
        include_str!("geometry/volume_sample.py"),
    ),
    is_mentioned,
};

/// Parts of names by which a text mentions the library.
const NAME_PARTS: [&str; 11] = [
    "hash_grid",
    "HashGrid",
    "mesh_",
    "MeshQuery",
    ".Mesh",
    "bvh_",
    "Bvh",
    "bsr_row_index",
    "bsr_block_index",
    "volume_",
    ".Volume",
];

/// Structs of the library that have tables, each with the name of its table.
const TABLES: [(&str, &str); 4] =
    [("HashGrid", "hash_grids"), ("Bvh", "bvhs"), ("Mesh", "meshes"), ("_VolumeGrid", "volumes")];

/// Structs of the library over which loops run, each with the function that finds the next index.
const QUERIES: [(&str, &str); 4] = [
    ("HashGridQuery", "hash_grid_query_next"),
    ("BvhQuery", "bvh_query_next"),
    ("MeshQueryAABB", "mesh_query_aabb_next"),
    ("_MeshQuerySphere", "mesh_query_next"),
];

/// Structs of the library over which the threads of a block loop together.
const TILED: [&str; 2] = ["BvhQueryTiled", "MeshQueryAABBTiled"];

/// Returns true if a struct of this name is a query, which functions of the library change.
pub fn is_query(name: &str) -> bool {
    next_of(name).is_some() || TILED.contains(&name)
}

/// Returns true if a text may use the library.
fn is_mentioned(text: &str) -> bool {
    NAME_PARTS.iter().any(|sign| text.contains(sign))
}

fn value_of(list: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    list.iter().find(|(of, _)| *of == name).map(|&(_, value_of)| value_of)
}

/// The name of the table of a struct.
pub fn table_of(name: &str) -> Option<&'static str> {
    value_of(&TABLES, name)
}

/// The function that finds the next index of a query.
pub fn next_of(name: &str) -> Option<&'static str> {
    value_of(&QUERIES, name)
}

/// A type of Warp or a function of the library, by its bare name: a kernel may leave out `wp.`
/// before it.
pub fn bare<'a>(unit: &Unit<'a>, name: &str, expr: &Expr) -> Option<KnownValue<'a>> {
    let ty = crate::warp::type_named(name).map(type_value);
    ty.or_else(|| member(unit, name, expr)?.ok())
}

/// The meaning of `wp.name`, if the library defines it.
pub(crate) fn member<'a>(unit: &Unit<'a>, name: &str, expr: &Expr) -> Option<Evaluation<'a>> {
    let root = unit.scopes.root(unit.files.library?);
    let definitions = unit.scopes.bindings_in(root, name).filter(|_| !name.starts_with('_'))?;
    match unit.bound(definitions, name, expr, root) {
        // Modules that the library imports aren't its members.
        Ok(KnownValue::Module(_)) => None,
        known => Some(known),
    }
}
