"""NVIDIA Warp, or gbxcule.warp in its place."""

import functools
import importlib

import numpy as np
import pattern


class Adapter:
    def __init__(self, framework: str) -> None:
        if framework == "gbxcule.warp":
            importlib.import_module(framework).stand_in()
        import warp

        self.wp = warp
        if framework == "warp":
            warp.config.quiet = True
            # A kernel that can't be compiled must not stop the other kernels of its file.
            warp.kernel = functools.partial(alone, warp.kernel)

    def patterns(self, path) -> "list[pattern.Pattern]":
        def launched(kernel):
            return lambda x, o: self.wp.launch(kernel, dim=2, inputs=[x, o, 5, 3], device="cpu")

        is_kernel = self.wp.Kernel
        return pattern.functions(
            pattern.load(path), lambda value: isinstance(value, is_kernel) and value.func, launched
        )

    def array(self, values: np.ndarray):
        return self.wp.array(values, dtype=self.wp.float64, requires_grad=True, device="cpu")

    def forward(self, tried: pattern.Pattern, x: np.ndarray, o: np.ndarray) -> "list[np.ndarray]":
        arrays = [self.array(x), self.array(o)]
        tried.call(*arrays)
        return [array.numpy() for array in arrays]

    def backward(self, tried: pattern.Pattern, x, o, weights_x, weights_o) -> "list[np.ndarray]":
        arrays = [self.array(x), self.array(o)]
        tape = self.wp.Tape()
        with tape:
            tried.call(*arrays)
        for array, weights in zip(arrays, [weights_x, weights_o], strict=True):
            array.grad.assign(weights)
        tape.backward()
        return [array.grad.numpy() for array in arrays]


def alone(kernel, function=None, **options):
    if function is None:
        return functools.partial(alone, kernel, **options)
    return kernel(function, module="unique", **options)
