// particles: C++17 for the CPU, by gbxcule. Compile with -ffp-contract=off.
#include "gbxcule.h"

namespace program {

struct Particle {
    Vec<3, float> position;
    Vec<3, float> velocity;
    float mass;
};
static_assert(sizeof(Particle) == 28, "layout");

static float length(Vec<3, float> a)
{
    return gbx::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

// particles.py:14
static Vec<3, float> drag(Vec<3, float> velocity, float strength)
{
    // 15: speed = wp.length(velocity)
    const float speed = length(velocity);
    // 16: return -strength * speed * velocity
    return velocity * (-strength * speed);
}

static float length_sq(Vec<3, float> a)
{
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

// particles.py:20
static void advance_range(
    const gbx::Grid& grid,
    Array<Particle, 1> particles,
    Array<float, 1> energy,
    float dt)
{
    for (gbx::Thread thread(grid); thread.runs(); thread.next()) {
        // 21: i = wp.tid()
        const int i = thread.index(0);
        // 22: particle = particles[i]
        Particle particle = particles(i);
        // 23: force = particle.mass * GRAVITY + drag(particle.velocity, 0.1)
        const Vec<3, float> force = Vec<3, float>{0.0f, -9.81f, 0.0f} * particle.mass + drag(particle.velocity, 0.1f);
        // 24: particle.velocity += force / particle.mass * dt
        particle.velocity = particle.velocity + force / particle.mass * dt;
        // 25: particle.position += particle.velocity * dt
        particle.position = particle.position + particle.velocity * dt;
        // 26: if particle.position[1] < 0.0:
        if (particle.position[1] < 0.0f) {
            // 27: particle.velocity = wp.vec3(particle.velocity[0], -0.5 * particle.velocity[1], particle.velocity[2])
            particle.velocity = Vec<3, float>{particle.velocity[0], -0.5f * particle.velocity[1], particle.velocity[2]};
        }
        // 28: particles[i] = particle
        particles(i) = particle;
        // 29: wp.atomic_add(energy, 0, 0.5 * particle.mass * wp.length_sq(particle.velocity))
        gbx::atomic_add(energy(0), 0.5f * particle.mass * length_sq(particle.velocity));
    }
}

GBX_EXPORT int advance(const gbx::Grid* grid, void* const* args, gbx::Fault* fault)
{
    return gbx::run(advance_range, grid, args, fault);
}

} // namespace program
