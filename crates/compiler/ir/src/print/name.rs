//! Names for values and locals, unique within a function, that change little when lines are
//! inserted.

use crate::arena::Handle;
use crate::function::{Function, FunctionId, LocalId};
use crate::module::Module;
use crate::op::{Op, Value};
use crate::stmt::StmtKind;
use crate::ty::Type;
use crate::walk::walk_stmts;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// Name of a value in printed text.
#[derive(Clone)]
pub(super) enum ValueName<'a> {
    Undefined,
    /// `%` and a number.
    Number(u32),
    Text(Cow<'a, str>),
}

/// Names of a module's functions. A function gets a suffix if an earlier one has the same name and
/// the same types of parameters, as kernels that were lowered apart have.
pub(super) struct FunctionNames<'a>(Vec<Cow<'a, str>>);

impl<'a> FunctionNames<'a> {
    pub(super) fn new(module: &'a Module) -> Self {
        let mut equal: FxHashMap<(&str, Vec<Type>), usize> = FxHashMap::default();
        let names = module.functions.iter().map(|(_, function)| {
            let types = function.params.iter().map(|param| param.ty).collect();
            let earlier = equal.entry((&function.name, types)).or_insert(0);
            *earlier += 1;
            match *earlier - 1 {
                0 => Cow::from(&*function.name),
                suffix => Cow::from(format!("{}.{suffix}", function.name)),
            }
        });
        Self(names.collect())
    }

    pub(super) fn of(&self, function: FunctionId) -> &str {
        self.0.get(function.index()).map_or("undefined", |name| name)
    }
}

pub(super) struct Names<'a> {
    values: Vec<ValueName<'a>>,
    params: Vec<Cow<'a, str>>,
    locals: Vec<Cow<'a, str>>,
    taken: FxHashSet<Cow<'a, str>>,
    /// Next suffix to try for each name that several values share.
    next_suffix: FxHashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    pub(super) fn new(module: &'a Module, function: &'a Function) -> Self {
        let body = &function.body;
        let mut names = Self {
            values: vec![ValueName::Undefined; body.values.len()],
            params: Vec::new(),
            locals: Vec::new(),
            taken: FxHashSet::default(),
            next_suffix: FxHashMap::default(),
        };
        // The parser reads `x.1` as a component, so suffixes begin behind the components of the
        // first `x`.
        let mut parts: FxHashMap<&str, usize> = FxHashMap::default();
        let mut place = |names: &mut Self, name: &'a str, ty| {
            if let Some(&first) = parts.get(name) {
                let suffix = names.next_suffix.entry(name).or_insert(1);
                *suffix = (*suffix).max(first);
            }
            let count = module.types.components(ty).map_or(0, |(_, count)| count as usize);
            parts.entry(name).or_insert(count);
            names.unique(name)
        };
        for param in &function.params {
            let name = place(&mut names, &param.name, param.ty);
            names.params.push(name);
        }
        for (_, local) in body.locals.iter() {
            let name = place(&mut names, &local.name, local.ty);
            names.locals.push(name);
        }
        let mut anonymous = 0;
        walk_stmts(body, body.root, |stmt| {
            let (StmtKind::Let(value) | StmtKind::For { index: value, .. }) = stmt.kind else {
                return;
            };
            let Some(data) = body.values.get(value) else { return };
            if matches!(data.op, Op::Literal(_)) {
                return;
            }
            names.values[value.index()] = match data.name {
                Some(name) => ValueName::Text(names.unique(module.text(name))),
                None => {
                    anonymous += 1;
                    ValueName::Number(anonymous - 1)
                }
            };
        });
        names
    }

    pub(super) fn value(&self, value: Value) -> &ValueName<'a> {
        self.values.get(value.index()).unwrap_or(&ValueName::Undefined)
    }

    pub(super) fn param(&self, position: u32) -> &str {
        self.params.get(position as usize).map_or("undefined", |name| name)
    }

    pub(super) fn local(&self, local: LocalId) -> &str {
        self.locals.get(Handle::index(local)).map_or("undefined", |name| name)
    }

    fn unique(&mut self, name: &'a str) -> Cow<'a, str> {
        if self.taken.insert(name.into()) {
            return name.into();
        }
        let suffix = self.next_suffix.entry(name).or_insert(1);
        loop {
            let candidate = Cow::from([name, ".", itoa::Buffer::new().format(*suffix)].concat());
            *suffix += 1;
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}
