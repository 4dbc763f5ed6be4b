"""Kernels on a CUDA device, run without a GPU; and the errors on a computer without a device."""

import pathlib

import numpy as np
import pytest
from gbxcule import kernel


def test_kernels_run_on_a_device(on_stand_ins):
    run = on_stand_ins("-m", "pytest", "--import-mode=importlib", pathlib.Path(__file__).with_name("cuda_kernels.py"))
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_device_that_is_not_there_is_an_error():
    with pytest.raises(kernel.LaunchError, match=r"device `cpu`|cuda:99"):
        kernel.zeros(3, device="cuda:99")
    with pytest.raises(ValueError, match="`cpu`, `cuda` or `cuda:N`"):
        kernel.zeros(3, device="gpu")


def test_arrays_of_the_cpu_are_numpys():
    assert isinstance(kernel.zeros(3), np.ndarray)
    assert kernel.array([1, 2], "int16").tolist() == [1, 2]
