"""Named outputs of a program: parts of the numbers that its `observe` fills, each with a shape, a type and bounds.

`OUTPUTS` in the program's text lists them (docs/programs.md); Python parses the text and never runs it.
"""

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from gbxcule.argument_check import shown

DTYPES = ("float32", "int8", "uint8", "int16", "uint16", "int32")
_FORM = (
    'a program\'s `OUTPUTS` is written as {"hero": ("uint8", 2, 0, 159), "map": ("float32", (9, 10))}: a type, a count or '
    "shape, perhaps bounds"
)


@dataclass(frozen=True)
class Output:
    """A part of a program's numbers."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    low: float
    high: float
    first: int
    """Index of the output's first number."""

    @property
    def end(self) -> int:
        """Index after the output's last number."""
        return self.first + math.prod(self.shape)

    @property
    def space(self) -> spaces.Box:
        return spaces.Box(self.low, self.high, self.shape, np.dtype(self.dtype).type)

    def fill(self, buffer: npt.NDArray[Any], numbers: npt.NDArray[np.float32]) -> None:
        """Write this part of all envs' numbers. For an integer type, numbers are rounded toward zero and clamped to
        the bounds, and NaN becomes 0."""
        part = numbers[:, self.first : self.end].reshape(buffer.shape)
        if self.dtype == "float32":
            buffer[...] = part
        else:
            whole = np.nan_to_num(part.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
            buffer[...] = np.clip(whole, self.low, self.high)


def outputs_of(text: str, obs_dim: int) -> list[Output]:
    """Read the named outputs of a program, if it has any; they fill its numbers one after the other."""
    written = _written(text) if "OUTPUTS" in text else None
    if written is None:
        return []
    outputs: list[Output] = []
    for name, form in written.items():
        outputs.append(_output(name, form, outputs[-1].end if outputs else 0))
    if outputs[-1].end != obs_dim:
        raise ValueError(f"the program's `OUTPUTS` have {outputs[-1].end} numbers together, and its `OBS_DIM` is {obs_dim}")
    return outputs


def _written(text: str) -> Mapping[Any, Any] | None:
    """Find the last `OUTPUTS = {..}` of a text."""
    expression = None
    for line in ast.parse(text).body:
        if isinstance(line, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "OUTPUTS" for to in line.targets):
            expression = line.value
    if expression is None:
        return None
    try:
        written = ast.literal_eval(expression)
    except ValueError:
        raise ValueError(f"{_FORM}, with numbers that stand there, found {shown(ast.unparse(expression))}") from None
    if not isinstance(written, dict) or not written:
        raise ValueError(f"{_FORM}, found {shown(written)}")
    return written


def _output(name: Any, form: Any, first: int) -> Output:
    if not isinstance(name, str) or not name:
        raise ValueError(f"an output's name is a text, found {shown(name)}")
    if not isinstance(form, tuple) or len(form) not in (2, 4):
        raise ValueError(f"output `{name}`: {_FORM}, found {shown(form)}")
    dtype, shape = form[0], form[1] if isinstance(form[1], tuple) else (form[1],)
    if dtype not in DTYPES:
        raise ValueError(f"output `{name}` has the type {shown(dtype)}; there are {', '.join(DTYPES)}")
    if not all(isinstance(extent, int) and not isinstance(extent, bool) and extent > 0 for extent in shape):
        raise ValueError(f"output `{name}` has a count or a shape of whole numbers from 1 on, found {shown(form[1])}")
    least, most = _bounds(dtype)
    low, high = form[2:] or (least, most)
    if not all(isinstance(bound, (int, float)) and not isinstance(bound, bool) for bound in (low, high)):
        raise ValueError(f"output `{name}` has two numbers as bounds, found {shown(form[2:])}")
    if not least <= low <= high <= most:
        raise ValueError(f"output `{name}` of {dtype} has bounds from {least} to {most}, the lower one first, found {low} and {high}")
    return Output(name, dtype, shape, low, high, first)


def _bounds(dtype: str) -> tuple[float, float]:
    if dtype == "float32":
        return -math.inf, math.inf
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)
