"""`make_vec`: many machines as one environment, its options and the types of its actions."""

from typing import TYPE_CHECKING, Any, Literal, overload

from gymnasium import spaces

from gbxcule.action import Buttons, Choices
from gbxcule.argument_check import check_options
from gbxcule.option import VECTOR_NAMES
from gbxcule.start import RomLike
from gbxcule.vector import SwarmVectorEnv

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gbxcule.option import OptionsWithoutActions, DiscreteOptions, Options


# A literal is a string too; checkers take the first that fits.
@overload
def make_vec(  # type: ignore[overload-overlap]
    rom: RomLike = None,
    num_envs: int = 1,
    *,
    actions: Literal["buttons_v1"] | Buttons,
    **options: "Unpack[OptionsWithoutActions]",
) -> SwarmVectorEnv[spaces.MultiBinary]: ...
@overload
def make_vec(  # type: ignore[overload-overlap]
    rom: RomLike = None,
    num_envs: int = 1,
    *,
    actions: Literal["pad_v1"] | Choices,
    **options: "Unpack[OptionsWithoutActions]",
) -> SwarmVectorEnv[spaces.MultiDiscrete]: ...
@overload
def make_vec(
    rom: RomLike = None, num_envs: int = 1, **options: "Unpack[DiscreteOptions]"
) -> SwarmVectorEnv[spaces.Discrete]: ...
def make_vec(rom: RomLike = None, num_envs: int = 1, **options: "Unpack[Options]") -> SwarmVectorEnv[Any]:
    """Machines stepped together, as a Gymnasium `VectorEnv`.

    `rom`: a path, the bytes, the name of a built-in ROM, or `None` for PEARL_DRIFT. A built-in game (docs/games.md) has
    defaults of its own: its score is the reward, its actions are the buttons that it needs, and its episodes begin
    behind its title. `device`: where machines are stepped, `cpu`, `cuda` or `cuda:N`. `frames_per_step`,
    `release_after_frames`: how long a step lasts and how long its action is pressed; the press follows the step's
    length. `actions`: the codec, `full_v1`, `pokemonred_puffer_v1`, `pad_v1` or `buttons_v1`; a table of your own, such
    as `[["A", "RIGHT"], ["A"], []]`; `Choices(...)`, `Buttons(...)`. `obs`: `packed`, `gray`, `mean`, `stride`, `rgb`
    (144 x 160 x 3), `rgb_corrected` (as the Color's panel shows it), `rgb555` (two bytes, the lower first), `obs_v0`,
    `audio`, `Ram(...)`, `Flags(...)`, a program, or a dictionary of these. `grays`: `even`, or `pyboy` for PyBoy's.
    `reward`: a `Change` or several, `reward_v0`, or a program; `False` pays nothing; programs are files in the Warp
    dialect that end in `.py` (docs/programs.md). `done`: the episode is over while this `Number` is not 0, or when this
    program's `done` says so, or one of several; `False`: nothing ends it. `info`: numbers to report, a `Number` or a
    program's `Cell`. `hooks`: places in the game's program by name, a label, `bank:address` or a `Hook`. `chance`: a
    number that gets a random value of the seed's when an episode begins. `power_on`: memory where episodes begin at
    power-on, `zero`, `pattern` (much like a cold DMG's) or `random` (one of 16 contents, which the seed draws).
    `model`: `dmg`, `cgb`, the Game Boy Color, or `auto`, the Color for programs that need it. `link`: `pairs` plugs a
    cable between the envs 2i and 2i + 1 (docs/link.md); nothing is plugged in by default. `symbols`: a `.sym` file for
    the labels used in all of these. `audio`: the observation is a dictionary with the step's samples as `audio`.
    `start_state`, `start_battery`, `start_steps`: episodes begin in this saved state, with this `.sav` or `.ram` file
    in the cartridge, after this many steps without pressing anything; `starts`: in one of these, which the seed draws.
    `max_episode_steps`: truncate there; games are truncated after 4,500 steps, with `False` never. `autoreset_mode`:
    Gymnasium's, by default the next step. `render_mode`: `rgb_array`, a mosaic, or `rgb_array_each`. `threads`: those
    that step the machines, all cores by default. `recompile=False` interprets every instruction. `copy=False` gives out
    the buffers themselves, which the next step overwrites.
    """
    check_options("gbxcule.make_vec", options, VECTOR_NAMES)
    return SwarmVectorEnv(rom, num_envs, **options)
