"""Operators between arrays, and between arrays and values, element by element."""

from typing import Any


def _operate(expression: str, *operands: Any, out: Any = None) -> Any:
    from gbxcule.warp.mapping import operate  # builds on arrays

    return operate(expression, *operands, out=out)


class ElementOperators:
    """Operators of arrays. Each returns a new array; `+=` and the like change this one."""

    def __add__(self, other: Any) -> Any:
        return _operate("x0 + x1", self, other)

    def __radd__(self, other: Any) -> Any:
        return _operate("x0 + x1", other, self)

    def __iadd__(self, other: Any) -> Any:
        return _operate("x0 + x1", self, other, out=self)

    def __sub__(self, other: Any) -> Any:
        return _operate("x0 - x1", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _operate("x0 - x1", other, self)

    def __isub__(self, other: Any) -> Any:
        return _operate("x0 - x1", self, other, out=self)

    def __mul__(self, other: Any) -> Any:
        return _operate("x0 * x1", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _operate("x0 * x1", other, self)

    def __imul__(self, other: Any) -> Any:
        return _operate("x0 * x1", self, other, out=self)

    def __truediv__(self, other: Any) -> Any:
        return _operate("x0 / x1", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _operate("x0 / x1", other, self)

    def __itruediv__(self, other: Any) -> Any:
        return _operate("x0 / x1", self, other, out=self)

    def __floordiv__(self, other: Any) -> Any:
        return _operate("x0 // x1", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _operate("x0 // x1", other, self)

    def __mod__(self, other: Any) -> Any:
        return _operate("x0 % x1", self, other)

    def __rmod__(self, other: Any) -> Any:
        return _operate("x0 % x1", other, self)

    def __pow__(self, other: Any) -> Any:
        return _operate("x0 ** x1", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _operate("x0 ** x1", other, self)

    def __neg__(self) -> Any:
        return _operate("-x0", self)

    def __pos__(self) -> Any:
        return _operate("+x0", self)
