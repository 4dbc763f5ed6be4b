"""Work of one thread in each of the swarm's kernels: of its arguments `row` and `lane` are the thread's place in the
grid and `env` is the env it is for. The kernels around these functions bring the machine and bind all other arguments
by their names. What depends on a swarm's programs is in `programs`, a text of its own."""

import gbxcule as gb
import programs
import warp as wp

Bytes = wp.array(dtype=wp.uint8)
Words = wp.array(dtype=wp.uint32)
Numbers = wp.array(dtype=wp.float32)
Ints = wp.array(dtype=wp.int32)
Counters = wp.array2d(dtype=wp.uint64)
Rows = wp.array2d(dtype=wp.uint8)
Cells = wp.array2d(dtype=wp.float32)
IntRows = wp.array2d(dtype=wp.int32)

NO_HOOK = wp.constant(wp.uint32(0xFFFFFFFF))
NEVER = wp.constant(wp.uint32(0xFFFFFFFF))


@wp.func
def read_registers(machine: gb.Machine, row: int, registers: wp.array2d(dtype=wp.uint16)):
    registers[row, 0] = wp.uint16(gb.a(machine))
    registers[row, 1] = wp.uint16(gb.f(machine))
    registers[row, 2] = wp.uint16(gb.b(machine))
    registers[row, 3] = wp.uint16(gb.c(machine))
    registers[row, 4] = wp.uint16(gb.d(machine))
    registers[row, 5] = wp.uint16(gb.e(machine))
    registers[row, 6] = wp.uint16(gb.h(machine))
    registers[row, 7] = wp.uint16(gb.l(machine))
    registers[row, 8] = gb.sp(machine)
    registers[row, 9] = gb.pc(machine)


@wp.func
def read_frame(env: int, row: int, lane: int, frame: Rows, data: Rows):
    data[row, lane] = frame[env, lane]


@wp.func
def read_place(machine: gb.Machine, place: wp.uint32):
    """The byte at an address in bits 0 to 15; above them is 0 for what is mapped there, or a bank, plus one."""
    address = wp.uint16(place & wp.uint32(0xFFFF))
    bank = place >> wp.uint32(16)
    if bank == wp.uint32(0):
        return gb.peek(machine, address)
    return gb.read_bank(machine, wp.uint16(bank - wp.uint32(1)), address)


@wp.func
def read_byte(machine: gb.Machine, row: int, lane: int, low: wp.uint32, data: Rows):
    data[row, lane] = read_place(machine, low + wp.uint32(lane))


@wp.func
def write_bytes(machine: gb.Machine, row: int, low: wp.uint32, data: Rows):
    address = wp.uint16(low & wp.uint32(0xFFFF))
    bank = low >> wp.uint32(16)
    for index in range(data.shape[1]):
        if bank == wp.uint32(0):
            gb.poke(machine, address + wp.uint16(index), data[row, index])
        else:
            gb.poke_bank(machine, wp.uint16(bank - wp.uint32(1)), address + wp.uint16(index), data[row, index])


@wp.func
def read_bytes(machine: gb.Machine, row: int, addresses: Words, data: Rows):
    for index in range(addresses.shape[0]):
        data[row, index] = read_place(machine, addresses[index])


@wp.func
def pressed(
    env: int,
    actions: Bytes,
    codec: Bytes,
    frames_held: Words,
    manual_buttons: wp.array(dtype=wp.int16),
    first_frame: wp.uint32,
):
    """The buttons of an env, and the frames of this launch after which the schedule releases them: never, if they are
    manual buttons."""
    action = int(actions[env])
    manual = manual_buttons[env]
    held = frames_held[action]
    release_after = wp.where(first_frame < held, held - first_frame, wp.uint32(0))
    by_action = manual < wp.int16(0)
    return wp.where(by_action, codec[action], wp.uint8(manual)), wp.where(by_action, release_after, NEVER)


@wp.func
def count(env: int, counters: Counters, frames: wp.uint32, mcycles: wp.uint32):
    """Adds to the env's counters of frames and T-cycles; gives the lower half of the frames since the reset."""
    counters[env, 0] = counters[env, 0] + wp.uint64(frames)
    counters[env, 1] = counters[env, 1] + wp.uint64(4) * wp.uint64(mcycles)
    return wp.uint32(counters[env, 0])


