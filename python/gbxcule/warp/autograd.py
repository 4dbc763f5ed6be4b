"""Matrices of partial derivatives of kernels and functions, by reverses and by differences, and checks of both."""

import inspect
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gbxcule.warp.array_copy import clone
from gbxcule.warp.array_memory import array
from gbxcule.warp.program import Kernel, launch
from gbxcule.warp.tape import Tape

Jacobians = dict[tuple[int, int], array]


class _Evaluation:
    """A kernel or function with its arguments."""

    def __init__(
        self, function: Any, dim: Any, inputs: Sequence[Any] | None, outputs: Sequence[Any] | None, restores: bool
    ) -> None:
        if inputs is None:
            raise ValueError("`inputs` is missing: give the arguments of the kernel or function")
        if isinstance(function, Kernel) and not outputs:
            raise ValueError(f"`outputs` is missing: give the arguments that kernel `{function.key}` writes")
        self.function, self.dim, self.inputs, self.outputs = function, dim, list(inputs), list(outputs or ())
        self._first = [each.numpy().copy() if isinstance(each, array) else None for each in inputs]
        self._restores = restores and not isinstance(function, Kernel)

    def __call__(self) -> list[Any]:
        """Return the outputs."""
        if isinstance(self.function, Kernel):
            outputs = [_copied(each) for each in self.outputs]
            launch(self.function, self.dim, self.inputs, outputs)
            return outputs
        made = self.function(*self.inputs)
        return [made] if isinstance(made, array) else list(made)

    def restore(self) -> None:
        """Give the inputs of a function, which may have changed them, their first values."""
        for value, first in zip(self.inputs, self._first if self._restores else (), strict=self._restores):
            if first is not None:
                value.numpy()[...] = first

    def pairs(self, outputs: Sequence[Any], mask: Sequence[tuple[Any, Any]] | None) -> Iterator[tuple[int, int]]:
        """List the inputs and outputs with gradients, by their positions; a mask chooses among them."""
        names = self._names()
        chosen = {(_position(one, names), _position(other, names[len(self.inputs) :])) for one, other in mask or ()}
        for at in itertools.product(range(len(self.inputs)), range(len(outputs))):
            both = self.inputs[at[0]], outputs[at[1]]
            if all(isinstance(each, array) and each.requires_grad for each in both) and (not chosen or at in chosen):
                yield at

    def _names(self) -> list[str]:
        if isinstance(self.function, Kernel):
            return self.function.parameters
        return list(inspect.signature(self.function).parameters)


def _copied(value: Any) -> Any:
    return clone(value, requires_grad=value.requires_grad) if isinstance(value, array) else value


def _position(name: int | str, names: Sequence[str]) -> int:
    return names.index(name) if isinstance(name, str) else name


def _scalars(value: array) -> npt.NDArray[Any]:
    return value.numpy().reshape(-1)


def _matrix(rows: npt.NDArray[Any], of: array) -> array:
    """Return rows of gradients as an array of the input's type."""
    return array(rows.reshape(len(rows), *(of.size, *of.numpy().shape[of.ndim :])), dtype=of.dtype)


def _no_plots(*asked: bool) -> None:
    if any(asked):
        raise NotImplementedError("Jacobians aren't drawn: leave out the `plot_..` options, and draw the arrays")


def jacobian(
    function: Any, dim: Any = None, inputs: Sequence[Any] | None = None, outputs: Sequence[Any] | None = None,
    input_output_mask: Sequence[tuple[Any, Any]] | None = None, device: Any = None, max_blocks: int = 0,
    block_dim: int | None = None, max_outputs_per_var: int = -1, plot_jacobians: bool = False, metadata: Any = None,
    restore_inputs: bool = True,
) -> Jacobians:  # fmt: skip
    """Compute the derivatives of outputs by inputs, by reverses: a matrix for each pair of positions."""
    _no_plots(plot_jacobians)
    evaluation = _Evaluation(function, dim, inputs, outputs, restore_inputs)
    with Tape() as tape:
        made = evaluation()
    found = {}
    for at in evaluation.pairs(made, input_output_mask):
        source, target = evaluation.inputs[at[0]], made[at[1]]
        rows = np.full((_scalars(target).size, _scalars(source).size), np.nan, _scalars(source).dtype)
        for row in range(min(len(rows), max_outputs_per_var) if max_outputs_per_var > 0 else len(rows)):
            for each in [*evaluation.inputs, *made, *tape.gradients]:
                if isinstance(each, array) and each.grad is not None:
                    each.grad.zero_()
            _scalars(target.grad)[row] = 1
            tape.backward()
            rows[row] = _scalars(source.grad)
        found[at] = _matrix(rows, source)
    tape.zero()
    evaluation.restore()
    return found


