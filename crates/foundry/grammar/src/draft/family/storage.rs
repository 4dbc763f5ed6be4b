//! Narrow storage, wide arithmetic: pixels, samples, 16-bit floats and quantized weights that are
//! read as floats or ints, processed and rounded back; words of several fields, unpacked and
//! packed.

use crate::ast::{Expr, FLOAT, INT, Name, Stmt, Ty, VEC3};
use crate::draft::KernelBuilder;
use crate::input::ArgumentInput;
use crate::spell;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    m.set_real(Scalar::F32);
    match m.random().weighted([5, 3, 3, 4]) {
        0 => converted(m),
        1 => colors(m),
        2 => quantized_dot(m),
        _ => fields(m),
    }
}

/// Format in which numbers are stored.
#[derive(Clone, Copy)]
struct Format {
    of: Scalar,
    /// The least integer of the format; 0 for floats.
    least: i64,
    /// The greatest integer of the format; 0 for floats.
    most: i64,
    /// The integer that stands for 1; 0 for floats.
    one: f64,
    /// Names for arrays of this format.
    words: &'static [&'static str],
}

#[rustfmt::skip]
const FORMATS: [Format; 6] = [
    Format { of: Scalar::U8, least: 0, most: 255, one: 255.0, words: &["image", "pixels", "mask", "frame", "gray", "texels"] },
    Format { of: Scalar::I8, least: -128, most: 127, one: 127.0, words: &["quantized", "weights_q", "codes", "activations"] },
    Format { of: Scalar::I16, least: -32768, most: 32767, one: 32767.0, words: &["samples", "signal", "wave", "channel"] },
    Format { of: Scalar::U16, least: 0, most: 65535, one: 65535.0, words: &["depth_map", "elevation", "raw", "sensor"] },
    Format { of: Scalar::F16, least: 0, most: 0, one: 0.0, words: &["halves", "params", "features", "embedding"] },
    Format { of: Scalar::Bf16, least: 0, most: 0, one: 0.0, words: &["weights", "logits", "hidden", "activations"] },
];

impl Format {
    fn given(self, m: &mut KernelBuilder, shape: Vec<u32>) -> ArgumentInput {
        let ArgumentInput { low, high, .. } = ArgumentInput::spread(m.random(), vec![]);
        ArgumentInput { low, high, ..ArgumentInput::integers(shape, self.least, self.most) }
    }

    fn array(self, m: &mut KernelBuilder, shape: Vec<u32>) -> Name {
        let name = m.name_from(self.words);
        let given = self.given(m, shape.clone());
        m.param(name, Ty::Scalar(self.of), shape.len() as u8, ArgumentInput { shape, ..given })
    }
}

/// Returns an element as a float.
fn widened(format: Format, element: Expr, scale: Option<&Name>) -> Expr {
    let wide = Expr::call("float", vec![element]);
    match scale {
        _ if format.of.is_float() => wide,
        Some(scale) => wide.mul(Expr::from(scale)),
        None => Expr::binary(wide, "/", Expr::Float(format.one)),
    }
}

/// Returns a float as an element.
fn narrowed(m: &mut KernelBuilder, format: Format, value: Expr, scale: Option<&Name>) -> Expr {
    let plain = spell::plain(Ty::Scalar(format.of));
    if format.of.is_float() {
        return Expr::call(plain, vec![value]);
    }
    let (least, most) = (Expr::Float(format.least as f64), Expr::Float(format.most as f64));
    let kept = match scale {
        Some(scale) => {
            let steps = Expr::wp("round", vec![Expr::binary(value, "/", Expr::from(scale))]);
            Expr::wp("clamp", vec![steps, least, most])
        }
        None if m.random().chance(50) => {
            let steps = Expr::wp("round", vec![value.mul(Expr::Float(format.one))]);
            Expr::wp("clamp", vec![steps, least, most])
        }
        None => {
            let low = if format.least < 0 { -1.0 } else { 0.0 };
            let inside = Expr::wp("clamp", vec![value, Expr::Float(low), Expr::Float(1.0)]);
            Expr::wp("round", vec![inside.mul(Expr::Float(format.one))])
        }
    };
    Expr::call(plain, vec![kept])
}

/// Reads elements as floats, computes with them, and stores the results in their format or as
/// floats.
fn converted(m: &mut KernelBuilder) {
    let format = m.random().pick(&FORMATS);
    let dims = if format.of == Scalar::U8 && m.random().chance(60) { 2 } else { 1 };
    m.launch(dims);
    let scale = (!format.of.is_float() && m.random().chance(40)).then(|| {
        let name = m.name_from(&["scale", "step", "unit", "resolution"]);
        m.param(
            name,
            FLOAT,
            0,
            ArgumentInput { low: 0.004, high: 0.05, ..ArgumentInput::integers(vec![], 0, 0) },
        )
    });
    for _ in 0..m.random().between(1, 2) {
        let (shape, here) = (m.dims(), m.here());
        let array = format.array(m, shape);
        let element = Expr::from(&array).index(here);
        m.define(FLOAT, widened(format, element, scale.as_ref()));
    }
    if m.random().chance(35) {
        m.input(FLOAT);
    }
    if m.random().chance(60) {
        m.value(FLOAT);
    }
    m.bindings(&[FLOAT], 2);
    if m.random().chance(30) {
        m.branch(FLOAT);
    }
    if m.random().chance(25) {
        return m.store(FLOAT);
    }
    let out = m.output_here(Ty::Scalar(format.of));
    let value = m.closing(FLOAT);
    let value = m.named(FLOAT, value);
    let stored = narrowed(m, format, value, scale.as_ref());
    let at = m.here();
    m.push(Stmt::Assign(vec![Expr::from(&out).index(at)], stored));
}

