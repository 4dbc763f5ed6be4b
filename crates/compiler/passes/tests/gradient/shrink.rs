//! Makes a wrong case small: removes statements as long as the case stays wrong.

use crate::oracle::{Case, Verdict, compare};
use gbxcule_ir::check;

pub(crate) fn shrink(mut case: Case) -> Case {
    loop {
        let mut smaller = false;
        for function in case.module.functions.handles() {
            for block in case.module.functions[function].body.blocks.handles() {
                let count = case.module.functions[function].body.blocks[block].stmts.len();
                for position in (0..count).rev() {
                    let mut module = case.module.clone();
                    module.functions[function].body.blocks[block].stmts.remove(position);
                    if check::module(module.clone()).is_err() {
                        continue;
                    }
                    let (arrays, numbers) = (case.arrays.clone(), case.numbers.clone());
                    let candidate = Case { module, arrays, numbers, ..case };
                    if matches!(compare(&candidate), Verdict::Wrong(_)) {
                        case = candidate;
                        smaller = true;
                    }
                }
            }
        }
        if !smaller {
            return case;
        }
    }
}
