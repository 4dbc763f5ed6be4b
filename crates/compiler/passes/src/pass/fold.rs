//! Folding: operations on constants become constants, a part taken from a composite that the same
//! body builds becomes that part, and branches on constants become the arm that is taken.
//!
//! Only exact operations are computed here, so that all ways of running still agree.

use gbxcule_ir::constant::Literal;
use gbxcule_ir::eval;
use gbxcule_ir::function::Body;
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{BinaryOp, Op, Value};
use gbxcule_ir::stmt::{BlockId, Stmt, StmtKind};
use gbxcule_ir::ty::Shape;
use gbxcule_ir::walk::substitute;

/// Folds all functions.
pub fn run(module: &mut Module) {
    for id in module.functions.handles() {
        let mut body = std::mem::take(&mut module.functions[id].body);
        values(module, &mut body);
        branches(&mut body);
        module.functions[id].body = body;
    }
}

/// Folds values until nothing changes. Operands come before their uses in most bodies, so that one
/// walk over the arena is enough; bodies put together from others are out of order.
fn values(module: &Module, body: &mut Body) {
    loop {
        let mut same: Vec<Value> = body.values.handles().collect();
        let mut changed = false;
        for value in body.values.handles() {
            match folded(module, body, value) {
                Folded::Literal(literal) => {
                    body.values[value].op = Op::Literal(literal);
                    changed = true;
                }
                Folded::Same(other) if other != value => {
                    same[value.index()] = other;
                    changed = true;
                }
                _ => {}
            }
        }
        if !changed {
            return;
        }
        let mut aliased = false;
        substitute(body, |value| {
            let mut to = value;
            while same[to.index()] != to {
                to = same[to.index()];
            }
            aliased |= to != value;
            to
        });
        if !aliased && body.values.handles().all(|value| !folds(module, body, value)) {
            return;
        }
    }
}

enum Folded {
    /// A constant.
    Literal(Literal),
    /// Another value.
    Same(Value),
    /// The operation stays as it is.
    No,
}

fn folds(module: &Module, body: &Body, value: Value) -> bool {
    matches!(folded(module, body, value), Folded::Literal(_))
}

fn folded(module: &Module, body: &Body, value: Value) -> Folded {
    let constant = |value: Value| match body.values[value].op {
        Op::Literal(literal) => Some(literal),
        Op::Zero => Some(Literal::from_bits(body.type_of(value).as_scalar()?, 0)),
        _ => None,
    };
    let Some(scalar) = body.type_of(value).as_scalar() else {
        return composite(body, value);
    };
    let literal = match body.values[value].op {
        Op::Unary(op, operand) => constant(operand).map(|operand| eval::unary(op, operand)),
        Op::Binary(op, left, right) => match (constant(left), constant(right)) {
            (Some(left), Some(right)) => eval::binary(op, left, right).ok(),
            (Some(left), None) if neutral(op, left, true) => return Folded::Same(right),
            (None, Some(right)) if neutral(op, right, false) => return Folded::Same(left),
            _ => None,
        },
        Op::Compare(op, left, right) => match (constant(left), constant(right)) {
            (Some(left), Some(right)) => Some(Literal::bool(eval::compare(op, left, right))),
            _ => None,
        },
        Op::Convert(operand) if body.type_of(operand) == body.type_of(value) => {
            return Folded::Same(operand);
        }
        Op::Convert(operand) => constant(operand).map(|operand| eval::convert(operand, scalar)),
        Op::Bitcast(operand) => {
            constant(operand).map(|operand| Literal::from_bits(scalar, operand.bits()))
        }
        Op::Native { native, args } if native.row().ulps == 0 => {
            let args: Option<Vec<Literal>> =
                body.value_lists[args].iter().map(|&arg| constant(arg)).collect();
            args.map(|args| eval::native(native, &args))
        }
        Op::Extract { from, index } => return extracted(module, body, from, index),
        _ => return composite(body, value),
    };
    literal.map_or(Folded::No, Folded::Literal)
}

