//! The header-free form of an answer in CUDA: a kernel over raw pointers and extents, as people
//! usually write it. This module makes the kernel's head, its structs and the parameters of a
//! launch.

use gbxcule_gpu_check::launch::{LaunchArray, Parameter};
use gbxcule_grammar::input::rank;
use gbxcule_ir::check::Valid;
use gbxcule_ir::{Function, FunctionId, Module, Scalar, Shape, Type};
use gbxcule_rows::execute::{ArgumentBytes, LaunchInputs};
use gbxcule_rows::part::{Composite, Part, parts};
use gbxcule_rows::row_program::element;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Returns a scalar's name in CUDA C++, and the letter that ends the names of its vectors.
fn scalar(of: Scalar) -> (&'static str, &'static str) {
    match of {
        Scalar::Bool => ("bool", "b"),
        Scalar::I8 => ("signed char", "c"),
        Scalar::I16 => ("short", "s"),
        Scalar::I32 => ("int", "i"),
        Scalar::I64 => ("long long", "l"),
        Scalar::U8 => ("unsigned char", "ub"),
        Scalar::U16 => ("unsigned short", "us"),
        Scalar::U32 => ("unsigned int", "u"),
        Scalar::U64 => ("unsigned long long", "ul"),
        Scalar::F16 => ("__half", "h"),
        Scalar::Bf16 => ("__nv_bfloat16", "bf"),
        Scalar::F32 => ("float", "f"),
        Scalar::F64 => ("double", "d"),
    }
}

/// Definitions of the types that a head names.
#[derive(Default)]
struct Types {
    texts: Vec<String>,
    headers: Vec<&'static str>,
}

impl Types {
    /// Adds a type's definition and returns its name, or `None` if the type has no such form.
    fn name(&mut self, module: &Module, ty: Type) -> Option<String> {
        let (name, fields) = match &module.types[ty] {
            Shape::Scalar(of) => return Some(self.scalar(*of)),
            &Shape::Vector { len, of } => {
                let (word, letter) = (self.scalar(of), scalar(of).1);
                let fields = match len {
                    2..=4 => ["x", "y", "z", "w"][..usize::from(len)].join(", "),
                    _ => format!("c[{len}]"),
                };
                (format!("vec{len}{letter}"), format!("    {word} {fields};\n"))
            }
            &Shape::Matrix { rows, cols, of } => {
                let (word, letter) = (self.scalar(of), scalar(of).1);
                (format!("mat{rows}{cols}{letter}"), format!("    {word} m[{rows}][{cols}];\n"))
            }
            &Shape::Quaternion(of) => {
                let (word, letter) = (self.scalar(of), scalar(of).1);
                (format!("quat{letter}"), format!("    {word} x, y, z, w;\n"))
            }
            &Shape::Transform(of) => {
                let (word, letter) = (self.scalar(of), scalar(of).1);
                (format!("transform{letter}"), format!("    {word} p[3], q[4];\n"))
            }
            Shape::Struct(id) => {
                let structure = module.types.structure(*id);
                let mut fields = String::new();
                for field in &structure.fields {
                    _ = writeln!(fields, "    {};", self.field(module, field.ty, &field.name)?);
                }
                (structure.name.clone(), fields)
            }
            _ => return None,
        };
        let text = format!("struct {name} {{\n{fields}}};\n");
        if !self.texts.contains(&text) {
            self.texts.push(text);
        }
        Some(name)
    }

    fn scalar(&mut self, of: Scalar) -> String {
        let header = match of {
            Scalar::F16 => Some("#include <cuda_fp16.h>\n"),
            Scalar::Bf16 => Some("#include <cuda_bf16.h>\n"),
            _ => None,
        };
        if let Some(header) = header.filter(|it| !self.headers.contains(it)) {
            self.headers.push(header);
        }
        scalar(of).0.into()
    }

    fn field(&mut self, module: &Module, ty: Type, name: &str) -> Option<String> {
        match module.types[ty] {
            Shape::Fixed { of, len } => self.field(module, of, &format!("{name}[{len}]")),
            _ => Some(format!("{} {name}", self.name(module, ty)?)),
        }
    }
}

/// Returns the name of an extent of the launch.
fn launch_extent(dim: usize) -> String {
    format!("dim{dim}")
}

/// Returns the name of an extent of an array.
fn extent(array: &str, dim: usize) -> String {
    format!("{array}_dim{dim}")
}

