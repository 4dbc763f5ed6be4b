//! Texts with one statement left out: if such a text gives the same results, the statement had no
//! effect.

use crate::ast::{Function, Stmt, Text};

/// Returns the texts without one statement, for each statement that isn't the definition of a name.
pub(super) fn ablations(text: &Text) -> Vec<Text> {
    let mut texts = Vec::new();
    let mut collect = |function: &Function, put: &dyn Fn(Vec<Stmt>) -> Text| {
        without_one(&function.body, &mut |body| texts.push(put(body)));
    };
    collect(&text.kernel, &|body| {
        let mut text = text.clone();
        text.kernel.body = body;
        text
    });
    for (at, function) in text.functions.iter().enumerate() {
        collect(function, &|body| {
            let mut text = text.clone();
            text.functions[at].body = body;
            text
        });
    }
    texts
}

fn without_one(body: &[Stmt], visit: &mut dyn FnMut(Vec<Stmt>)) {
    for (at, stmt) in body.iter().enumerate() {
        let replaced = |with: Option<Stmt>| {
            let mut body = body.to_vec();
            match with {
                Some(stmt) => body[at] = stmt,
                None => _ = body.remove(at),
            }
            body
        };
        // A block without a statement is not Python.
        if body.len() > 1 && !matches!(stmt, Stmt::Return(_)) {
            visit(replaced(None));
        }
        match stmt {
            Stmt::If(arms, rest) => {
                for (number, (_, arm)) in arms.iter().enumerate() {
                    without_one(arm, &mut |arm| {
                        let mut arms = arms.clone();
                        arms[number].1 = arm;
                        visit(replaced(Some(Stmt::If(arms, rest.clone()))));
                    });
                    if arms.len() > 1 {
                        let mut arms = arms.clone();
                        arms.remove(number);
                        visit(replaced(Some(Stmt::If(arms, rest.clone()))));
                    }
                }
                without_one(rest, &mut |rest| visit(replaced(Some(Stmt::If(arms.clone(), rest)))));
                if !rest.is_empty() {
                    visit(replaced(Some(Stmt::If(arms.clone(), vec![]))));
                }
            }
            Stmt::For(name, range, body) => without_one(body, &mut |body| {
                visit(replaced(Some(Stmt::For(name.clone(), range.clone(), body))));
            }),
            Stmt::While(condition, body) => without_one(body, &mut |body| {
                visit(replaced(Some(Stmt::While(condition.clone(), body))));
            }),
            _ => {}
        }
    }
}
