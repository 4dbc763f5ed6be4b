//! Expressions whose values are vectors, matrices, quaternions and transforms.

use super::Expressions;
use crate::ast::{Expr, Ty, VEC3};
use crate::spell;
use gbxcule_ir::Scalar;

impl Expressions {
    pub(in crate::draft) fn vector(&mut self, len: u8, of: Scalar, depth: usize) -> Expr {
        self.sound(Ty::Vec(len, of), |m| m.some_vector(len, of, depth))
    }

    fn some_vector(&mut self, len: u8, of: Scalar, depth: usize) -> Expr {
        let ty = Ty::Vec(len, of);
        if depth == 0 || self.random().chance(12) {
            return self.read(ty).unwrap_or_else(|| self.made_vector(len, of, 0));
        }
        if !of.is_float() {
            return self.some_vector_of_integers(len, of, depth);
        }
        let weights = self.vector_weights(len, of);
        match self.random().weighted(weights) {
            0 => {
                let op = self.random().pick(&["+", "-"]);
                let left = self.vector(len, of, depth - 1);
                Expr::binary(left, op, self.vector(len, of, depth - 1))
            }
            1 => {
                let vector = self.vector(len, of, depth - 1);
                let factor = self.float(of, depth - 1);
                if self.random().chance(50) { vector.mul(factor) } else { factor.mul(vector) }
            }
            2 => {
                let left = self.vector(len, of, depth - 1);
                let right = self.vector(len, of, 0);
                Expr::wp("cw_mul", vec![left, right])
            }
            3 => Expr::wp("normalize", vec![self.vector(len, of, depth - 1)]),
            4 => {
                let left = self.vector(len, of, depth - 1);
                Expr::wp("cross", vec![left, self.vector(len, of, 0)])
            }
            5 => {
                let matrix = self.matrix(len, len, of, depth - 1);
                let op = self.random().pick(&["*", "@"]);
                Expr::binary(matrix, op, self.vector(len, of, depth.saturating_sub(2)))
            }
            6 => {
                let turn = self.quaternion(depth.saturating_sub(2));
                let word = self.random().pick(&["quat_rotate", "quat_rotate", "quat_rotate_inv"]);
                Expr::wp(word, vec![turn, self.vector(len, of, depth - 1)])
            }
            7 => {
                let pose = self.transform(depth.saturating_sub(2));
                let word = self.random().pick(&["transform_point", "transform_vector"]);
                Expr::wp(word, vec![pose, self.vector(len, of, depth - 1)])
            }
            8 => self.call(ty, depth).unwrap_or_else(|| self.made_vector(len, of, 0)),
            9 => self.choice(ty, depth),
            10 => self.made_vector(len, of, depth - 1),
            _ => {
                let word = self.random().pick(&["min", "max", "lerp"]);
                let (left, right) = (self.vector(len, of, depth - 1), self.vector(len, of, 0));
                if word == "lerp" {
                    let at = self.part(of);
                    Expr::wp(word, vec![left, right, at])
                } else {
                    Expr::wp(word, vec![left, right])
                }
            }
        }
    }

    fn some_vector_of_integers(&mut self, len: u8, of: Scalar, depth: usize) -> Expr {
        let op = self.random().pick(&["+", "-"]);
        match self.random().below(3) {
            0 => self.made_vector(len, of, 1),
            1 => self.vector(len, of, depth - 1).mul(self.integer(of, 1)),
            _ => {
                let left = self.vector(len, of, depth - 1);
                Expr::binary(left, op, self.vector(len, of, depth - 1))
            }
        }
    }

    /// Returns how often each form of a vector of floats is drawn, in the order of `some_vector`.
    fn vector_weights(&self, len: u8, of: Scalar) -> [u32; 12] {
        let turned = len == 3 && of == Scalar::F32;
        let only_if = |allowed: bool, weight: u32| if allowed { weight } else { 0 };
        [
            20,
            18,
            2,
            4,
            only_if(len == 3, 6),
            only_if(self.has(Ty::Mat(len, len, of)), 14),
            only_if(turned && self.has(Ty::Quat), 12),
            only_if(turned && self.has(Ty::Transform), 12),
            only_if(self.callable(Ty::Vec(len, of)), 8),
            self.weights.select / 2,
            7,
            4,
        ]
    }

