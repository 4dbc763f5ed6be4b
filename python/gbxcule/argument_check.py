"""Checks of arguments: `check_environment` checks those of `make_vec`, the other functions those of other calls.

An error names the argument, the value found and the values allowed.
"""

import difflib
import operator
import os
from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gbxcule import _native

RENDER_MODES = ["rgb_array", "rgb_array_each"]

# Most bytes of a file with a state or with cartridge RAM.
MAX_STATE_BYTES = 1 << 24

# Longer values are cut in messages.
_SHOWN_CHARACTERS = 120
_QUOTED_CHARACTERS = 40


def shown(value: Any) -> str:
    """Return a value as a message shows it: a state has thousands of bytes, a batch thousands of actions."""
    if isinstance(value, (bytes, bytearray, memoryview)) and len(value) > 32:
        return f"{type(value).__name__} of {len(value)} bytes"
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}... ({type(value).__name__})"


def quoted(text: str) -> str:
    """Return text as a message quotes it; of long text or several lines, only the beginning."""
    first, *others = text.splitlines() or [""]
    if not others and len(first) <= _SHOWN_CHARACTERS:
        return f"`{text}`"
    return f"`{first[:_QUOTED_CHARACTERS]}..` ({len(others) + 1} lines, {len(text)} characters)"


def no_code(name: str, given: Any) -> Any:
    """Refuse a module or a function given as a program: the package reads a program's text and runs none of its Python.
    """
    for one in given if isinstance(given, (list, tuple)) else [given]:
        if callable(one) and not isinstance(one, type):
            raise TypeError(
                f"`{name}` takes a program's text, found the function {getattr(one, '__name__', shown(one))}: write it with `def` as "
                f"docs/programs.md shows, and give {name}=gbxcule.program_text(..)"
            )
        if isinstance(one, ModuleType):
            path = getattr(one, "__file__", None)
            raise TypeError(f"`{name}` takes the path of a program, found the module {one.__name__}; give {name}={path!r}")
    return given


def whole(name: str, value: Any, least: int) -> int:
    """Return a whole number of at least `least`."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is a whole number, found {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, found {value!r}") from None
    if not least <= number < 2**31:
        raise ValueError(f"{name} is at least {least} and below 2**31, found {number}")
    return number


class CheckedNumbers(NamedTuple):
    """Numbers of an environment, as Python's own types."""

    num_envs: int
    frames_per_step: int
    release_after_frames: int
    start_steps: int
    max_episode_steps: int | None
    threads: int | None


def check_environment(
    *,
    num_envs: Any,
    frames_per_step: Any,
    release_after_frames: Any,
    start_steps: Any,
    max_episode_steps: Any,
    game_s_limit: int | None,
    threads: Any,
    device: Any,
    switches: Mapping[str, Any],
    choices: Mapping[str, Any],
    render_mode: Any,
) -> CheckedNumbers:
    """Check the arguments of an environment that are numbers, names or switches. Other arguments are checked by the
    modules that use them, such as the actions by `action.py`."""
    if render_mode is not None and (not isinstance(render_mode, str) or render_mode not in RENDER_MODES):
        raise ValueError(f"no render mode `{render_mode}`; there are {', '.join(RENDER_MODES)}")
    checked = CheckedNumbers(
        whole("num_envs", num_envs, 1),
        whole("frames_per_step", frames_per_step, 1),
        whole("release_after_frames", release_after_frames, 1),
        whole("start_steps", start_steps, 0),
        limit_of(max_episode_steps, game_s_limit),
        None if threads is None else whole("threads", threads, 1),
    )
    check_device(device)
    for name, switch in switches.items():
        switch_of(name, switch)
    for name, text in choices.items():
        if not isinstance(text, str):
            raise TypeError(f"{name} is the name of a choice, found {text!r}")
    return checked


def limit_of(steps: Any, game_s_limit: int | None) -> int | None:
    """Return the steps of the longest episode: the game's own for `None`, no limit for `False` and Gymnasium's -1."""
    if steps is None:
        return game_s_limit
    if steps is False or (isinstance(steps, (int, np.integer)) and steps == -1):
        return None
    if steps is True:
        raise TypeError("max_episode_steps is a whole number, or False for no limit, found True")
    return whole("max_episode_steps", steps, 1)