/// Computes with small vectors of bytes or 16-bit floats.
fn colors(m: &mut KernelBuilder) {
    m.launch(1);
    let here = m.here();
    let half = m.random().chance(50);
    let of = if half { Scalar::F16 } else { Scalar::U8 };
    let words: &[&str] = if half {
        &["points", "normals", "offsets"]
    } else {
        &["colors", "texture", "palette", "rgb"]
    };
    for _ in 0..m.random().between(1, 2) {
        let name = m.name_from(words);
        let shape = m.dims();
        let ArgumentInput { low, high, .. } = ArgumentInput::spread(m.random(), vec![]);
        let given = ArgumentInput { low, high, ..ArgumentInput::integers(shape.clone(), 0, 255) };
        let array = m.param(name, Ty::Vec(3, of), 1, ArgumentInput { shape, ..given });
        let element = Expr::from(&array).index(here.clone());
        if half {
            m.define(VEC3, Expr::wp("vec3", vec![element]));
            continue;
        }
        let color = m.name_from(&["color", "texel", "rgb_in", "pixel"]);
        m.push(Stmt::Assign(vec![Expr::from(&color)], element));
        let part =
            |at: i64| Expr::call("float", vec![Expr::from(&color).index(vec![Expr::Int(at)])]);
        if m.random().chance(50) {
            let luma = [(0, 0.299), (1, 0.587), (2, 0.114)]
                .map(|(at, weight)| Expr::Float(weight).mul(part(at)));
            let [red, green, blue] = luma;
            let name = m.name_from(&["luma", "gray", "brightness"]);
            let sum = red.add(green).add(blue);
            m.define_as(name, FLOAT, Expr::binary(sum, "/", Expr::Float(255.0)));
        } else {
            let parts = (0..3).map(part).collect();
            let value = Expr::binary(Expr::wp("vec3", parts), "/", Expr::Float(255.0));
            m.define(VEC3, value);
        }
    }
    if m.random().chance(60) {
        m.value(FLOAT);
    }
    if m.random().chance(30) {
        m.input(FLOAT);
    }
    m.bindings(&[FLOAT, VEC3], 2);
    let ty = if m.has_var(VEC3) && m.random().chance(70) { VEC3 } else { FLOAT };
    if ty == FLOAT || !half {
        return m.store(ty);
    }
    let out = m.output_here(Ty::Vec(3, of));
    let value = m.closing(VEC3);
    let stored = Expr::call(spell::plain(Ty::Vec(3, of)), vec![value]);
    m.push(Stmt::Assign(vec![Expr::from(&out).index(here)], stored));
}

/// Sums products of narrow numbers in a wide one, and scales the sum.
fn quantized_dot(m: &mut KernelBuilder) {
    m.launch(1);
    let format = m.random().pick(&[FORMATS[1], FORMATS[1], FORMATS[0], FORMATS[4], FORMATS[5]]);
    let floats = format.of.is_float();
    let length = m.random().between(4, 10) as u32;
    let rows = m.dims()[0];
    let weights = format.array(m, vec![rows, length]);
    let inputs = format.array(m, vec![length]);
    let (ty, wide) = if floats { (FLOAT, "float") } else { (INT, "int") };
    let total = m.accumulator(ty, 0.0);
    let at = m.name_from(&["k", "j", "c"]);
    let row = m.index(0);
    let read = |array: &Name, at: Vec<Expr>| Expr::call(wide, vec![Expr::from(array).index(at)]);
    let factors =
        [read(&weights, vec![row.clone(), Expr::from(&at)]), read(&inputs, vec![Expr::from(&at)])];
    let [mut left, right] = factors;
    if !floats && m.random().chance(40) {
        let zero = m.name_from(&["zero_point", "zero", "center"]);
        m.param(zero.clone(), INT, 0, ArgumentInput::integers(vec![], 1, 9));
        left = left.sub(Expr::from(&zero));
    }
    let body = vec![Stmt::Augment(Expr::from(&total), "+", left.mul(right))];
    let extent = Expr::from(&inputs).attr("shape").index(vec![Expr::Int(0)]);
    m.push(Stmt::For(at, vec![extent], body));
    if floats {
        m.reveal(&total, FLOAT);
    } else {
        let of = if m.random().chance(50) { vec![] } else { vec![rows] };
        let name = m.name_from(&["scale", "scales", "step"]);
        let given =
            ArgumentInput { low: 0.0001, high: 0.001, ..ArgumentInput::integers(of.clone(), 0, 0) };
        let scale = Expr::from(&m.param(name, FLOAT, of.len() as u8, given));
        let scale = if of.is_empty() { scale } else { scale.index(vec![row]) };
        m.define(FLOAT, Expr::call("float", vec![Expr::from(&total)]).mul(scale));
    }
    if m.random().chance(60) {
        m.input(FLOAT);
    }
    m.bindings(&[FLOAT], 1);
    if m.random().chance(25) {
        m.branch(FLOAT);
    }
    m.store(FLOAT);
}

