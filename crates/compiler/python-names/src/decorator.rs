//! Decorators that don't turn a function into a kernel.

use crate::syntax::Expr;

/// Last names of decorators that don't turn a function into a kernel.
const PLAIN_DECORATORS: &str = "abstractmethod cache cached_property classmethod contextmanager expectedFailure fixture \
    func func_grad func_native func_replay getter integrand lru_cache no_grad override \
    overload parametrize patch property register setter skip skipIf skipUnless skipif \
    staticmethod struct wraps";

/// Returns true for a decorator that doesn't turn a function into a kernel, by its last name.
pub fn is_plain(decorator: &Expr) -> bool {
    let name = match decorator {
        Expr::Call(call) => return is_plain(&call.func),
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return false,
    };
    PLAIN_DECORATORS.split(' ').any(|it| it == name)
}
