"""gbxcule: a swarm of Game Boys for reinforcement learning, and kernels in NVIDIA Warp's dialect.

`gbxcule.make_vec()` is a Gymnasium vector environment, `gbxcule.make()` a single one, and `gbxcule.kernel` the module
of kernels, with the decorator `gbxcule.kernel.kernel`. Names are imported when they are first used, so that the oracles
run without the extension. Gymnasium knows the games once the package is imported:
`gymnasium.make("gbxcule/PearlDrift-v1")`.
"""

import os as _os
import sys as _sys
from importlib import import_module as _import_module

from gbxcule.lazy import lazy_names as _lazy_names

__getattr__, __dir__ = _lazy_names(__name__, globals())
# Ray, which `gbxcule.ray` needs, may be missing; `import *` goes without it.
__all__ = [name for name in __dir__() if not name.startswith("__") and name != "ray"]


def _is_command() -> bool:
    """Tell whether this process is `gbxcule ..` or `python -m gbxcule..`, which need no Gymnasium."""
    words = _sys.orig_argv
    module = words[words.index("-m") + 1 :][:1] if "-m" in words else []
    return _os.path.basename(_sys.argv[0]) == "gbxcule" or any(name.split(".")[0] == "gbxcule" for name in module)


if not _is_command():
    try:
        _import_module("gbxcule.registration").register()
    except ImportError:
        # Where Gymnasium or the extension is missing, names that need them say so.
        pass