def jacobian_fd(
    function: Any, dim: Any = None, inputs: Sequence[Any] | None = None, outputs: Sequence[Any] | None = None,
    input_output_mask: Sequence[tuple[Any, Any]] | None = None, device: Any = None, max_blocks: int = 0,
    block_dim: int | None = None, max_inputs_per_var: int = -1, eps: float = 1e-4, plot_jacobians: bool = False,
    metadata: Any = None, restore_inputs: bool = True,
) -> Jacobians:  # fmt: skip
    """Compute the derivatives of outputs by inputs, by central differences."""
    _no_plots(plot_jacobians)
    evaluation = _Evaluation(function, dim, inputs, outputs, restore_inputs)
    found = {}
    for at in evaluation.pairs(evaluation(), input_output_mask):
        source = evaluation.inputs[at[0]]
        cells = _scalars(source)

        def column(cell: int, by: float, cells: npt.NDArray[Any] = cells, output: int = at[1]) -> npt.NDArray[Any]:
            evaluation.restore()
            before = cells[cell]
            cells[cell] += by
            made = _scalars(evaluation()[output]).copy()
            evaluation.restore()
            cells[cell] = before
            return made

        count = min(len(cells), max_inputs_per_var) if max_inputs_per_var > 0 else len(cells)
        step = np.asarray(2.0 * eps, cells.dtype)
        columns = [(column(cell, eps) - column(cell, -eps)) / step for cell in range(count)]
        rows = np.full((len(columns[0]), len(cells)), np.nan, cells.dtype)
        rows[:, :count] = np.stack(columns, axis=1)
        found[at] = _matrix(rows, source)
    evaluation.restore()
    return found


def gradcheck(
    function: Any, dim: Any = None, inputs: Sequence[Any] | None = None, outputs: Sequence[Any] | None = None, *,
    eps: float = 1e-4, atol: float = 1e-3, rtol: float = 1e-2, raise_exception: bool = True,
    input_output_mask: Sequence[tuple[Any, Any]] | None = None, device: Any = None, max_blocks: int = 0,
    block_dim: int | None = None, max_inputs_per_var: int = -1, max_outputs_per_var: int = -1,
    plot_relative_error: bool = False, plot_absolute_error: bool = False, show_summary: bool = True,
    restore_inputs: bool = True,
) -> bool:  # fmt: skip
    """Tell whether gradients agree with central differences; by default raise a `ValueError` if they don't."""
    _no_plots(plot_relative_error, plot_absolute_error)
    given = (function, dim, inputs, outputs)
    mask: dict[str, Any] = {"input_output_mask": input_output_mask, "restore_inputs": restore_inputs}
    exact = jacobian(*given, max_outputs_per_var=max_outputs_per_var, **mask)
    differences = jacobian_fd(*given, max_inputs_per_var=max_inputs_per_var, eps=eps, **mask)
    failures = []
    for at, of in differences.items():
        rows = slice(max_outputs_per_var if max_outputs_per_var > 0 else None)
        columns = slice(max_inputs_per_var if max_inputs_per_var > 0 else None)
        one, other = exact[at].numpy()[rows, columns], of.numpy()[rows, columns]
        is_right = bool(np.allclose(one, other, atol=atol, rtol=rtol) and not np.isnan(one).any())
        line = f"input {at[0]}, output {at[1]}: the largest difference is {np.abs(one - other).max():.3e}"
        if show_summary:
            print(f"{line}: {'PASS' if is_right else 'FAIL'}")
        failures += [] if is_right else [line]
    if failures and raise_exception:
        raise ValueError(f"gradients differ from central differences: {'; '.join(failures)}")
    return not failures
