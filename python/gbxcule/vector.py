"""The swarm as a Gymnasium vector environment."""

import functools
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from gbxcule import _native, autoreset
from gbxcule.action import Numbering
from gbxcule.argument_check import (
    RENDER_MODES, check_options, content, env_number, film_options, mask_of, mask_of_one, one_of, path_of, reset_mask_of,
    reset_options, rows_of, seed_of, shown, switch_of, written_bytes,
)
from gbxcule.cartridge import WithCartridges
from gbxcule.info import Infos
from gbxcule.live import Heatmap, LiveView, Record, record_of
from gbxcule.measure import Measure
from gbxcule.observation import Observer
from gbxcule.option import VECTOR_NAMES, State, showing
from gbxcule.picture import Pixels, mosaic
from gbxcule.rollout import OnDevice, Rollout, lies_on_device
from gbxcule.setting import Given, setting_of
from gbxcule.start import (
    RomLike, bank_of, env_seeds, is_one_for_each, one_or_more_states, rom_name, states_of, weights_of, with_bank,
)
from gbxcule.symbol import Place, banked_range_of, written_from
from gbxcule.task import changed_weights

if TYPE_CHECKING:
    from typing_extensions import Self, TypeVar, Unpack

    from gbxcule.option import Options

    Space = TypeVar("Space", bound=spaces.Space[Any], default=spaces.Discrete)
else:
    from typing import TypeVar

    Space = TypeVar("Space")

Mask = npt.NDArray[np.bool_]

FRAMES_PER_SECOND = 4194304 / 70224


