"""Steps of a run on a machine with a GPU, the most valuable first. `run.py` runs it, `folder.py` makes its machine code.

A step is a command with a limit of its own. Each has a small form too, for the stand-ins: few machines and few frames.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

GAMES = ["PEARL_DRIFT", "KEEP_OF_KEYS", "EMBER_LEAP", "TARN_MASON", "LANTERN_WING", "LAST_BEACON"]
MICRO_ROMS = ["ALU_LOOP", "MEM_RWB", "FLOW_STACK", "JOY_DIVERGE_PERSIST", "PPU_WINDOW"]
COLOR_GAME = "AMBER_ROAD"
# A wave of a GPU with 132 multiprocessors at 24 warps of 32 machines each.
WAVE = 132 * 24 * 32
# More machines than a GPU has warps, so that a warp has several of them: four.
FOUR_IN_A_WARP = 4 * WAVE // 32
# Two simulated warps of a block in turns, whose lanes share a warp's barriers of convergence.
IN_TURNS = {"HOST_GPU_PROCESSORS": "1", "HOST_GPU_WARPS": "2", "HOST_GPU_TURN": "3000", "HOST_GPU_BARRIERS": "shared"}
# Programs of `cargo test`, with the seconds that one of their tests may take.
TESTS = {"runtime": 30, "swarm": 100}

# Metrics that NVIDIA's profiler adds to its sections: issues, lanes, sectors, instruction caches.
METRICS = [
    "gpu__time_duration.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "smsp__cycles_active.avg",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sector_hit_rate.pct",
    "lts__t_sector_hit_rate.pct",
    "lts__t_sectors.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "sm__icc_requests.sum",
    "sm__icc_requests_lookup_hit.sum",
    "sm__icc_requests_lookup_miss.sum",
    "gcc__cache_requests_type_instruction.sum",
    "gcc__cache_requests_type_instruction_lookup_hit.sum",
    "gcc__cache_requests_type_instruction_lookup_miss.sum",
]
# Sections of the profiler: why warps wait, samples of each instruction.
SECTIONS = [
    "SpeedOfLight", "WarpStateStats", "SchedulerStats", "Occupancy", "LaunchStats", "InstructionStats",
    "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis", "MemoryWorkloadAnalysis_Tables", "SourceCounters",
]  # fmt: skip


@dataclass(frozen=True)
class Step:
    """A command of the run."""

    name: str
    limit_s: int
    command: list[str]
    # Program, or package of Python (`python:torch`), that the folder does not hold.
    needs: str = ""
    # Kind of the file that the command leaves: an artifact of `bench`, or a report of NVIDIA's
    # profiler.
    leaves: str = ""
    # Variant of the step kernel (`variants.py`), for which folder.py makes other machine code.
    variant: str = ""
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """Maker of the steps, at their full size or small."""

    small: bool = False

    def bench(self, name: str, rom: str, machines: int, *more: str, variant: str = "") -> Step:
        """Frames a second of a ROM on so many machines."""
        few = ["--steps", "1", "--warmup-steps", "0", "--repeats", "1"]
        windows = ["--steps", "200", "--warmup-steps", "3", "--repeats", "2", "--longest-window", "1", "--sync-every", "4"]
        command = [
            "gbxcule", "bench", "--backend", "warp_vec_cuda", "--rom", rom, "--env-counts",
            str(min(machines, 32) if self.small else machines), *(few if self.small else windows), *more,
        ]  # fmt: skip
        return Step(name, 40, command, leaves="bench", variant=variant)

    def verify(self, name: str, limit_s: int, rom: str, plan: tuple[int, int, int, int], *more: str) -> Step:
        """The GPU beside the CPU's swarm, in every byte: machines, steps, steps between comparisons, frames a step."""
        machines, steps, every, frames = (2, 2, 1, min(plan[3], 4)) if self.small else plan
        command = [
            "gbxcule", "verify", "--ref-backend", "warp_vec_cpu", "--dut-backend", "warp_vec_cuda", "--rom", rom,
            "--num-envs", str(machines), "--verify-steps", str(steps), "--compare-every", str(every),
            "--frames-per-step", str(frames), "--compare-counters", "--mem-region", "C000:E000", *more,
        ]  # fmt: skip
        return Step(name, limit_s, command)

    def met(self, rom: str, variant: str, plan: tuple[int, int, int, int]) -> Step:
        """A variant whose warps meet, beside the CPU; small, two warps of 32 machines."""
        step = self.verify(f"equal_{rom}_{plan[0]}_{variant}", 60, rom, plan)
        command = list(step.command)
        if self.small:
            command[command.index("--num-envs") + 1] = "64"
        return replace(step, command=command, variant=variant, environment=IN_TURNS if self.small else {})

    def game(self, game: str, limit_s: int, machines: int, steps: int, every: int) -> Step:
        """A game with its programs: states, pictures, rewards and observations equal."""
        whole = ["--stage", "full_step", "--reward", game, "--obs", game, "--compare-frame"]
        return self.verify(f"equal_{game}", limit_s, game, (machines, steps, every, 24), *whole)

    def gate(self, rom: str, *more: str) -> Step:
        """The GPU beside PyBoy, every step compared."""
        command = [
            "gbxcule", "verify", "--ref-backend", "pyboy_single", "--dut-backend", "warp_vec_cuda", "--rom", rom,
            "--verify-steps", "2" if self.small else "1024", "--compare-every", "1", "--frames-per-step", "1", *more,
        ]  # fmt: skip
        return Step(f"gate_{rom}", 60, command)

    def tests(self, program: str, limit_s: int) -> Step:
        """The tests of a crate that need a GPU, each in a process of its own."""
        command = [sys.executable, "run.py", "--tests", program, *(["--small"] if self.small else [])]
        return Step(f"tests_{program}", limit_s, command)

    def profile(self, name: str, rom: str, machines: int) -> Step:
        """The bound of the step, by NVIDIA's profiler."""
        sections = [word for section in SECTIONS for word in ("--section", section)]
        bench = self.bench("", rom, machines).command
        bench = [*bench[: bench.index("--steps")], "--steps", "1", "--warmup-steps", "8", "--repeats", "1"]
        command = [
            "ncu", "--clock-control", "none", "--kernel-name", "regex:step", "--launch-skip", "8", "--launch-count", "1",
            *sections, "--metrics", ",".join(METRICS), "--force-overwrite", "--export", f"work/{name}.ncu-rep", *bench,
        ]  # fmt: skip
        return Step(name, 100, command, needs="ncu", leaves="profile")

    def sanitized(self, name: str, tool: str, *command: str) -> Step:
        """A command under NVIDIA's sanitizer."""
        words = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", *command]
        return Step(name, 60, words, needs="compute-sanitizer")

    def torch_check(self) -> Step:
        """The device as PyTorch sees it; a line of JSON for each thing that was measured."""
        command = [sys.executable, "torch_check.py", *(["--small"] if self.small else [])]
        return Step("torch", 60, command, leaves="lines")

    def ppo(self) -> Step:
        """A training whose rollouts stay on the device: small, on the CPU, as PyTorch knows no stand-ins."""
        few = ["--device", "cpu", "--num-envs", "8", "--total-steps", "512"]
        many = ["--device", "cuda", "--num-envs", "4096", "--num-steps", "32", "--total-steps", "2000000"]
        command = [sys.executable, "examples/ppo_device.py", *(few if self.small else many)]
        return Step("ppo", 60, command, needs="python:torch")

    def meeting(self) -> Iterator[Step]:
        """Warps that begin each part of a frame together, beside the present kernel: how fast, and equal."""
        for variant in ("", "meeting_24", "meeting_24_short", "meeting_24_opcodes"):
            yield self.variant(variant, "PEARL_DRIFT", WAVE)
        yield self.met("PEARL_DRIFT", "meeting_24", (FOUR_IN_A_WARP, 32, 16, 24))
        for game, machines in (("KEEP_OF_KEYS", WAVE), ("PEARL_DRIFT", WAVE // 2), ("KEEP_OF_KEYS", WAVE // 2)):
            for variant in ("", "meeting_24"):
                yield self.variant(variant, game, machines)
        # Waves of these warps, which are blocks for all multiprocessors, once or twice.
        for warps, waves in ((20, (84_480, WAVE // 2)), (16, (67_584, WAVE // 2)), (12, (WAVE // 2, WAVE))):
            for machines in waves:
                for game in GAMES[:2]:
                    for variant in (f"meeting_{warps}", f"warps_{warps}"):
                        yield self.variant(variant, game, machines)
        yield self.met("PEARL_DRIFT", "meeting_24", (WAVE, 8, 8, 24))
        for game in [*GAMES[1:], "PEARL_HEIST"]:
            machines = 4096 if game == "LANTERN_WING" else FOUR_IN_A_WARP
            yield self.met(game, "meeting_24", (machines, 8, 8, 24))
        yield self.met(COLOR_GAME, "meeting_24", (4096, 2, 2, 8))
        for game in GAMES[2:]:
            for variant in ("", "meeting_24"):
                yield self.variant(variant, game, WAVE)

    def variant(self, variant: str, rom: str, machines: int) -> Step:
        """Frames a second of a variant of the step kernel, or of the kernel itself."""
        # 24 frames of 100,000 machines take some seconds.
        short = ["--frames-per-step", "8", "--release-after-frames", "4"] if rom == "LANTERN_WING" else []
        name = "_".join(filter(None, (rom, str(machines), *short[1:2], variant)))
        return self.bench(name, rom, machines, *short, variant=variant)

    def first(self) -> Iterator[Step]:
        """The steps that have to be known, in order of value."""
        yield self.tests("runtime", 60)
        yield self.gate("ALU_LOOP")
        yield self.gate("MEM_RWB", "--mem-region", "C000:C100")
        yield self.game("PEARL_DRIFT", 40, 2048, 128, 32)
        yield self.verify("equal_JOY_DIVERGE_PERSIST", 30, "JOY_DIVERGE_PERSIST", (4096, 256, 64, 4))
        for machines in (1, 1584, 4096, 16384, WAVE // 2, WAVE, 2 * WAVE):
            yield self.bench(f"PEARL_DRIFT_{machines}", "PEARL_DRIFT", machines)
        yield self.profile("profile_PEARL_DRIFT", "PEARL_DRIFT", WAVE)
        yield self.torch_check()
        yield self.ppo()
        yield self.bench("last_frame_drawn", "PEARL_DRIFT", WAVE, "--draw-last")
        programs = ["--stage", "full_step", "--reward", "PEARL_DRIFT", "--obs", "PEARL_DRIFT"]
        yield self.bench("programs", "PEARL_DRIFT", WAVE, *programs)

    def second(self) -> Iterator[Step]:
        """All games and ROMs, NVIDIA's checkers, sizes beyond 32 bits, rows, launches."""
        for game in GAMES[1:]:
            # The CPU's part of LANTERN_WING takes ten times as long as that of another game.
            machines, steps = (512, 16) if game == "LANTERN_WING" else (2048, 64)
            yield self.game(game, 60, machines, steps, 16)
        yield self.game(COLOR_GAME, 60, 128, 8, 8)
        for rom in [*MICRO_ROMS, *GAMES]:
            yield self.bench(f"{rom}_{WAVE}", rom, WAVE)
        for rom in MICRO_ROMS:
            yield self.bench(f"{rom}_without_blocks", rom, WAVE, "--no-recompile")
        short = ["--frames-per-step", "4", "--release-after-frames", "2"]
        yield self.bench(f"{COLOR_GAME}_{WAVE}", COLOR_GAME, WAVE, *short)
        yield self.profile("profile_PEARL_DRIFT_4096", "PEARL_DRIFT", 4096)
        yield self.profile("profile_MEM_RWB", "MEM_RWB", WAVE)
        yield self.verify("equal_65536", 60, "PEARL_DRIFT", (65536, 8, 8, 24), "--compare-frame")
        pictures = ["--compare-frame", "--release-after-frames", "2"]
        yield self.verify("equal_2_GB_of_pictures", 60, COLOR_GAME, (49152, 2, 2, 4), *pictures)
        bench = Plan(small=True).bench("", "PEARL_DRIFT", 32, "--frames-per-step", "2", "--release-after-frames", "1")
        yield self.sanitized("memcheck_step", "memcheck", *bench.command, "--out", "work/memcheck")
        bench = Plan(small=True).bench("", "ALU_LOOP", 32, "--frames-per-step", "1", "--release-after-frames", "1")
        yield self.sanitized("initcheck_step", "initcheck", *bench.command, "--out", "work/initcheck")
        test = "needs_cuda::atomics_of_many_threads_lose_nothing"
        yield self.sanitized("memcheck_runtime", "memcheck", "tests/runtime", test, "--exact", "--ignored")
        yield self.tests("swarm", 110)
        limit = "4" if self.small else "40"
        rows = ["gbxcule", "synth", "validate", "dataset", "--device", "cuda", "--no-host", "--limit", limit]
        yield Step("foundry", 60, rows)
        for machines in (1, 1584):
            command = self.bench("", "", machines, "--experiment", "E0", "--sync-every", "0").command
            at = command.index("--rom")
            yield Step(f"launches_{machines}", 20, [*command[:at], *command[at + 2 :]], leaves="bench")
