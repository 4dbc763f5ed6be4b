//! Carrying: handles that functions pass on to each other beside a struct become fields of the
//! struct.
//!
//! A handle is 56 bytes, and machine code copies it at each call. Where one goes wherever the
//! struct goes, the struct may as well hold it: the parameter goes, and functions find the handle
//! where the maker of the struct has put it. Every struct that reaches one of the entries must hold
//! the handles that it was called with.

use super::retype;
use gbxcule_ir::function::{Body, Function, FunctionId, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, Op, Value};
use gbxcule_ir::place::{Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Field, Type};
use std::collections::HashMap;

/// Class of a parameter: the number of the carried handle that it is at every call, or something
/// else.
type Class = Option<usize>;

/// Makes handles fields of a struct. `names` are the new fields; `entries` are functions called
/// from outside, with the positions of their parameters that are these handles, in the order of the
/// names, and once more for each further struct that a function takes and only passes on; what none
/// of them reaches may lose its meaning. Gives the struct's new type; its new fields are the last
/// ones.
pub fn handles(
    module: &mut Module,
    structure: Type,
    names: &[&str],
    entries: &[(FunctionId, Vec<usize>)],
) -> Type {
    let Some((entry, positions)) = entries.first() else { return structure };
    let first = retype::structure(module, structure).fields.len();
    let types: Vec<Type> = positions
        .iter()
        .take(names.len())
        .map(|&at| module.functions[*entry].params[at].ty)
        .collect();
    let map = retype::map(&mut module.types, structure, |_, definition| {
        let fields = names.iter().zip(&types);
        definition.fields.extend(fields.map(|(name, &ty)| Field {
            name: (*name).into(),
            ty,
            span: Span::NONE,
        }));
        Ok::<(), std::convert::Infallible>(())
    });
    let Ok(map) = map;
    let classes = classify(module, entries, names.len());
    let plans: HashMap<FunctionId, Plan> = module
        .functions
        .iter()
        .map(|(id, function)| (id, Plan::new(id, function, structure, &classes)))
        .collect();
    for id in module.functions.handles() {
        let function = &mut module.functions[id];
        let plan = &plans[&id];
        retype::signature(function, &map);
        retype::body(&mut function.body, &map);
        places(&mut function.body, plan, first);
        drop_arguments(&mut function.body, &plans);
        let mut position = 0;
        function.params.retain(|_| {
            position += 1;
            plan.carried[position - 1].is_none()
        });
    }
    map[structure.index()]
}

/// Finds the handle that each parameter is, at every call.
fn classify(
    module: &Module,
    entries: &[(FunctionId, Vec<usize>)],
    count: usize,
) -> HashMap<(FunctionId, usize), Class> {
    let mut classes: HashMap<(FunctionId, usize), Class> = HashMap::new();
    let reached = reached(module, entries);
    for (entry, handles) in entries {
        for position in 0..module.functions[*entry].params.len() {
            let found = handles.iter().position(|&at| at == position);
            let class = found.map(|at| at % count);
            classes.insert((*entry, position), class);
        }
    }
    loop {
        let mut changed = false;
        for &id in &reached {
            let body = &module.functions[id].body;
            for (_, data) in body.values.iter() {
                let Op::Call { function: callee, args } = data.op else { continue };
                for (position, arg) in body.arg_lists[args].iter().enumerate() {
                    let given = match *arg {
                        Arg::Value(value) => match parameter(body, value) {
                            Some(param) => match classes.get(&(id, param)) {
                                Some(class) => *class,
                                // Not known yet.
                                None => continue,
                            },
                            None => None,
                        },
                        Arg::Place(_) => None,
                    };
                    let class = classes.entry((callee, position)).or_insert_with(|| {
                        changed = true;
                        given
                    });
                    if *class != given && class.is_some() {
                        *class = None;
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            return classes;
        }
    }
}

/// All functions that entries call.
fn reached(module: &Module, entries: &[(FunctionId, Vec<usize>)]) -> Vec<FunctionId> {
    let mut reached: Vec<FunctionId> = Vec::new();
    let mut todo: Vec<FunctionId> = entries.iter().map(|(entry, _)| *entry).collect();
    while let Some(next) = todo.pop() {
        if reached.contains(&next) {
            continue;
        }
        reached.push(next);
        for (_, data) in module.functions[next].body.values.iter() {
            if let Op::Call { function, .. } = data.op {
                todo.push(function);
            }
        }
    }
    reached
}

/// The parameter that a value is, whole.
fn parameter(body: &Body, value: Value) -> Option<usize> {
    let Op::Load(place) = body.values[value].op else { return None };
    match body.places[place].root {
        Root::Param(position) if body.path(place).is_empty() => Some(position as usize),
        _ => None,
    }
}

/// Plan for a function's parameters.
struct Plan {
    /// Handle that each parameter is, if the parameter goes.
    carried: Vec<Class>,
    /// The parameter that is the struct.
    holder: usize,
}

impl Plan {
    fn new(
        id: FunctionId,
        function: &Function,
        structure: Type,
        classes: &HashMap<(FunctionId, usize), Class>,
    ) -> Self {
        let params = &function.params;
        let holder =
            params.iter().position(|param| param.ty == structure && param.mode != PassMode::Value);
        let carried = (0..params.len())
            .map(|position| {
                holder?;
                *classes.get(&(id, position))?
            })
            .collect();
        Self { carried, holder: holder.unwrap_or_default() }
    }

    /// The position that is left to a parameter which stays.
    fn new_position(&self, position: usize) -> u32 {
        self.carried[..position].iter().filter(|class| class.is_none()).count() as u32
    }
}

/// Places in parameters: in the struct's fields now, or in parameters that moved up.
fn places(body: &mut Body, plan: &Plan, first: usize) {
    for place in body.places.handles().collect::<Vec<_>>() {
        let Root::Param(position) = body.places[place].root else { continue };
        let position = position as usize;
        match plan.carried[position] {
            Some(handle) => {
                let mut path = vec![Projection::Field((first + handle) as u32)];
                path.extend_from_slice(body.path(place));
                body.places[place].path = body.paths.add(path);
                body.places[place].root = Root::Param(plan.new_position(plan.holder));
            }
            None => body.places[place].root = Root::Param(plan.new_position(position)),
        }
    }
}

fn drop_arguments(body: &mut Body, plans: &HashMap<FunctionId, Plan>) {
    for value in body.values.handles().collect::<Vec<_>>() {
        let Op::Call { function, args } = body.values[value].op else { continue };
        let carried = &plans[&function].carried;
        let args = body.arg_lists[args].iter().zip(carried);
        let kept: Vec<Arg> =
            args.filter(|(_, class)| class.is_none()).map(|(arg, _)| *arg).collect();
        let args = body.arg_lists.add(kept);
        body.values[value].op = Op::Call { function, args };
    }
}
