//! Functions that look like kernels but have no decorator that the front end knows: the decorator
//! comes from a file that the front end doesn't read, or makes kernels only when Python runs.

use gbxcule_ir::source::Span;
use gbxcule_python_names::syntax::{self, Expr, Stmt, Visitor, walk_expr, walk_stmt};
use std::collections::HashSet;

/// A function that calls `wp.tid` in its body, or that its file launches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unmarked {
    pub(crate) name: String,
    /// Offset of the function's name in the text, in bytes.
    pub(crate) at: usize,
}

/// A function of a text, while its body is read.
struct Function {
    name: String,
    at: usize,
    /// True if `wp.func` decorates the function, so that it is not a kernel.
    is_device_function: bool,
    calls_tid: bool,
}

/// Functions of a text, and the names that the text launches.
#[derive(Default)]
struct Reader {
    functions: Vec<Function>,
    /// Positions of the functions around the present statement; `None` for a class.
    around: Vec<Option<usize>>,
    launched: HashSet<String>,
}

/// Returns the functions of a text that call `wp.tid` or are launched; device functions are left
/// out.
pub(crate) fn likely_kernels(text: &str) -> Vec<Unmarked> {
    let mut reader = Reader::default();
    if let Ok(tree) = syntax::parse(text, 0, |_, _| Span::NONE) {
        tree.body.iter().for_each(|stmt| reader.visit_stmt(stmt));
    }
    let Reader { functions, launched, .. } = reader;
    let is_likely =
        |it: &Function| (it.calls_tid || launched.contains(&it.name)) && !it.is_device_function;
    let wanted = functions.into_iter().filter(is_likely);
    wanted.map(|it| Unmarked { name: it.name, at: it.at }).collect()
}

impl Visitor<'_> for Reader {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        let inner = match stmt {
            Stmt::FunctionDef(def) => {
                self.functions.push(Function {
                    name: def.name.to_string(),
                    at: syntax::start(&def.name) as usize,
                    is_device_function: def.decorator_list.iter().any(|it| is_func(&it.expression)),
                    calls_tid: false,
                });
                Some(Some(self.functions.len() - 1))
            }
            Stmt::ClassDef(_) => Some(None),
            _ => None,
        };
        self.around.extend(inner);
        walk_stmt(self, stmt);
        if inner.is_some() {
            self.around.pop();
        }
    }

    fn visit_expr(&mut self, expr: &Expr) {
        match (member_of_warp(expr), expr, self.around.last()) {
            (Some("tid"), _, Some(Some(function))) => self.functions[*function].calls_tid = true,
            (_, Expr::Call(call), _)
                if member_of_warp(&call.func).is_some_and(|it| it.starts_with("launch")) =>
            {
                let kernel = call.arguments.args.first().and_then(Expr::as_name_expr);
                self.launched.extend(kernel.map(|name| name.id.to_string()));
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Returns `member` of `wp.member`.
fn member_of_warp(expr: &Expr) -> Option<&str> {
    match syntax::path(expr)?[..] {
        ["wp" | "warp", member] => Some(member),
        _ => None,
    }
}

/// Returns true for the decorator `@wp.func` or one of its forms.
fn is_func(decorator: &Expr) -> bool {
    let decorator = decorator.as_call_expr().map_or(decorator, |call| &call.func);
    let path = syntax::path(decorator).unwrap_or_default();
    path.len() <= 2 && path.last().is_some_and(|name| name.starts_with("func"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_may_be_kernels_are_found_where_they_stand() {
        let text = "import warp as wp\n\n@wp.func\ndef f(x: float):\n    return x + float(wp.tid())\n\n\
            def make(n):\n    @dynamic(n)\n    def inner(x: wp.array(dtype=float)):\n        i = wp.tid()\n        \
            x[i] = 1.0\n    y = n\n    return inner\n\nclass A:\n    @mark\n    @other.mark(a=1)\n    def k(\n        \
            x: int,\n    ):\n        if x > 0:\n            i, j = warp.tid()\n\ndef plain():\n    \"wp.tid()\"  # wp.tid()\n\n@mark\n\
            def one():\n    wp.expect_near(1.0, 1.0)\n\nwp.launch(one, dim=1)\n";
        let found = likely_kernels(text);
        let names: Vec<(&str, &str)> =
            found.iter().map(|it| (it.name.as_str(), &text[it.at..it.at + 3])).collect();
        assert_eq!(names, [("inner", "inn"), ("k", "k(\n"), ("one", "one")]);
    }
}
