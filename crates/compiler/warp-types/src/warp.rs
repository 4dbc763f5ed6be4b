//! Names of the `warp` module that are types or constants, and features of Warp that this compiler
//! lacks.

use crate::annotation::Annotation;
use crate::value::{KnownValue, WarpValue};
use gbxcule_ir::builtin::Domain;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::ty::Scalar;
use std::rc::Rc;

/// Type that `wp.name` stands for, if it stands for a type.
pub(crate) fn type_named(name: &str) -> Option<Annotation> {
    if let Some(scalar) = scalar_named(name) {
        return Some(Annotation::Scalar(scalar));
    }
    let of = |scalar| Annotation::scalar(scalar);
    Some(match name {
        "Float" => Annotation::Family(Domain::Float),
        "Int" => Annotation::Family(Domain::Int),
        "Scalar" => Annotation::Family(Domain::Number),
        "Any" => Annotation::Any,
        "Function" => Annotation::Callable,
        "handle" => Annotation::Scalar(Scalar::U64),
        "Texture1D" | "Texture2D" | "Texture3D" => {
            Annotation::Unsupported(Code::UnsupportedTexture, "textures")
        }
        "fabricarray" | "indexedfabricarray" | "fabricarrayarray" | "indexedfabricarrayarray" => {
            Annotation::Unsupported(Code::UnsupportedFabricArray, "fabric arrays")
        }
        _ => {
            let (stem, end) = [
                "transformation",
                "transform",
                "quaternion",
                "quat",
                "spatial_vector",
                "spatial_matrix",
            ]
            .into_iter()
            .find_map(|stem| Some((stem, name.strip_prefix(stem)?)))
            .or_else(|| Some((name.get(..3)?, name.get(3..)?)))?;
            match stem {
                "vec" => {
                    let len = end.get(..1)?.parse().ok().filter(|len| (2..=4).contains(len))?;
                    Annotation::Vector(Some(len), of(suffix(end.get(1..)?)?))
                }
                "mat" => {
                    let rows: u16 = end.get(..1)?.parse().ok()?;
                    let cols: u16 = end.get(1..2)?.parse().ok()?;
                    if rows != cols || !(2..=4).contains(&rows) {
                        return None;
                    }
                    Annotation::Matrix(Some(rows), Some(cols), of(suffix(end.get(2..)?)?))
                }
                "quat" | "quaternion" => Annotation::Quaternion(of(float_suffix(end)?)),
                "transform" | "transformation" => Annotation::Transform(of(float_suffix(end)?)),
                "spatial_vector" => Annotation::Vector(Some(6), of(float_suffix(end)?)),
                "spatial_matrix" => Annotation::Matrix(Some(6), Some(6), of(float_suffix(end)?)),
                _ => return None,
            }
        }
    })
}

/// Scalar type that `wp.name` stands for, if it stands for a scalar type.
pub(crate) fn scalar_named(name: &str) -> Option<Scalar> {
    Some(match name {
        "bool" => Scalar::Bool,
        "int8" => Scalar::I8,
        "int16" => Scalar::I16,
        "int32" | "int" => Scalar::I32,
        "int64" => Scalar::I64,
        "uint8" => Scalar::U8,
        "uint16" => Scalar::U16,
        "uint32" => Scalar::U32,
        "uint64" => Scalar::U64,
        "float16" => Scalar::F16,
        "bfloat16" => Scalar::Bf16,
        "float32" | "float" => Scalar::F32,
        "float64" => Scalar::F64,
        _ => return None,
    })
}

/// A class of arrays.
#[derive(Clone, Copy)]
pub(crate) struct ArrayClass {
    /// Number of dimensions of `array1d` .. `array4d`; `None` for `array`, which takes `ndim`.
    pub dims: Option<u8>,
    /// True for `indexedarray` and similar classes.
    is_indexed: bool,
}

