"""PyTorch and JAX: the text of a pattern runs as Python, on their numbers, thread after thread.

So the framework records each iteration of a loop, without its own loops (`lax.scan`), and an array is a list of
numbers. Patterns with vectors or tiles are not for these frameworks.
"""

import importlib
import math
import sys
import types

import numpy as np
import pattern

UNARY = (
    "sin cos tan sinh cosh tanh exp log log2 log10 sqrt floor ceil trunc sign"
    " asin:arcsin acos:arccos atan:arctan abs:abs erf:erf"
)


class Array(list):
    """An array of a framework's numbers; an index may be a number of the framework, too."""

    def __getitem__(self, index):
        return super().__getitem__(int(index))

    def __setitem__(self, index, value):
        super().__setitem__(int(index), value)


class Adapter:
    def __init__(self, framework: str) -> None:
        self.of = Torch() if framework == "torch" else Jax()
        self.thread = 0
        sys.modules["warp"] = self.module()

    def module(self) -> types.ModuleType:
        wp = types.ModuleType("warp")
        wp.float64 = wp.float = lambda value=0.0: self.of.number(value)
        wp.int32 = int
        wp.array = wp.indexedarray = lambda *_given, **_named: Array
        wp.func = lambda function: function
        wp.kernel = lambda function: function
        wp.struct = lambda made: made
        wp.types = types.SimpleNamespace(**dict.fromkeys(["vector", "matrix", "quaternion", "transformation"], missing))
        wp.tid = lambda: self.thread
        wp.func_grad = lambda _forward: lambda function: function
        for names in UNARY.split():
            name, _, theirs = names.partition(":")
            function = self.of.function(theirs or name)
            if function is not None:
                setattr(wp, name, lambda value, function=function: function(self.of.number(value)))
        wp.degrees, wp.radians = lambda a: a * (180.0 / math.pi), lambda a: a * (math.pi / 180.0)
        wp.atan2, wp.pow = self.of.pair("arctan2"), self.of.pair("pow")
        # The first of equal numbers, as in Warp.
        wp.min, wp.max = lambda a, b: a if a <= b else b, lambda a, b: a if a >= b else b
        wp.clamp = lambda a, low, high: wp.min(wp.max(a, low), high)
        wp.where = lambda condition, a, b: self.of.where(condition, a, b)
        wp.lerp = lambda a, b, t: a * (1.0 - t) + b * t
        wp.frac = lambda a: a - wp.trunc(a)
        wp.cbrt = lambda a: wp.pow(a, self.of.number(1.0 / 3.0))
        wp.step = lambda a: self.of.number(1.0 if a < 0.0 else 0.0)
        wp.nonzero = lambda a: self.of.number(0.0 if a == 0.0 else 1.0)
        wp.atomic_add = lambda array, at, value: changed(array, at, lambda old: old + value)
        wp.atomic_sub = lambda array, at, value: changed(array, at, lambda old: old - value)
        wp.atomic_min = lambda array, at, value: changed(array, at, lambda old: wp.min(old, value))
        wp.atomic_max = lambda array, at, value: changed(array, at, lambda old: wp.max(old, value))
        wp.zeros = lambda shape, **_named: Array(self.of.number(0.0) for _ in range(whole(shape)))
        wp.launch = self.launch
        wp.copy = copy
        wp.clone = lambda array: Array(array)
        return wp

    def launch(self, kernel, dim, inputs, outputs=(), **_named) -> None:
        for self.thread in range(whole(dim)):
            kernel(*inputs, *outputs)

    def patterns(self, path) -> "list[pattern.Pattern]":
        if path.stem in ("vectors", "matrices", "rotations", "tiles"):
            return []
        text = path.read_text()
        module = pattern.load(path)

        def is_kernel(value):
            return isinstance(value, types.FunctionType) and f"@wp.kernel\ndef {value.__name__}(" in text and value

        return pattern.functions(module, is_kernel, lambda kernel: lambda x, o: self.launch(kernel, 2, [x, o, 5, 3]))

    def run(self, tried: pattern.Pattern, numbers) -> list:
        arrays = Array(numbers[:6]), Array(numbers[6:])
        tried.call(*arrays)
        return [self.of.number(value) for array in arrays for value in array]

    def forward(self, tried: pattern.Pattern, x, o) -> "list[np.ndarray]":
        left = self.run(tried, [self.of.number(value) for value in [*x, *o]])
        values = np.array([float(value) for value in left])
        return [values[:6], values[6:]]

    def backward(self, tried: pattern.Pattern, x, o, weights_x, weights_o) -> "list[np.ndarray]":
        weights = [*weights_x, *weights_o]

        def objective(numbers):
            return sum(weight * value for weight, value in zip(weights, self.run(tried, numbers), strict=True))

        gradient = self.of.gradient(objective, np.concatenate([x, o]))
        return [gradient[:6], gradient[6:]]


class Torch:
    def __init__(self) -> None:
        self.torch = importlib.import_module("torch")

    def number(self, value):
        if isinstance(value, self.torch.Tensor):
            return value
        return self.torch.tensor(float(value), dtype=self.torch.float64)

    def function(self, name: str):
        return getattr(self.torch, name, None)

    def pair(self, name: str):
        return lambda a, b: getattr(self.torch, name)(self.number(a), self.number(b))

    def where(self, condition, a, b):
        return self.torch.where(self.torch.as_tensor(condition), a, b)

    def gradient(self, objective, values: np.ndarray) -> np.ndarray:
        leaf = self.torch.tensor(values, requires_grad=True)
        objective([leaf[at] for at in range(len(values))]).backward()
        return leaf.grad.numpy()


class Jax:
    def __init__(self) -> None:
        self.jax = importlib.import_module("jax")
        self.jax.config.update("jax_enable_x64", True)
        self.numpy = self.jax.numpy

    def number(self, value):
        if isinstance(value, self.jax.Array):
            return value
        return self.numpy.asarray(float(value), dtype=self.numpy.float64)

    def function(self, name: str):
        return getattr(self.numpy, name, None) or getattr(self.jax.scipy.special, name, None)

    def pair(self, name: str):
        return lambda a, b: getattr(self.numpy, {"pow": "power"}.get(name, name))(self.number(a), self.number(b))

    def where(self, condition, a, b):
        return self.numpy.where(condition, a, b)

    def gradient(self, objective, values: np.ndarray) -> np.ndarray:
        def of(array):
            return objective([array[at] for at in range(len(values))])

        return np.asarray(self.jax.grad(of)(self.numpy.asarray(values)))


def changed(array: Array, at, change):
    old = array[at]
    array[at] = change(old)
    return old


def copy(dest: Array, src: Array, dest_offset: int = 0, src_offset: int = 0, count: int = 0) -> None:
    for at in range(count or len(src)):
        dest[dest_offset + at] = src[src_offset + at]


def whole(shape) -> int:
    if not isinstance(shape, int):
        raise TypeError("the numbers stand in one row")
    return shape


def missing(*_given, **_named):
    def made(*_given, **_named):
        raise TypeError("there are no such values here")

    return made
