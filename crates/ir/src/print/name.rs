//! Names for values and locals, unique within a function and stable under insertions.

use crate::arena::Handle;
use crate::function::{Function, LocalId};
use crate::module::Module;
use crate::op::{Op, Value};
use crate::stmt::StmtKind;
use crate::walk::{Step, walk};
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

pub(super) struct Names<'a> {
    values: Vec<ValueName<'a>>,
    locals: Vec<Cow<'a, str>>,
    taken: FxHashSet<Cow<'a, str>>,
    /// The next suffix to try, by name: many values may share one.
    next: FxHashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    pub(super) fn new(module: &'a Module, function: &'a Function) -> Self {
        let body = &function.body;
        let taken = function.params.iter().map(|param| Cow::from(&param.name)).collect();
        let values = vec![ValueName::Undefined; body.values.len()];
        let mut names = Self { values, locals: Vec::new(), taken, next: FxHashMap::default() };
        let mut parts: FxHashMap<&str, usize> = FxHashMap::default();
        let params = function.params.iter().map(|param| (param.name.as_str(), param.ty));
        let count = |ty| module.types.components(ty).map_or(0, |(_, count)| count as usize);
        for (name, ty) in params {
            parts.insert(name, count(ty));
        }
        for (_, local) in body.locals.iter() {
            // `x.1` is a component if the first `x` has that many.
            if let Some(&first) = parts.get(&*local.name) {
                let next = names.next.entry(&local.name).or_insert(1);
                *next = (*next).max(first);
            }
            parts.entry(&local.name).or_insert_with(|| count(local.ty));
            let name = names.unique(&local.name);
            names.locals.push(name);
        }
        let mut anonymous = 0;
        walk(body, body.root, |step| {
            let Step::Stmt(stmt) = step else { return };
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

    pub(super) fn local(&self, local: LocalId) -> &str {
        self.locals.get(Handle::index(local)).map_or("undefined", |name| name)
    }

    fn unique(&mut self, name: &'a str) -> Cow<'a, str> {
        if self.taken.insert(name.into()) {
            return name.into();
        }
        let next = self.next.entry(name).or_insert(1);
        loop {
            let candidate = Cow::from([name, ".", itoa::Buffer::new().format(*next)].concat());
            *next += 1;
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}
