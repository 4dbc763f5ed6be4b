"""Settings that programs make. Those that could change a result are refused; the others do nothing here."""

from typing import Any

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
log_level: Any = None