/// Returns the includes, structs and heads of the kernels that an answer must define, if the row
/// can have this form; `backward` adds gradients.
pub(crate) fn heads(
    module: &Valid<Module>,
    kernels: &[(FunctionId, usize)],
    backward: bool,
) -> Option<String> {
    let (mut types, written) = (Types::default(), gbxcule_back_cxx::written(module));
    let head = |&(kernel, dims): &(FunctionId, usize)| {
        head(
            module,
            &module.functions[kernel],
            (dims, &written[kernel.index()]),
            backward,
            &mut types,
        )
    };
    let heads: Option<Vec<String>> = kernels.iter().map(head).collect();
    Some(types.headers.concat() + &types.texts.concat() + &heads?.join("\n"))
}

/// Returns the head of a kernel for a grid of this number of dimensions; arrays that the kernel
/// doesn't write are `const`.
fn head(
    module: &Module,
    kernel: &Function,
    (dims, written): (usize, &[bool]),
    backward: bool,
    types: &mut Types,
) -> Option<String> {
    let mut params: Vec<String> =
        (0..dims).map(|dim| format!("int {}", launch_extent(dim))).collect();
    for (param, &written) in kernel.params.iter().zip(written) {
        let name = &param.name;
        let Some(of) = element(module, param.ty) else {
            params.push(format!("{} {name}", types.name(module, param.ty)?));
            continue;
        };
        let of = types.name(module, of)?;
        let is_const = if written && !backward { "" } else { "const " };
        params.push(format!("{is_const}{of}* {name}"));
        params.extend(
            (0..rank(&module.types, param.ty)).map(|dim| format!("int {}", extent(name, dim))),
        );
        if backward {
            params.push(format!("{of}* grad_{name}"));
        }
    }
    let is_unique = |(at, param): (usize, &String)| {
        let name = |it: &String| it.rsplit([' ', '*']).next().map(str::to_owned);
        params[..at].iter().all(|other| name(other) != name(param))
    };
    if !params.iter().enumerate().all(is_unique) {
        return None;
    }
    Some(format!("extern \"C\" __global__ void {}({});", kernel.name, params.join(", ")))
}

/// Arrays and parameters of a launch.
pub(crate) struct RawLaunch<'a> {
    /// Arrays: data in the order of arguments, then gradients.
    pub(crate) arrays: Vec<LaunchArray<'a>>,
    /// Parameters.
    pub(crate) parameters: Vec<Parameter>,
    /// Integer parameters by name, for the line that states a launch.
    pub(crate) names: BTreeMap<String, i64>,
    /// For each argument the indices of its array and of its gradient's array.
    pub(crate) places: Vec<(Option<usize>, Option<usize>)>,
}

impl<'a> RawLaunch<'a> {
    /// Makes the arguments of a launch, in the form with the header or without it.
    pub(crate) fn new(
        (module, kernel): (&Module, FunctionId),
        grid: LaunchInputs<'_>,
        memory: &'a ArgumentBytes,
        has_header: bool,
    ) -> Self {
        let (arrays, parameters, names) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut launch = Self { arrays, parameters, names, places: Vec::new() };
        launch.add_extents(grid.dims, has_header);
        let (types, params) = (&module.types, &module.functions[kernel].params);
        for (at, part) in parts(types, params).into_iter().enumerate() {
            let (data, param) = (&memory.data[at], &part.of);
            if let Some(object) = Composite::of(types, &params[part.param]) {
                // Texts without the header have no structs with arrays.
                let parameter = launch.part(
                    module,
                    &part,
                    (data, memory.gradients.get(at)),
                    &grid.inputs[at].shape,
                );
                let size = types.layout(object.ty).map_or(0, |layout| layout.size as usize);
                launch.put(&parameter, &part, size);
                continue;
            }
            if element(module, param.ty).is_none() {
                launch.parameters.push(Parameter::value(data));
                if let [a, b, c, d] = data[..] {
                    let value = i32::from_le_bytes([a, b, c, d]);
                    launch.names.insert(param.name.clone(), value.into());
                }
                launch.places.push((None, None));
                continue;
            }
            let shape = &grid.inputs[at].shape;
            let parameter = launch.part(module, &part, (data, memory.gradients.get(at)), shape);
            if has_header {
                launch.parameters.push(parameter);
                continue;
            }
            let (data, gradient) = launch.places[at];
            launch.parameters.push(Parameter::pointer(data));
            for (dim, &size) in shape.iter().enumerate() {
                launch.parameters.push(Parameter::value(&size.to_le_bytes()));
                launch.names.insert(extent(&param.name, dim), size.into());
            }
            if !memory.gradients.is_empty() {
                launch.parameters.push(Parameter::pointer(gradient));
            }
        }
        launch
    }