def rows_of(rows: Any, count: int) -> npt.NDArray[np.uint8]:
    """Return `count` rows of bytes, all of one length."""
    try:
        written = np.asarray(rows)
    except ValueError:
        # Rows of several lengths.
        written = np.empty((), object)
    if written.dtype != np.uint8 or written.ndim != 2 or len(written) != count:
        raise ValueError(
            f"expected a row of uint8 for each of the {count} marked envs, all of one length, as in "
            f"np.array(rows, np.uint8), found {written.dtype} {written.shape}"
        )
    return written


def switch_of(name: str, value: Any) -> bool:
    """Return True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} is True or False, found {shown(value)}")
    return bool(value)


def env_number(env: Any, num_envs: int) -> int:
    """Return the number of an env that exists."""
    try:
        number = None if isinstance(env, (bool, np.bool_)) else operator.index(env)
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"an env is a whole number, found {shown(env)}")
    if not 0 <= number < num_envs:
        raise ValueError(f"env {number} does not exist; this swarm has the envs 0 to {num_envs - 1}")
    return number


def mask_of(name: str, mask: Any, num_envs: int) -> npt.NDArray[np.bool_]:
    """Return a boolean for each env. Numbers are refused, because they could be indices of envs."""
    try:
        marked = np.asarray(mask)
    except ValueError:
        # Rows of several lengths.
        marked = np.empty((), object)
    if marked.dtype != np.bool_ or marked.shape != (num_envs,):
        raise ValueError(
            f"{name} is {num_envs} booleans, one for each env, found {marked.dtype} {marked.shape}: {shown(mask)}"
        )
    return marked


def mask_of_one(env: int, num_envs: int) -> npt.NDArray[np.bool_]:
    """Return a mask that marks one env."""
    mask = np.zeros(num_envs, np.bool_)
    mask[env] = True
    return mask


def reset_mask_of(mask: Any, num_envs: int) -> npt.NDArray[np.bool_]:
    """Return the mask of the envs to reset; without a mask, all envs."""
    if mask is None:
        return np.ones(num_envs, np.bool_)
    if hasattr(mask, "__array__"):
        # `asarray` also takes a tensor.
        mask = np.asarray(mask)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (num_envs,):
        raise ValueError(f"reset_mask must be a boolean array of {num_envs} elements, found {shown(mask)}; np.array(mask, bool) makes one")
    if not mask.any():
        raise ValueError("reset_mask must mark at least one env")
    return mask.copy()


def check_observation_memory(num_envs: int, env_bytes: int, copies: bool) -> None:
    """Refuse more observations than the free memory holds. NumPy would make an array that is too large, and the
    system would end the process when it is filled."""
    free, needed = _native.free_memory(), num_envs * env_bytes * (1 + copies)
    uncopied = ", or pass copy=False" if copies else ""
    if needed > free:
        raise MemoryError(
            f"the observations of {num_envs} envs need {needed / 2**30:,.0f} GiB of memory, {free / 2**30:,.0f} are free; ask for "
            f"fewer envs or for a smaller observation{uncopied}"
        )


def reset_options(options: Any, allowed: Collection[str]) -> Mapping[str, Any]:
    """Return the options of a reset; refuse any that isn't allowed."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(f"reset options are a dictionary, found {shown(options)}")
    for name in options:
        if name not in allowed:
            raise ValueError(f"no reset option `{name}` here; expected {' or '.join(allowed)}")
    return options


def path_of(name: str, value: Any) -> str:
    """Return the path of a file or folder as text."""
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise TypeError(f"{name} is a path, as a string or a pathlib.Path, found {shown(value)}")
    if not path:
        raise ValueError(f"{name} is a path, found an empty string")
    if "\n" in path:
        raise ValueError(f"{name} is a path, found text of several lines, {quoted(path)}: write it into a file and give its path")
    return path


def folder_of(name: str, value: Any) -> str:
    """Return the path of a folder that exists or can be made."""
    path = path_of(name, value)
    existing = os.path.abspath(path)
    while not os.path.exists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        raise NotADirectoryError(f"{name} can't be {path}, because {existing} is a file: name another folder")
    return path


