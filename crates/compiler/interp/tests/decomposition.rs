//! Checks the properties of decompositions: products restore the matrix, rotations are rotations.

use gbxcule_interp::{Argument, Interpreter};
use gbxcule_ir::check;
use gbxcule_ir::{Arg, Builder, Module, Param, Scalar, Type, builtin};
use gbxcule_testkit::arbitrary::Random;

type Matrix = [[f64; 3]; 3];

fn bytes(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Calls a row on an n by n matrix of f64; returns the result's numbers.
fn call(name: &str, n: u16, matrix: &[f64]) -> Vec<f64> {
    let mut module = Module::new(name);
    let ty = module.types.matrix(n, n, Scalar::F64);
    let row = builtin::find(name).expect("a row");
    let (_, result) = builtin::resolve(row, &[ty], &mut module.types).expect("it takes matrices");
    let function = module.declare("f", vec![Param::value("a", ty)], result);
    let mut b = Builder::new(&mut module, function);
    let a = b.arg(0);
    let value = b.builtin(row, &[Arg::Value(a)]).expect("it takes matrices");
    b.ret(Some(value));
    b.finish();
    assert_ne!(result, Type::INVALID);
    let module = check::module(module).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let mut interpreter = Interpreter::new(&module);
    let image = interpreter.call(function, &[Argument::Bytes(bytes(matrix))]).expect("it runs");
    image.chunks(8).map(|part| f64::from_le_bytes(part.try_into().expect("8"))).collect()
}

fn matrix(parts: &[f64]) -> Matrix {
    [0, 1, 2].map(|row| [0, 1, 2].map(|col| parts[row * 3 + col]))
}

fn mul(a: Matrix, b: Matrix) -> Matrix {
    [0, 1, 2].map(|r| [0, 1, 2].map(|c| (0..3).map(|k| a[r][k] * b[k][c]).sum()))
}

fn transpose(a: Matrix) -> Matrix {
    [0, 1, 2].map(|r| [0, 1, 2].map(|c| a[c][r]))
}

fn diagonal(parts: &[f64]) -> Matrix {
    [0, 1, 2].map(|r| [0, 1, 2].map(|c| if r == c { parts[r] } else { 0.0 }))
}

fn apart(a: Matrix, b: Matrix) -> f64 {
    (0..9).map(|at| (a[at / 3][at % 3] - b[at / 3][at % 3]).abs()).fold(0.0, f64::max)
}

fn is_rotation(q: Matrix) -> bool {
    let [a, b, c] = q;
    let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
    let determinant: f64 = (0..3).map(|at| a[at] * cross[at]).sum();
    apart(mul(q, transpose(q)), diagonal(&[1.0; 3])) < 1e-10 && (determinant - 1.0).abs() < 1e-10
}

/// Returns random matrices, and special ones that are hard for such methods.
fn samples() -> Vec<Vec<f64>> {
    let mut random = Random::new(11);
    let mut number = || f64::from(random.below(2001)) / 200.0 - 5.0;
    let mut all: Vec<Vec<f64>> = (0..40).map(|_| (0..9).map(|_| number()).collect()).collect();
    all.push(vec![0.0; 9]);
    all.push(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    all.push(vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0, 9.0]);
    all.push(vec![0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0]);
    all.push(vec![0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -3.0]);
    all
}

#[test]
fn qr3_gives_a_rotation_and_an_upper_triangle() {
    for sample in samples() {
        let parts = call("qr3", 3, &sample);
        let (q, r) = (matrix(&parts[..9]), matrix(&parts[9..]));
        assert!(is_rotation(q), "{sample:?}");
        assert!(apart(mul(q, r), matrix(&sample)) < 1e-10, "{sample:?}");
        assert_eq!([r[1][0], r[2][0], r[2][1]], [0.0; 3]);
        assert!(r[0][0] >= 0.0 && r[1][1] >= 0.0);
    }
}

#[test]
fn eig3_diagonalises_symmetric_matrices() {
    for sample in samples() {
        let a = matrix(&sample);
        let symmetric = [0, 1, 2].map(|r| [0, 1, 2].map(|c| a[r][c] + a[c][r]));
        let parts = call("eig3", 3, symmetric.as_flattened());
        let (q, d) = (matrix(&parts[..9]), diagonal(&parts[9..]));
        assert!(is_rotation(q), "{sample:?}");
        assert!(apart(mul(mul(q, d), transpose(q)), symmetric) < 1e-9, "{sample:?}");
    }
}

#[test]
fn svd3_gives_rotations_and_sorted_values() {
    for sample in samples() {
        let parts = call("svd3", 3, &sample);
        let (u, s, v) = (matrix(&parts[..9]), &parts[9..12], matrix(&parts[12..]));
        assert!(is_rotation(u) && is_rotation(v), "{sample:?}");
        assert!(
            apart(mul(mul(u, diagonal(s)), transpose(v)), matrix(&sample)) < 1e-9,
            "{sample:?}"
        );
        assert!(s[0] >= s[1] - 1e-12 && s[1] >= s[2].abs() - 1e-7, "{s:?}");
    }
}

#[test]
fn svd2_gives_back_the_matrix() {
    for sample in samples() {
        let a = [sample[0], sample[1], sample[3], sample[4]];
        let parts = call("svd2", 2, &a);
        let (u, s, v) = (&parts[..4], &parts[4..6], &parts[6..]);
        let back = [0, 1, 2, 3].map(|at: usize| {
            let (r, c) = (at / 2, at % 2);
            u[r * 2] * s[0] * v[c * 2] + u[r * 2 + 1] * s[1] * v[c * 2 + 1]
        });
        let worst = (0..4).map(|at| (back[at] - a[at]).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-6, "{a:?}: {back:?}");
        assert!(s[0] >= s[1] && s[1] >= 0.0);
    }
}
