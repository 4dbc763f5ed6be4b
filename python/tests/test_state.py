"""States of other emulators: a state that PyBoy saved continues here as in PyBoy."""

import io

import gbxcule
import numpy as np
import pytest
from gbxcule import _native

pyboy = pytest.importorskip("pyboy", reason="pyboy is not installed")

BUTTONS = {"A": "a", "B": "b", "START": "start", "SELECT": "select", "UP": "up", "DOWN": "down", "LEFT": "left",
           "RIGHT": "right"}


@pytest.fixture
def boy(tmp_path):
    started = []

    def start(name, **options):
        path = tmp_path / f"{name}.gb"
        path.write_bytes(_native.built_in_rom(name))
        options = {"sound_emulated": False, **options}
        started.append(pyboy.PyBoy(str(path), window="null", log_level="CRITICAL", **options))
        started[-1].set_emulation_speed(0)
        return started[-1]

    yield start
    for each in started:
        each.stop(save=False)


def saved(boy):
    file = io.BytesIO()
    boy.save_state(file)
    return file.getvalue()


# The games' stack. What lies below SP depends on the instruction at which an interrupt came, and
# PyBoy's STAT interrupts come some cycles off.
STACK = range(0xDD60, 0xDE00)


def needs_color(name):
    return _native.built_in_rom(name)[0x143] == 0xC0


ORIGINALS = [name for name in _native.built_in_roms() if not needs_color(name)]


def without_stack(memory):
    return memory[: STACK.start - 0xC000] + memory[STACK.stop - 0xC000 :]


@pytest.mark.parametrize("name", ORIGINALS)
def test_every_rom_goes_on_as_in_pyboy(boy, name):
    reference = boy(name)
    reference.tick(170, False)
    swarm = _native.Swarm(_native.built_in_rom(name), 1, frames_per_step=1, release_after_frames=1)
    swarm.load_state(0, saved(reference))
    wait = bytes([swarm.action_names.index("NOOP")])
    for frame in range(120):
        reference.tick(1, False)
        swarm.step(wait)
        ours, theirs = swarm.read_memory(0, 0xC000, 0xE000), bytes(reference.memory[0xC000:0xE000])
        assert without_stack(ours) == without_stack(theirs), frame


# All ROMs that only a Color runs, and programs for the original.
COLORS = [name for name in _native.built_in_roms() if needs_color(name)]
COLORS += ["PEARL_DRIFT", "BG_SCROLL", "HALT_IDLE", "MBC1_RAM", "MBC3_RTC", "MBC5_RAM"]
# PyBoy's HDMA comes later in a line (docs/references.md), so palettes do.
OTHER_PICTURE = {"COLOR_LINES"}


def colored(name, num_envs=1):
    env = gbxcule.make_vec(name, num_envs=num_envs, model="cgb", obs="rgb555", actions="full_v1", frames_per_step=1,
                           start_steps=0)
    env.reset(seed=0)
    return env


def picture_of(reference):
    """PyBoy's picture in the machine's form, 5 bits for each color."""
    return reference.screen.ndarray[:, :, :3] >> 3


def assert_goes_on_alike(env, reference, name, frames=90):
    wait = [env.action_names.index("NOOP")] * env.num_envs
    for frame in range(frames):
        reference.tick(1, True)
        seen, *_ = env.step(wait)
        ours, theirs = env.read_memory(0, "C000:E000"), bytes(reference.memory[0xC000:0xE000])
        # PEARL_DRIFT's stack ends at E000.
        assert without_stack(ours)[:-0x40] == without_stack(theirs)[:-0x40], frame
        assert env.read_memory(0, "8000:A000") == bytes(reference.memory[0x8000:0xA000]), frame
    if name not in OTHER_PICTURE:
        color = seen[0, ..., 0].astype(int) | seen[0, ..., 1].astype(int) << 8
        ours = np.stack([color >> shift & 31 for shift in (0, 5, 10)], axis=-1)
        assert np.array_equal(ours, picture_of(reference))


@pytest.mark.parametrize("name", COLORS)
def test_every_color_goes_on_as_in_pyboy(boy, name):
    reference = boy(name, cgb=True)
    reference.tick(170, False)
    env = colored(name)
    env.load_state(0, saved(reference))
    assert_goes_on_alike(env, reference, name)


@pytest.mark.parametrize("name", COLORS)
def test_states_of_a_color_go_on_in_pyboy(boy, name):
    env = colored(name)
    for _ in range(130):
        env.step([env.action_names.index("NOOP")])
    reference = boy(name, cgb=True)
    state = env.save_state(0, format="pyboy")
    file = io.BytesIO(state)
    reference.load_state(file)
    assert not file.read(), "PyBoy reads all of it"
    assert len(saved(reference)) == len(state)
    assert_goes_on_alike(env, reference, name)