    /// Makes the bytes of a part of a struct with arrays.
    fn part(
        &mut self,
        module: &Module,
        part: &Part,
        (data, gradient): (&'a [u8], Option<&'a Vec<u8>>),
        shape: &[u32],
    ) -> Parameter {
        let Some(of) = element(module, part.of.ty) else {
            self.places.push((None, None));
            return Parameter::value(data);
        };
        let size = module.types.layout(of).map_or(0, |layout| layout.size as usize);
        let data_place = self.add_array(part.of.name.clone(), size, data);
        let gradient = gradient.filter(|it| !it.is_empty());
        let name = || format!("grad_{}", part.of.name);
        let gradient = gradient.map(|bytes| self.add_array(name(), size, bytes));
        self.places.push((Some(data_place), gradient));
        handle(data_place, gradient, shape, size)
    }

    /// Puts a part into its parameter of `size` bytes, which its first part adds.
    fn put(&mut self, own: &Parameter, part: &Part, size: usize) {
        if part.offset == 0 {
            self.parameters.push(Parameter::value(&vec![0; size]));
        }
        if let Some(whole) = self.parameters.last_mut() {
            whole.bytes[part.offset..][..own.bytes.len()].copy_from_slice(&own.bytes);
            whole
                .addresses
                .extend(own.addresses.iter().map(|(at, array)| (part.offset + at, *array)));
        }
    }

    fn add_array(&mut self, name: String, element_bytes: usize, bytes: &'a [u8]) -> usize {
        self.arrays.push(LaunchArray { name, element_bytes, bytes });
        self.arrays.len() - 1
    }

    fn add_extents(&mut self, dims: &[u32], has_header: bool) {
        for (dim, &size) in dims.iter().enumerate() {
            self.names.insert(launch_extent(dim), size.into());
            if !has_header {
                self.parameters.push(Parameter::value(&size.to_le_bytes()));
            }
        }
        if has_header {
            let count: u64 = dims.iter().map(|dim| u64::from(*dim)).product();
            let mut extents = [1_u32; 4];
            extents.iter_mut().zip(dims).for_each(|(extent, &dim)| *extent = dim);
            let mut bytes = [0_u64.to_le_bytes(), count.to_le_bytes()].concat();
            bytes.extend(extents.iter().flat_map(|it| it.to_le_bytes()));
            bytes.extend((dims.len() as u64).to_le_bytes());
            self.parameters.push(Parameter { bytes, addresses: Vec::new() });
        }
    }

    /// Returns each argument and gradient after the launch.
    pub(crate) fn memory_after(&self, before: &ArgumentBytes, arrays: &[Vec<u8>]) -> ArgumentBytes {
        let pick = |place: Option<usize>, before: &Vec<u8>| {
            place.map_or_else(|| before.clone(), |array| arrays[array].clone())
        };
        let data = self.places.iter().zip(&before.data).map(|(it, before)| pick(it.0, before));
        let gradients =
            self.places.iter().zip(&before.gradients).map(|(it, before)| pick(it.1, before));
        ArgumentBytes { data: data.collect(), gradients: gradients.collect() }
    }
}

/// Makes an `Array<T, N>` of `gbxcule.h`: addresses, extents, strides in bytes, dimensions, flags.
fn handle(array: usize, gradient: Option<usize>, shape: &[u32], element_bytes: usize) -> Parameter {
    let (mut extents, mut strides) = ([0_u32; 4], [0_u32; 4]);
    let mut stride = element_bytes as u32;
    for (dim, &size) in shape.iter().enumerate().rev() {
        (extents[dim], strides[dim]) = (size, stride);
        stride = stride.wrapping_mul(size);
    }
    let mut bytes = vec![0; 16];
    bytes.extend(extents.iter().chain(&strides).flat_map(|it| it.to_le_bytes()));
    bytes.extend((shape.len() as u64).to_le_bytes());
    let mut addresses = vec![(0, array)];
    addresses.extend(gradient.map(|gradient| (8, gradient)));
    Parameter { bytes, addresses }
}
