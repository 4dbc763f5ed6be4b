//! Heat in a rod: a step, a loss, and the gradient of the loss.

mod heat {
    #![allow(dead_code)]
    include!(concat!(env!("OUT_DIR"), "/heat/heat.rs"));
}

use heat::{GbxArray, GbxFault, GbxGrid};

fn main() {
    let (mut old, mut next, mut loss) = ([0.0f32, 0.0, 10.0, 0.0, 0.0], [0.0f32; 5], [0.0f32]);
    let (mut d_old, mut d_next, mut d_loss) = ([0.0f32; 5], [0.0f32; 5], [1.0f32]);
    let rod = GbxArray::of(&mut old).with_gradient(&mut d_old);
    let then = GbxArray::of(&mut next).with_gradient(&mut d_next);
    let sum = GbxArray::of(&mut loss).with_gradient(&mut d_loss);
    let (grid, mut fault) = (GbxGrid::of(&[5]), GbxFault::default());
    // SAFETY: the arrays outlive the calls, and no two of them share memory.
    let kinds = unsafe {
        [
            heat::heat_diffuse(&grid, rod, then, 0.25, &mut fault),
            heat::heat_distance(&grid, then, 1.0, sum, &mut fault),
            heat::heat_adj_distance(&grid, then, 1.0, sum, &mut fault),
            heat::heat_adj_diffuse(&grid, rod, then, 0.25, &mut fault),
        ]
    };
    assert_eq!(kinds, [0; 4], "{fault:?}");
    println!("loss {}, gradient {}", loss[0], d_old.map(|it| it.to_string()).join(" "));
}
