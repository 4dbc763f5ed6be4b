"""Names of NVIDIA Warp that this package lacks, but that programs may mention without using them.

An import, an annotation or an option may name such a thing. Using it raises an error with its name.
"""

import re
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

# Classes that annotations and class attributes name.
_CLASSES = (
    "Event", "GLTextureResource", "MarchingCubes", "RegisteredGLBuffer", "Stream", "Texture1D", "Texture2D",
    "Texture3D", "TextureAddressMode", "TextureFilterMode", "TextureResourceFlags",
)  # fmt: skip
# Advice in place of missing names, first for those that programs may mention and must not call.
_GPU = (
    "only a GPU has streams, events and pools of memory, and a launch on the CPU has ended when it returns: ask "
    "`wp.get_device().is_cuda` first"
)
_CALLS = dict.fromkeys((
    "ScopedMempool", "ScopedMempoolAccess", "ScopedPeerAccess", "event_from_ipc_handle", "get_event_elapsed_time",
    "get_mempool_release_threshold", "get_mempool_used_mem_current", "get_mempool_used_mem_high", "get_stream",
    "record_event", "set_mempool_access_enabled", "set_mempool_enabled", "set_mempool_release_threshold",
    "set_peer_access_enabled", "set_stream", "stream_from_paddle", "stream_from_torch", "stream_to_torch",
    "synchronize_event", "wait_event", "wait_stream",
), _GPU)  # fmt: skip
_INSTEAD = (
    ("_jax|jax_|_paddle", "exchange arrays by `wp.from_dlpack` and `wp.to_dlpack`"),
    ("from_ptr|ipc_handle", "memory by its address is `wp.array(ptr=.., shape=.., dtype=..)`"),
    ("fabric", "fabric arrays are Omniverse's: use `wp.array` or `wp.indexedarray`"),
    ("capture_save|capture_load|aot_module", "`gbxcule build FILE.py -o DIR` makes kernels that run without Python"),
    ("dense_", "use the functions of tiles, such as `wp.tile_cholesky`, or NumPy"),
    ("[Aa]llocator", "give an array your own memory by `wp.array(ptr=..)`"),
    ("[Mm]emory", "Python's `tracemalloc` counts the memory of arrays"),
    ("Texture", "sample a `wp.Volume` or an array"),
    ("cuda", "`gbxcule.kernel` launches on CUDA devices"),
)
# Modules that programs import, and their parent modules.
_MODULES = (
    "warp._src", "warp._src.codegen", "warp._src.context", "warp._src.logger", "warp._src.thirdparty",
    "warp._src.thirdparty.appdirs", "warp._src.types", "warp._src.utils", "warp.fem",
    "warp.fem.linalg", "warp.optim", "warp.tests", "warp.utils",
)  # fmt: skip


class Missing:
    """A name of Warp's that this package lacks: programs can mention it, but not use it."""

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name

    def __getattr__(self, name: str) -> "Missing":
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")

    def __getitem__(self, _key: Any) -> "Missing":
        return self

    def __or__(self, _other: Any) -> "Missing":
        return self

    __ror__ = __or__

    def __instancecheck__(self, _value: Any) -> bool:
        # No value has a missing type.
        return False

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        # An annotation, such as `wp.indexedarray(dtype=float, ndim=2)`.
        if not arguments and set(options) <= {"dtype", "ndim"} and self.__name__.endswith("indexedarray"):
            return self
        raise NotImplementedError(f"gbxcule.warp has no `{self.__name__}`{instead_of(self.__name__)}")

    def __repr__(self) -> str:
        return f"<missing {self.__name__}>"


class KnownByName:
    """Base of Warp's classes whose missing attributes raise an error that names them."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"gbxcule.warp has no `{type(self).__name__}.{name}`", name=name, obj=self)


class MissingModule(ModuleType):
    """A module of Warp's that this package lacks; its parts are missing, except those that public modules have."""

    __path__: list[str] = []

    def __init__(self, name: str, public: Sequence[Any] = ()) -> None:
        super().__init__(name)
        self._public = public

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for each in self._public:
            try:
                return getattr(each, name)
            except AttributeError:
                continue
        return Missing(f"{self.__name__}.{name}")


def named(name: str) -> Missing | None:
    """Return a missing class or function that programs may mention, or None."""
    return Missing(f"warp.{name}") if name in _CLASSES or name in _CALLS else None


def instead_of(name: str) -> str:
    """Say what to do in place of a missing name, or nothing."""
    last = name.removeprefix("warp.")
    help = _CALLS.get(last) or (_GPU if last in ("Event", "Stream") else None)
    help = help or next((help for pattern, help in _INSTEAD if re.search(pattern, last)), None)
    return f": {help}" if help else ""


def stand_in(top: ModuleType, internal: ModuleType) -> None:
    """Make imports of missing modules return stand-ins; `internal` has parts of private modules."""
    for name in _MODULES:
        public = (internal, getattr(top, name.rpartition(".")[2], top), top) if name.startswith("warp._src.") else ()
        module = sys.modules.setdefault(name, MissingModule(name, public))
        above, _, last = name.rpartition(".")
        holder = top if above == "warp" else sys.modules[above]
        if last not in vars(holder):
            setattr(holder, last, module)
