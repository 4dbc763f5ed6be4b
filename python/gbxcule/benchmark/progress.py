"""Progress lines of a command that takes long."""

import sys
import time

# Seconds between two lines.
PAUSE = 2.0


class Progress:
    """Prints to standard error, every two seconds, how much of a task is done."""

    def __init__(self, what: str, unit: str, total: int) -> None:
        self.what, self.unit, self.total = what, unit, total
        self._said = time.monotonic()

    def at(self, done: int) -> None:
        now = time.monotonic()
        if now - self._said >= PAUSE:
            self._said = now
            print(f"{self.what}: {done:,} of {self.total:,} {self.unit}", file=sys.stderr, flush=True)