class SwarmVectorEnv(OnDevice, WithCartridges, VectorEnv[Any, Any, Any], Generic[Space]):
    """Many Game Boys stepped together; see `make_vec` for what the arguments mean."""

    single_action_space: Space
    # The number of the first env among those of all processes.
    _first_env = 0
    # Gymnasium also closes an environment whose constructor raised an error.
    _live: LiveView | None = None

    @showing(Given, VECTOR_NAMES)
    def __init__(
        self, rom: RomLike = None, num_envs: int = 1, *, _machines: _native.Swarm | None = None, **options: "Unpack[Options]"
    ) -> None:
        others = set(self.__dict__)
        check_options(type(self).__name__, options, VECTOR_NAMES)
        given = Given(**options)
        setting = setting_of(rom, num_envs, given)
        num_envs, frames_per_step = setting.numbers.num_envs, setting.numbers.frames_per_step
        self.symbols = setting.symbols
        self._rom_name = rom_name(rom)
        self.num_envs = num_envs
        self.render_mode = given.render_mode
        self.autoreset_mode = setting.autoreset_mode
        self.max_episode_steps = setting.numbers.max_episode_steps
        self.metadata = {"render_modes": RENDER_MODES, "autoreset_mode": self.autoreset_mode}
        self.metadata["render_fps"] = max(1, round(FRAMES_PER_SECOND / frames_per_step))
        self.weights: dict[str, float] | list[float] = setting.weights
        self._process = os.getpid()
        self._rollout = Rollout()
        self._machines = _machines or setting.machines()
        self.action_names = self._swarm.action_names
        self.codec = self._swarm.codec
        self.action_choices = self._swarm.action_choices
        self._numbering = Numbering(self.action_choices)
        # The overloads of `make_vec` give the type for each kind of action.
        self.single_action_space = self._numbering.space  # type: ignore[assignment]
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._grays = given.grays
        # Variant, difficulty and steps before an episode; a restored environment lacks them.
        self._began_as = None if _machines is not None else (given.variant, given.difficulty, given.start_steps)
        self._observer = Observer(
            setting.obs, self.symbols, self._swarm, given.grays, frames_per_step, given.copy, setting.pictures
        )
        self.single_observation_space = self._observer.single_space
        self._copy = given.copy

        task, lives = setting.task, setting.preprocessing.episodic_life
        self._reported = Infos(setting.info, setting.hook_numbers, self._swarm, setting.levels)
        self._measure = Measure(task, setting.info, lives, self._reported, self.symbols, self._swarm)
        self._computed = {"rewards": task.pays_program, "dones": self._measure.program_ends}
        self._computed |= {"observations": setting.observe is not None, "frames": self._swarm.draws}

        self._steps = np.zeros(num_envs, np.int64)
        self._returns = np.zeros(num_envs, np.float32)
        self._over = np.zeros(num_envs, np.bool_)
        self.is_paired = given.link == "pairs"
        # Envs whose episode ended with the loss of a life: the next one begins where they are.
        self._goes_on = np.zeros(num_envs, np.bool_)
        self._is_seeded = np.zeros(num_envs, np.bool_)
        # Envs that no reset, state or checkpoint has put into an episode yet.
        self._unbegun = np.full(num_envs, _machines is None)
        # Envs that calls such as `load_state` changed, until `RecordBest` clears the mark.
        self._moved = np.zeros(num_envs, np.bool_)
        if _machines is None:
            self._begin_in(setting.starts(), given.start_battery, setting.numbers.start_steps)
        # A new environment reads no env here, but this refuses places that the cartridge lacks.
        mask = bytes(num_envs) if _machines is None else None
        self._reported.begin(self._swarm, np.full(num_envs, _machines is not None))
        self._measure.read(self._swarm, mask)
        self._observer.read(self._swarm, mask)
        self._arguments = setting.kept()
        self._own_names = self.__dict__.keys() - others | {"_own_names", "observation_space"}

    @functools.cached_property
    def observation_space(self) -> spaces.Space[Any]:  # type: ignore[override]
        """The space of all envs' observations, made on first use: many learners never use it."""
        return self._observer.space()

    @property
    def _swarm(self) -> _native.Swarm:
        self._check_open()
        if self._rollout.is_entered:
            self._rollout.leave(self)
        return self._machines

    def _begin_in(self, starts: Sequence[bytes], battery: State | None, steps: int) -> None:
        if battery is not None:
            data = content("start_battery", battery)
            starts = [self._with_battery(state, data) for state in starts or [self._swarm.save_state(0)]]
        self._swarm.restart_from([*starts], steps)

    def _with_battery(self, state: bytes, battery: bytes) -> bytes:
        self._swarm.load_state(0, state)
        self._swarm.load_battery(0, battery)
        return self._swarm.save_state(0)

    # Gymnasium's interface

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes in all envs, or in those that `options["reset_mask"]` marks. `options["state"]` may give
        one saved state for all of them, or one for each."""
        _ = self._swarm
        options = reset_options(options, ("reset_mask", "state"))
        mask = reset_mask_of(options.get("reset_mask"), self.num_envs)
        states = self._reset_states(options.get("state"), mask)
        if not is_one_for_each(seed):
            seed = seed_of(seed, ", or one or None for each env")
            super().reset(seed=seed)
        if seed is not None:
            given = env_seeds(seed, mask, self._first_env)
            self._swarm.seed_envs(given)
            self._is_seeded |= [each is not None for each in given]
            # An env that gets a seed doesn't continue after a lost life.
            self._goes_on &= [each is None for each in given]
        if states:
            self._goes_on &= ~mask
        self._restart(mask)
        if states:
            self.load_states(mask, states)
        if self._live is not None:
            self._live._began(mask)
        self._observer.read(self._swarm, mask.tobytes())
        self._rollout.observed(self)
        return self._observation(), self._infos(mask)

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Press an action in each env and run the frames of a step; results of actions on a CUDA device stay there.
        """
        self._check_open()
        if lies_on_device(actions):
            return self._rollout.step(self, actions)
        swarm, pressed = self._swarm, self._pressed(actions)
        was_over = self._over
        autoreset.refuse_wrong_step(self.autoreset_mode, was_over, self._unbegun)
        begins = was_over if autoreset.begins_in_step(self.autoreset_mode, was_over) else None
        # Envs that begin their next episode in this step aren't stepped.
        played = None if begins is None else (~begins).tobytes()
        swarm.step(pressed, self._live is not None and self._live._ask(), played)
        self._steps += 1
        self._measure.read(swarm, None)
        rewards = self._measure.rewards(swarm)
        self._returns += rewards
        terminated, lost = self._measure.ended(swarm), self._measure.lost_lives()
        truncated = self._steps >= (self.max_episode_steps or np.inf)
        if self.is_paired:
            truncated = truncated | autoreset.left_alone(terminated | truncated)
        goes_on = lost & ~(terminated | truncated)
        terminated = terminated | lost
        if begins is not None:
            goes_on &= ~begins
            self._restart(begins)
            terminated[begins], truncated[begins] = False, False
        self._observer.read(self._swarm)
        infos = self._infos(None)
        self._over = terminated | truncated
        self._goes_on |= goes_on
        if self._live is not None:
            self._live._stepped(pressed, rewards, self._over, np.zeros_like(was_over) if begins is None else begins)
        self._rollout.ended(self, rewards, terminated, truncated)
        if autoreset.begins_at_end(self.autoreset_mode, self._over):
            infos = self._reset_at_once(self._over)
        self._rollout.observed(self)
        return self._observation(), rewards, terminated, truncated, infos

    def render(self) -> Any:
        """Draw the envs' screens: one mosaic, or with `rgb_array_each` a tuple with one picture for each env."""
        self._check_open()
        if self.render_mode is None:
            raise ValueError('`render` has no mode: pass render_mode="rgb_array" to make_vec, or call env.pictures()')
        return mosaic(self.pictures()) if self.render_mode == "rgb_array" else tuple(self.pictures())

    def close_extras(self, **_kwargs: Any) -> None:
        """Free the machines."""
        if self._live is not None:
            self._live.close()
        vars(self).pop("_machines", None)

    # Calls that Gymnasium's interface lacks

    def watch(
        self, port: int = 0, *, host: str = "127.0.0.1", heatmap: "Heatmap | None" = None, take_over: bool = False,
        record: "str | os.PathLike[str] | None" = None,
    ) -> LiveView:
        """Show these machines in a browser while they are stepped, at the `url` of the returned object, until its
        `close`. Port 0 takes a free port. Viewers change nothing and cost at most a twentieth of the time. `heatmap`
        has the places of two coordinates in memory, from which the page draws a map. With `take_over` viewers may
        drive machines, whose actions are then ignored; `held` of the returned object lists them. `record` is a file for
        `gbxcule judge` that keeps the games, from each env's next episode on, in which a viewer drives."""
        recorded: Record | None = None if record is None else record_of(record, take_over, self._arguments, self._began_as)
        if self._live is not None:
            self._live.close()
        self._live = LiveView(self._swarm, self._rom_name, host, port, heatmap, self.symbols, take_over, recorded)
        return self._live

    def screens(self) -> Pixels:
        """Return the last drawn frame of every env, gray, `[num_envs, 144, 160]`. If the observation needs no pixels,
        this draws the frame that comes next."""
        screens = np.empty((self.num_envs, 144, 160), np.uint8)
        self._swarm.show_pictures(_native.View.picture("gray", self._grays), screens)
        return screens

    def pictures(self) -> Pixels:
        """Return `screens` as RGB, `[num_envs, 144, 160, 3]`; an original machine's are gray."""
        pictures = np.empty((self.num_envs, 144, 160, 3), np.uint8)
        self._swarm.show_pictures(_native.View.picture("rgb", self._grays), pictures)
        return pictures

    def write_observations_to(self, buffer: npt.NDArray[Any]) -> None:
        """Compute observations into this array from now on, such as a learner's own buffer."""
        self._check_open()
        self._observer.write_to(buffer)

    def read_memory(self, env: int, place: Place) -> bytes:
        """Read the bytes at a place of an env."""
        swarm = self._swarm
        return swarm.read_memory(self._env(env), *banked_range_of(place, self.symbols))

    def write_memory(self, env: int, place: Place, data: bytes) -> None:
        """Change memory of an env directly, without the machine's own writes."""
        swarm, env = self._swarm, self._env(env)
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"memory takes bytes, found {shown(data)}; write one number as bytes([7])")
        written = bytes(data)
        swarm.write_memory(env, written_from(place, len(written), self.symbols), written)
        self._look_again(mask_of_one(env, self.num_envs))

    def write_memories(self, mask: npt.ArrayLike, place: Place, rows: npt.ArrayLike) -> None:
        """Change memory of all marked envs at once: a row of bytes for each of them, from the place on."""
        swarm = self._swarm
        marked = mask_of("mask", mask, self.num_envs)
        written = rows_of(rows, int(marked.sum()))
        low = written_from(place, written.shape[1], self.symbols)
        swarm.write_memories(marked.tobytes(), low, written.tobytes())
        self._look_again(marked)

    def load_states(self, mask: npt.ArrayLike, states: State | Sequence[State]) -> None:
        """Put all marked envs into states, bytes or files, at once: one for all of them, or one for each."""
        swarm = self._swarm
        marked = mask_of("mask", mask, self.num_envs)
        swarm.load_states(marked.tobytes(), one_or_more_states("states", states))
        self._go_on(marked)

    def save_state(self, env: int, format: str = "gbxcule") -> bytes:
        """Return an env's state as bytes: exact, or as `bess` or `pyboy` (2.8) for other emulators."""
        swarm, env = self._swarm, self._env(env)
        formats = {"gbxcule": swarm.save_state, "bess": swarm.export_bess, "pyboy": swarm.export_pyboy}
        saved: bytes = one_of("state format", format, formats)(env)
        return saved

    def load_state(self, env: int, state: State, *, with_seed: bool = False) -> None:
        """Put an env into a state, bytes or a file, of this package, of PyBoy, or in the format BESS; its episode
        goes on from there. A state of this package also restores the memory of the same programs; `with_seed` also
        restores the seed and the episode's number, so that later episodes are those of the saved env."""
        swarm, env = self._swarm, self._env(env)
        swarm.load_state(env, content("a state", state), switch_of("with_seed", with_seed))
        self._is_seeded[env] |= with_seed
        self._go_on(mask_of_one(env, self.num_envs))

    def save_battery(self, env: int, bank: int | None = None) -> bytes:
        """Return the memory that an env's cartridge keeps by its battery, in the format of other emulators' `.sav`
        files, or one bank of its RAM."""
        swarm = self._swarm
        battery = swarm.save_battery(self._env(env))
        return battery if bank is None else battery[bank_of(bank, battery)]

    def load_battery(self, env: int, battery: State, bank: int | None = None) -> None:
        """Put the content of a `.sav` or PyBoy's `.ram` file, bytes or a path, into an env's cartridge, or into one
        bank of its RAM; its machine goes on. Most games read it only when they are switched on: use
        `make_vec(start_battery=..)` for them."""
        swarm, env = self._swarm, self._env(env)
        data = content("a battery", battery)
        swarm.load_battery(env, data if bank is None else with_bank(swarm.save_battery(env), bank, data))
        self._look_again(mask_of_one(env, self.num_envs))

    def copy_state(self, source: int, mask: npt.ArrayLike) -> None:
        """Copy one env's state to all marked envs; their episodes go on from there."""
        swarm, source = self._swarm, self._env(source)
        marked = mask_of("mask", mask, self.num_envs)
        swarm.copy_state(source, marked.tobytes())
        self._go_on(marked)

    def checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Save the whole swarm in a file, from which `gbxcule.restore(path)` goes on bit for bit. An existing file is
        replaced only when the new one is complete."""
        from gbxcule.checkpoint import note_of

        self._swarm.write_checkpoint(path_of("a checkpoint", path), note_of(self))

    def __reduce__(self) -> tuple[Any, ...]:
        from gbxcule.checkpoint import env_of, note_of

        # A checkpoint lacks the attributes that others gave the environment, and a copy needs them.
        given = {name: value for name, value in self.__dict__.items() if name not in self._own_names}
        return env_of, (self._swarm.checkpoint(note_of(self)), None, None, type(self)), given

    def set_weights(self, *numbers: float, **named: float) -> None:
        """Change the weights that programs read from the next step on: the named ones, or all of them in order."""
        swarm, self.weights = self._swarm, changed_weights(self.weights, numbers, named)
        swarm.set_weights([*self.weights.values()] if isinstance(self.weights, dict) else self.weights)

    def set_starts(self, states: Sequence[State], weights: Sequence[int] | None = None) -> None:
        """Let later episodes begin in these states. The env's seed and the episode's number choose one of them, in
        proportion to its weight. Current episodes go on."""
        swarm, starts = self._swarm, states_of("starts", states)
        numbers = None if weights is None else weights_of(weights)
        if numbers is not None and len(numbers) != len(starts):
            raise ValueError(f"expected a weight for each of the {len(starts)} starts, found {len(numbers)}")
        swarm.set_starts(starts)
        self._begin_elsewhere()
        if numbers is not None:
            swarm.set_start_weights(numbers)

    def weigh_starts(self, weights: Sequence[int]) -> None:
        """Let later episodes begin in each start in proportion to its weight: with `[3, 1, 0]` three times as often
        in the first as in the second, and never in the third."""
        self._swarm.set_start_weights(weights_of(weights))

    def set_start(self, env: int) -> None:
        """Make an env's present state the only start of later episodes."""
        self._swarm.start_from_env(self._env(env))
        self._begin_elsewhere()

    def _pressed(self, actions: Any) -> bytes:
        """Return the number of each env's action, a byte each."""
        return self._numbering.numbers(actions, self.num_envs)

    def _film(self, path: str | os.PathLike[str], state: bytes, actions: bytes, *, every: int = 4, scale: int = 2) -> None:
        """Play an episode again, from a state and with a byte for each action, and film it into a .gif or an .mp4."""
        swarm, path = self._swarm, path_of("a film", path)
        options = film_options(path, every, scale)
        swarm.film(path, content("a state", state), written_bytes("actions of a film", actions), *options)

    def hook_counts(self, name: str) -> npt.NDArray[np.int64]:
        """Return how often each env reached a hook since its episode began, up to 16,777,216; infos have the counts
        of a step."""
        self._check_open()
        return self._reported.in_episode(name)

    def cpu_state(self, env: int) -> dict[str, int]:
        """Return an env's registers by name."""
        return self._swarm.cpu_state(self._env(env))

    # The parts of a step

    def _begin_elsewhere(self) -> None:
        """Forget the levels: from now on episodes begin elsewhere."""
        self._reported.level_of_start = None
        self._arguments["levels"] = None

    def _restart(self, mask: Mask) -> None:
        unseeded = mask & ~self._is_seeded
        self._unbegun &= ~mask
        going, self._goes_on = self._goes_on & mask, self._goes_on & ~mask
        if unseeded.any():
            self._swarm.seed_envs(env_seeds(int(self.np_random.integers(2**63)), unseeded, self._first_env))
            self._is_seeded |= unseeded
        self._swarm.reset_masked((mask & ~going).tobytes())
        self._reported.begin(self._swarm, mask & ~going)
        if going.any():
            self._swarm.begin_again(going.tobytes())
        self._steps[mask], self._returns[mask] = 0, 0.0
        self._over = self._over & ~mask
        self._measure.read_start(self._swarm, mask)
        if self._live is not None:
            self._live._begin_games(mask & ~going, self._reported.levels)

    def _look_again(self, mask: Mask) -> None:
        """Note that the marked envs got another state."""
        if self._live is not None:
            self._live._end_games(mask)
        self._moved |= mask
        self._measure.read_start(self._swarm, mask)

    def _go_on(self, mask: Mask) -> None:
        """Note that the marked envs were put into a state. If an env's episode was over, its next one begins there,
        and its partner's too."""
        begun = self._over & mask
        self._unbegun &= ~mask
        if self.is_paired:
            begun &= autoreset.partners(begun)
        self._steps[begun], self._returns[begun] = 0, 0.0
        self._over, self._goes_on = self._over & ~begun, self._goes_on & ~mask
        self._look_again(mask)

    def _reset_at_once(self, over: Mask) -> dict[str, Any]:
        final_obs = np.full(self.num_envs, None, object)
        for env in np.flatnonzero(over):
            final_obs[env] = self._observer.copy_of(int(env))
        final_info = self._infos(over)
        self._restart(over)
        self._observer.read(self._swarm, over.tobytes())
        final = {"final_obs": final_obs, "_final_obs": over.copy(), "final_info": final_info, "_final_info": over.copy()}
        return self._infos(None) | final

    def _infos(self, mask: Mask | None) -> dict[str, Any]:
        return self._reported.of(mask, self._measure.watch)

    def _observation(self) -> Any:
        return self._observer.copy() if self._copy else self._observer.batch

    def _reset_states(self, states: Any, mask: Mask) -> list[bytes]:
        """Return states for episodes to begin in; refuse unloadable ones before anything changes."""
        if states is None:
            return []
        given = one_or_more_states('options["state"]', states)
        if len(given) not in (1, mask.sum()):
            raise ValueError(f"expected one state, or one for each of the {mask.sum()} marked machines, found {len(given)}")
        nobody = np.zeros(self.num_envs, np.bool_).tobytes()
        for state in given:
            self._swarm.load_states(nobody, [state])
        return given

    def _env(self, env: Any) -> int:
        return env_number(env, self.num_envs)

    def _check_open(self) -> None:
        if self.closed:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed; make a new one")
        if self._process != os.getpid():
            raise RuntimeError(
                "the environment was made before this process was forked, and its threads do not exist in this one: "
                "make it in the process that steps it"
            )
