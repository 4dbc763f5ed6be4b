//! Warp's dialect of Python: the values that it adds, and its answers to the evaluator's questions.

use crate::annotation::{Annotation, StructKey};
use crate::decorator::{self, Role};
use crate::known_call;
use crate::library::{self, Library};
use crate::module;
use crate::reference::References;
use crate::signature;
use crate::trial::{self, Trials};
use crate::warp;
use gbxcule_ir::constant::Literal;
use gbxcule_python_names::syntax::{Expr, StmtClassDef, StmtFunctionDef};
use gbxcule_python_names::{Files, ScopeId};
use gbxcule_python_values::{Dialect, Evaluator, Foreign, FrameId};
use std::rc::Rc;

/// A program in Warp's dialect.
pub(crate) type Unit<'a> = Evaluator<'a, Warp<'a>>;

/// A value known without running Python.
pub(crate) type KnownValue<'a> = gbxcule_python_values::KnownValue<'a, WarpValue<'a>>;

/// Result of an evaluation.
pub(crate) type Evaluation<'a> = gbxcule_python_values::Evaluation<'a, Warp<'a>>;

/// A call that is evaluated.
pub(crate) type Call<'c, 'a> = gbxcule_python_values::Call<'c, 'a, Warp<'a>>;

/// State of the dialect for a program.
pub(crate) struct Warp<'a> {
    /// Library that the texts may import besides Warp and each other.
    pub(crate) library: Option<&'a Library>,
    pub(crate) references: Rc<References<'a>>,
    pub(crate) trials: Trials<'a>,
}

impl<'a> Warp<'a> {
    /// Makes the evaluator of a program that may import a library.
    pub(crate) fn unit(files: &'a Files, library: Option<&'a Library>) -> Unit<'a> {
        let references = Rc::new(References::read(files));
        Evaluator::new(files, Self { library, references, trials: Trials::default() })
    }
}

/// A value of Warp.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum WarpValue<'a> {
    Type(Annotation),
    /// `wp.vec3(1.0, 2.0, 3.0)`: its type and its components.
    Composite(Annotation, Rc<[Literal]>),
    Function(OverloadSet<'a>),
    /// A value of the library's type, by the first parameter that stands for the value.
    Handle(u32),
}

impl<'a> From<WarpValue<'a>> for KnownValue<'a> {
    fn from(value: WarpValue<'a>) -> Self {
        Self::Foreign(value)
    }
}

/// A type as a value.
pub(crate) fn type_value<'a>(ty: Annotation) -> KnownValue<'a> {
    KnownValue::Foreign(WarpValue::Type(ty))
}

impl Foreign for WarpValue<'_> {
    fn truth(&self) -> Option<bool> {
        matches!(self, Self::Type(_) | Self::Function(_)).then_some(true)
    }

    fn part_count(&self) -> Option<usize> {
        match self {
            Self::Composite(Annotation::Matrix(rows, ..), _) => rows.map(usize::from),
            Self::Composite(_, parts) => Some(parts.len()),
            _ => None,
        }
    }

    fn equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            // A second name of a function may mean fewer of its overloads.
            (Self::Function(one), Self::Function(other))
                if one != other
                    && (one.home, one.name, one.frame) == (other.home, other.name, other.frame) =>
            {
                None
            }
            (one, other) => Some(one == other),
        }
    }

    fn defined_before(self, place: u32, scope: ScopeId) -> Self {
        match self {
            Self::Function(set) if set.home == scope && set.before.is_none() => {
                Self::Function(OverloadSet { before: Some(place), ..set })
            }
            other => other,
        }
    }

    fn is_own(path: &str) -> bool {
        path.starts_with("warp.")
    }
}

/// The `@wp.func` of one name in a scope, or the function `f` of `wp.func(f)`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct OverloadSet<'a> {
    /// Scope that defines the functions.
    pub(crate) home: ScopeId,
    pub(crate) name: &'a str,
    /// Call of the Python function that defined the functions.
    pub(crate) frame: FrameId,
    /// Byte of the text before which an overload must be defined to belong to the set: a second
    /// name of functions keeps its meaning when the first name is defined anew.
    pub(crate) before: Option<u32>,
    /// Function of `wp.func(f)`: the only one of the set.
    pub(crate) given: Option<&'a StmtFunctionDef>,
}

impl<'a> OverloadSet<'a> {
    /// All functions of a name.
    pub(crate) fn all(home: ScopeId, name: &'a str, frame: FrameId) -> Self {
        Self { home, name, frame, before: None, given: None }
    }

    /// The function of `wp.func(f)`.
    pub(crate) fn of_one(def: &'a StmtFunctionDef, home: ScopeId, frame: FrameId) -> Self {
        Self { home, name: def.name.as_str(), frame, before: None, given: Some(def) }
    }
}

