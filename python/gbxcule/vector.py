"""The swarm as a Gymnasium vector environment."""

import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from gbxcule import _native, game
from gbxcule.memory import Change, Number, Watch
from gbxcule.observation import Observation, Observer, draws, is_program, program_of
from gbxcule.picture import Pixels, colored, mosaic
from gbxcule.start import Chance, RomLike, rom_bytes, rom_symbols
from gbxcule.symbol import Place, Symbols, range_of

Mask = npt.NDArray[np.bool_]
Reward = str | os.PathLike[str] | Change | Sequence[Change]

RENDER_MODES = ["rgb_array", "rgb_array_each"]
FRAMES_PER_SECOND = 4194304 / 70224
# What a step computes behind the machines: whether a program's reward, whether a program's observation.
_STAGES = {
    (False, False): "emulate_only",
    (True, False): "reward_only",
    (False, True): "obs_only",
    (True, True): "full_step",
}


# Work and video memory and a packed frame; the rest of a machine is small.
MACHINE_BYTES = 22_000


class SwarmVectorEnv(VectorEnv[Any, Any, Any]):
    """Many Game Boys stepped together; see `make_vec` for what the arguments mean."""

    def __init__(
        self,
        rom: RomLike = None,
        num_envs: int = 1,
        *,
        device: str = "cpu",
        frames_per_step: int = 24,
        release_after_frames: int = 8,
        actions: str = "full_v1",
        obs: Observation = "mean",
        reward: Reward | None = None,
        done: Number | None = None,
        info: Mapping[str, Number] | None = None,
        chance: Number | None = None,
        symbols: Symbols | str | os.PathLike[str] | None = None,
        start_state: bytes | None = None,
        start_steps: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        copy: bool = True,
        threads: int | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"no render mode `{render_mode}`; there are {', '.join(RENDER_MODES)}")
        num_envs = _whole("num_envs", num_envs, 1)
        frames_per_step = _whole("frames_per_step", frames_per_step, 1)
        release_after_frames = _whole("release_after_frames", release_after_frames, 1)
        start_steps = _whole("start_steps", start_steps, 0)
        if max_episode_steps is not None:
            max_episode_steps = _whole("max_episode_steps", max_episode_steps, 1)
        if threads is not None:
            threads = _whole("threads", threads, 1)
        if device == "cpu":
            _check_memory(num_envs)
        if rom is None:
            reward = game.REWARD if reward is None else reward
            done = game.DONE if done is None else done
            info = game.INFO if info is None else info
            chance = game.CHANCE if chance is None else chance
        self.symbols = rom_symbols(rom, symbols)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.max_episode_steps = max_episode_steps
        self.metadata = {
            "render_modes": RENDER_MODES,
            "render_fps": max(1, round(FRAMES_PER_SECOND / max(1, frames_per_step))),
            "autoreset_mode": self.autoreset_mode,
        }
        observe = program_of(obs)
        rewarded = os.fspath(reward) if isinstance(reward, (str, os.PathLike)) else None
        if rewarded is not None and rewarded != "reward_v0" and not is_program(rewarded):
            raise ValueError(
                f"no reward `{rewarded}`; there are reward_v0, files that end in .py, gbxcule.Change(...), "
                "and lists of these"
            )
        self._process = os.getpid()
        self._machines = _native.Swarm(
            rom_bytes(rom),
            num_envs,
            codec=actions,
            frames_per_step=frames_per_step,
            release_after_frames=release_after_frames,
            stage=_STAGES[rewarded is not None, observe is not None],
            reward=rewarded or "reward_v0",
            obs=observe or "obs_v0",
            draw_last=draws(obs) or render_mode is not None,
            threads=threads,
            device=device,
        )
        self.action_names = self._swarm.action_names
        self.single_action_space = spaces.Discrete(len(self.action_names))
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._observer = Observer(obs, self.symbols, self._swarm)
        self.single_observation_space = self._observer.single_space
        self.observation_space = self._observer.space
        self._copy = copy

        self._changes = _changes(reward) if rewarded is None else []
        self._info = dict(info or {})
        numbers = {f"info {name}": number for name, number in self._info.items()}
        numbers |= {f"reward {place}": change.number for place, change in enumerate(self._changes)}
        if done is not None:
            numbers["done"] = done
        self._watch = Watch(numbers, self.symbols, num_envs)
        self._has_done = done is not None
        self._native_reward = rewarded is not None
        self._native_done = rewarded is not None and self._swarm.has_done

        self._steps = np.zeros(num_envs, np.int64)
        self._over = np.zeros(num_envs, np.bool_)
        self._levels = np.zeros((len(self._changes), num_envs), np.int64)
        self._rewards = np.zeros(num_envs, np.float32)
        self._chance_range = None
        if chance is not None:
            self._chance_range = range_of((chance.address, chance.width_bytes), self.symbols)
        self._chance = Chance(num_envs)
        self._is_seeded = False
        self._set_start(start_state, start_steps)

    @property
    def _swarm(self) -> _native.Swarm:
        self._check_open()
        return self._machines

    def _set_start(self, state: bytes | None, steps: int) -> None:
        if state is not None:
            if not isinstance(state, bytes):
                raise TypeError(f"start_state takes the bytes of a state, not a {type(state).__name__}")
            self._swarm.load_state(0, state)
            self._swarm.copy_state(0, bytes([1]) * self.num_envs)
        # Pressing SELECT does nothing in most games; only a codec with NOOP can really wait.
        wait = self.action_names.index("NOOP") if "NOOP" in self.action_names else 0
        for _ in range(steps):
            self._swarm.step(bytes([wait]) * self.num_envs)
        self._swarm.set_reset_point(0)
        self._observer.note_start(self._swarm)

    # Gymnasium's interface

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes in all envs, or in those that `options["reset_mask"]` marks."""
        self._check_open()
        seed = int(seed) if isinstance(seed, np.integer) else seed
        super().reset(seed=seed if isinstance(seed, int) else None)
        mask = self._reset_mask(options)
        if seed is None and not self._is_seeded:
            seed = int(self.np_random.integers(2**63))
        if seed is not None:
            self._is_seeded = True
            self._chance.seed(seed, mask)
        self._restart(mask)
        self._observer.look(self._swarm, mask.tobytes())
        return self._observation(), self._infos(mask)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Press one action for each env and run the frames of a step."""
        self._check_open()
        pressed = self._pressed(actions)
        late = self._over
        if self.autoreset_mode == AutoresetMode.DISABLED and late.any():
            raise gymnasium.error.ResetNeeded(
                f"the episodes of the envs {np.flatnonzero(late).tolist()} are over; "
                'reset them with options={"reset_mask": mask}'
            )
        self._swarm.step(pressed)
        self._steps += 1
        self._watch.look(self._swarm)
        rewards = self._measured()
        terminated = self._ended()
        truncated = np.zeros(self.num_envs, np.bool_)
        if self.max_episode_steps is not None:
            truncated = self._steps >= self.max_episode_steps
        everyone = np.ones(self.num_envs, np.bool_)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP and late.any():
            # Their action is ignored: this step is the reset of those whose episode was over.
            self._restart(late)
            rewards[late], terminated[late], truncated[late] = 0, False, False
        self._observer.look(self._swarm)
        infos = self._infos(everyone)
        self._over = terminated | truncated
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._over.any():
            infos = self._reset_at_once(self._over)
        return self._observation(), rewards, terminated, truncated, infos

    def render(self) -> Any:
        """The envs' screens: one mosaic, or with `rgb_array_each` a tuple with one picture for each env."""
        self._check_open()
        if self.render_mode is None:
            raise ValueError('nothing was drawn; pass render_mode="rgb_array" to make_vec')
        screens = self.screens()
        return mosaic(screens) if self.render_mode == "rgb_array" else tuple(colored(screens))

    def close_extras(self, **_kwargs: Any) -> None:
        """Let the machines go."""
        del self._machines

    # What a Game Boy has beyond that

    @property
    def device_arrays(self) -> dict[str, _native.DeviceArray]:
        """What a step leaves in the memory of a CUDA device, by name: `frames`, and as far as programs compute them
        `rewards`, `dones` and `observations`. Any library that speaks DLPack takes them in place, such as
        `torch.from_dlpack`; the next step writes to the same memory. Empty on the CPU."""
        swarm = self._swarm
        arrays = {
            "rewards": swarm.reward_array,
            "dones": swarm.done_array,
            "observations": swarm.observation_array,
            "frames": swarm.frame_array,
        }
        return {name: array for name, array in arrays.items() if array is not None}

    def screens(self) -> Pixels:
        """The last drawn frame of every env, gray, `[num_envs, 144, 160]`."""
        screens = np.empty((self.num_envs, 144, 160), np.uint8)
        self._swarm.show(_native.View.picture("gray"), screens)
        return screens

    def write_observations_to(self, buffer: npt.NDArray[Any]) -> None:
        """Compute observations into this array from now on, as a learner's own buffer wants it."""
        self._observer.write_to(buffer)

    def read_memory(self, env: int, place: Place) -> bytes:
        """The bytes at a place of an env."""
        return self._swarm.read_memory(env, *range_of(place, self.symbols))

    def write_memory(self, env: int, place: Place, data: bytes) -> None:
        """Change memory of an env behind the machine's back."""
        self._swarm.write_memory(env, range_of(place, self.symbols)[0], data)
        self._look_again(_only(env, self.num_envs))

    def save_state(self, env: int, format: str = "gbxcule") -> bytes:
        """An env as bytes that outlive this process: exactly, or as `bess`, which other emulators read."""
        if format not in ("gbxcule", "bess"):
            raise ValueError(f"no state format `{format}`; there are gbxcule, bess")
        return self._swarm.export_bess(env) if format == "bess" else self._swarm.save_state(env)

    def load_state(self, env: int, state: bytes) -> None:
        """Put an env into a state that was saved here, by PyBoy 2.8.1, or as BESS; its episode goes on from there."""
        self._swarm.load_state(env, state)
        self._look_again(_only(env, self.num_envs))

    def copy_state(self, source: int, mask: npt.ArrayLike) -> None:
        """One env's state into all marked ones; their episodes go on from there."""
        marked = np.asarray(mask, np.bool_)
        self._swarm.copy_state(source, marked.tobytes())
        self._look_again(marked)

    def set_start(self, env: int) -> None:
        """Let new episodes begin at an env's present state."""
        self._swarm.set_reset_point(env)

    def cpu_state(self, env: int) -> dict[str, int]:
        """An env's registers by name."""
        return self._swarm.cpu_state(env)

    # The parts of a step

    def _restart(self, mask: Mask) -> None:
        self._swarm.reset_masked(mask.tobytes())
        if self._chance_range is not None:
            low, high = self._chance_range
            for env, chance in zip(np.flatnonzero(mask), self._chance.draw(mask), strict=True):
                self._swarm.write_memory(int(env), low, int(chance).to_bytes(2, "little")[: high - low])
        self._steps[mask] = 0
        self._over = self._over & ~mask
        self._look_again(mask)

    def _look_again(self, mask: Mask) -> None:
        """The marked envs are elsewhere now: no reward for having come there."""
        self._watch.look(self._swarm, mask.tobytes())
        for place in range(len(self._changes)):
            self._levels[place, mask] = self._watch[f"reward {place}"][mask]

    def _measured(self) -> npt.NDArray[np.float32]:
        if self._native_reward:
            self._swarm.rewards_into(self._rewards)
            return self._rewards.copy()
        total = np.zeros(self.num_envs, np.float32)
        for place, change in enumerate(self._changes):
            level = self._watch[f"reward {place}"]
            total += np.float32(change.scale) * (level - self._levels[place])
            self._levels[place] = level
        return total

    def _ended(self) -> Mask:
        ended = self._watch["done"] != 0 if self._has_done else np.zeros(self.num_envs, np.bool_)
        if self._native_done:
            ended |= np.frombuffer(self._swarm.dones(), np.bool_)
        return ended

    def _reset_at_once(self, over: Mask) -> dict[str, Any]:
        final_obs = np.full(self.num_envs, None, object)
        for env in np.flatnonzero(over):
            final_obs[env] = self._observer.copy_of(int(env))
        final_info = self._infos(over)
        self._restart(over)
        self._observer.look(self._swarm, over.tobytes())
        infos = self._infos(np.ones(self.num_envs, np.bool_))
        infos |= {"final_obs": final_obs, "_final_obs": over.copy()}
        return infos | {"final_info": final_info, "_final_info": over.copy()}

    def _infos(self, mask: Mask) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for name in self._info:
            infos[name] = np.where(mask, self._watch[f"info {name}"], 0)
            infos[f"_{name}"] = mask.copy()
        return infos

    def _observation(self) -> Any:
        return self._observer.copy() if self._copy else self._observer.batch

    def _pressed(self, actions: Any) -> bytes:
        found = np.asarray(actions)
        if found.shape != (self.num_envs,) or found.dtype.kind not in "iu":
            raise ValueError(
                f"expected one whole number for each of the {self.num_envs} envs, found {found.dtype} {found.shape}"
            )
        if found.size and not (found.min() >= 0 and found.max() < len(self.action_names)):
            raise ValueError(f"actions are 0 to {len(self.action_names) - 1}, found {found.min()} to {found.max()}")
        return found.astype(np.uint8).tobytes()

    def _reset_mask(self, options: dict[str, Any] | None) -> Mask:
        if not options or "reset_mask" not in options:
            return np.ones(self.num_envs, np.bool_)
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise ValueError(f"reset_mask must be a boolean array of {self.num_envs} elements, found {mask!r}")
        if not mask.any():
            raise ValueError("reset_mask must mark at least one env")
        return mask.copy()

    def _check_open(self) -> None:
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed; make a new one")
        if self._process != os.getpid():
            raise RuntimeError(
                "the environment was made before this process was forked, and its threads stayed behind: make it in the "
                "process that steps it"
            )


