//! Objects of Python's classes, as far as the text says what is in them: data classes, named
//! tuples, namespaces, and classes whose `__init__` stores values in `self`.
//!
//! An attribute that anything else of the program stores too is only known to Python.

use super::constant::{Evaluation, KnownValue, Unit};
use super::factory::Argument;
use super::frame::FrameId;
use super::scope::{AttributeStore, BindingSource, Owner, ScopeId};
use super::syntax::{self, Arguments, Expr, ExprCall, Stmt, StmtClassDef, StmtFunctionDef};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use std::cell::RefCell;
use std::rc::Rc;

/// An object by its position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct ObjectId(u32);

/// An object: of which class, with which values.
#[derive(Clone, PartialEq)]
struct Object<'a> {
    /// `None` for a namespace.
    class: Option<ScopeId>,
    /// Values of a data class, a named tuple or a namespace.
    fields: Vec<(Rc<str>, KnownValue<'a>)>,
    /// `__init__`, its scope, and the frame of its arguments, without the object itself.
    init: Option<(&'a StmtFunctionDef, ScopeId, FrameId)>,
}

/// All objects of a program.
#[derive(Default)]
pub(super) struct Objects<'a> {
    all: RefCell<Vec<Object<'a>>>,
}

/// How many objects a program may have.
const MAX_OBJECTS: usize = 1000;

/// How many classes may be derived from each other.
const MAX_BASES: usize = 16;

/// Methods that change how attributes are found or objects are made.
const HOOKS: [&str; 5] = ["__new__", "__getattr__", "__getattribute__", "__setattr__", "__slots__"];

/// Kind of a class that objects are made of.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Values are the arguments, in the order of the annotated names.
    Fields,
    /// `__init__` stores them.
    Plain,
}

impl<'a> Unit<'a> {
    /// Forgets all frames, objects and results.
    pub(super) fn forget_all(&self) {
        self.frames.clear();
        self.objects.all.borrow_mut().clear();
    }

