//! Prints a text in the usual layout.

use crate::ast::{Expr, Function, Param, Stmt, Text, Ty};
use gbxcule_ir::Scalar;
use std::fmt::Write as _;

/// Returns the text of a file.
pub(crate) fn text(text: &Text) -> String {
    let mut out = String::from("import warp as wp\n");
    if !text.constants.is_empty() {
        out.push('\n');
    }
    for (name, value) in &text.constants {
        _ = writeln!(out, "{name} = wp.constant({})", expr(value));
    }
    for structure in &text.structs {
        _ = writeln!(out, "\n\n@wp.struct\nclass {}:", structure.name);
        for (name, field) in &structure.fields {
            _ = writeln!(out, "    {name}: {}", ty(text, *field));
        }
    }
    for function in &text.functions {
        write_function(&mut out, text, "wp.func", function);
    }
    write_function(&mut out, text, "wp.kernel", &text.kernel);
    out
}

fn write_function(out: &mut String, text: &Text, decorator: &str, function: &Function) {
    let params: Vec<String> = function.params.iter().map(|it| param(text, it)).collect();
    let head = format!("def {}({}):", function.name, params.join(", "));
    _ = writeln!(out, "\n\n@{decorator}");
    if head.len() <= 100 {
        _ = writeln!(out, "{head}");
    } else {
        _ = writeln!(out, "def {}(", function.name);
        params.iter().for_each(|param| _ = writeln!(out, "    {param},"));
        out.push_str("):\n");
    }
    if let Some(words) = &function.docstring {
        _ = writeln!(out, "    \"\"\"{words}\"\"\"");
    }
    for (at, stmt) in function.body.iter().enumerate() {
        for (_, comment) in function.comments.iter().filter(|(before, _)| *before == at) {
            _ = writeln!(out, "    # {comment}");
        }
        statement(out, stmt, 1);
    }
}

fn param(text: &Text, param: &Param) -> String {
    let element = ty(text, param.ty);
    match param.dims {
        0 => format!("{}: {element}", param.name),
        1 => format!("{}: wp.array(dtype={element})", param.name),
        dims => format!("{}: wp.array{dims}d(dtype={element})", param.name),
    }
}

/// Returns the text of a type in an annotation or constructor.
pub(crate) fn ty(text: &Text, ty: Ty) -> String {
    match ty {
        Ty::Struct(at) => text.structs[at].name.to_string(),
        other => plain(other),
    }
}

/// Returns the text of a type that has no name of its own.
pub(crate) fn plain(ty: Ty) -> String {
    match ty {
        Ty::Scalar(Scalar::F32) => "float".into(),
        Ty::Scalar(Scalar::I32) => "int".into(),
        Ty::Scalar(Scalar::Bool) => "bool".into(),
        Ty::Scalar(of) => format!("wp.{}", of.spelled()),
        Ty::Vec(len, of) => format!("wp.vec{len}{}", suffix(of)),
        Ty::Mat(rows, cols, of) => format!("wp.mat{rows}{cols}{}", suffix(of)),
        Ty::Quat => "wp.quat".into(),
        Ty::Transform => "wp.transform".into(),
        Ty::Struct(_) => unreachable!("a struct has a name of its own"),
    }
}

fn suffix(of: Scalar) -> &'static str {
    match of {
        Scalar::F32 | Scalar::Bf16 | Scalar::Bool => "",
        of => of.suffix(),
    }
}

fn block(out: &mut String, stmts: &[Stmt], depth: usize) {
    for stmt in stmts {
        statement(out, stmt, depth);
    }
}

fn statement(out: &mut String, stmt: &Stmt, depth: usize) {
    let margin = "    ".repeat(depth);
    out.push_str(&margin);
    match stmt {
        Stmt::Assign(targets, value) => {
            let targets: Vec<String> = targets.iter().map(expr).collect();
            _ = writeln!(out, "{} = {}", targets.join(", "), expr(value));
        }
        Stmt::Augment(target, op, value) => {
            _ = writeln!(out, "{} {op}= {}", expr(target), expr(value));
        }
        Stmt::If(arms, rest) => {
            for (at, (condition, body)) in arms.iter().enumerate() {
                let word = if at == 0 { "if" } else { "elif" };
                let margin = if at == 0 { "" } else { margin.as_str() };
                _ = writeln!(out, "{margin}{word} {}:", expr(condition));
                block(out, body, depth + 1);
            }
            if !rest.is_empty() {
                _ = writeln!(out, "{margin}else:");
                block(out, rest, depth + 1);
            }
        }
        Stmt::For(name, range, body) => {
            let range: Vec<String> = range.iter().map(expr).collect();
            _ = writeln!(out, "for {name} in range({}):", range.join(", "));
            block(out, body, depth + 1);
        }
        Stmt::While(condition, body) => {
            _ = writeln!(out, "while {}:", expr(condition));
            block(out, body, depth + 1);
        }
        Stmt::Break => out.push_str("break\n"),
        Stmt::Continue => out.push_str("continue\n"),
        Stmt::Return(values) => {
            let values: Vec<String> = values.iter().map(expr).collect();
            _ = writeln!(out, "{}", format!("return {}", values.join(", ")).trim_end());
        }
        Stmt::Do(call) => _ = writeln!(out, "{}", expr(call)),
    }
}

/// Returns the binding strength of an expression.
fn strength(expr: &Expr) -> u8 {
    match expr {
        Expr::If(..) => 0,
        Expr::Binary(_, op, _) => operator(op),
        Expr::Unary("not", _) => 3,
        Expr::Unary(..) => 10,
        Expr::Int(value) if *value < 0 => 10,
        Expr::Float(value) if *value < 0.0 => 10,
        _ => 12,
    }
}

fn operator(op: &str) -> u8 {
    match op {
        "or" => 1,
        "and" => 2,
        "|" => 5,
        "^" => 6,
        "&" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "//" | "%" | "@" => 10,
        _ => 4,
    }
}

/// Returns the text of an expression.
pub(crate) fn expr(it: &Expr) -> String {
    match it {
        Expr::Name(name) => name.to_string(),
        Expr::Int(value) => value.to_string(),
        Expr::Float(value) => format!("{value:?}"),
        Expr::Unary("not", of) => format!("not {}", parenthesised(of, 4)),
        Expr::Unary(op, of) => format!("{op}{}", parenthesised(of, 11)),
        Expr::Binary(left, op, right) => {
            let strength = operator(op);
            // A comparison as an operand of a comparison gets parentheses, because Python would
            // chain them; all other operators group to the left.
            let left = parenthesised(left, if strength == 4 { 5 } else { strength });
            format!("{left} {op} {}", parenthesised(right, strength + 1))
        }
        Expr::If(condition, accept, reject) => {
            format!(
                "{} if {} else {}",
                parenthesised(accept, 1),
                parenthesised(condition, 1),
                parenthesised(reject, 1)
            )
        }
        Expr::Call(callee, args) => format!("{callee}({})", list(args)),
        Expr::Index(of, indices) => format!("{}[{}]", parenthesised(of, 12), list(indices)),
        Expr::Attr(of, name) => format!("{}.{name}", parenthesised(of, 12)),
        Expr::Keyword(name, value) => format!("{name}={}", expr(value)),
    }
}

fn list(args: &[Expr]) -> String {
    args.iter().map(expr).collect::<Vec<_>>().join(", ")
}

fn parenthesised(it: &Expr, least: u8) -> String {
    let text = expr(it);
    if strength(it) < least { format!("({text})") } else { text }
}
