//! Names of variables and functions such as people choose, grouped by the thing that they name.

use crate::ast::{Ty, VEC2};
use gbxcule_ir::Scalar;

/// Themes of floats: each theme is a list of names that fit together in one text.
const FLOATS: [&[&str]; 6] = [
    &[
        "damping",
        "drag",
        "energy",
        "force_sum",
        "friction",
        "load",
        "mass",
        "power",
        "pressure",
        "speed",
        "stiffness",
        "strain",
        "stress",
        "tension",
        "work",
    ],
    &[
        "concentration",
        "density",
        "depth",
        "diffusivity",
        "distance",
        "flow",
        "flux",
        "height",
        "inflow",
        "porosity",
        "rate",
        "saturation",
        "slope",
        "temperature",
        "volume",
    ],
    &[
        "amplitude",
        "angle",
        "attenuation",
        "bandwidth",
        "delay",
        "drift",
        "falloff",
        "frequency",
        "gain",
        "level",
        "omega",
        "phase",
        "response",
        "shift",
        "width",
    ],
    &[
        "activation",
        "bias",
        "confidence",
        "cost",
        "decay",
        "error",
        "likelihood",
        "loss",
        "momentum",
        "rate",
        "residual",
        "score",
        "step_size",
        "temperature",
        "weight",
    ],
    &[
        "albedo",
        "blend",
        "coverage",
        "depth",
        "exposure",
        "falloff",
        "glow",
        "intensity",
        "luminance",
        "opacity",
        "radiance",
        "roughness",
        "scale",
        "shade",
        "thickness",
    ],
    &[
        "alpha",
        "amount",
        "area",
        "beta",
        "deviation",
        "error",
        "factor",
        "gamma",
        "mean",
        "ratio",
        "residual",
        "scale",
        "spread",
        "value",
        "variance",
    ],
];
const INTS: &[&str] = &[
    "bucket", "code", "count", "cursor", "digit", "flag", "group", "index", "key", "label", "lane",
    "level", "mask", "offset", "order", "pick", "rank", "seed", "slot", "state", "step", "stride",
    "tag", "token",
];
const BOOLS: &[&str] = &["active", "enabled", "hit", "inside", "moving", "valid", "visible"];
const VECTORS: &[&str] = &[
    "acceleration",
    "axis",
    "center",
    "delta",
    "direction",
    "displacement",
    "drift",
    "edge",
    "force",
    "gradient",
    "impulse",
    "momentum",
    "normal",
    "origin",
    "point",
    "position",
    "ray",
    "separation",
    "tangent",
    "target",
    "torque",
    "velocity",
];
const PLANAR: &[&str] = &[
    "anchor", "corner", "coord", "extent", "grid_pos", "offset", "pixel", "sample", "size",
    "texcoord", "uv",
];
const MATRICES: &[&str] = &[
    "basis",
    "covariance",
    "deform",
    "frame",
    "hessian",
    "inertia",
    "jacobian",
    "mat",
    "metric",
    "strain_rate",
    "stress_mat",
    "tensor",
];
const QUATS: &[&str] = &[
    "attitude",
    "heading",
    "orientation",
    "quat",
    "rot",
    "rotation",
    "spin",
    "swing",
    "turn",
    "twist",
];
const TRANSFORMS: &[&str] =
    &["body", "joint", "link", "parent", "placement", "pose", "tool", "xform"];
const ACCUMULATORS: &[&str] = &["acc", "accum", "carry", "result", "running", "sum", "total"];
const FUNCTIONS: &[&str] = &[
    "activate",
    "apply_gain",
    "attenuate",
    "blend_pair",
    "combine",
    "compress",
    "contribution",
    "decay",
    "evaluate",
    "fold",
    "kernel_weight",
    "measure",
    "mix_terms",
    "penalty",
    "profile",
    "project",
    "reflect",
    "remap",
    "respond",
    "shape_term",
    "soften",
    "transfer",
    "warp_point",
];
const STRUCTS: &[&str] = &[
    "Agent", "Bead", "Body", "Cell", "Contact", "Emitter", "Feature", "Grain", "Material", "Node",
    "Particle", "Probe", "Ray", "Sensor", "Spring", "Voxel",
];
const VERBS: &[&str] = &[
    "accumulate",
    "advance",
    "apply",
    "assemble",
    "blend",
    "build",
    "collect",
    "compute",
    "diffuse",
    "distribute",
    "estimate",
    "evaluate",
    "gather",
    "integrate",
    "map",
    "measure",
    "mix",
    "project",
    "relax",
    "resolve",
    "sample",
    "smooth",
    "solve",
    "transform",
    "update",
];

/// Number of themes.
pub(crate) const THEMES: usize = FLOATS.len();

/// Returns candidates for the name of a variable of a type, in a text of a theme.
pub(crate) fn variable(ty: Ty, theme: usize) -> &'static [&'static str] {
    match ty {
        Ty::Scalar(Scalar::Bool) => BOOLS,
        Ty::Scalar(of) if of.is_int() => INTS,
        Ty::Scalar(_) => FLOATS[theme],
        VEC2 => PLANAR,
        Ty::Vec(..) | Ty::Struct(_) => VECTORS,
        Ty::Mat(..) => MATRICES,
        Ty::Quat => QUATS,
        Ty::Transform => TRANSFORMS,
    }
}

/// Use of a name, which decides its candidates whatever the type is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    Accumulator,
    Function,
    Struct,
    Verb,
    Output,
    Constant,
}

/// Returns the candidates for a role.
pub(crate) fn role(role: Role) -> &'static [&'static str] {
    match role {
        Role::Accumulator => ACCUMULATORS,
        Role::Function => FUNCTIONS,
        Role::Struct => STRUCTS,
        Role::Verb => VERBS,
        Role::Output => &["out", "output", "result", "results", "dst", "dest", "y", "target_out"],
        Role::Constant => {
            &["BIAS", "CUTOFF", "DAMPING", "EPSILON", "GAIN", "LIMIT", "SCALE", "THRESHOLD"]
        }
    }
}

/// Returns the plural of a name, which names an array of such things.
pub(crate) fn plural(name: &str) -> String {
    match name {
        "axis" => "axes".into(),
        "index" => "indices".into(),
        "basis" => "bases".into(),
        "body" => "bodies".into(),
        "density" | "energy" | "intensity" | "velocity" => {
            format!("{}ies", &name[..name.len() - 1])
        }
        other if other.ends_with(['s', 'x']) || other.ends_with("sh") => format!("{other}es"),
        other if other.ends_with('y') && !["ay", "ey"].iter().any(|end| other.ends_with(end)) => {
            format!("{}ies", &other[..other.len() - 1])
        }
        other => format!("{other}s"),
    }
}