    /// An object made by a call of a class; `None` if only Python knows what is in it.
    pub(super) fn made(
        &self,
        class: ScopeId,
        args: &'a Arguments,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Result<Option<KnownValue<'a>>, Box<Diagnostic>> {
        let Some(order) = self.resolution_order(class) else { return Ok(None) };
        let hooked =
            |it: &ScopeId| HOOKS.iter().any(|name| self.scopes.bindings_in(*it, name).is_some());
        if order.iter().any(hooked) {
            return Ok(None);
        }
        let mut object = Object { class: Some(class), fields: Vec::new(), init: None };
        match self.kind(class) {
            Some(Kind::Fields) => {
                let Some(fields) = self.field_values(&order, args, scope) else { return Ok(None) };
                object.fields = fields;
            }
            Some(Kind::Plain) => {
                let init = order.iter().find_map(|&it| Some((self.method(it, "__init__")?, it)));
                if let Some((def, home)) = init {
                    let Some(body) = self.scopes.body(def) else { return Ok(None) };
                    let given = self.given(def, home, body, args, scope, 1);
                    let Some(values) = given else { return Ok(None) };
                    let frame = self.frame(values, self.frame_of(home), self.span(expr))?;
                    object.init = Some((def, body, frame));
                } else if !args.args.is_empty() || !args.keywords.is_empty() {
                    return Ok(None);
                }
            }
            None => return Ok(None),
        }
        Ok(self.object(object))
    }

    /// `types.SimpleNamespace(name=value)`
    pub(super) fn namespace(&self, args: &'a Arguments, scope: ScopeId) -> Option<KnownValue<'a>> {
        if !args.args.is_empty() || args.keywords.iter().any(|it| it.arg.is_none()) {
            return None;
        }
        let named = args.keywords.iter().filter_map(|it| {
            let value = self.whole(&it.value, scope).ok()?;
            Some((Rc::from(it.arg.as_deref()?), value))
        });
        self.object(Object { class: None, fields: named.collect(), init: None })
    }

    /// An object of a class that `namedtuple` made.
    pub(super) fn named_tuple(
        &self,
        fields: &[Rc<str>],
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Option<KnownValue<'a>> {
        if args.args.len() + args.keywords.len() != fields.len() {
            return None;
        }
        let value = |(position, name): (usize, &Rc<str>)| match self
            .argument(args, position, name, scope)
        {
            Argument::Known(value) => Some((name.clone(), value)),
            Argument::Unknown | Argument::Absent => None,
        };
        let fields = fields.iter().enumerate().map(value).collect::<Option<_>>()?;
        self.object(Object { class: None, fields, init: None })
    }

    fn object(&self, object: Object<'a>) -> Option<KnownValue<'a>> {
        let mut all = self.objects.all.borrow_mut();
        let known = all.iter().position(|it| *it == object);
        if known.is_none() && all.len() >= MAX_OBJECTS {
            return None;
        }
        let position = known.unwrap_or_else(|| {
            all.push(object);
            all.len() - 1
        });
        Some(KnownValue::Object(ObjectId(position as u32)))
    }

    /// The class of an object.
    pub(super) fn class_of(&self, object: ObjectId) -> Option<ScopeId> {
        self.objects.all.borrow()[object.0 as usize].class
    }

    /// A class and those it is derived from, as attributes are looked up; `None` if one isn't
    /// known.
    pub(super) fn resolution_order(&self, class: ScopeId) -> Option<Vec<ScopeId>> {
        let mut order = vec![class];
        let mut at = 0;
        while at < order.len() {
            let Owner::Class(def) = self.scopes.owner(order[at]) else { return None };
            let around = self.scopes.around(order[at]);
            at += 1;
            if def.keywords().iter().any(|it| it.arg.as_deref() == Some("metaclass")) {
                return None;
            }
            // Two bases may share one: only a chain has one order.
            let bases: Vec<_> =
                def.bases().iter().filter(|it| !self.is_empty_base(it, around)).collect();
            match bases[..] {
                [] => {}
                [base] if order.len() < MAX_BASES => match self.known(base, around) {
                    Ok(KnownValue::Class(base)) if !order.contains(&base) => order.push(base),
                    _ => return None,
                },
                _ => return None,
            }
        }
        Some(order)
    }

    /// Returns true for a base class that brings no attributes which matter.
    fn is_empty_base(&self, base: &'a Expr, scope: ScopeId) -> bool {
        let base = match base {
            Expr::Subscript(subscript) => &*subscript.value,
            base => base,
        };
        if matches!(base, Expr::Name(name) if name.id == "object") {
            return true;
        }
        let path = self.path(base, scope);
        matches!(
            path.as_deref(),
            Some("typing.Generic" | "typing.Protocol" | "typing.NamedTuple" | "abc.ABC")
        )
    }

    fn kind(&self, class: ScopeId) -> Option<Kind> {
        let Owner::Class(def) = self.scopes.owner(class) else { return None };
        let around = self.scopes.around(class);
        let is_tuple = |it: &'a Expr| self.path(it, around).as_deref() == Some("typing.NamedTuple");
        if def.bases().iter().any(is_tuple) {
            return def.decorator_list.is_empty().then_some(Kind::Fields);
        }
        match &def.decorator_list[..] {
            [] => Some(Kind::Plain),
            [one] => {
                let decorator = match &one.expression {
                    Expr::Call(call) => &*call.func,
                    other => other,
                };
                let path = self.path(decorator, around);
                let is_data = path.as_deref() == Some("dataclasses.dataclass");
                (is_data && self.method(class, "__init__").is_none()).then_some(Kind::Fields)
            }
            _ => None,
        }
    }

    /// Values of the fields of a data class or named tuple, as far as they are known; `None` if
    /// the arguments don't fit.
    fn field_values(
        &self,
        order: &[ScopeId],
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Option<Vec<(Rc<str>, KnownValue<'a>)>> {
        let mut fields: Vec<(&'a str, Option<&'a Expr>, ScopeId)> = Vec::new();
        for &class in order.iter().rev() {
            let Owner::Class(def) = self.scopes.owner(class) else { return None };
            if self.kind(class) != Some(Kind::Fields) {
                return None;
            }
            for (name, value) in annotated(def) {
                match fields.iter_mut().find(|(known, ..)| *known == name) {
                    Some(field) => *field = (name, value, class),
                    None => fields.push((name, value, class)),
                }
            }
        }
        if args.args.len() > fields.len() || args.args.iter().any(Expr::is_starred_expr) {
            return None;
        }
        let mut values = Vec::new();
        for (position, &(name, default, class)) in fields.iter().enumerate() {
            let spec = match default {
                Some(Expr::Call(call)) if self.is_field(call, class) => Some(&call.arguments),
                _ => None,
            };
            let keyword = |name: &str| {
                spec.and_then(|it| it.keywords.iter().find(|it| it.arg.as_deref() == Some(name)))
            };
            if keyword("init").is_some() {
                return None;
            }
            let known = match (self.argument(args, position, name, scope), default) {
                (Argument::Known(given), _) => Some(given),
                (Argument::Unknown, _) => None,
                (Argument::Absent, Some(_)) if spec.is_some() => match keyword("default") {
                    Some(default) => self.whole(&default.value, class).ok(),
                    None => {
                        keyword("default_factory").and_then(|it| self.made_by(&it.value, class))
                    }
                },
                (Argument::Absent, Some(default)) => self.whole(default, class).ok(),
                (Argument::Absent, None) => return None,
            };
            values.extend(known.map(|known| (Rc::from(name), known)));
        }
        Some(values)
    }

    /// Result of a call of `list`, `dict` or a lambda without arguments.
    fn made_by(&self, factory: &'a Expr, scope: ScopeId) -> Option<KnownValue<'a>> {
        match self.known(factory, scope).ok()? {
            KnownValue::Lambda(lambda, home, around) => {
                self.lambda_call((lambda, home, around), &[])
            }
            KnownValue::Member(path) if &*path == "builtins.list" => {
                Some(KnownValue::Sequence(Vec::new().into()))
            }
            KnownValue::Member(path) if &*path == "builtins.dict" => {
                Some(KnownValue::Dict(Vec::new().into()))
            }
            _ => None,
        }
    }

    /// Returns true for `dataclasses.field(..)`.
    fn is_field(&self, call: &'a ExprCall, scope: ScopeId) -> bool {
        self.path(&call.func, scope).as_deref() == Some("dataclasses.field")
    }

    /// Method of a class itself.
    pub(super) fn method(&self, class: ScopeId, name: &str) -> Option<&'a StmtFunctionDef> {
        match self.scopes.bindings_in(class, name)? {
            [one] if one.guard.is_none() => match one.source {
                BindingSource::Function(def) => Some(def),
                _ => None,
            },
            _ => None,
        }
    }

    /// Attribute of an object.
    pub(super) fn object_attribute(&self, id: ObjectId, attr: &str, expr: &Expr) -> Evaluation<'a> {
        let object = self.objects.all.borrow()[id.0 as usize].clone();
        let unknown =
            || self.needs_python(expr, format!("`{attr}` is only known when Python runs"));
        let order = match object.class {
            Some(class) => self.resolution_order(class).ok_or_else(unknown)?,
            None => Vec::new(),
        };
        let init = object.init.map(|(def, body, _)| (body, receiver(def)));
        let stores = self.scopes.attribute_stores(attr);
        let is_own = |it: &AttributeStore<'a>| Some((it.scope, Some(it.name))) == init;
        if stores.iter().any(|it| !is_own(it) && !self.is_of_another_class(it, &order)) {
            return Err(unknown());
        }
        if let Some((def, body, frame)) = object.init {
            // A `return` may come before what is stored.
            if def.body.iter().any(syntax::returns) {
                return Err(unknown());
            }
            let receiver = receiver(def).ok_or_else(unknown)?;
            let frame =
                self.frame(vec![(body, receiver, KnownValue::Object(id))], frame, self.span(expr))?;
            let stored = self.framed(frame, || {
                for store in stores.iter().filter(|it| is_own(it)).rev() {
                    match (self.condition(store.guard, body), store.value) {
                        (Some(false), _) => {}
                        (Some(true), Some(value)) => return Some(self.whole(value, body)),
                        _ => return Some(Err(unknown())),
                    }
                }
                None
            });
            if let Some(stored) = stored {
                return stored;
            }
        }
        if let Some((_, value)) = object.fields.iter().find(|(name, _)| **name == *attr) {
            return Ok(value.clone());
        }
        if object.fields.is_empty() || object.class.is_some() {
            return self.class_attribute(&order, KnownValue::Object(id), attr, expr);
        }
        Err(unknown())
    }

    /// Attribute that an object has from its class: a property's result, or a value of the class.
    pub(super) fn class_attribute(
        &self,
        order: &[ScopeId],
        object: KnownValue<'a>,
        attr: &str,
        expr: &Expr,
    ) -> Evaluation<'a> {
        let unknown =
            || self.needs_python(expr, format!("`{attr}` is only known when Python runs"));
        let found = order.iter().find_map(|&it| Some((self.scopes.bindings_in(it, attr)?, it)));
        let (definitions, class) = found.ok_or_else(unknown)?;
        let Some(def) = self.method(class, attr) else {
            let annotated =
                definitions.iter().all(|it| matches!(it.source, BindingSource::Value(_)));
            if !annotated {
                return Err(unknown());
            }
            let known = self.bound(definitions, attr, expr, class);
            return self.unchanged(known, attr, class, expr);
        };
        let is_property = def.decorator_list.iter().any(|it| {
            matches!(&it.expression, Expr::Name(name) if name.id == "property")
                || self.path(&it.expression, class).as_deref() == Some("functools.cached_property")
        });
        if !is_property || def.decorator_list.len() != 1 {
            return Err(unknown());
        }
        self.bound_call(def, class, object, None, expr, class)
    }

    /// Result of a method, called with an object and arguments.
    pub(super) fn bound_call(
        &self,
        def: &'a StmtFunctionDef,
        class: ScopeId,
        object: KnownValue<'a>,
        args: Option<&'a Arguments>,
        expr: &Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let unknown = || {
            self.needs_python(
                expr,
                format!("what `{}` returns is only known when Python runs", def.name),
            )
        };
        let body = self.scopes.body(def).ok_or_else(unknown)?;
        let mut values = match args {
            Some(args) => self.given(def, class, body, args, scope, 1).ok_or_else(unknown)?,
            None => Vec::new(),
        };
        values.push((body, receiver(def).ok_or_else(unknown)?, object));
        let frame = self.frame(values, self.frame_of(class), self.span(expr))?;
        self.function_result(def, body, frame, expr)
    }

    /// Result of a call of a method, if what it is called on is an object or a class; `None` if
    /// it isn't.
    pub(super) fn method_call(
        &self,
        func: &'a Expr,
        args: &'a Arguments,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Option<Evaluation<'a>> {
        let Expr::Attribute(attribute) = func else { return None };
        let name = attribute.attr.as_str();
        let base = self.whole(&attribute.value, scope).ok()?;
        let class = match &base {
            KnownValue::Object(id) => self.class_of(*id)?,
            KnownValue::Enumerator(class, ..) | KnownValue::Class(class) => *class,
            _ => return None,
        };
        let order = self.resolution_order(class).unwrap_or_else(|| vec![class]);
        let (def, home) = order.iter().find_map(|&it| Some((self.method(it, name)?, it)))?;
        let decorator = match &def.decorator_list[..] {
            [] => "",
            [one] => match &one.expression {
                Expr::Name(name) => name.id.as_str(),
                _ => return None,
            },
            _ => return None,
        };
        match (decorator, &base) {
            ("staticmethod", _) => {
                let body = self.scopes.body(def)?;
                let values = self.given(def, home, body, args, scope, 0)?;
                Some(
                    self.frame(values, self.frame_of(home), self.span(expr))
                        .and_then(|frame| self.function_result(def, body, frame, expr)),
                )
            }
            ("classmethod", _) => {
                let class = KnownValue::Class(class);
                Some(self.bound_call(def, home, class, Some(args), expr, scope))
            }
            ("", KnownValue::Object(_) | KnownValue::Enumerator(..)) => {
                Some(self.bound_call(def, home, base, Some(args), expr, scope))
            }
            _ => None,
        }
    }

    /// Looks up an attribute of a class in its base classes.
    pub(super) fn inherited(&self, class: ScopeId, attr: &str, expr: &Expr) -> Evaluation<'a> {
        let missing = || self.needs_python(expr, format!("the class has no `{attr}`"));
        let Owner::Class(def) = self.scopes.owner(class) else { return Err(missing()) };
        let bases = def.bases().iter();
        let bases = bases.filter_map(|base| self.known(base, self.scopes.around(class)).ok());
        let found = bases.filter(|base| matches!(base, KnownValue::Class(_))).find_map(|base| {
            self.with_depth_limit(self.span(expr), || self.attribute(&base, attr, expr)).ok()
        });
        found.ok_or_else(missing)
    }

    /// Value of `self.a.b` in a method that the text doesn't call: one that the user gives.
    pub(super) fn of_receiver(&self, expr: &Expr, fault: Box<Diagnostic>) -> Evaluation<'a> {
        let Some(path) = of_self(expr) else { return Err(fault) };
        if fault.code != Code::NeedsPythonEvaluation {
            return Err(fault);
        }
        if let Some(known) = self.defined(&path, expr).or_else(|| self.trial_path(&path).map(Ok)) {
            return known;
        }
        let message = format!("`{path}` is only known when Python runs");
        let mut fault = self.needs_python(expr, message);
        fault.help = self.value_advice(&path);
        Err(fault)
    }

    /// Returns true for a store to `self` in a method of a class that isn't one of some.
    fn is_of_another_class(&self, store: &AttributeStore<'a>, classes: &[ScopeId]) -> bool {
        let Owner::Function(def) = self.scopes.owner(store.scope) else { return false };
        let class = self.scopes.around(store.scope);
        matches!(self.scopes.owner(class), Owner::Class(_))
            && !classes.contains(&class)
            && receiver(def) == Some(store.name)
    }
}

/// The first parameter of a method: what it is called on.
pub(super) fn receiver(def: &StmtFunctionDef) -> Option<&str> {
    def.parameters.iter().next().map(|it| it.as_parameter().name.as_str())
}

/// `self.a.b` as text.
pub(super) fn of_self(expr: &Expr) -> Option<String> {
    let Expr::Attribute(attribute) = expr else { return None };
    let base = match &*attribute.value {
        Expr::Name(name) if name.id == "self" => "self".to_owned(),
        base => of_self(base)?,
    };
    Some(format!("{base}.{}", attribute.attr))
}

/// The annotated names of a class, with their values.
fn annotated(def: &StmtClassDef) -> impl Iterator<Item = (&str, Option<&Expr>)> {
    def.body.iter().filter_map(|stmt| match stmt {
        Stmt::AnnAssign(field) => match &*field.target {
            Expr::Name(name) if !is_class_variable(&field.annotation) => {
                Some((name.id.as_str(), field.value.as_deref()))
            }
            _ => None,
        },
        _ => None,
    })
}

/// Returns true for `ClassVar` and `ClassVar[..]`.
fn is_class_variable(annotation: &Expr) -> bool {
    match annotation {
        Expr::Subscript(subscript) => is_class_variable(&subscript.value),
        Expr::Attribute(attribute) => attribute.attr.as_str() == "ClassVar",
        Expr::Name(name) => name.id == "ClassVar",
        Expr::StringLiteral(text) => text.value.to_str().contains("ClassVar"),
        _ => false,
    }
}
