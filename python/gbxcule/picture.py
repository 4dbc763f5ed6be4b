"""Many screens in one picture."""

import math

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

_GAP = 4
_BACKGROUND = 32


def mosaic(pictures: Pixels) -> Pixels:
    """Put pictures `[n, height, width, 3]` side by side, as `[rows, columns, 3]`.

    The mosaic is about as wide as high.
    """
    count, height, width, _ = pictures.shape
    columns = math.ceil(math.sqrt(count * height / width))
    rows = math.ceil(count / columns)
    shape = (rows * (height + _GAP) + _GAP, columns * (width + _GAP) + _GAP, 3)
    whole = np.full(shape, _BACKGROUND, np.uint8)
    for number, picture in enumerate(pictures):
        row, column = divmod(number, columns)
        top, left = _GAP + row * (height + _GAP), _GAP + column * (width + _GAP)
        whole[top : top + height, left : left + width] = picture
    return whole