def written_bytes(name: str, value: Any) -> bytes:
    """Return bytes; a path to a file with them is refused."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{name} are bytes, one for each step, found {shown(value)}")
    if not len(value):
        raise ValueError(f"{name} are one byte for each step, found no bytes: an episode has at least one step")
    return bytes(value)


def check_device(device: Any) -> str:
    """Return the name of a device."""
    if not isinstance(device, str):
        raise TypeError(f'a device is "cpu", "cuda" or "cuda:N", found {shown(device)}')
    return device


def content(name: str, value: Any) -> bytes:
    """Return bytes, or the content of a file."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, (str, os.PathLike)):
        return _native.read_file(path_of(name, value), MAX_STATE_BYTES)
    raise TypeError(f"{name} is bytes, or the path of a file, found {shown(value)}")


def film_options(path: str, every: Any, scale: Any) -> tuple[int, int]:
    """Check a film's options: it shows one frame in `every`, and enlarges each pixel `scale` times."""
    if not path.endswith((".gif", ".mp4")):
        raise ValueError(f"a film is a .gif or an .mp4, not {path}; name a file that ends in one of them")
    every, scale = whole("every", every, 1), whole("scale", scale, 1)
    if scale > 8:
        raise ValueError(f"pixels are enlarged 1 to 8 times, found {scale}")
    if every == 1 and path.endswith(".gif"):
        raise ValueError("a GIF shows 50 pictures a second at most: every is 2 or more")
    return every, scale


def one_of(name: str, value: Any, allowed: Mapping[str, Any]) -> Any:
    """Return the value of an allowed name."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"no {name} `{value}`; there are {', '.join(allowed)}")
    return allowed[value]


def seed_of(seed: Any, or_else: str = "") -> int | None:
    """Return a seed: a whole number that is not negative, or None."""
    if seed is None:
        return None
    if isinstance(seed, np.ndarray) and seed.ndim == 0:
        seed = seed[()]
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool):
        raise TypeError(f"a seed is a whole number{or_else}, found {shown(seed)}")
    if seed < 0:
        raise ValueError(f"a seed is not negative, found {seed}")
    return int(seed)


# Options of other packages, and how this package names or replaces them.
_ELSEWHERE = {
    "seed": "pass it to `reset`",
    "frame_skip": "it is `frames_per_step` here",
    "frameskip": "it is `frames_per_step` here",
    "action_repeat": "it is `frames_per_step` here",
    "max_steps": "it is `max_episode_steps` here",
    "num_threads": "it is `threads` here",
    "repeat_action_probability": "it is `sticky` here",
    "sticky_actions": "it is `sticky`, a probability, here",
    "stack_num": "it is `frame_stack` here",
    "stack_size": "it is `frame_stack` here",
    "screen_size": "it is `resize` here",
    "img_height": "it is `resize` here",
    "img_width": "it is `resize` here",
    "terminal_on_life_loss": "it is `episodic_life`, the gbxcule.Number of lives, here",
    "n_envs": "it is `num_envs` here",
    "num_env": "it is `num_envs` here",
    "headless": "no window is opened; `render_mode` and `watch` show what happens",
    "rom_path": "the ROM is the first argument",
    "gb_path": "the ROM is the first argument",
    "batch_size": "gbxcule.adapter.pool.SwarmPool has batches",
}


def nearest(name: str, known: Collection[str]) -> str | None:
    """Return the known name that is most similar to `name`, ignoring case, or None if none is similar."""
    by_case = {each.upper(): each for each in known}
    # At a lower cutoff `headless` would match `threads`.
    matches = difflib.get_close_matches(name.upper(), by_case, 1, 0.7)
    return by_case[matches[0]] if matches else None


def check_options(name: str, options: Mapping[str, Any], allowed: Collection[str]) -> None:
    """Refuse unknown options, and suggest the option that may have been meant."""
    for option in options:
        if option not in allowed:
            close = nearest(option, allowed)
            meant = f"did you mean `{close}`?" if close else f"there are {', '.join(allowed)}"
            # This is Python's own wording: TorchRL tries `frameskip` and recognises by this message
            # that it doesn't exist.
            raise TypeError(f"{name}() got an unexpected keyword argument '{option}': {_ELSEWHERE.get(option, meant)}")


def without(options: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """Refuse options that the caller cannot choose here, each with a reason."""
    for name, reason in names.items():
        if name in options:
            raise TypeError(f"`{name}` can't be chosen here: {reason}")