@wp.func
def pair_buttons(
    env: int,
    actions: Bytes,
    codec: Bytes,
    frames_held: Words,
    manual_buttons: wp.array(dtype=wp.int16),
    first_frame: wp.uint32,
):
    """The buttons of a machine with a cable."""
    buttons, release_after = pressed(env, actions, codec, frames_held, manual_buttons, first_frame)
    return buttons


@wp.func
def pair_release(
    env: int,
    actions: Bytes,
    codec: Bytes,
    frames_held: Words,
    manual_buttons: wp.array(dtype=wp.int16),
    first_frame: wp.uint32,
):
    """The frames after which a machine with a cable releases its buttons."""
    buttons, release_after = pressed(env, actions, codec, frames_held, manual_buttons, first_frame)
    return release_after


@wp.func
def after_pair(
    machine: gb.Machine,
    env: int,
    actions: Bytes,
    codec: Bytes,
    frames_held: Words,
    manual_buttons: wp.array(dtype=wp.int16),
    frames: wp.uint32,
    first_frame: wp.uint32,
    seed: wp.uint32,
    counters: Counters,
):
    """Sets the numbers that programs see after a step of pairs."""
    buttons, release_after = pressed(env, actions, codec, frames_held, manual_buttons, first_frame)
    now = wp.uint32(counters[env, 0])
    gb.set_step_numbers(machine, now, seed, env, first_frame + frames, actions[env], buttons)


@wp.func
def run_whole_step(
    machine: gb.Machine,
    env: int,
    actions: Bytes,
    codec: Bytes,
    frames_held: Words,
    manual_buttons: wp.array(dtype=wp.int16),
    frames: wp.uint32,
    first_frame: wp.uint32,
    draw_last: bool,
    seed: wp.uint32,
    counters: Counters,
):
    """Runs frames of a step at once: where nothing happens in between."""
    buttons, release_after = pressed(env, actions, codec, frames_held, manual_buttons, first_frame)
    mcycles = gb.run_frames(machine, buttons, frames, release_after, draw_last)
    now = count(env, counters, frames, mcycles)
    gb.set_step_numbers(machine, now, seed, env, first_frame + frames, actions[env], buttons)


@wp.func
def run_frame_by_frame(
    machine: gb.Machine,
    env: int,
    actions: Bytes,
    codec: Bytes,
    frames_held: Words,
    manual_buttons: wp.array(dtype=wp.int16),
    frames: wp.uint32,
    first_frame: wp.uint32,
    draw_last: bool,
    draw_each: bool,
    seed: wp.uint32,
    counters: Counters,
    scratch: Cells,
    int_scratch: IntRows,
    byte_scratch: Rows,
    ends_step: Bytes,
    step_frames: Words,
    is_over: Bytes,
):
    """Runs frames of a step one at a time, from hook to hook, until the step is over."""
    buttons, release_after = pressed(env, actions, codec, frames_held, manual_buttons, first_frame)
    if first_frame == wp.uint32(0):
        step_frames[env] = wp.uint32(0)
        is_over[env] = wp.uint8(0)
        for number in range(programs.HOOKS):
            scratch[env, programs.FIRST_HOOK_CELL + 2 * number + 1] = 0.0
    begun = gb.now(machine)
    ran = wp.uint32(0)
    while is_over[env] == wp.uint8(0) and ran < frames:
        after = ran + wp.uint32(1)
        held = wp.where(ran < release_after, buttons, wp.uint8(0))
        gb.begin_frame_with(machine, held, draw_each or (draw_last and after == frames))
        hook = gb.run_to_hook(machine, False)
        while hook != NO_HOOK:
            if ends_step[hook] != wp.uint8(0):
                is_over[env] = wp.uint8(1)
            cell = programs.FIRST_HOOK_CELL + 2 * int(hook)
            scratch[env, cell] = scratch[env, cell] + 1.0
            scratch[env, cell + 1] = scratch[env, cell + 1] + 1.0
            frame = wp.uint32(counters[env, 0]) + ran
            gb.set_step_numbers(machine, frame, seed, env, step_frames[env] + ran, actions[env], buttons)
            programs.at_hook(machine, scratch[env], int_scratch[env], byte_scratch[env], int(hook))
            hook = gb.run_to_hook(machine, True)
        ran = after
        frame = wp.uint32(counters[env, 0]) + ran
        gb.set_step_numbers(machine, frame, seed, env, step_frames[env] + ran, actions[env], buttons)
        if programs.settled(machine):
            is_over[env] = wp.uint8(1)
    count(env, counters, ran, gb.now(machine) - begun)
    step_frames[env] = step_frames[env] + ran
    gb.set_step_numbers(machine, wp.uint32(counters[env, 0]), seed, env, step_frames[env], actions[env], buttons)