    fn made_vector(&mut self, len: u8, of: Scalar, depth: usize) -> Expr {
        let mut parts: Vec<Expr> = Vec::new();
        for _ in 0..len {
            let part = self.expr(Ty::Scalar(of), depth);
            // If few variables can be read, a number replaces a component that would be repeated.
            let part = if parts.contains(&part) {
                let number = self.random().pick(&[0.0, 1.0, 2.0, 3.0]);
                self.literal(of, number)
            } else {
                part
            };
            parts.push(part);
        }
        Expr::call(spell::plain(Ty::Vec(len, of)), parts)
    }

    pub(in crate::draft) fn matrix(
        &mut self,
        rows: u8,
        cols: u8,
        of: Scalar,
        depth: usize,
    ) -> Expr {
        self.sound(Ty::Mat(rows, cols, of), |m| m.some_matrix(rows, cols, of, depth))
    }

    fn some_matrix(&mut self, rows: u8, cols: u8, of: Scalar, depth: usize) -> Expr {
        let ty = Ty::Mat(rows, cols, of);
        if depth == 0 || self.random().chance(12) {
            return self.read(ty).unwrap_or_else(|| self.made_matrix(rows, cols, of, 0));
        }
        let square = u32::from(rows == cols);
        let vectors =
            if self.has(Ty::Vec(rows, of)) && self.has(Ty::Vec(cols, of)) { 10 } else { 0 };
        let cross = if rows == 3 && cols == 3 && self.has(Ty::Vec(3, of)) { 5 } else { 0 };
        let quat =
            if rows == 3 && cols == 3 && of == Scalar::F32 && self.has(Ty::Quat) { 8 } else { 0 };
        match self.random().weighted([
            12,
            10,
            14 * square,
            8 * square,
            5 * square,
            vectors,
            cross,
            quat,
            4,
            4 * square,
        ]) {
            0 => {
                let op = self.random().pick(&["+", "-"]);
                let left = self.matrix(rows, cols, of, depth - 1);
                Expr::binary(left, op, self.matrix(rows, cols, of, depth.saturating_sub(2)))
            }
            1 => self.matrix(rows, cols, of, depth - 1).mul(self.float(of, depth - 1)),
            2 => {
                let op = self.random().pick(&["*", "@"]);
                let left = self.matrix(rows, cols, of, depth - 1);
                Expr::binary(left, op, self.matrix(rows, cols, of, depth.saturating_sub(2)))
            }
            3 => Expr::wp("transpose", vec![self.matrix(rows, cols, of, depth - 1)]),
            4 => {
                let matrix = self.matrix(rows, cols, of, depth - 1);
                let heavy = self.random().pick(&[4.0, 5.0, 6.0, 8.0]);
                let heavy = self.literal(of, heavy);
                let identity = self.identity(rows, of);
                Expr::wp("inverse", vec![matrix.add(identity.mul(heavy))])
            }
            5 => {
                let left = self.vector(rows, of, depth - 1);
                Expr::wp("outer", vec![left, self.vector(cols, of, 0)])
            }
            6 => Expr::wp("skew", vec![self.vector(3, of, depth - 1)]),
            7 => Expr::wp("quat_to_matrix", vec![self.quaternion(depth - 1)]),
            8 => self.made_matrix(rows, cols, of, depth.min(2) - 1),
            _ => {
                let factor = self.float(of, depth - 1);
                let matrix = self.matrix(rows, cols, of, depth - 1);
                matrix.add(self.identity(rows, of).mul(factor))
            }
        }
    }

    fn identity(&mut self, rows: u8, of: Scalar) -> Expr {
        let of = spell::plain(Ty::Scalar(of));
        let n = Expr::Keyword("n", Box::new(Expr::Int(i64::from(rows))));
        Expr::wp("identity", vec![n, Expr::Keyword("dtype", Box::new(Expr::Name(of.into())))])
    }

    fn made_matrix(&mut self, rows: u8, cols: u8, of: Scalar, depth: usize) -> Expr {
        if rows == cols && self.random().chance(35) {
            return Expr::wp("diag", vec![self.vector(rows, of, depth)]);
        }
        if rows == cols && rows < 4 && self.random().chance(40) {
            return self.planar_rotation(rows, of);
        }
        if rows * cols > 4 || self.random().chance(45) {
            let word = self.random().pick(&["matrix_from_rows", "matrix_from_cols"]);
            let (count, len) = if word == "matrix_from_rows" { (rows, cols) } else { (cols, rows) };
            let parts = (0..count).map(|_| self.vector(len, of, depth)).collect();
            return Expr::wp(word, parts);
        }
        let parts = (0..rows * cols).map(|_| self.float(of, 0)).collect();
        Expr::call(spell::plain(Ty::Mat(rows, cols, of)), parts)
    }

