"""Variants of the step kernel that wait for a GPU to measure them: edits of its CUDA text, by name.

`folder.py` makes their machine code: each edit replaces a text by another (`HOST_NVRTC_FROM_1` of
`edited_compiler.cpp`). `steps.py` says what is measured.
"""

from __future__ import annotations

# The step's own bounds: 24 blocks of one warp on a multiprocessor.
BOUNDS = "__launch_bounds__(32, 24)"

# Blocks of many warps that begin a part of a frame together, so that they fetch the same code. The
# meeting is only a hint: a warp waits for the other warps of its block for at most LIMIT cycles,
# and no lane waits for another lane of its warp. A block has two places, so that a warp that came
# late at one meets the others at the next. The first lanes of a warp that arrive count for the
# warp, and the first that have no work left leave for it.
MEETING = """
namespace gbx {
// For each block: the warps that came to each of two places and the number of meetings there; the
// warps that left.
__device__ unsigned int meeting[65536][8];

struct Meeting {
    unsigned int* here;

    GBX_FN Meeting() : here(meeting[blockIdx.x & 65535])
    {
        if (threadIdx.x < 8)
            atomicExch(here + threadIdx.x, 0u);
        __syncthreads();
    }
    GBX_FN ~Meeting() { atomicOr(here + 4, 1u << threadIdx.x / 32); }
};

GBX_FN void meet(int place)
{
    volatile unsigned int *here = meeting[blockIdx.x & 65535], *arrived = here + 2 * place, *meetings = arrived + 1;
    const unsigned int all = 0xffffffffu >> (32 - blockDim.x / 32), own = 1u << threadIdx.x / 32;
    const unsigned int number = *meetings, begun = (unsigned int)clock();
    // All lanes read the same words at once, so that they leave the loop together.
    const bool is_first = threadIdx.x % 32 == __ffs(__activemask()) - 1;
    while (*meetings == number && (unsigned int)clock() - begun < LIMIT) {
        if (is_first)
            atomicOr((unsigned int*)arrived, own);
        if ((*arrived | own | here[4]) == all) {
            if (is_first && atomicCAS((unsigned int*)meetings, number, number + 1) == number)
                atomicExch((unsigned int*)arrived, 0u);
            break;
        }
        __nanosleep(500);
    }
}
} // namespace gbx

namespace program {
"""
# Cycles that a warp waits at most. PEARL_DRIFT's warps have some five rounds a frame, from deadline
# to deadline, so that a round of 24 warps takes 1.5 million cycles at 25 million frames a second.
LONG, SHORT = 4_000_000, 400_000


def meeting(warps: int, limit: int = LONG, *, before_services: bool = True) -> list[tuple[str, str]]:
    """Blocks of that many warps, which meet before the opcodes of each deadline and before its service."""
    run, end, service = "            Machine_run_until_deadline(self);\n", "        }\n", "        Machine_service(self);\n"
    again = "            gbx::meet(1);\n" if before_services else ""
    thread = "    for (gbx::Spread thread(grid);"
    return [
        (BOUNDS, f"__launch_bounds__({32 * warps}, 1)"),
        (run + end + service, f"            gbx::meet(0);\n{run}{again}{end}{service}"),
        (thread, f"    gbx::Meeting meeting;\n{thread}"),
        ("\nnamespace program {\n", MEETING.replace("LIMIT", f"{limit}u")),
    ]


VARIANTS: dict[str, list[tuple[str, str]]] = {
    **{f"warps_{warps}": [(BOUNDS, f"__launch_bounds__(32, {warps})")] for warps in (12, 16, 20)},
    **{f"meeting_{warps}": meeting(warps) for warps in (12, 16, 20, 24)},
    "meeting_24_short": meeting(24, SHORT),
    "meeting_24_opcodes": meeting(24, before_services=False),
}
