"""Module that the kernels of `test_kernel` use."""

from gbxcule.kernel import func, struct, wp

CORNERS = 8


@struct
class Box:
    side: wp.float32


@func
def surface(box: Box):
    return 6.0 * box.side * box.side
