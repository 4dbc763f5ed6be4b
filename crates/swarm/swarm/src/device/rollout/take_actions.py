@wp.kernel
def take_actions(
    given: wp.array2d(dtype=wp.NUMBER),
    choices: wp.array(dtype=wp.int32),
    refused: wp.array(dtype=wp.int32),
    idle: int,
    actions: wp.array(dtype=wp.uint8),
    rests: int,
    over: wp.array(dtype=wp.uint8),
    manual_buttons: wp.array(dtype=wp.int16),
    held_buttons: wp.array(dtype=wp.int16),
    wram: wp.array2d(dtype=wp.uint8),
    numbers: wp.array2d(dtype=wp.int32),
    changes: int,
    levels: wp.array2d(dtype=wp.int64),
    life_row: int,
    lives: wp.array(dtype=wp.int64),
):
    """Takes what a step needs of an env: its action, its buttons, or RESTS where the step begins its episode, and the
    numbers of its rewards before the step."""
    env = wp.tid()
    held_buttons[env] = manual_buttons[env]
    if rests != 0 and over[env] != wp.uint8(0):
        held_buttons[env] = wp.int16(-2)
    for change in range(changes):
        levels[change, env] = number_of(wram, env, numbers, change)
    if life_row >= 0:
        lives[env] = number_of(wram, env, numbers, life_row)
    # The action of an env whose number is refused.
    actions[env] = wp.uint8(idle)
    action = int(0)
    stride = int(1)
    for column in range(given.shape[1]):
        number = wp.int64(given[env, column])
        if number < wp.int64(0) or number >= wp.int64(choices[column]):
            # An array without elements: the thread stops, and its fault has the number.
            action = refused[number]
        action += stride * int(number)
        stride *= choices[column]
    actions[env] = wp.uint8(action)