@pytest.mark.parametrize("sound", [False, True])
@pytest.mark.parametrize("name", ORIGINALS)
def test_states_of_an_original_go_on_in_pyboy(boy, name, sound):
    swarm = _native.Swarm(_native.built_in_rom(name), 1, frames_per_step=1, release_after_frames=1)
    wait = bytes([swarm.action_names.index("NOOP")])
    for _ in range(130):
        swarm.step(wait)
    reference = boy(name, sound_emulated=sound)
    reference.load_state(io.BytesIO(swarm.export_pyboy(0)))
    for frame in range(60):
        reference.tick(1, False)
        swarm.step(wait)
        ours, theirs = swarm.read_memory(0, 0xC000, 0xE000), bytes(reference.memory[0xC000:0xE000])
        assert without_stack(ours) == without_stack(theirs), frame


def test_a_state_of_pyboys_other_model_is_refused_by_both_names(boy):
    for model, cgb, message in [
        ("dmg", True, "a Game Boy Color, as which PyBoy .* this machine is an original Game Boy"),
        ("cgb", False, "an original Game Boy .* this machine is a Game Boy Color"),
    ]:
        reference = boy("PEARL_DRIFT", cgb=cgb)
        reference.tick(200, False)
        env = gbxcule.make_vec("PEARL_DRIFT", model=model)
        env.reset(seed=0)
        with pytest.raises(ValueError, match=message):
            env.load_state(0, saved(reference))
    color = boy("COLOR_BANKS", cgb=True)
    color.tick(200, False)
    good = saved(color)
    env = colored("COLOR_BANKS")
    for state, message in [
        (bytes([9]) + good[1:], "version 9; this program reads versions 14, 15 and 29 of a Game Boy Color"),
        (good[:118000], "cut off"),
        (good[:5] + b"\x07" + good[6:], "7 where 0 or 1 is needed"),
    ]:
        with pytest.raises(ValueError, match=message):
            env.load_state(0, state)


# Bytes by which sound has grown between versions 15 and 29.
NEWER_SOUND = 69


def as_earlier(state, version, rom):
    """Write a state of PyBoy 2.8.1 as PyBoy 2.5 (version 14) or 2.6 and 2.7 (version 15) did."""
    reader = io.BytesIO(state)
    read = reader.read
    out = [bytes([version]), read(2)[1:]]

    def take(count, left_out=0):
        """Copies bytes, and leaves out the next ones, which only the newest version has."""
        out.append(read(count))
        return read(left_out)

    take(0, 1)  # Its mode.
    take(3 + 13, 1)  # Speed, model, registers, IME; a delayed EI.
    dma = take(5 + 8, 12)
    take(0x2000 + 0xA0 + 11, 1)  # VRAM, OAM, registers; the objects' priority.
    take(144 * 5 + 1, 1)
    take(4 + 24 + 1, 1)
    clock = 33 if rom[0x147] in (0x0F, 0x10) else 0
    ram = {3: 4, 4: 16, 5: 8}.get(rom[0x149], 1) * 0x2000
    own = {1: 2, 2: 2, 3: 2, 0x19: 1, 0x1A: 1, 0x1B: 1}.get(rom[0x147], 0)
    behind_sound = 160 * 144 * 5 + 1 + 0x2000 + 0x60 + 0x4C + 0x7F + 1 + 25 + 4 + ram + clock + own + 2 + 36
    behind_sound += 11 + 0x2000 + 0x800 + 0x80
    take(len(state) - reader.tell() - behind_sound - NEWER_SOUND, NEWER_SOUND)
    take(160 * 144 * 5, 1)
    take(0x2000 + 0x60)
    ports = bytearray(read(0x4C))
    ports[0x46] = dma[2]
    out.append(ports)
    take(0x7F, 1)
    out.append(bytes(0x34))
    divider, tima, counter = read(1), read(1), read(2)
    out.extend([divider, tima, bytes([counter[0], 0])])
    take(2 + 2, 1)
    take(16)
    take(4 + ram)
    if clock:
        # When it was 0, and two flags.
        out.append(read(33)[:8] + bytes(2))
    take(own if rom[0x147] < 4 else 0, own if rom[0x147] > 4 else 0)
    take(2)
    serial = read(36)
    if version == 15:
        out.append(serial)
    else:
        ports[0x01:0x03] = serial[:2]
    return b"".join(map(bytes, out))


@pytest.mark.parametrize("version", [14, 15])
@pytest.mark.parametrize("name", ORIGINALS)
def test_every_rom_goes_on_from_earlier_states_of_pyboy(boy, name, version):
    rom = _native.built_in_rom(name)
    reference = boy(name)
    reference.tick(170, False)
    now = saved(reference)
    earlier = as_earlier(now, version, rom)
    swarm = _native.Swarm(rom, 2, frames_per_step=1, release_after_frames=1)
    swarm.load_state(0, now)
    swarm.load_state(1, earlier)
    wait = bytes([swarm.action_names.index("NOOP")] * 2)
    for frame in range(30):
        swarm.step(wait)
        first, second = (swarm.read_memory(env, 0x8000, 0x10000) for env in (0, 1))
        assert first == second and swarm.cpu_state(0) == swarm.cpu_state(1), frame
    with pytest.raises(ValueError, match="cut off"):
        swarm.load_state(0, earlier[:118000])


