//! Options of `@wp.kernel(...)`. No option changes the meaning of a kernel: two options limit the
//! part of a multiprocessor that its threads take, the others concern Warp's own modules and
//! builds.

use crate::unit::Unit;
use crate::value::KnownValue;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::Residency;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{Expr, StmtFunctionDef};

/// Options of Warp 1.19 without effect here.
const WITHOUT_EFFECT: [&str; 8] = [
    "name",
    "enable_backward",
    "enable_cuda_smem_spilling",
    "cluster_dim",
    "module",
    "module_options",
    "entry_point_abi",
    "grid_stride",
];

/// Returns the part of a multiprocessor that a kernel may take, by its decorator.
pub fn residency<'a>(
    unit: &Unit<'a>,
    def: &'a StmtFunctionDef,
    scope: ScopeId,
) -> Result<Residency, Box<Diagnostic>> {
    let mut residency = Residency::Free;
    let calls = def.decorator_list.iter().filter_map(|decorator| match &decorator.expression {
        Expr::Call(call) if unit.path(&call.func, scope).as_deref() == Some("warp.kernel") => {
            Some(call)
        }
        _ => None,
    });
    for keyword in calls.flat_map(|call| &call.arguments.keywords) {
        // No option in `**options` changes what the kernel means.
        let Some(name) = &keyword.arg else { continue };
        let asked = match name.as_str() {
            "launch_bounds" => blocks(unit, &keyword.value, scope)?,
            "cuda_max_registers" => registers(unit, &keyword.value, scope)?,
            name if WITHOUT_EFFECT.contains(&name) => continue,
            name => {
                let span = unit.span(keyword);
                let message = format!("`wp.kernel` has no option `{name}`");
                return Err(Box::new(
                    Diagnostic::error(Code::WrongArguments, span, message).help(format!(
                        "it takes `launch_bounds`, `cuda_max_registers` and, without effect here, {}",
                        WITHOUT_EFFECT.map(|name| format!("`{name}`")).join(", ")
                    )),
                ));
            }
        };
        if residency != Residency::Free && asked != Residency::Free {
            let span = unit.span(keyword);
            let message = "`launch_bounds` and `cuda_max_registers` exclude each other";
            return Err(Box::new(Diagnostic::error(Code::WrongArguments, span, message)));
        }
        residency = if asked == Residency::Free { residency } else { asked };
    }
    Ok(residency)
}

fn blocks<'a>(
    unit: &Unit<'a>,
    value: &'a Expr,
    scope: ScopeId,
) -> Result<Residency, Box<Diagnostic>> {
    let given = match unit.known(value, scope)? {
        KnownValue::None => return Ok(Residency::Free),
        KnownValue::Sequence(parts) => parts,
        one => [one].into(),
    };
    let residency = match *given {
        [ref threads] => number(threads).map(|threads| (threads, None)),
        [ref threads, ref together] => number(threads).zip(number(together).map(Some)),
        _ => None,
    };
    let residency = residency.map(|(threads, together)| Residency::Blocks { threads, together });
    possible(
        unit,
        residency,
        value,
        "`launch_bounds` is the most threads a block has, 1 to 1024, or a tuple of that and the fewest blocks that a \
         multiprocessor keeps, 1 to 32",
    )
}

fn registers<'a>(
    unit: &Unit<'a>,
    value: &'a Expr,
    scope: ScopeId,
) -> Result<Residency, Box<Diagnostic>> {
    let asked = match unit.known(value, scope)? {
        KnownValue::None => return Ok(Residency::Free),
        given => number(&given).map(Residency::Registers),
    };
    possible(
        unit,
        asked,
        value,
        "`cuda_max_registers` is the most registers a thread has, 1 to 255",
    )
}

fn possible<'a>(
    unit: &Unit<'a>,
    asked: Option<Residency>,
    value: &Expr,
    message: &str,
) -> Result<Residency, Box<Diagnostic>> {
    asked
        .filter(|asked| asked.is_possible())
        .ok_or_else(|| Box::new(Diagnostic::error(Code::WrongArguments, unit.span(value), message)))
}

fn number(given: &KnownValue<'_>) -> Option<u32> {
    match *given {
        KnownValue::Int(number) => number.try_into().ok(),
        _ => None,
    }
}
