"""Settings that programs set. Settings that could change a result are refused; the others do nothing here."""

import enum


class DeterministicMode(enum.Enum):
    """How reproducible results must be; on Warp's CPU this changes nothing."""

    NOT_GUARANTEED = "not_guaranteed"
    RUN_TO_RUN = "run_to_run"
    GPU_TO_GPU = "gpu_to_gpu"


class LaunchArrayAccessMode(enum.IntEnum):
    """How launches check that a device reaches arrays; the CPU reaches all."""

    RELAXED = 0
    CHECKED = 1
    STRICT = 2


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
line_directives = True
verify_autograd_array_access = False
enable_vector_component_overwrites = False
optimization_level: int | None = None
log_level: int = 20
deterministic = DeterministicMode.NOT_GUARANTEED
deterministic_max_records = 0
deterministic_debug = False
compile_time_trace = False
cpu_compiler_flags = ""
cuda_arch_suffix: str | None = None
cuda_output: str | None = None
ptx_target_arch: int | None = None
default_grid_stride = True
enable_cpu_blocks = False
enable_mathdx_fft = True
enable_mathdx_gemm = True
enable_mathdx_solver = True
enable_mempools_at_init = True
enable_tiles_in_stack_memory = True
launch_array_access_mode = LaunchArrayAccessMode.RELAXED
legacy_cpu_linker = False
legacy_scalar_return_types = False
llvm_cuda = False
load_module_max_workers = 0
track_memory = False
use_precompiled_headers = True