impl ArrayClass {
    /// Array of this class with elements of a type; it has one dimension unless the class says
    /// otherwise.
    pub(crate) fn of(self, of: Annotation) -> Annotation {
        let (of, dims) = (Rc::new(of), self.dims.unwrap_or(1));
        match self.is_indexed {
            true => Annotation::Indexed(of, dims),
            false => Annotation::Array(of, dims),
        }
    }
}

/// The class of arrays that a name means.
pub(crate) fn array_named(name: &str) -> Option<ArrayClass> {
    let (is_indexed, base_name) = match name.strip_prefix("indexed") {
        Some(base_name) => (true, base_name),
        None => (false, name),
    };
    let dims = match base_name {
        "array" => None,
        "array1d" => Some(1),
        "array2d" => Some(2),
        "array3d" => Some(3),
        "array4d" => Some(4),
        _ => return None,
    };
    Some(ArrayClass { dims, is_indexed })
}

fn suffix(letters: &str) -> Option<Scalar> {
    match letters {
        "" => Some(Scalar::F32),
        "bf" => Some(Scalar::Bf16),
        "bool" => None,
        _ => Scalar::ALL.into_iter().find(|scalar| scalar.suffix() == letters),
    }
}

fn float_suffix(letters: &str) -> Option<Scalar> {
    suffix(letters).filter(|scalar| scalar.is_float())
}

/// A number of the `warp` or `math` module.
pub(crate) fn number_named(name: &str) -> Option<f64> {
    use std::f64::consts;
    Some(match name {
        "pi" | "PI" => consts::PI,
        "half_pi" | "HALF_PI" => consts::FRAC_PI_2,
        "tau" | "TAU" => consts::TAU,
        "e" | "E" => consts::E,
        "log2e" | "LOG2E" => consts::LOG2_E,
        "log10e" | "LOG10E" => consts::LOG10_E,
        "ln2" | "LN2" => consts::LN_2,
        "ln10" | "LN10" => consts::LN_10,
        "phi" | "PHI" => 1.618_033_988_749_895,
        "inf" | "INF" => f64::INFINITY,
        "nan" | "NAN" => f64::NAN,
        _ => return None,
    })
}

/// Returns the feature to which a function of the `warp` module belongs, if this compiler lacks it:
/// its code and its description.
pub fn missing_feature(name: &str) -> Option<(Code, &'static str)> {
    let features: &[(&str, Code, &'static str)] = &[
        ("tile", Code::UnsupportedTile, "these functions of tiles"),
        ("mesh_", Code::UnsupportedMesh, "such queries of meshes"),
        ("texture_", Code::UnsupportedTexture, "textures"),
        ("bvh_", Code::UnsupportedBvh, "such queries of hierarchies"),
        ("hash_grid_", Code::UnsupportedHashGrid, "such queries of hash grids"),
        ("dense_", Code::UnsupportedDense, "dense linear algebra"),
        ("address_of", Code::UnsupportedPointer, "raw pointers"),
        ("func_native", Code::UnsupportedNative, "native snippets"),
        ("adjoint", Code::UnsupportedAdjoint, "adjoint variables"),
        ("fixedarray", Code::UnsupportedFixedArray, "fixed arrays as types"),
        ("breakpoint", Code::UnsupportedBreakpoint, "breakpoints"),
    ];
    features
        .iter()
        .find(|(prefix, ..)| {
            if prefix.ends_with('_') || *prefix == "tile" {
                name.starts_with(prefix)
            } else {
                name == *prefix
            }
        })
        .map(|&(_, code, what)| (code, what))
}

/// Names of `warp` that `from .. import *` may have bound.
pub(crate) fn starred_name<'a>(name: &str) -> Option<KnownValue<'a>> {
    if matches!(name, "wp" | "warp") {
        return Some(KnownValue::Module("warp".into()));
    }
    if let Some(ty) = type_named(name) {
        return Some(KnownValue::Dialect(WarpValue::Type(ty)));
    }
    let is_known = gbxcule_ir::builtin::find(name).is_some() || missing_feature(name).is_some();
    is_known.then(|| KnownValue::Member(format!("warp.{name}").into()))
}
