"""States of other emulators: what PyBoy saved goes on here as it does there."""

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

    def start(name):
        path = tmp_path / f"{name}.gb"
        path.write_bytes(_native.built_in_rom(name))
        started.append(pyboy.PyBoy(str(path), window="null", sound_emulated=False, log_level="CRITICAL"))
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


def without_stack(memory):
    return memory[: STACK.start - 0xC000] + memory[STACK.stop - 0xC000 :]


@pytest.mark.parametrize("name", [name for name in _native.built_in_roms() if not needs_color(name)])
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
        (bytes([28]) + good[1:], "version 28; this program reads versions 7 to 12 and 29"),
        (good[:5] + b"\x01" + good[6:], "Game Boy Color"),
        (good[:118000], "cut off"),
    ]:
        with pytest.raises(ValueError, match=message):
            env.load_state(0, state)


@pytest.mark.parametrize("name", ["MBC1_RAM", "MBC2_RAM", "MBC3_RAM", "MBC5_RAM"])
def test_what_pyboys_battery_keeps_comes_in(boy, tmp_path, name):
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


def test_bess_goes_out_and_comes_back():
    env = gbxcule.make_vec(num_envs=2, obs="gray")
    env.reset(seed=4)
    for action in (3, 6, 4, 5):
        env.step([action, action])
    env.load_state(1, env.save_state(0, format="bess"))
    for action in (6, 3, 5, 4):
        obs, *_ = env.step([action, action])
        assert np.array_equal(obs[0], obs[1])
    with pytest.raises(ValueError, match="no state format `zip`"):
        env.save_state(0, format="zip")
