//! Parts of a module that launches need: types, names, and kernels without bodies. Handles are the
//! same as in the module itself.

use super::record::{Stored, stored};
use crate::reflection::{Parameter, Reflection};
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::source::Span;
use gbxcule_ir::{Field, FunctionId, Module, Name, Param, Scalar, Shape, Struct, Type, Types};

stored! {
    Parameter { name, ty, type_name, written }
    Reflection { name, parameters, dims, disjoint }
}

/// Interface of a module, read from a record.
#[derive(Debug)]
pub(crate) struct Interface {
    /// Module without the bodies of its functions; only kernels keep their parameters.
    pub(crate) module: Valid<Module>,
    /// Reflections of the kernels, by position of the function.
    pub(crate) reflections: Vec<Option<Reflection>>,
}

/// Number of types that every module has: scalars, the empty tuple, the invalid type.
const COMMON_TYPES: usize = Scalar::ALL.len() + 2;

/// Appends the interface of a module to a record.
pub(crate) fn write(module: &Module, reflections: &[Option<Reflection>], record: &mut Vec<u8>) {
    module.name.write(record);
    let shapes = module.types.shapes().iter().skip(COMMON_TYPES);
    shapes.map(|(_, shape)| shape.clone()).collect::<Vec<Shape>>().write(record);
    let structs = module.types.structs().iter().map(|(_, one)| without_spans(one));
    structs.collect::<Vec<Struct>>().write(record);
    let names = module.names().iter().map(|(_, name)| name.to_string());
    names.collect::<Vec<String>>().write(record);
    let functions = module.functions.iter().zip(reflections);
    let functions = functions.map(|((_, one), kernel)| (one.name.clone(), kernel.clone()));
    functions.collect::<Vec<(String, Option<Reflection>)>>().write(record);
}

/// Returns a struct without places in the source, which launches don't need.
fn without_spans(structure: &Struct) -> Struct {
    let field = |field: &Field| Field { span: Span::NONE, ..field.clone() };
    let fields = structure.fields.iter().map(field).collect();
    Struct { name: structure.name.clone(), fields, span: Span::NONE }
}

impl Interface {
    /// Reads an interface from the beginning of the remaining record.
    pub(crate) fn read(input: &mut &[u8]) -> Option<Self> {
        let mut module = Module::new(String::read(input)?);
        read_types(&mut module.types, input)?;
        for name in Vec::<String>::read(input)? {
            module.intern(&name);
        }
        let mut reflections = Vec::new();
        for (name, kernel) in Vec::<(String, Option<Reflection>)>::read(input)? {
            match &kernel {
                Some(Reflection { parameters, .. }) => {
                    let parameter = |it: &Parameter| Param::value(it.name.clone(), it.ty);
                    module.declare_kernel(name, parameters.iter().map(parameter).collect());
                }
                None => _ = module.declare(name, Vec::new(), Type::UNIT),
            }
            reflections.push(kernel);
        }
        Some(Self { module: check::module(module).ok()?, reflections })
    }

    /// Returns true if a handle names a kernel of the module.
    pub(crate) fn has_kernel(&self, kernel: FunctionId) -> bool {
        self.reflections.get(kernel.index()).is_some_and(Option::is_some)
    }

    /// Returns true if handles name a function and a text of the module.
    pub(crate) fn has_names(&self, function: FunctionId, text: Option<Name>) -> bool {
        function.index() < self.reflections.len()
            && text.is_none_or(|text| self.module.has_name(text))
    }
}

/// Adds the types of a record in their order, so that each type gets the handle that it had.
fn read_types(types: &mut Types, input: &mut &[u8]) -> Option<()> {
    let shapes = Vec::<Shape>::read(input)?;
    let mut structs = Vec::<Struct>::read(input)?.into_iter();
    for (position, shape) in shapes.into_iter().enumerate() {
        let ty = match shape {
            Shape::Struct(_) => types.define_struct(structs.next()?),
            shape => types.intern(shape),
        };
        if ty.index() != COMMON_TYPES + position {
            return None;
        }
    }
    structs.next().is_none().then_some(())
}
