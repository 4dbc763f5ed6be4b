"""Many screens in one picture."""

import math

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

_GAP = 4
_BACKGROUND = 32


def mosaic(screens: Pixels) -> Pixels:
    """Put gray screens `[n, height, width]` side by side, as RGB `[rows, columns, 3]`.

    The picture is about as wide as high.
    """
    count, height, width = screens.shape
    columns = math.ceil(math.sqrt(count * height / width))
    rows = math.ceil(count / columns)
    shape = (rows * (height + _GAP) + _GAP, columns * (width + _GAP) + _GAP)
    whole = np.full(shape, _BACKGROUND, np.uint8)
    for number, screen in enumerate(screens):
        row, column = divmod(number, columns)
        top, left = _GAP + row * (height + _GAP), _GAP + column * (width + _GAP)
        whole[top : top + height, left : left + width] = screen
    return colored(whole)


def colored(gray: Pixels) -> Pixels:
    """Turn gray into RGB."""
    return np.repeat(gray[..., None], 3, axis=-1)
