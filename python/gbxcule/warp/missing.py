"""Names that NVIDIA Warp has and this package has not, where programs mention it without using it.

An import, an annotation or an option may name such a thing. What uses it gets an error with its name.
"""

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

# Classes that annotations and constants of classes name.
_CLASSES = (
    "Event", "GLTextureResource", "MarchingCubes", "RegisteredGLBuffer", "Stream", "Texture1D", "Texture2D",
    "Texture3D", "TextureAddressMode", "TextureFilterMode", "TextureResourceFlags", "Volume",
)  # fmt: skip
# Modules that programs import, and those that hold them.
_MODULES = (
    "warp._src", "warp._src.codegen", "warp._src.context", "warp._src.thirdparty", "warp._src.thirdparty.appdirs",
    "warp._src.types", "warp._src.utils", "warp.autograd", "warp.examples", "warp.fem", "warp.fem.linalg", "warp.optim",
    "warp.optim.linear", "warp.sparse", "warp.tests", "warp.utils",
)  # fmt: skip


class Missing:
    """Something of Warp's, by its name: it can be named, not used."""

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
        # Nothing is a value of a type that is missing.
        return False

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        # An annotation: of what, and in how many dimensions.
        if not arguments and set(options) <= {"dtype", "ndim"} and self.__name__.endswith("indexedarray"):
            return self
        raise NotImplementedError(f"gbxcule.warp has no `{self.__name__}`")

    def __repr__(self) -> str:
        return f"<missing {self.__name__}>"


class KnownByName:
    """A class of Warp's: an attribute that is missing here is named as such."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"gbxcule.warp has no `{type(self).__name__}.{name}`", name=name, obj=self)


class MissingModule(ModuleType):
    """A module of Warp's whose parts are missing, but for those that public modules of its name have."""

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
    """Give a missing thing that programs may mention."""
    return Missing(f"warp.{name}") if name in _CLASSES else None


def stand_in(top: ModuleType, internal: ModuleType) -> None:
    """Make imports of modules that are missing give what can be named; `internal` has parts of private ones."""
    for name in _MODULES:
        public = (internal, getattr(top, name.rpartition(".")[2], top), top) if name.startswith("warp._src.") else ()
        module = sys.modules.setdefault(name, MissingModule(name, public))
        above, _, last = name.rpartition(".")
        holder = top if above == "warp" else sys.modules[above]
        if last not in vars(holder):
            setattr(holder, last, module)