impl<'a> Dialect<'a> for Warp<'a> {
    type Value = WarpValue<'a>;

    fn builtin(name: &str) -> Option<WarpValue<'a>> {
        Some(WarpValue::Type(match name {
            "int" | "float" | "bool" => warp::type_named(name)?,
            "tuple" => Annotation::Tuple(None),
            _ => return None,
        }))
    }

    fn starred(name: &str) -> Option<KnownValue<'a>> {
        warp::starred_name(name)
    }

    fn function(unit: &Unit<'a>, def: &'a StmtFunctionDef, home: ScopeId) -> Option<WarpValue<'a>> {
        // The name as the tree spells it lives as long as the tree.
        let set = || OverloadSet::all(home, def.name.as_str(), unit.frame_of(home));
        let is_called_by_kernels =
            matches!(decorator::role(unit, def, home), Role::Func | Role::Native);
        is_called_by_kernels.then(|| WarpValue::Function(set()))
    }

    fn runs_in_python(unit: &Unit<'a>, def: &'a StmtFunctionDef, home: ScopeId) -> bool {
        decorator::role(unit, def, home) == Role::Python
    }

    fn class(
        unit: &Unit<'a>,
        def: &'a StmtClassDef,
        body: ScopeId,
        home: ScopeId,
    ) -> Option<WarpValue<'a>> {
        let is_struct = |expr: &'a Expr| unit.path(expr, home).as_deref() == Some("warp.struct");
        let is_struct = def.decorator_list.iter().any(|decorator| {
            is_struct(&decorator.expression)
                || matches!(&decorator.expression, Expr::Call(call) if is_struct(&call.func))
        });
        if is_struct {
            let key = StructKey { class: body, frame: unit.frame_of(body) };
            return Some(WarpValue::Type(Annotation::Struct(key)));
        }
        // A class whose only base is a type is that type: `class vec5(wp.types.vector(5, float))`.
        let [base] = def.bases() else { return None };
        match unit.known(base, home) {
            Ok(KnownValue::Foreign(WarpValue::Type(ty)))
                if !matches!(ty, Annotation::Scalar(_)) =>
            {
                Some(WarpValue::Type(ty))
            }
            _ => None,
        }
    }

    fn member(unit: &Unit<'a>, path: &str, name: &str, expr: &Expr) -> Option<Evaluation<'a>> {
        module::member(unit, path, name, expr)
    }

    fn attribute(
        unit: &Unit<'a>,
        base: &KnownValue<'a>,
        name: &str,
        expr: &Expr,
    ) -> Option<Evaluation<'a>> {
        Some(match base {
            KnownValue::Foreign(WarpValue::Type(ty)) => {
                module::type_attribute(unit, ty, name, expr)
            }
            KnownValue::Foreign(WarpValue::Function(set)) => {
                let value = unit.scopes.attribute_value(set.home, set.name, name)?;
                unit.frames.run(set.frame, || unit.known(value, set.home))
            }
            KnownValue::Foreign(WarpValue::Handle(_)) => {
                Err(library::no_attribute(unit.dialect.library, name, unit.span(expr)))
            }
            KnownValue::Member(path)
                if path.starts_with("warp.") && !path.starts_with("warp.fem.") =>
            {
                Err(unit.needs_python(expr, format!("`{name}` is only known when Python runs")))
            }
            _ => return None,
        })
    }

    fn subscript(
        unit: &Unit<'a>,
        base: &KnownValue<'a>,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Option<Evaluation<'a>> {
        let is_type = match base {
            KnownValue::Foreign(WarpValue::Type(_)) => true,
            KnownValue::Member(path) => path.starts_with("warp.") || path.starts_with("typing."),
            _ => false,
        };
        is_type.then(|| signature::annotation(unit, expr, scope).map(type_value))
    }

    fn call(unit: &Unit<'a>, call: &Call<'_, 'a>) -> Option<Evaluation<'a>> {
        match call.callee {
            KnownValue::Member(path) => known_call::member_call(unit, path, call),
            KnownValue::Foreign(WarpValue::Type(ty)) => Some(known_call::type_call(unit, ty, call)),
            _ => None,
        }
    }

    fn settled(unit: &Unit<'a>, value: KnownValue<'a>) -> KnownValue<'a> {
        trial::settled(unit, value)
    }

    fn substitute(unit: &Unit<'a>, name: &str, home: ScopeId) -> Option<KnownValue<'a>> {
        trial::value(unit, name, home)
    }

    fn substitute_attribute(&self, path: &str) -> Option<KnownValue<'a>> {
        self.trials.attribute(path)
    }

    fn is_substituting(&self) -> bool {
        self.trials.is_on()
    }
}