@wp.func
def compute(
    machine: gb.Machine,
    env: int,
    cells: Numbers,
    ints: Ints,
    octets: Bytes,
    rewards: Numbers,
    dones: Bytes,
    observation: Numbers,
):
    programs.reward(machine, env, cells, ints, octets, rewards, dones)
    programs.observe(machine, cells, ints, octets, observation)


@wp.func
def compute_outputs(
    machine: gb.Machine,
    env: int,
    computes: bool,
    scratch: Cells,
    int_scratch: IntRows,
    byte_scratch: Rows,
    rewards: Numbers,
    dones: Bytes,
    observations: Cells,
):
    """Computes the outputs of the stage, when the step is over."""
    if computes:
        compute(machine, env, scratch[env], int_scratch[env], byte_scratch[env], rewards, dones, observations[env])


@wp.func
def pass_hooks(env: int, scratch: Cells):
    """Counts the hooks of an env that rests: it comes to none."""
    for number in range(programs.HOOKS):
        scratch[env, programs.FIRST_HOOK_CELL + 2 * number + 1] = 0.0


@wp.func
def earn_nothing(env: int, computes: bool, rewards: Numbers, dones: Bytes):
    """Computes the outputs of an env that rests, when the step is over."""
    if computes:
        rewards[env] = 0.0
        dones[env] = wp.uint8(0)


@wp.func
def begin_episode(
    machine: gb.Machine,
    env: int,
    begins: wp.uint32,
    seed: wp.uint32,
    counters: Counters,
    scratch: Cells,
    int_scratch: IntRows,
    byte_scratch: Rows,
):
    """Begins an episode of the programs, unless they go on with what they kept. Nothing was pressed yet."""
    frames = wp.uint32(counters[env, 0])
    gb.set_step_numbers(machine, frames, seed, env, wp.uint32(0), wp.uint8(0), wp.uint8(0))
    if begins != wp.uint32(0):
        programs.begin(machine, scratch[env], int_scratch[env], byte_scratch[env], 0)
        programs.begin(machine, scratch[env], int_scratch[env], byte_scratch[env], 1)


@wp.func
def observe_first(
    machine: gb.Machine, env: int, scratch: Cells, int_scratch: IntRows, byte_scratch: Rows, observations: Cells
):
    """Computes the observation before the first step."""
    programs.observe(machine, scratch[env], int_scratch[env], byte_scratch[env], observations[env])


# Kernels of the native swarm, each for one env, whose number is 0 here.


@wp.func
def begin_part(machine: gb.Machine, cells: Numbers, ints: Ints, octets: Bytes, observation: Numbers, asked: Words):
    """Begins an episode of the first or the second text; after both, computes the observation before the first step."""
    part = int(asked[0])
    if part < 2:
        programs.begin(machine, cells, ints, octets, part)
    else:
        programs.observe(machine, cells, ints, octets, observation)


@wp.func
def call_hook(machine: gb.Machine, cells: Numbers, ints: Ints, octets: Bytes, asked: Words):
    programs.at_hook(machine, cells, ints, octets, int(asked[0]))


@wp.func
def ask_settled(machine: gb.Machine, asked: Words):
    asked[0] = wp.uint32(programs.settled(machine))
