//! Finds the functions that the entry points reach, and refuses circles of calls, because IR has no
//! recursion.

use super::item::Items;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;

/// State of the search at a function.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Unseen,
    Open,
    Done,
}

/// Infers the bodies of all functions that the entry points reach, and refuses circles.
pub(super) fn check_recursion(program: &Items<'_>, entries: &[usize]) {
    let mut states = vec![State::Unseen; program.functions.len()];
    for &entry in entries {
        // Functions on the current path, each with the number of its calls that were followed.
        let mut path: Vec<(usize, usize)> = Vec::new();
        enter(entry, &mut states, &mut path);
        while let Some((function, followed)) = path.last_mut() {
            let body = program.body(*function);
            let Some(&(callee, at)) = body.calls.get(*followed) else {
                states[*function] = State::Done;
                path.pop();
                continue;
            };
            *followed += 1;
            match states[callee] {
                State::Unseen => enter(callee, &mut states, &mut path),
                State::Open => refuse(program, callee, at),
                State::Done => {}
            }
        }
    }
}

fn enter(function: usize, states: &mut [State], path: &mut Vec<(usize, usize)>) {
    if states[function] == State::Unseen {
        states[function] = State::Open;
        path.push((function, 0));
    }
}

fn refuse(program: &Items<'_>, callee: usize, at: Span) {
    let name = &program.functions[callee].name;
    let message = format!("`{name}` comes to call itself here; recursion is not translated");
    program.fault(Diagnostic::error(Code::RustRecursion, at, message));
}
