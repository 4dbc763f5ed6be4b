"""Functions that import from above and are imported from beside."""

from typing import Any

import warp as wp
from shape import Box, extent

__all__ = ["DENSITY", "mass"]

DENSITY = 1.5
HIDDEN = 100.0


@wp.func
def scale(x: float):
    return x * 3.0


@wp.func
def mass(box: Box, density: Any):
    d = extent(box)
    return scale(d[0] * d[1] * d[2]) * density
