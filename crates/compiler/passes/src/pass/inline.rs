//! Inlining: a call becomes the callee's statements.
//!
//! The pass inlines only functions with a single exit that are not larger than [`MAX_SMALL`], and
//! functions that ask for it. A trusted function gets no statements of an untrusted one, whose
//! checks would be lost. By-value parameters become variables, which `fold` and a back end
//! simplify; a parameter that is only read, as a whole, becomes the argument itself.

use super::copy::{Copier, Parameters};
use super::exit;
use super::writer::whole;
use gbxcule_ir::check::{MAX_NESTING, Valid};
use gbxcule_ir::function::{Body, Function, FunctionId, Inline, Local, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, Op, Value, ValueData};
use gbxcule_ir::place::{Place, PlaceId, Projection, Root};
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::walk::{Step, depth, substitute, walk};

/// Greatest number of statements of a builtin that is inlined without asking for it.
const MAX_SMALL: usize = 12;
/// Greatest number of statements to which a function may grow.
const MAX_GROWN: usize = 20_000;

/// Inlines in all functions, callees first.
pub fn run(module: Valid<Module>) -> Module {
    let order = module.call_order().to_vec();
    let mut module = module.into_inner();
    for id in order {
        let mut body = std::mem::take(&mut module.functions[id].body);
        into(&module, &mut body, module.functions[id].trusted);
        module.functions[id].body = body;
    }
    module
}

/// Returns true if calls to a function are inlined.
fn should_inline(function: &Function) -> bool {
    let body = &function.body;
    let small = || {
        let root = &body.blocks[body.root].stmts;
        function.instance.is_some()
            && root.len() <= MAX_SMALL
            && body.locals.is_empty()
            && root.iter().all(|stmt| matches!(stmt.kind, StmtKind::Let(_) | StmtKind::Return(_)))
    };
    let is_wanted = match function.inline {
        Inline::Always => true,
        Inline::Never => false,
        Inline::Auto => small(),
    };
    is_wanted && exit::is_single(body)
}

fn into(module: &Module, body: &mut Body, trusted: bool) {
    let mut blocks: Vec<(BlockId, usize)> = Vec::new();
    let (mut size, mut level) = (0, 0);
    walk(body, body.root, |step| match step {
        Step::Enter(block) => {
            blocks.push((block, level));
            level += 1;
        }
        Step::Stmt(_) => size += 1,
        Step::Leave(_) => level -= 1,
    });
    let mut results: Vec<(Value, Value)> = Vec::new();
    for (block, level) in blocks {
        let stmts = std::mem::take(&mut body.blocks[block].stmts);
        let mut out = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            match call(module, body, &stmt, trusted) {
                Some((callee, value))
                    if size < MAX_GROWN
                        && level + depth(&module.functions[callee].body) < MAX_NESTING =>
                {
                    let before = out.len();
                    results.extend(insert_body(module, body, callee, value, &stmt, &mut out));
                    size += out.len() - before;
                }
                _ => out.push(stmt),
            }
        }
        body.blocks[block].stmts = out;
    }
    let mut same: Vec<Value> = body.values.handles().collect();
    results.into_iter().for_each(|(call, result)| same[call.index()] = result);
    substitute(body, |mut value| {
        while same[value.index()] != value {
            value = same[value.index()];
        }
        value
    });
}

/// Returns the callee of a call that is to be inlined.
fn call(module: &Module, body: &Body, stmt: &Stmt, trusted: bool) -> Option<(FunctionId, Value)> {
    let StmtKind::Let(value) = stmt.kind else { return None };
    let Op::Call { function, args } = body.values[value].op else { return None };
    // The index of a place behind a handle would have to be evaluated before the callee, which may
    // change it.
    let fixed = body.arg_lists[args].iter().all(|arg| match arg {
        Arg::Value(_) => true,
        Arg::Place(place) => {
            let behind = |step: &Projection| matches!(step, Projection::Element(_));
            !body.path(*place).iter().skip(1).any(behind)
                && (matches!(body.places[*place].root, Root::Array(_))
                    || !body.path(*place).iter().any(behind))
        }
    });
    let callee = &module.functions[function];
    let keeps_checks = !trusted || callee.trusted || callee.instance.is_some();
    (fixed && keeps_checks && should_inline(callee)).then_some((function, value))
}

/// Adds the callee's statements; returns pairs of a value and the value that replaces it.
fn insert_body(
    module: &Module,
    body: &mut Body,
    callee: FunctionId,
    value: Value,
    stmt: &Stmt,
    out: &mut Vec<Stmt>,
) -> Vec<(Value, Value)> {
    let callee = &module.functions[callee];
    let Op::Call { args, .. } = body.values[value].op else { return Vec::new() };
    let args: Vec<Arg> = body.arg_lists[args].to_vec();
    let mut places = Vec::new();
    for (param, arg) in callee.params.iter().zip(&args) {
        places.push(match *arg {
            Arg::Place(place) => place,
            Arg::Value(value) => {
                debug_assert_eq!(param.mode, PassMode::Value);
                let local = Local {
                    name: param.name.clone(),
                    ty: param.ty,
                    scratch: false,
                    span: stmt.span,
                };
                let local = body.locals.push(local);
                let place = whole(body, Root::Local(local), param.ty);
                out.push(Stmt { kind: StmtKind::Store { place, value }, span: stmt.span });
                place
            }
        });
    }
    let arg_places = places.clone();
    let mut copier = Copier::new(&callee.body, body, Parameters { places });
    let mut stmts = copier.stmts(callee.body.root);
    let locals = copier.locals();
    let mut same = forward(body, &args, &arg_places, &mut stmts);
    // The callee's variables begin as zero each time it is called.
    for local in locals {
        if body.locals[local].scratch {
            continue;
        }
        let ty = body.locals[local].ty;
        let place = whole(body, Root::Local(local), ty);
        let zero = ValueData { op: Op::Zero, ty, name: None, span: stmt.span };
        let zero = body.values.push(zero);
        out.push(Stmt { kind: StmtKind::Let(zero), span: stmt.span });
        out.push(Stmt { kind: StmtKind::Store { place, value: zero }, span: stmt.span });
    }
    if let Some(StmtKind::Return(result)) = stmts.last().map(|last| &last.kind) {
        same.extend(result.map(|result| (value, result)));
        stmts.pop();
    }
    out.extend(stmts);
    same
}

/// Replaces loads of whole by-value parameters, which never change, by the argument.
fn forward(
    body: &Body,
    args: &[Arg],
    places: &[PlaceId],
    stmts: &mut Vec<Stmt>,
) -> Vec<(Value, Value)> {
    let mut same = Vec::new();
    stmts.retain(|stmt| {
        let StmtKind::Let(value) = stmt.kind else { return true };
        let Op::Load(place) = body.values[value].op else { return true };
        let Place { root, path, .. } = body.places[place];
        let position = places.iter().position(|&given| body.places[given].root == root);
        match position.map(|position| args[position]) {
            Some(Arg::Value(arg)) if path.is_empty() => {
                same.push((value, arg));
                false
            }
            _ => true,
        }
    });
    same
}
