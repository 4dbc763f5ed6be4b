import warp as wp

GRAVITY = wp.constant(wp.vec3(0.0, -9.81, 0.0))


@wp.struct
class Particle:
    position: wp.vec3
    velocity: wp.vec3
    mass: float


@wp.func
def drag(velocity: wp.vec3, strength: float):
    speed = wp.length(velocity)
    return -strength * speed * velocity


@wp.kernel
def advance(particles: wp.array(dtype=Particle), energy: wp.array(dtype=float), dt: float):
    i = wp.tid()
    particle = particles[i]
    force = particle.mass * GRAVITY + drag(particle.velocity, 0.1)
    particle.velocity += force / particle.mass * dt
    particle.position += particle.velocity * dt
    if particle.position[1] < 0.0:
        particle.velocity = wp.vec3(particle.velocity[0], -0.5 * particle.velocity[1], particle.velocity[2])
    particles[i] = particle
    wp.atomic_add(energy, 0, 0.5 * particle.mass * wp.length_sq(particle.velocity))
