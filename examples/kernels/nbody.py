"""Bodies that attract each other, with softened forces at small distances."""

import warp as wp

SOFTENING = 0.1


@wp.struct
class Body:
    at: wp.vec3
    mass: float


@wp.func
def attraction(here: wp.vec3, other: Body):
    away = other.at - here
    distance = wp.sqrt(wp.dot(away, away) + SOFTENING)
    return away * (other.mass / (distance * distance * distance))


@wp.kernel
def accelerations(bodies: wp.array(dtype=Body), found: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    total = wp.vec3(0.0, 0.0, 0.0)
    for other in range(bodies.shape[0]):
        if other != i:
            total += attraction(bodies[i].at, bodies[other])
    found[i] = total


@wp.kernel
def move(step: float, speeds: wp.array(dtype=wp.vec3), places: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    places[i] = places[i] + speeds[i] * step
