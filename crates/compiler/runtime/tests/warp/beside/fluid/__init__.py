"""A package beside the kernels."""

from .unit import DENSITY as DENSITY