def test_the_game_is_played_on_as_in_pyboy_with_the_same_buttons(boy):
    reference = boy("PEARL_DRIFT")
    env = gbxcule.make_vec(num_envs=2, obs="gray", grays="pyboy", reward=gbxcule.Change("Score", 2), start_steps=0)
    env.reset(seed=0)
    rng = np.random.default_rng(1)
    reference.tick(300, False)
    env.load_state(1, saved(reference))
    score = reference.memory[0xC000]
    for _ in range(60):
        action = int(rng.integers(9))
        button = BUTTONS.get(env.action_names[action])
        if button:
            reference.button_press(button)
        # PyBoy's first picture behind undrawn frames can be wrong.
        for _ in range(8):
            reference.tick(1, True)
        if button:
            reference.button_release(button)
        for _ in range(16):
            reference.tick(1, True)
        obs, rewards, terminated, *_ = env.step([8, action])
        assert env.read_memory(1, "C000:E000") == bytes(reference.memory[0xC000:0xE000])
        assert rewards[1] == reference.memory[0xC000] - score
        score = reference.memory[0xC000]
        theirs = reference.screen.ndarray[:, :, 0]
        assert np.array_equal(obs[1], theirs)
        if terminated[1]:
            break



def test_pyboys_states_that_cant_be_taken_say_why(boy):
    reference = boy("PEARL_DRIFT")
    booting = saved(reference)
    reference.tick(200, False)
    good = saved(reference)
    env = gbxcule.make_vec()
    for state, message in [
        (booting, "boot ROM"),
        (bytes([28]) + good[1:], "version 28; this program reads versions 7 to 12, 14, 15 and 29"),
        (good[:5] + b"\x01" + good[6:], "Game Boy Color"),
        (good[:5] + b"\x07" + good[6:], "7 where 0 or 1 is needed"),
        (good[:118000], "cut off"),
    ]:
        with pytest.raises(ValueError, match=message):
            env.load_state(0, state)


@pytest.mark.parametrize("name", ["MBC1_RAM", "MBC2_RAM", "MBC3_RAM", "MBC5_RAM"])
def test_a_battery_of_pyboy_is_loaded(boy, tmp_path, name):
    reference = boy(name)
    reference.tick(200, False)
    reference.stop(save=True)
    (file,) = tmp_path.glob("*.ram")
    env = gbxcule.make_vec(name, num_envs=2)
    env.reset(seed=0)
    for _ in range(20):
        env.step([8, 8])
    ours = env.save_battery(0)
    assert len(set(ours)) > 1
    other = gbxcule.make_vec(name, num_envs=2, start_battery=file, start_steps=0)
    other.reset(seed=0)
    # PyBoy's RAM is zeros when it is switched on, ours ones; MBC2 has half bytes.
    low = 0x0F if name == "MBC2_RAM" else 0xFF
    found, expected = (np.frombuffer(each, np.uint8) & low for each in (other.save_battery(1), ours))
    written = expected != low
    assert written.any() and np.array_equal(found[written], expected[written])
    other.load_battery(0, ours)
    assert other.save_battery(0) == ours


@pytest.mark.parametrize("game", ["PEARL_DRIFT", "AMBER_ROAD"])
def test_bess_goes_out_and_comes_back(game):
    env = gbxcule.make_vec(game, num_envs=2, obs="gray")
    env.reset(seed=4)
    for action in (3, 6, 4, 5):
        env.step([action, action])
    env.load_state(1, env.save_state(0, format="bess"))
    for action in (6, 3, 5, 4):
        obs, *_ = env.step([action, action])
        assert np.array_equal(obs[0], obs[1])
    with pytest.raises(ValueError, match="no state format `zip`"):
        env.save_state(0, format="zip")


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
def test_a_copy_into_an_env_whose_episode_is_over_begins_the_next_one(mode):
    env = gbxcule.make_vec(num_envs=2, obs=gbxcule.Ram("C006"), max_episode_steps=4, autoreset_mode=mode)
    env.reset(seed=0)
    state = env.save_state(0)
    for _ in range(4):
        env.step([5, 4])
    env.load_state(0, state)
    env.copy_state(0, np.array([False, True]))
    first, second = env.step([8, 8])[0].ravel()
    assert first == second


@pytest.mark.parametrize("rom", ["PEARL_DRIFT", "AMBER_ROAD"])
def test_a_state_of_an_env_that_draws_nothing_has_a_picture(rom):
    fast = gbxcule.make_vec(rom, 1, obs=gbxcule.Ram("Score"))
    fast.reset(seed=0)
    for _ in range(5):
        fast.step([5])
    env = gbxcule.make_vec(rom, 1, obs="rgb")
    env.reset(seed=0)
    picture = env.reset(options={"state": fast.save_state(0)})[0]
    assert len(np.unique(picture)) > 2
    slow = gbxcule.make_vec(rom, 1, obs="rgb", frames_per_step=1, release_after_frames=1)
    slow.reset(seed=0)
    slow.load_state(0, fast.save_state(0))
    assert np.array_equal(slow.step([0])[0], picture)