def _changes(reward: Any) -> list[Change]:
    if reward is None:
        return []
    changes = list(reward) if isinstance(reward, Sequence) else [reward]
    for change in changes:
        if not isinstance(change, Change):
            raise TypeError(f"a reward is a gbxcule.Change, several, or the name of a program, found {change!r}")
    return changes


def _whole(name: str, value: Any, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, found {value!r}") from None
    if not least <= number < 2**31:
        raise ValueError(f"{name} is at least {least} and below 2**31, found {number}")
    return number


def _check_memory(num_envs: int) -> None:
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = num_envs * MACHINE_BYTES
    if needed > here:
        raise MemoryError(
            f"{num_envs} machines need {needed / 2**30:,.0f} GiB of memory, this computer has {here / 2**30:,.0f}"
        )


def _only(env: int, num_envs: int) -> Mask:
    mask = np.zeros(num_envs, np.bool_)
    mask[env] = True
    return mask


def make_vec(rom: RomLike = None, num_envs: int = 1, **options: Any) -> SwarmVectorEnv:
    """Machines stepped together, as a Gymnasium `VectorEnv`.

    `rom`: a path, the bytes, the name of a built-in ROM, or `None` for the built-in game, whose reward is the score.
    `device`: where machines are stepped, `cpu`, `cuda` or `cuda:N`. `frames_per_step`, `release_after_frames`: how long a step lasts and how long
    its action is pressed. `actions`: the codec, `full_v1` or `pokemonred_puffer_v1`. `obs`: `packed`, `gray`, `mean`,
    `stride`, `obs_v0`, `Ram(...)`, `Flags(...)`, a program, or a dictionary of these. `reward`: a `Change` or several,
    `reward_v0`, or a program; programs are files in the Warp dialect that end in `.py` (docs/programs.md).
    `done`: the episode is over while this `Number` is not 0. `info`: numbers to report. `chance`: a number that gets a
    random value of the seed's when an episode begins. `symbols`: a `.sym` file for the labels used in all of these.
    `start_state`, `start_steps`: episodes begin in this saved state, after so many steps without pressing anything.
    `max_episode_steps`: truncate there. `copy=False` gives out the buffers themselves, which the next step overwrites.
    """
    return SwarmVectorEnv(rom, num_envs, **options)
