//! Carrying: a handle that functions pass to each other beside a struct becomes a field of the
//! struct.
//!
//! A handle is 56 bytes, and machine code copies it at each call. Where a handle accompanies a
//! struct through all calls, the struct may hold the handle: the parameter is dropped, and
//! functions read the handle from the field into which the maker of the struct has put it. Every
//! struct that reaches an entry must hold the handles that the entry was called with.

use super::retype;
use gbxcule_ir::function::{Body, Function, FunctionId, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, Op, Value};
use gbxcule_ir::place::{Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Field, Type};
use std::collections::HashMap;

/// Class of a parameter: the number of the carried handle that every call passes, or `None`.
type Class = Option<usize>;

/// Makes handles fields of a struct and returns the struct's new type, whose last fields are
/// these handles under the given `names`. `entries` are the functions that are called from
/// outside. Each entry lists the positions of the parameters that are these handles, in the order
/// of `names`; it repeats the list for each further struct that the function takes and only
/// passes on. Functions that no entry reaches may lose their meaning.
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

/// Finds the handle that each parameter is at every call.
fn classify(
    module: &Module,
    entries: &[(FunctionId, Vec<usize>)],
    count: usize,
) -> HashMap<(FunctionId, usize), Class> {
    let mut classes: HashMap<(FunctionId, usize), Class> = HashMap::new();
    let reached = reached(module, entries);
    for (entry, handles) in entries {
        for position in 0..module.functions[*entry].params.len() {
            let handle = handles.iter().position(|&at| at == position);
            let class = handle.map(|at| at % count);
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
                                // The class is not known yet.
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

/// Returns all functions that entries reach by calls.
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

/// Returns the parameter that a value is loaded from as a whole.
fn parameter(body: &Body, value: Value) -> Option<usize> {
    let Op::Load(place) = body.values[value].op else { return None };
    match body.places[place].root {
        Root::Param(position) if body.path(place).is_empty() => Some(position as usize),
        _ => None,
    }
}

/// Plan for a function's parameters.
struct Plan {
    /// Class of each parameter; parameters with a class are dropped.
    carried: Vec<Class>,
    /// Position of the parameter that is the struct.
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

    /// Returns the new position of a parameter that stays.
    fn new_position(&self, position: usize) -> u32 {
        self.carried[..position].iter().filter(|class| class.is_none()).count() as u32
    }
}

/// Changes places in parameters to fields of the struct, or to the new positions of the parameters.
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
        let remaining: Vec<Arg> =
            args.filter(|(_, class)| class.is_none()).map(|(arg, _)| *arg).collect();
        let args = body.arg_lists.add(remaining);
        body.values[value].op = Op::Call { function, args };
    }
}
