"""`make_vec`: many machines as one environment, its options and the types of its actions."""

from typing import TYPE_CHECKING, Any, Literal, overload

from gymnasium import spaces

from gbxcule.action import Buttons, Choices
from gbxcule.argument_check import check_options
from gbxcule.option import VECTOR_NAMES, showing
from gbxcule.start import RomLike
from gbxcule.vector import SwarmVectorEnv

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from gbxcule.option import OptionsWithoutActions, DiscreteOptions, Options


# A literal is also a string; type checkers take the first overload that fits.
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
@showing(SwarmVectorEnv, VECTOR_NAMES)
def make_vec(rom: RomLike = None, num_envs: int = 1, **options: "Unpack[Options]") -> SwarmVectorEnv[Any]:
    """Machines stepped together, as a Gymnasium `VectorEnv`. The options, by group and with their defaults; for
    a built-in game None means the game's own value. docs/python.md has tables of what they take:

    The machine
        rom=None        a path, the bytes, or a built-in ROM's name; PEARL_DRIFT if left out. A built-in game has
                        defaults of its own: its score as reward, its buttons, episodes that begin behind its title
        num_envs=1      machines
        model='auto'    `auto` (the Game Boy Color for programs that need it), `dmg` or `cgb`, or another console
                        (`dmg-b`, `mgb`, `sgb`, `sgb2`, `cgb-c`, `cgb-e`; docs/cartridges.md)
        boot_rom=None   a boot ROM in which machines begin, 256 bytes, or 2,304 of a Color's: a path, or the bytes
        power_on='zero'
                        memory at power-on: `zero`, `pattern` (like a cold DMG's), `random` (one of 16, by the seed)
        link='open'     `pairs` plugs a cable between the envs 2i and 2i + 1; `open` plugs none
        symbols=None    a `.sym` file, whose labels all options below understand
    The step
        actions=None    a codec's name, a table such as `[["A", "RIGHT"], ["A"], []]`, `Choices(..)`, `Buttons(..)`;
                        `full_v1` for a ROM that is no game
        frames_per_step=None, release_after_frames=None
                        frames of a step, and how many of them its buttons are pressed for; 24 and 8 for a ROM that is
                        no game. A press that is longer than the step lasts the whole step
        hooks=None      places in the game's program by name: a label, `bank:address`, a `Hook`
    What the agent sees and earns
        obs='mean'      a picture (`packed`, `gray`, `mean`, `stride`, `rgb`, `rgb_corrected`, `rgb555`), `obs_v0`,
                        `audio`, `features` (a built-in game's own program), `Ram(..)`, `Flags(..)`, `Numbers(..)`, a
                        program, or a dictionary of these
        grays='even'    `even`, or PyBoy's (`pyboy`)
        crop=None, resize=None
                        a part of the picture, (top, left, lines, columns), and the size to which it is reduced by means
                        of areas, such as (84, 84) for `gray`
        frame_stack=None
                        number of pictures in an observation, the newest last; an episode begins with its first picture
                        in every place
        max_pool=False  True takes, pixel by pixel, the lighter of a step's last two frames
        audio=False     True adds the step's samples to the observation
        reward=None     a `Change` or several, `reward_v0`, `features`, a program (docs/programs.md); `False` is
                        always 0
        weights=None    numbers that a program's functions read in `weights`, in order or by name; `env.set_weights(..)`
                        changes them between steps
        done=None       a `Number` that is not 0, a program, or several of them; `False` never ends an episode
        info=None       numbers to report: `Number` or `Cell` by name
    The episode
        max_episode_steps=None
                        steps until the episode is truncated: 4,500 for games; `False` never truncates
        sticky=0.0      the probability that an env repeats the action of its step before
        noop_max=0      an episode begins after 1 to this many frames without buttons; the seed draws their number
        episodic_life=None
                        the `Number` of lives: when it falls, the episode ends, and the next one continues from there
        start_state=None, start_battery=None, start_steps=1
                        where episodes begin: in a saved state, with a `.sav` file in the cartridge, after this many
                        steps without buttons
        starts=None     saved states; the seed draws one of them for each episode
        levels=None     levels of a built-in game, such as range(200); the seed draws one of them for each episode
                        (docs/games.md)
        variant=None    a variant of a built-in game, such as `fast`: `gbxcule.variants(name)` has them
        difficulty='normal'
                        `normal`, or `easy`, a variant that goes with any other one
        chance=None     a `Number` that gets a random value, drawn by the seed, when an episode begins
        autoreset_mode='NextStep'
                        `NextStep`, `SameStep` or `Disabled`, as Gymnasium has them
    The computer
        device='cpu'    `cpu`, `cuda` or `cuda:N`
        threads=None    threads that step the machines; all cores if left out
        recompile=True  `False` interprets every instruction
        render_mode=None
                        `rgb_array`, a mosaic, or `rgb_array_each`
        copy=True       `False` returns the environment's own buffers, which the next step overwrites
    """
    check_options("gbxcule.make_vec", options, VECTOR_NAMES)
    return SwarmVectorEnv(rom, num_envs, **options)
