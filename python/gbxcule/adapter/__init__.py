"""Adapters of the swarm to other libraries, imported when they are first used.

Each module needs the library that it is named after; `pool` needs none.
"""

from gbxcule.lazy import lazy_names as _lazy_names

__getattr__, __dir__ = _lazy_names(__name__, globals())
