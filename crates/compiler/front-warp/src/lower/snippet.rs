//! Functions whose body is the text of a native snippet.

use super::Session;
use super::operand::{Binding, LoweringError};
use super::session::Definition;
use gbxcule_front_native::Snippet;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::FunctionId;
use gbxcule_ir::module::Module;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Type;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{self, StmtFunctionDef};
use gbxcule_warp_types::type_expr;
use gbxcule_warp_types::unit::Unit;
use gbxcule_warp_types::value::KnownValue;

/// Fills a declared function with the statements of its decorator's snippet.
pub(super) fn lower<'a>(
    unit: &Unit<'a>,
    session: &mut Session<'a>,
    module: &mut Module,
    id: FunctionId,
    definition: &Definition<'_, 'a>,
) -> Result<(), Box<Diagnostic>> {
    let Definition { def, scope, .. } = *definition;
    let text = snippet_text(unit, def, scope, session.gradients)?;
    let refused = |what: String| refused(unit, def, &what);
    let snippet = Snippet::read(&text).map_err(refused)?;
    let result = match def.returns.as_deref() {
        Some(returns) => {
            let annotation = type_expr::annotation(unit, returns, scope)?;
            match session.structs.concrete(unit, module, &annotation, Span::NONE) {
                Ok(result) => result,
                Err(LoweringError::Fault(fault)) => return Err(fault),
                Err(LoweringError::Reported) => return Ok(()),
            }
        }
        None => Type::UNIT,
    };
    let mut given = definition.formals.iter().zip(&definition.bindings);
    if let Some((formal, _)) = given.find(|(_, binding)| !matches!(binding, Binding::Param(_))) {
        return Err(refused(format!("`{}` of such a type", formal.name)));
    }
    snippet.lower(module, id, result).map_err(refused)
}

/// Returns the text of a snippet that is called for its value alone.
fn snippet_text<'a>(
    unit: &Unit<'a>,
    def: &'a StmtFunctionDef,
    scope: ScopeId,
    gradients: bool,
) -> Result<std::rc::Rc<str>, Box<Diagnostic>> {
    let is_native =
        |func: &'a syntax::Expr| unit.path(func, scope).as_deref() == Some("warp.func_native");
    let call = def.decorator_list.iter().find_map(|decorator| match &decorator.expression {
        syntax::Expr::Call(call) if is_native(&call.func) => Some(call),
        _ => None,
    });
    let none = || refused(unit, def, "no text");
    let arguments = &call.ok_or_else(none)?.arguments;
    let named = |name: &str| {
        arguments.keywords.iter().find(|it| it.arg.as_deref() == Some(name)).map(|it| &it.value)
    };
    let by_hand = arguments.args.len() > 1
        || named("adj_snippet").is_some()
        || named("replay_snippet").is_some();
    if gradients && by_hand {
        return Err(refused(unit, def, "a gradient that is a snippet too"));
    }
    let text = arguments.args.first().or_else(|| named("snippet")).ok_or_else(none)?;
    match unit.known(text, scope)? {
        KnownValue::Text(text) => Ok(text),
        _ => Err(none()),
    }
}

fn refused(unit: &Unit<'_>, def: &StmtFunctionDef, what: &str) -> Box<Diagnostic> {
    let name = &def.name;
    let message = format!("the native snippet of `{name}` can't be read: it has {what}");
    let fault = Diagnostic::error(Code::UnsupportedNative, unit.span(name), message);
    Box::new(fault.help("write what it computes as a `@wp.func`"))
}
