"""Options of an environment: `Given` has them with their defaults, `Setting` is what they mean for a ROM.

`SwarmVectorEnv` calls `setting_of`, which checks all options before a machine is made. A missing option of a built-in
game has the value of the game's row.
"""

import os
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Any, Literal

from gymnasium.vector import AutoresetMode

from gbxcule import _native, autoreset, game
from gbxcule.action import Actions, spelling_of
from gbxcule.argument_check import CheckedNumbers, check_environment, content, whole
from gbxcule.info import Cell, Hooks, Info, NativeHook, check_programs, hooks_of, named_numbers, native_hooks
from gbxcule.memory import Number
from gbxcule.observation import Observation, draws, listens, program_of, with_audio
from gbxcule.option import Autoreset, Crop, Difficulty, Done, Grays, Link, Model, PowerOn, RenderMode, Resize, Reward, State, Weights
from gbxcule.preprocessing import Preprocessing
from gbxcule.preprocessing import checked as checked_preprocessing
from gbxcule.start import RomLike, rom_bytes, rom_symbols, states_of
from gbxcule.symbol import Symbols, banked_range_of, labels_of
from gbxcule.task import Given as GivenWeights
from gbxcule.task import Task, named_weights, task_of

# The swarm's names for the outputs of a step, by whether a program computes the reward and whether
# one computes the observation.
_STAGES = {
    (False, False): "emulate_only",
    (True, False): "reward_only",
    (False, True): "obs_only",
    (True, True): "full_step",
}

# Options that a checkpoint doesn't keep, because its machines already hold their effect.
_NOT_KEPT = {"actions", "device", "symbols", "start_state", "start_battery", "starts", "difficulty", "variant", "start_steps", "boot_rom"}


@dataclass(frozen=True, kw_only=True)
class Given:
    """The options as a caller gives them; `make_vec` says what they mean."""

    device: str = "cpu"
    frames_per_step: int | None = None
    release_after_frames: int | None = None
    actions: "Actions | None" = None
    obs: Observation = "mean"
    grays: Grays = "even"
    resize: Resize | None = None
    crop: Crop | None = None
    frame_stack: int | None = None
    max_pool: bool = False
    reward: Reward | None = None
    done: Done | None = None
    weights: Weights | None = None
    info: Info | None = None
    hooks: Hooks | None = None
    chance: Number | None = None
    power_on: PowerOn = "zero"
    model: Model = "auto"
    boot_rom: State | None = None
    link: Link = "open"
    audio: bool = False
    symbols: Symbols | str | os.PathLike[str] | None = None
    start_state: State | None = None
    start_battery: State | None = None
    starts: Sequence[State] | None = None
    levels: Sequence[int] | None = None
    difficulty: Difficulty = "normal"
    variant: str | None = None
    start_steps: int = 1
    autoreset_mode: Autoreset = "NextStep"
    max_episode_steps: int | Literal[False] | None = None
    sticky: float = 0.0
    noop_max: int = 0
    episodic_life: Number | None = None
    render_mode: RenderMode | None = None
    copy: bool = True
    threads: int | None = None
    recompile: bool = True

    @property
    def begins_elsewhere(self) -> bool:
        """True if an option other than a game's row says where episodes begin."""
        return not (self.boot_rom is self.start_state is self.starts is self.start_battery is None)