/// A word of several fields: the first bit and the number of bits of each.
struct Word {
    of: Scalar,
    fields: &'static [(i64, u32, &'static str)],
}

#[rustfmt::skip]
const WORDS: [Word; 5] = [
    Word { of: Scalar::U32, fields: &[(0, 8, "red"), (8, 8, "green"), (16, 8, "blue"), (24, 8, "opacity")] },
    Word { of: Scalar::U16, fields: &[(11, 5, "red"), (5, 6, "green"), (0, 5, "blue")] },
    Word { of: Scalar::U8, fields: &[(0, 4, "low"), (4, 4, "high")] },
    Word { of: Scalar::U32, fields: &[(0, 10, "x"), (10, 10, "y"), (20, 10, "z")] },
    Word { of: Scalar::U64, fields: &[(0, 16, "near"), (16, 16, "far"), (32, 32, "index")] },
];

/// Unpacks words, computes with their fields as ints, and may pack the results.
fn fields(m: &mut KernelBuilder) {
    m.launch(1);
    let word = &WORDS[m.random().below(WORDS.len())];
    let ty = Ty::Scalar(word.of);
    let takes_apart = m.random().chance(70);
    let puts_together = !takes_apart || m.random().chance(50);
    let here = m.here();
    if takes_apart {
        take_apart(m, word, here.clone());
    } else {
        for _ in 0..2 {
            let given = ArgumentInput::integers(m.dims(), 0, 300);
            let name = m.array_name(INT);
            let name = m.param(name, INT, 1, given);
            let element = Expr::from(&name).index(here.clone());
            m.reveal(element, INT);
        }
    }
    if m.random().chance(50) {
        m.value(INT);
    }
    m.bindings(&[INT], 2);
    if m.random().chance(25) {
        m.branch(INT);
    }
    if !puts_together {
        let ty = if m.random().chance(50) { INT } else { FLOAT };
        return m.store(ty);
    }
    let out = m.output_here(ty);
    if let Some(whole) = put_together(m, word) {
        m.push(Stmt::Assign(vec![Expr::from(&out).index(here)], whole));
    }
}

/// Reads a word, and defines a variable for each of its fields, as an int.
fn take_apart(m: &mut KernelBuilder, word: &Word, here: Vec<Expr>) {
    let most = match word.of.bits() {
        64 => i64::MAX >> 12,
        bits => (1i64 << bits) - 1,
    };
    let name = m.name_from(&["packed", "words", "rgba", "codes", "keys"]);
    let input = ArgumentInput::integers(m.dims(), 0, most);
    let array = m.param(name, Ty::Scalar(word.of), 1, input);
    let whole = m.name_from(&["word", "code", "bits", "value"]);
    m.push(Stmt::Assign(vec![Expr::from(&whole)], Expr::from(&array).index(here)));
    for &(shift, bits, name) in word.fields {
        let word_read = Expr::from(&whole);
        let moved = match shift {
            0 => word_read,
            _ => Expr::binary(word_read, ">>", m.literal(word.of, shift as f64)),
        };
        let is_last = shift + i64::from(bits) == i64::from(word.of.bits());
        let mask = m.literal(word.of, ((1i64 << bits) - 1) as f64);
        let field = if is_last { moved } else { Expr::binary(moved, "&", mask) };
        let name = m.name_from(&[name]);
        m.define_as(name, INT, Expr::call("int", vec![field]));
    }
}

/// Returns a word that has an expression in each field.
fn put_together(m: &mut KernelBuilder, word: &Word) -> Option<Expr> {
    let ty = Ty::Scalar(word.of);
    let last = word.fields.len() - 1;
    let mut whole: Option<Expr> = None;
    for (number, &(shift, bits, _)) in word.fields.iter().enumerate() {
        let value = if number == last { m.closing(INT) } else { m.expr(INT, 1) };
        let (zero, most) = (Expr::Int(0), Expr::Int((1i64 << bits.min(30)) - 1));
        let kept = Expr::wp("clamp", vec![value, zero, most]);
        let wide = Expr::call(spell::plain(ty), vec![kept]);
        let moved = match shift {
            0 => wide,
            _ => Expr::binary(wide, "<<", m.literal(word.of, shift as f64)),
        };
        whole = Some(match whole {
            Some(whole) => Expr::binary(whole, "|", moved),
            None => moved,
        });
    }
    whole
}
