GOLDEN = wp.constant(wp.uint64(0x9E3779B97F4A7C15))


@wp.func
def splitmix64(state: wp.uint64) -> wp.uint64:
    bits = state + GOLDEN
    bits = (bits ^ (bits >> wp.uint64(30))) * wp.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> wp.uint64(27))) * wp.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> wp.uint64(31))


@wp.func
def bits_of(seed: wp.uint64, count: wp.uint64) -> wp.uint64:
    """All chance of an episode, as `episode.rs` has it."""
    return splitmix64(splitmix64(seed) + count * GOLDEN)


@wp.func
def start_of(
    seeds: wp.array(dtype=wp.uint64),
    counts: wp.array(dtype=wp.uint64),
    weights: wp.array(dtype=wp.uint32),
    env: int,
    is_paired: int,
) -> int:
    """The start of an env's episode, chosen by the weights; both envs of a pair have the first one's."""
    chooser = env
    if is_paired != 0:
        chooser = env & ~1
    total = wp.uint64(0)
    for start in range(weights.shape[0]):
        total += wp.uint64(weights[start])
    drawn = splitmix64(bits_of(seeds[chooser], counts[chooser])) % wp.max(total, wp.uint64(1))
    for start in range(weights.shape[0]):
        weight = wp.uint64(weights[start])
        if drawn < weight:
            return start
        drawn -= weight
    return 0