@dataclass(frozen=True)
class Setting:
    """Checked options of an environment with a ROM."""

    rom: RomLike
    given: Given
    played: game.Game
    numbers: CheckedNumbers
    preprocessing: Preprocessing
    autoreset_mode: AutoresetMode
    task: Task
    obs: Observation
    # The program that computes the observation, if any.
    observe: str | None
    # The view of the picture among the observations, if preprocessing changes it.
    pictures: _native.View | None
    symbols: Symbols
    weights: GivenWeights
    info: dict[str, Number | Cell]
    hooks: list[NativeHook]
    # The index in `hooks` for each name of a hook.
    hook_numbers: dict[str, int]
    chance: Number | None
    levels: tuple[int, ...] | None
    # The bits of the variant that games begin with.
    variant_bits: int

    def machines(self) -> _native.Swarm:
        """Make the machines and the programs that run with them."""
        given = self.given
        return _native.Swarm(
            rom_bytes(self.rom),
            self.numbers.num_envs,
            codec=spelling_of(self.played.actions if given.actions is None else given.actions),
            frames_per_step=self.numbers.frames_per_step,
            release_after_frames=self.numbers.release_after_frames,
            stage=_STAGES[self.task.program is not None, self.observe is not None],
            reward=self.task.program or "reward_v0",
            obs=self.observe or "obs_v0",
            draw_last=draws(self.obs) or given.render_mode is not None,
            pictures=self.pictures,
            weights=[*self.weights.values()] if isinstance(self.weights, dict) else self.weights,
            labels=labels_of(self.symbols, self.task.program, self.observe),
            sticky=self.preprocessing.sticky,
            noop_max=self.preprocessing.noop_max,
            chance=None if self.chance is None else banked_range_of((self.chance.address, self.chance.width_bytes), self.symbols),
            power_on=given.power_on,
            model=given.model,
            boot_rom=None if given.boot_rom is None else content("boot_rom", given.boot_rom),
            link=given.link,
            sound=listens(self.obs),
            threads=self.numbers.threads,
            recompile=bool(given.recompile),
            device=given.device,
            hooks=self.hooks,
        )

    def starts(self) -> Sequence[bytes]:
        """Return the states in which episodes begin, before the battery is put in; without any they begin at power-on.
        """
        given, played = self.given, self.played
        if not given.begins_elsewhere and (self.levels is not None or self.variant_bits or played.has_title):
            machine = str(self.rom or game.NAME), given.model, given.power_on
            on_title = played.has_rival and given.link == "pairs"
            return [game.title(*machine)] if on_title else game.starts(*machine, self.variant_bits, self.levels)
        if given.start_state is not None and given.starts is not None:
            raise ValueError("start_state and starts both say where episodes begin: give one of both")
        if given.start_state is not None:
            return [content("start_state", given.start_state)]
        return states_of("starts", [] if given.starts is None else given.starts)

    def kept(self) -> dict[str, Any]:
        """Return the arguments from which a checkpoint restores the environment; the swarm's part has the starts."""
        arguments = {each.name: getattr(self.given, each.name) for each in fields(self.given)} | self.numbers._asdict()
        arguments = {name: value for name, value in arguments.items() if name not in _NOT_KEPT}
        arguments["rom"] = "the checkpoint's own" if self.played is game.OTHER else self.rom
        arguments["max_episode_steps"] = self.numbers.max_episode_steps or False
        arguments["levels"] = None if self.levels is None else [*self.levels]
        # Callers may change their lists later.
        return deepcopy(arguments)


def setting_of(rom: RomLike, num_envs: Any, given: Given) -> Setting:
    """Check the options of an environment."""
    played = game.game_of(rom)
    game.check_model(rom, given.model)
    obs, reward, done = game.with_features(rom, obs=given.obs, reward=given.reward, done=given.done)
    numbers = _numbers_of(num_envs, given, played)
    preprocessing = checked_preprocessing(
        frame_stack=given.frame_stack, max_pool=given.max_pool, resize=given.resize, crop=given.crop, sticky=given.sticky,
        noop_max=given.noop_max, episodic_life=given.episodic_life, link=given.link,
    )
    pictures = preprocessing.pictures(obs, given.grays)
    task = task_of(played, reward, done)
    bits = game.variant_bits(given.variant, given.difficulty, rom, given.begins_elsewhere)
    levels = game.levels_of(given.levels, rom, given.link == "pairs", given.begins_elsewhere, given.chance)
    symbols = rom_symbols(rom, given.symbols)
    autoreset_mode = autoreset.mode_of(given.autoreset_mode)
    weights = named_weights(given.weights)
    chance = _chance_of(played.chance if given.chance is None and levels is None else given.chance)
    obs = with_audio(obs) if given.audio else obs
    observe = program_of(obs)
    game.check_programs_of(rom, task.program, observe)
    info, hooks = named_numbers(played.info if given.info is None else given.info), hooks_of(given.hooks)
    check_programs(info, hooks, task.program, observe)
    hooked, hook_numbers = native_hooks(hooks, symbols)
    return Setting(
        rom, given, played, numbers, preprocessing, autoreset_mode, task, obs, observe, pictures, symbols, weights, info, hooked,
        hook_numbers, chance, levels, bits,
    )


def _numbers_of(num_envs: Any, given: Given, played: game.Game) -> CheckedNumbers:
    frames = whole("frames_per_step", played.frames_per_step if given.frames_per_step is None else given.frames_per_step, 1)
    pressed = game.press_frames(played, frames) if given.release_after_frames is None else given.release_after_frames
    return check_environment(
        num_envs=num_envs,
        frames_per_step=frames,
        release_after_frames=pressed,
        start_steps=given.start_steps,
        max_episode_steps=given.max_episode_steps,
        game_s_limit=played.max_episode_steps,
        threads=given.threads,
        device=given.device,
        switches={"recompile": given.recompile, "copy": given.copy, "audio": given.audio},
        choices={"grays": given.grays, "power_on": given.power_on, "model": given.model, "link": given.link},
        render_mode=given.render_mode,
    )


def _chance_of(chance: Any) -> Number | None:
    if chance is not None and not isinstance(chance, Number):
        raise TypeError(f"`chance` takes a gbxcule.Number, found {chance!r}")
    if chance is not None and chance.bcd:
        raise ValueError("`chance` draws bits, not decimal digits: leave out bcd=True")
    return chance
