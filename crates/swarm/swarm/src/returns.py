import warp as wp


@wp.kernel
def add(
    rewards: wp.array(dtype=wp.float32),
    dones: wp.array(dtype=wp.uint8),
    returns: wp.array(dtype=wp.float32),
    over: wp.array(dtype=wp.uint8),
):
    env = wp.tid()
    was_over = over[env] != wp.uint8(0)
    is_over = dones[env] != wp.uint8(0)
    if not was_over:
        returns[env] = returns[env] + rewards[env]
    elif not is_over:
        returns[env] = rewards[env]
    over[env] = dones[env]