/// Folds by rules that hold for composites as well as scalars.
fn composite(body: &Body, value: Value) -> Folded {
    match body.values[value].op {
        Op::Select { condition, accept, reject } => match body.values[condition].op {
            Op::Literal(literal) => Folded::Same(if literal.bits() != 0 { accept } else { reject }),
            _ if accept == reject => Folded::Same(accept),
            _ => Folded::No,
        },
        Op::Extract { from, index } => match body.values[from].op {
            Op::Construct(parts) => Folded::Same(body.value_lists[parts][index as usize]),
            Op::Splat(part) => Folded::Same(part),
            _ => Folded::No,
        },
        _ => Folded::No,
    }
}

/// Returns a part of a composite that the same body builds.
fn extracted(module: &Module, body: &Body, from: Value, index: u32) -> Folded {
    match body.values[from].op {
        Op::Construct(parts) => Folded::Same(body.value_lists[parts][index as usize]),
        Op::Splat(part) => Folded::Same(part),
        Op::Zero => match module.types[body.type_of(from)] {
            Shape::Struct(_) | Shape::Fixed { .. } | Shape::Tuple(_) => Folded::No,
            _ => module
                .types
                .components(body.type_of(from))
                .map_or(Folded::No, |(of, _)| Folded::Literal(Literal::from_bits(of, 0))),
        },
        _ => Folded::No,
    }
}

/// Returns true if an integer operand leaves the other one unchanged.
fn neutral(op: BinaryOp, operand: Literal, on_the_left: bool) -> bool {
    let Some(value) = operand.as_int() else { return false };
    match op {
        BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor => value == 0,
        BinaryOp::Multiply => value == 1,
        BinaryOp::Subtract | BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
            value == 0 && !on_the_left
        }
        BinaryOp::Divide | BinaryOp::FloorDivide => value == 1 && !on_the_left,
        BinaryOp::Remainder => false,
        BinaryOp::And => operand == Literal::int(operand.scalar(), -1),
    }
}

/// Replaces branches on constants by the statements of the arm that is taken.
fn branches(body: &mut Body) {
    // Inner blocks come first: statements that move outwards are folded already.
    let mut order: Vec<BlockId> = Vec::new();
    gbxcule_ir::walk::walk(body, body.root, |step| {
        if let gbxcule_ir::walk::Step::Leave(block) = step {
            order.push(block);
        }
    });
    for block in order {
        let stmts = std::mem::take(&mut body.blocks[block].stmts);
        let mut new_stmts: Vec<Stmt> = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            match taken_branch(body, &stmt.kind) {
                Some(TakenBranch::Block(inner)) => {
                    new_stmts.extend(std::mem::take(&mut body.blocks[inner].stmts));
                }
                Some(TakenBranch::Nothing) => {}
                None => new_stmts.push(stmt),
            }
            if new_stmts.last().is_some_and(|last| last.kind.is_terminator()) {
                break;
            }
        }
        body.blocks[block].stmts = new_stmts;
    }
}

enum TakenBranch {
    Block(BlockId),
    Nothing,
}

fn taken_branch(body: &Body, stmt: &StmtKind) -> Option<TakenBranch> {
    Some(match stmt {
        StmtKind::If { condition, accept, reject } => {
            TakenBranch::Block(if body.literal(*condition)?.bits() != 0 {
                *accept
            } else {
                *reject
            })
        }
        StmtKind::Switch { selector, cases, default } => {
            let wanted = body.literal(*selector)?.as_int()? as i64;
            let case = cases.iter().find(|case| case.labels.contains(&wanted));
            TakenBranch::Block(case.map_or(*default, |case| case.body))
        }
        StmtKind::While { header, condition, .. } if body.literal(*condition)?.bits() == 0 => {
            TakenBranch::Block(*header)
        }
        StmtKind::For { start, end, step, .. } => {
            let [start, end, step] = [start, end, step].map(|&v| body.literal(v)?.as_int());
            let (start, end, step) = (start?, end?, step?);
            let runs = (step > 0 && start < end) || (step < 0 && start > end);
            if runs {
                return None;
            }
            TakenBranch::Nothing
        }
        StmtKind::Assert { condition, .. } if body.literal(*condition)?.bits() != 0 => {
            TakenBranch::Nothing
        }
        _ => return None,
    })
}
