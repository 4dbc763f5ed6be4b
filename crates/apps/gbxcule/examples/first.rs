//! A kernel from text, its gradient, and a swarm: the first program of the book.

use gbxcule::swarm::game;
use gbxcule::{Device, Program};

const TEXT: &str = "
import warp as wp

@wp.kernel
def square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]
";

fn main() -> Result<(), gbxcule::Error> {
    let program = Program::from_text("square.py", TEXT)?;
    let (x, mut y) = ([1.0f32, 2.0, 3.0], [0.0f32; 3]);
    program.kernel("square", Device::Cpu)?.launch(&[3]).read(&x).write(&mut y).run()?;
    let (mut by_x, mut by_y) = ([0.0f32; 3], [1.0f32; 3]);
    let reverse = program.reverse("square", Device::Cpu)?;
    reverse.launch(&[3]).differentiate(&x, &mut by_x).differentiate(&y, &mut by_y).run()?;
    println!("squares {y:?}, derivatives {by_x:?}");

    let mut swarm = game("PEARL_DRIFT")?.swarm(64, Device::Cpu)?;
    swarm.reset(7)?;
    for _ in 0..100 {
        swarm.step(&[3; 64])?;
    }
    println!("rewards of the last step: {:?}", &swarm.rewards()?[..4]);
    Ok(())
}
