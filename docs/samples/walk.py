import warp as wp


@wp.kernel
def walk(seed: int, steps: int, ends: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    at = wp.vec2(0.0, 0.0)
    done = int(0)
    while done < steps:
        angle = wp.randf(state) * 6.2831853
        at += wp.vec2(wp.cos(angle), wp.sin(angle))
        if wp.length(at) > 100.0:
            break
        done += 1
    ends[i] = at
