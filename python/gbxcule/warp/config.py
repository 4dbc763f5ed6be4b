"""Settings that programs make. Those that could change a result are refused; the others do nothing here."""

import enum


class DeterministicMode(enum.Enum):
    """How far results must be the same from run to run; on the CPU of Warp nothing changes by it."""

    NOT_GUARANTEED = "not_guaranteed"
    RUN_TO_RUN = "run_to_run"
    GPU_TO_GPU = "gpu_to_gpu"


version = "1.19.0"
"""The version of Warp whose names and results these are."""
quiet = False
verbose = False
verbose_warnings = False
mode = "release"
verify_fp = False
verify_cuda = False
print_launches = False
enable_backward = True
enable_graph_capture_module_load_by_default = True
kernel_cache_dir: str | None = None
cache_kernels = True
fast_math = False
max_unroll = 16
lineinfo = False
line_directives = False
verify_autograd_array_access = False
enable_vector_component_overwrites = False
optimization_level: int | None = None
log_level: int = 20
deterministic = DeterministicMode.NOT_GUARANTEED
deterministic_max_records = 0
