"""The framed protocol of the oracle servers.

A frame is the magic `GBX1`, the length of a JSON header and of a binary payload (both unsigned
32-bit, little endian), then header and payload. The caller sends `{"command": ...}`; the answer is
`{"ok": true, ...}` or `{"ok": false, "error": ...}`. The magic makes a stray print a clear error
instead of a wild length.
"""

import json
import os
import struct
import sys
import traceback
from collections.abc import Callable

MAGIC = b"GBX1"
PREFIX = struct.Struct("<4sII")
PROTOCOL_VERSION = 1

Command = Callable[[dict, bytes], "tuple[dict, bytes]"]


class Channel:
    """Two binary streams that carry whole frames."""

    def __init__(self, reader, writer) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    def from_standard_streams(cls) -> "Channel":
        """Reserve stdout for frames: everything else that a library prints goes to stderr."""
        writer = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        return cls(sys.stdin.buffer, writer)

    def receive(self) -> "tuple[dict, bytes] | None":
        """Return the next frame, or None if the caller has closed its end."""
        prefix = self.reader.read(PREFIX.size)
        if len(prefix) < PREFIX.size:
            return None
        magic, header_bytes, payload_bytes = PREFIX.unpack(prefix)
        if magic != MAGIC:
            raise ValueError(f"expected a frame that starts with {MAGIC!r}, found {magic!r}")
        header = json.loads(self.reader.read(header_bytes))
        return header, self.reader.read(payload_bytes)

    def send(self, header: dict, payload: bytes = b"") -> None:
        text = json.dumps(header, separators=(",", ":")).encode()
        self.writer.write(PREFIX.pack(MAGIC, len(text), len(payload)) + text + payload)
        self.writer.flush()


def serve(channel: Channel, commands: "dict[str, Command]") -> int:
    """Answer frames until the caller closes stdin; a command that fails is answered with its error."""
    while (frame := channel.receive()) is not None:
        header, payload = frame
        name = header.get("command")
        try:
            if name not in commands:
                raise ValueError(f"no command {name!r}; there are {', '.join(sorted(commands))}")
            answer, data = commands[name](header, payload)
            channel.send({"ok": True, **answer}, data)
        except Exception as error:  # noqa: BLE001 - the caller decides what a failure means
            traceback.print_exc()
            channel.send({"ok": False, "error": f"{type(error).__name__}: {error}"})
    return 0
