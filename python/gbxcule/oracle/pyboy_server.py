"""PyBoy behind the framed protocol: any number of machines in one process, stepped like the swarm.

PyBoy runs as fast as it can: no window, no sound, rendering only of the last frame when it is asked for, and as many
frames in a call as the schedule allows. `exact` gives up some speed for lockstep: PyBoy also ends a tick when the LCD
is switched on or off, and only a check after every tick distinguishes these ticks from frames.
"""

import importlib.metadata
import io
import platform
import struct
import tempfile

from pyboy import PyBoy
from pyboy.utils import WindowEvent

from gbxcule.oracle import boot, framing, wheel

REGISTERS = struct.Struct("<8B2HQQ")
FEATURES = struct.Struct("<8B2H16s")
FEATURE_MEMORY = slice(0xC000, 0xC010)
LCDC = 0xFF40
HALT = 0x76
KEY1 = 0xFF4D
# Offset of the flag in a save state of PyBoy 2.8.1 (version 29) that the CPU is halted; a Color's
# HDMA state precedes it.
HALTED_IN_STATE = 20
HDMA_BYTES = 10

# Bits of the joypad masks, from bit 0.
BUTTONS = (
    "ARROW_RIGHT", "ARROW_LEFT", "ARROW_UP", "ARROW_DOWN", "BUTTON_A", "BUTTON_B", "BUTTON_SELECT", "BUTTON_START",
)  # fmt: skip
PRESS = [getattr(WindowEvent, f"PRESS_{name}") for name in BUTTONS]
RELEASE = [getattr(WindowEvent, f"RELEASE_{name}") for name in BUTTONS]


class StateHead:
    """A file that takes the head of a save state and stops PyBoy from writing the rest."""

    def __init__(self, last: int) -> None:
        self.bytes = bytearray()
        self.last = last

    def write(self, data: bytes) -> int:
        self.bytes += data
        if len(self.bytes) > self.last:
            raise StopIteration
        return len(data)


class Machine:
    """One PyBoy, started at PC=0x0100."""

    def __init__(self, rom: bytes, boot_path: str, exact: bool, color: "boot.Color | None") -> None:
        palettes = {"cgb_color_palette": color.rgb_palettes()} if color else {}
        self.pyboy = PyBoy(
            io.BytesIO(rom),
            window="null",
            sound_emulated=False,
            bootrom=boot_path,
            cgb=color is not None,
            no_input=True,
            log_level="CRITICAL",
            **palettes,
        )
        self.color = color
        self.pyboy.set_emulation_speed(0)
        self.exact = exact
        self.pressed = 0
        self.frames = 0
        self.lcd_is_on = True
        self.tcycles = 0
        self.cycles = 0

    def state_after_boot(self, vram: "dict[int, int]") -> bytes:
        """Run the boot program with these bytes in video memory, and save the state at its end."""
        state = io.BytesIO()

        def hand_over(_: None) -> None:
            if state.tell():
                return
            for address, byte in (*vram.items(), *(self.color.writes() if self.color else ())):
                self.pyboy.memory[address] = byte
            self.pyboy.save_state(state)

        self.pyboy.hook_register(0, 0x100, hand_over, None)
        while not state.tell():
            self.pyboy.tick(1, False, False)
        self.pyboy.hook_deregister(0, 0x100)
        return state.getvalue()

    def reset(self, state: bytes) -> None:
        self.pyboy.load_state(io.BytesIO(state))
        self.pressed = 0
        self.frames = 0
        self.lcd_is_on = True
        self.tcycles = 0
        self.cycles = self.pyboy._cycles()

    def press(self, pressed: int) -> None:
        changed = self.pressed ^ pressed
        for bit in range(8):
            if changed >> bit & 1:
                self.pyboy.send_input(PRESS[bit] if pressed >> bit & 1 else RELEASE[bit])
        self.pressed = pressed

    def step(self, buttons: int, frames: int, release_after: int, draw_last: bool) -> None:
        self.press(buttons)
        if buttons and release_after < frames:
            self.run_frames(release_after, False)
            self.press(0)
            self.run_frames(frames - release_after, draw_last)
        else:
            self.run_frames(frames, draw_last)

    def run_frames(self, count: int, draw_last: bool) -> None:
        if not self.exact:
            self.pyboy.tick(count, draw_last, False)
            self.count_cycles()
            self.frames += count
            return
        for remaining in range(count, 0, -1):
            if self.frames == 0:
                self.run_frame(False)  # the rest of the VBlank in which the boot program handed over
                if not self.lcd_is_on:
                    self.frames += 1  # a program switched the LCD off there: a dark frame is over
                    continue
            self.run_frame(draw_last and remaining == 1)
            self.frames += 1

    def run_frame(self, draw: bool) -> None:
        while True:
            self.pyboy.tick(1, draw, False)
            self.count_cycles()
            lcd_was_on, self.lcd_is_on = self.lcd_is_on, self.pyboy.memory[LCDC] >= 0x80
            if self.lcd_is_on == lcd_was_on:
                return

    def count_cycles(self) -> None:
        """Add the T-cycles since the last call; at double speed two CPU cycles are one."""
        cycles = self.pyboy._cycles()
        is_color = self.color is not None and not self.color.compatible
        is_double = is_color and self.pyboy.memory[KEY1] & 0x80 != 0
        self.tcycles += (cycles - self.cycles) // (2 if is_double else 1)
        self.cycles = cycles

    def registers(self) -> "tuple[int, ...]":
        file = self.pyboy.register_file
        hl, pc = file.HL, file.PC
        if self.pyboy.memory[pc] == HALT and self.is_halted():
            # PyBoy leaves PC on the HALT it waits in, and passes it on waking. A real CPU's PC is
            # already past it.
            pc = pc + 1 & 0xFFFF
        return (file.A, file.F, file.B, file.C, file.D, file.E, hl >> 8, hl & 0xFF, file.SP, pc)

    def is_halted(self) -> bool:
        halted_at = HALTED_IN_STATE + (HDMA_BYTES if self.color else 0)
        head = StateHead(halted_at)
        try:
            self.pyboy.save_state(head)
        except StopIteration:
            pass
        return head.bytes[halted_at] != 0

    def state(self) -> bytes:
        return REGISTERS.pack(*self.registers(), self.tcycles, self.frames)

    def features(self) -> bytes:
        return FEATURES.pack(*self.registers(), bytes(self.pyboy.memory[FEATURE_MEMORY]))

    def read(self, low: int, high: int) -> bytes:
        # PyBoy refuses empty slices, and slices that end after 0xFFFF.
        head = bytes(self.pyboy.memory[low : min(high, 0xFFFF)]) if low < 0xFFFF else b""
        return head + bytes([self.pyboy.memory[0xFFFF]]) if high > 0xFFFF else head

    def screen(self) -> bytes:
        """Pack the last drawn frame as the swarm does: 2 bits a pixel, leftmost on top, 0 white; a
        Color's as RGB555."""
        if self.color:
            parts = self.pyboy.screen.ndarray[:, :, :3].astype("uint16") >> 3
            return (parts[:, :, 0] | parts[:, :, 1] << 5 | parts[:, :, 2] << 10).astype("<u2").tobytes()
        shade = 3 - (self.pyboy.screen.ndarray[:, :, 0] >> 6)  # its grays are FF, 99, 55, 00
        quads = shade.reshape(-1, 4)
        return (quads[:, 0] << 6 | quads[:, 1] << 4 | quads[:, 2] << 2 | quads[:, 3]).astype("uint8").tobytes()