    /// Returns a matrix that rotates the first two dimensions.
    fn planar_rotation(&mut self, rows: u8, of: Scalar) -> Expr {
        let ty = Ty::Scalar(of);
        let angle = self.varying(of, 0);
        let angle = self.named(ty, angle);
        let cos = self.named(ty, Expr::wp("cos", vec![angle.clone()]));
        let sin = self.named(ty, Expr::wp("sin", vec![angle]));
        let (zero, one) = (self.literal(of, 0.0), self.literal(of, 1.0));
        let minus = Expr::unary("-", sin.clone());
        let parts = if rows == 2 {
            vec![cos.clone(), minus, sin, cos]
        } else {
            let none = || zero.clone();
            vec![cos.clone(), minus, none(), sin, cos, none(), none(), none(), one]
        };
        Expr::call(spell::plain(Ty::Mat(rows, rows, of)), parts)
    }

    /// Returns a typical unit vector.
    pub(in crate::draft) fn unit_axis(&mut self) -> Expr {
        let at = self.random().below(3);
        let parts = (0..3).map(|part| Expr::Float(if part == at { 1.0 } else { 0.0 })).collect();
        Expr::wp("vec3", parts)
    }

    pub(in crate::draft) fn axis_angle(&mut self, angle: Expr) -> Expr {
        let axis = if self.has(VEC3) && self.random().chance(60) {
            Expr::wp("normalize", vec![self.vector(3, Scalar::F32, 0)])
        } else {
            self.unit_axis()
        };
        Expr::wp("quat_from_axis_angle", vec![axis, angle])
    }

    pub(in crate::draft) fn quaternion(&mut self, depth: usize) -> Expr {
        self.sound(Ty::Quat, |m| m.some_quaternion(depth))
    }

    fn some_quaternion(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.random().chance(15) {
            if let Some(found) = self.read(Ty::Quat) {
                return found;
            }
            let angle = self.float(Scalar::F32, 0);
            return self.axis_angle(angle);
        }
        let calls = if self.callable(Ty::Quat) { 8 } else { 0 };
        let pose = if self.has(Ty::Transform) { 8 } else { 0 };
        match self.random().weighted([16, 10, 12, 7, 6, 6, calls, pose]) {
            0 => self.quaternion(depth - 1).mul(self.quaternion(depth - 1)),
            1 => Expr::wp("quat_inverse", vec![self.quaternion(depth - 1)]),
            2 => {
                let angle = self.float(Scalar::F32, depth - 1);
                self.axis_angle(angle)
            }
            3 => {
                let (from, to) = (self.quaternion(depth - 1), self.quaternion(0));
                let at = Expr::Float(self.random().pick(&[0.5, 0.25, 0.75, 0.3, 0.1, 0.8]));
                Expr::wp("quat_slerp", vec![from, to, at])
            }
            4 => {
                let angles =
                    (0..3).map(|_| self.float(Scalar::F32, depth.saturating_sub(2))).collect();
                Expr::wp("quat_rpy", angles)
            }
            5 => Expr::wp("normalize", vec![self.quaternion(depth - 1).add(self.quaternion(0))]),
            6 => self.call(Ty::Quat, depth).unwrap_or_else(|| self.quaternion(0)),
            _ => Expr::wp("transform_get_rotation", vec![self.transform(depth - 1)]),
        }
    }

    pub(in crate::draft) fn transform(&mut self, depth: usize) -> Expr {
        self.sound(Ty::Transform, |m| m.some_transform(depth))
    }

    fn some_transform(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.random().chance(15) {
            if let Some(found) = self.read(Ty::Transform) {
                return found;
            }
            let (shift, turn) = (self.vector(3, Scalar::F32, 0), self.quaternion(0));
            return Expr::wp("transform", vec![shift, turn]);
        }
        match self.random().below(3) {
            0 => {
                let left = self.transform(depth - 1);
                let right = self.transform(depth - 1);
                if self.random().chance(50) {
                    left.mul(right)
                } else {
                    Expr::wp("transform_multiply", vec![left, right])
                }
            }
            1 => Expr::wp("transform_inverse", vec![self.transform(depth - 1)]),
            _ => {
                let (shift, turn) =
                    (self.vector(3, Scalar::F32, depth - 1), self.quaternion(depth - 1));
                Expr::wp("transform", vec![shift, turn])
            }
        }
    }
}
