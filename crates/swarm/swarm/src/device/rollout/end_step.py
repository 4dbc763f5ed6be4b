# States of an env's episode, in `over` and `mask`.
NOT_OVER = wp.constant(0)
OVER = wp.constant(1)
LIFE_LOST = wp.constant(2)


@wp.func
def is_terminated(
    wram: wp.array2d(dtype=wp.uint8),
    env: int,
    numbers: wp.array2d(dtype=wp.int32),
    first_end: int,
    ends: int,
    program_ends: int,
    dones: wp.array(dtype=wp.uint8),
) -> wp.bool:
    is_over = program_ends != 0 and dones[env] != wp.uint8(0)
    for number in range(first_end, first_end + ends):
        is_over = is_over or number_of(wram, env, numbers, number) != wp.int64(0)
    return is_over


@wp.kernel
def end_step(
    wram: wp.array2d(dtype=wp.uint8),
    numbers: wp.array2d(dtype=wp.int32),
    changes: int,
    scales: wp.array(dtype=wp.float32),
    levels: wp.array2d(dtype=wp.int64),
    program_pays: int,
    first_end: int,
    ends: int,
    program_ends: int,
    is_paired: int,
    max_steps: int,
    same_step: int,
    rewards: wp.array(dtype=wp.float32),
    dones: wp.array(dtype=wp.uint8),
    returns: wp.array(dtype=wp.float32),
    lengths: wp.array(dtype=wp.int32),
    terminated: wp.array(dtype=wp.bool),
    truncated: wp.array(dtype=wp.bool),
    over: wp.array(dtype=wp.uint8),
    mask: wp.array(dtype=wp.uint8),
    counts: wp.array(dtype=wp.uint64),
    life_row: int,
    lives: wp.array(dtype=wp.int64),
):
    """Reward, end, return and length of an env after a step, and whether its next episode begins now."""
    env = wp.tid()
    if program_pays == 0:
        total = float(0.0)
        for change in range(changes):
            gained = number_of(wram, env, numbers, change) - levels[change, env]
            # As NumPy does it: float32 times int64 is float64.
            total = wp.float32(wp.float64(total) + wp.float64(scales[change]) * wp.float64(gained))
        rewards[env] = total
    length = lengths[env]
    earned = returns[env]
    if same_step != 0 and mask[env] != wp.uint8(0):
        # The episode began at the end of the last step.
        length = 0
        earned = 0.0
    length += 1
    earned += rewards[env]
    terminates = is_terminated(wram, env, numbers, first_end, ends, program_ends, dones)
    truncates = max_steps > 0 and length >= max_steps
    if is_paired != 0 and not (terminates or truncates):
        # Episodes of a pair end together; they are of one length.
        truncates = is_terminated(wram, env ^ 1, numbers, first_end, ends, program_ends, dones)
    ending = NOT_OVER
    if terminates or truncates:
        ending = OVER
    if life_row >= 0 and number_of(wram, env, numbers, life_row) < lives[env]:
        terminates = True
        if ending == NOT_OVER:
            ending = LIFE_LOST
    is_over = ending != NOT_OVER
    begins = is_over
    if same_step == 0:
        begins = over[env] != wp.uint8(0)
        if begins:
            ending = int(over[env])
            terminates = False
            truncates = False
            is_over = False
            length = 0
            earned = 0.0
    terminated[env] = terminates
    truncated[env] = truncates
    lengths[env] = length
    returns[env] = earned
    over[env] = wp.uint8(0)
    if is_over and same_step == 0:
        over[env] = wp.uint8(ending)
    mask[env] = wp.uint8(0)
    if begins:
        mask[env] = wp.uint8(ending)
    if begins and ending == OVER:
        counts[env] = counts[env] + wp.uint64(1)
