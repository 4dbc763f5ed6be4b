//! Types that generic kernels are compiled for, by the launches of the text: those of the arrays
//! and numbers that it passes, where it says how they are made.

use super::annotation::Annotation;
use super::constant::{KnownValue, Unit};
use super::frame::FrameId;
use super::overload::{called, fitting};
use super::scope::{BindingSource, ScopeId};
use super::signature::Formal;
use super::syntax::{self, Arguments, CallSite, Expr, StmtFunctionDef};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::ty::Scalar;

/// How many definitions may lead to the one that says a type.
const MAX_STEPS: usize = 4;

/// Most bindings of a name that are looked at.
const MAX_BINDINGS: usize = 8;

/// Names and attributes whose types are being found.
type Open<'a> = Vec<(Option<ScopeId>, &'a str)>;

/// Methods of arrays that give arrays of the same elements.
const VIEWS: [&str; 6] = ["flatten", "reshape", "contiguous", "transpose", "to", "clone"];

impl<'a> Unit<'a> {
    /// The types of the arguments of each launch of a kernel, as far as the text says them.
    pub(super) fn launch_types(
        &self,
        sites: &[CallSite<'a>],
        def: &'a StmtFunctionDef,
        formals: &[Formal<'a>],
    ) -> Result<Vec<Vec<Annotation>>, Box<Diagnostic>> {
        let mut found: Vec<Vec<Annotation>> = Vec::new();
        for site in sites.iter().filter(|it| matches!(called(it.call), "launch" | "launch_tiled")) {
            let arguments = &site.call.arguments;
            let at = self.scopes.at(syntax::start(site.call));
            let Some(kernel) = syntax::argument(arguments, "kernel", 0) else { continue };
            let is_this = match self.known(kernel, at) {
                Ok(KnownValue::Python(launched, ..)) => std::ptr::eq(launched, def),
                _ => false,
            };
            let Some(given) = is_this.then(|| launched_values(arguments)).flatten() else {
                continue;
            };
            if given.len() != formals.len() {
                continue;
            }
            for round in self.rounds(site, at, FrameId::NONE)? {
                let types: Option<Vec<Annotation>> = self.framed(round, || {
                    let pairs = formals.iter().zip(&given);
                    pairs.map(|(formal, value)| self.type_for(formal, value, at)).collect()
                });
                let types = types.and_then(|types| fitting(types, formals));
                found.extend(types.filter(|types| !found.contains(types)));
            }
        }
        Ok(found)
    }

    /// Type of a parameter for the argument of a launch.
    fn type_for(&self, formal: &Formal<'a>, value: &'a Expr, scope: ScopeId) -> Option<Annotation> {
        if !formal.annotation.is_generic() {
            return Some(formal.annotation.clone());
        }
        let element = || self.element_type(value, scope, &Open::new());
        match &formal.annotation {
            Annotation::Array(_, dims) => Some(Annotation::Array(element()?.into(), *dims)),
            Annotation::Indexed(_, dims) => Some(Annotation::Indexed(element()?.into(), *dims)),
            _ => match self.settled(self.known(value, scope).ok()?) {
                KnownValue::Bool(_) => Some(Annotation::Scalar(Scalar::Bool)),
                KnownValue::Int(_) => Some(Annotation::Scalar(Scalar::I32)),
                KnownValue::Float(_) => Some(Annotation::Scalar(Scalar::F32)),
                KnownValue::Typed(literal) => Some(Annotation::Scalar(literal.scalar())),
                KnownValue::Composite(annotation, _) => Some(annotation),
                _ => None,
            },
        }
    }

    /// Type of the elements of an array, by how the text makes it; `Any` of a name whose type is
    /// being found: `a, b = b, a` says nothing new.
    fn element_type(&self, array: &'a Expr, scope: ScopeId, open: &Open<'a>) -> Option<Annotation> {
        let within = |key| match open.contains(&key) {
            true => Err(Annotation::Any),
            false => Ok(open.iter().copied().chain([key]).collect::<Open<'a>>()),
        };
        if open.len() > MAX_STEPS {
            return None;
        }
        match array {
            Expr::Name(name) => {
                let (bound, home) = self.scopes.lookup(scope, name.id.as_str())?;
                let inner = match within((Some(home), name.id.as_str())) {
                    Ok(inner) => inner,
                    Err(known) => return Some(known),
                };
                if bound.len() > MAX_BINDINGS {
                    return None;
                }
                let at = syntax::start(array);
                let types = bound.iter().filter(|it| it.since <= at).map(|it| match it.source {
                    BindingSource::Value(value) => self.element_type(value, home, &inner),
                    BindingSource::Part(Expr::Tuple(tuple), position) => {
                        self.element_type(tuple.elts.get(position)?, home, &inner)
                    }
                    _ => None,
                });
                one_of(types)
            }
            Expr::Attribute(attribute) => {
                let inner = match within((None, attribute.attr.as_str())) {
                    Ok(inner) => inner,
                    Err(known) => return Some(known),
                };
                let stores = self.scopes.attribute_stores(attribute.attr.as_str());
                let stores = (stores.len() <= MAX_BINDINGS).then_some(stores)?;
                one_of(stores.iter().map(|it| self.element_type(it.value?, it.scope, &inner)))
            }
            Expr::Subscript(subscript) => self.element_type(&subscript.value, scope, open),
            Expr::ListComp(list) => self.element_type(&list.elt, scope, open),
            Expr::List(list) => self.element_type(list.elts.first()?, scope, open),
            Expr::Call(call) => {
                if let Expr::Attribute(method) = &*call.func
                    && VIEWS.contains(&method.attr.as_str())
                    && self.path(&call.func, scope).is_none()
                {
                    return self.element_type(&method.value, scope, open);
                }
                let path = self.path(&call.func, scope)?;
                self.element_type_made(path.strip_prefix("warp.")?, &call.arguments, scope, open)
            }
            _ => None,
        }
    }

    /// Type of the elements of the array that a function of Warp makes.
    fn element_type_made(
        &self,
        name: &str,
        arguments: &'a Arguments,
        scope: ScopeId,
        open: &Open<'a>,
    ) -> Option<Annotation> {
        let dtype = |position: usize| syntax::argument(arguments, "dtype", position);
        let is_array = super::warp::array_named(name).is_some();
        let said = match name {
            "zeros" | "empty" | "ones" | "from_numpy" => dtype(1),
            "full" => dtype(2),
            "zeros_like" | "empty_like" | "ones_like" | "full_like" | "clone" => {
                return self.element_type(arguments.args.first()?, scope, open);
            }
            _ if is_array => dtype(1),
            _ => return None,
        };
        match said {
            Some(of) => self.annotation(of, scope).ok().filter(|of| !of.is_generic()),
            None if matches!(name, "zeros" | "empty" | "ones") => {
                Some(Annotation::Scalar(Scalar::F32))
            }
            None => None,
        }
    }
}

/// The arguments of a launch, inputs and outputs, if they are listed.
fn launched_values(arguments: &Arguments) -> Option<Vec<&Expr>> {
    let mut values = Vec::new();
    for (name, position) in [("inputs", 2), ("outputs", 3)] {
        match syntax::argument(arguments, name, position) {
            Some(Expr::List(list)) => values.extend(&list.elts),
            Some(Expr::Tuple(tuple)) => values.extend(&tuple.elts),
            Some(_) => return None,
            None => {}
        }
    }
    let is_starred = values.iter().any(|it| matches!(it, Expr::Starred(_)));
    (!is_starred).then_some(values)
}

/// The type that all of them say.
fn one_of(types: impl Iterator<Item = Option<Annotation>>) -> Option<Annotation> {
    let mut found = Annotation::Any;
    for of in types {
        let of = of?;
        match (&found, &of) {
            (_, Annotation::Any) => {}
            (Annotation::Any, _) => found = of,
            (known, of) if known == of => {}
            _ => return None,
        }
    }
    Some(found)
}
