//! Typical names of variables and functions, grouped by the kind of thing that they name. Each line
//! of `identifiers.txt` is a kind and its names. The lines `float` are themes, whose names fit
//! together in one text.

use crate::ast::{FLOAT, INT, MAT22, Ty, VEC2, VEC3};
use gbxcule_ir::Scalar;
use std::sync::LazyLock;

/// Kinds of things, each with its names, in the order of the file.
static NAMES: LazyLock<Vec<(&str, Vec<&str>)>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let mut words = line.split(' ');
        (words.next().unwrap_or_default(), words.collect())
    };
    include_str!("identifiers.txt").lines().map(line).collect()
});

/// Number of themes.
pub(crate) const THEMES: usize = 6;

/// Returns the names of a thing, or those of its theme of this number if it has several.
fn names(thing: &str, theme: usize) -> &'static [&'static str] {
    let mut lists = NAMES.iter().filter(|(it, _)| *it == thing);
    lists.nth(theme).map_or(&[], |(_, names)| names)
}

/// Returns candidates for the name of a variable of a type, in a text of a theme.
pub(crate) fn variable(ty: Ty, theme: usize) -> &'static [&'static str] {
    match ty {
        Ty::Scalar(Scalar::Bool) => names("bool", 0),
        Ty::Scalar(of) if of.is_int() => names("int", 0),
        Ty::Scalar(_) => names("float", theme),
        VEC2 => names("plane", 0),
        Ty::Vec(..) | Ty::Struct(_) => names("vector", 0),
        Ty::Mat(..) => names("matrix", 0),
        Ty::Quat => names("quaternion", 0),
        Ty::Transform => names("transform", 0),
    }
}

/// Returns the verbs that kernels of a family have in their names.
pub(crate) fn verbs(family: &str) -> &'static [&'static str] {
    let of_family = NAMES.iter().find(|(thing, _)| thing.strip_prefix("verb.") == Some(family));
    of_family.map_or_else(|| names("verb", 0), |(_, verbs)| verbs)
}

/// Returns the fields that a struct of this name may have.
pub(crate) fn fields(structure: &str) -> impl Iterator<Item = (&'static str, Ty)> {
    let list = NAMES.iter().find(|(thing, _)| thing.strip_prefix("struct.") == Some(structure));
    let fields = list.map_or(&[][..], |(_, fields)| fields);
    fields.iter().filter_map(|field| {
        let (name, ty) = field.split_once(':')?;
        let ty = match ty {
            "int" => INT,
            "vec2" => VEC2,
            "vec3" => VEC3,
            "mat22" => MAT22,
            _ => FLOAT,
        };
        Some((name, ty))
    })
}

/// Returns the names of all structs.
pub(crate) fn structs() -> Vec<&'static str> {
    NAMES.iter().filter_map(|(thing, _)| thing.strip_prefix("struct.")).collect()
}

/// Use of a name, which decides its candidates whatever the type is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    Accumulator,
    Function,
    Output,
    Constant,
}

/// Returns the candidates for a role.
pub(crate) fn role(role: Role) -> &'static [&'static str] {
    let thing = match role {
        Role::Accumulator => "accumulator",
        Role::Function => "function",
        Role::Output => "output",
        Role::Constant => "constant",
    };
    names(thing, 0)
}

/// Returns the plural of a name, which names an array of such things.
pub(crate) fn plural(name: &str) -> String {
    match name {
        "axis" => "axes".into(),
        "index" => "indices".into(),
        "basis" => "bases".into(),
        "body" => "bodies".into(),
        "momentum" => "momenta".into(),
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