class Server:
    """The commands of the server; the caller sends `load` first."""

    def __init__(self) -> None:
        self.machines: "list[Machine]" = []
        self.boot_state = b""

    def hello(self, header: dict, payload: bytes) -> "tuple[dict, bytes]":
        return {
            "protocol": framing.PROTOCOL_VERSION,
            "oracle": "pyboy",
            "version": importlib.metadata.version("pyboy"),
            "wheel": wheel.source("pyboy"),
            "python": platform.python_version(),
        }, b""

    def load(self, header: dict, payload: bytes) -> "tuple[dict, bytes]":
        for machine in self.machines:
            machine.pyboy.stop(save=False)
        with tempfile.NamedTemporaryFile(suffix=".bin") as file:
            color = boot.Color(**header["color"]) if header.get("color") else None
            file.write(boot.boot_program(payload, color))
            file.flush()
            self.machines = [
                Machine(payload, file.name, header["exact"], color) for _ in range(header["num_envs"])
            ]
        self.boot_state = self.machines[0].state_after_boot(boot.logo_in_vram(payload, on_map=color is None))
        return self.reset(header, payload)

    def reset(self, header: dict, payload: bytes) -> "tuple[dict, bytes]":
        for machine in self.machines:
            machine.reset(self.boot_state)
        return {}, b""

    def step(self, header: dict, payload: bytes) -> "tuple[dict, bytes]":
        if len(payload) != len(self.machines):
            raise ValueError(f"{len(payload)} masks of buttons for {len(self.machines)} machines")
        held = header["release_after"]
        held = held * len(self.machines) if len(held) == 1 else held
        for machine, buttons, release_after in zip(self.machines, payload, held):
            machine.step(buttons, header["frames"], release_after, header["draw_last"])
        if header["features"]:
            return {}, b"".join(machine.features() for machine in self.machines)
        return {}, b""

    def state(self, header: dict, payload: bytes) -> "tuple[dict, bytes]":
        return {}, b"".join(machine.state() for machine in self.machines)

    def read(self, header: dict, payload: bytes) -> "tuple[dict, bytes]":
        return {}, self.machines[header["env"]].read(header["low"], header["high"])

    def write(self, header: dict, payload: bytes) -> "tuple[dict, bytes]":
        low = header["low"]
        self.machines[header["env"]].pyboy.memory[low : low + len(payload)] = list(payload)
        return {}, b""

    def screen(self, header: dict, payload: bytes) -> "tuple[dict, bytes]":
        return {}, self.machines[header["env"]].screen()


def commands() -> "dict[str, framing.Command]":
    server = Server()
    names = ("hello", "load", "reset", "step", "state", "read", "write", "screen")
    return {name: getattr(server, name) for name in names}
