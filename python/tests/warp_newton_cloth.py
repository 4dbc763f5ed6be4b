"""A cloth that falls, stepped by a solver of newton that takes vertices color by color, unchanged.

Run by NVIDIA Warp and by gbxcule.warp; GBXCULE_NEWTON is the folder that holds the package `newton`.
Its numbers differ in their last bits.
"""

import os
import sys

import warp as wp

sys.path.insert(0, os.environ["GBXCULE_NEWTON"])

import newton  # type: ignore[import-not-found]  # noqa: E402


class Example:
    def __init__(self) -> None:
        builder = newton.ModelBuilder()
        builder.add_cloth_grid(
            pos=wp.vec3(0.0, 0.0, 2.0), rot=wp.quat_identity(), vel=wp.vec3(0.0, 0.0, 0.0), dim_x=4, dim_y=4,
            cell_x=0.1, cell_y=0.1, mass=0.1, tri_ke=1.0e3, tri_ka=1.0e3, tri_kd=0.1, edge_ke=10.0, edge_kd=0.1,
            fix_left=True,
        )  # fmt: skip
        builder.color(include_bending=True)
        model = builder.finalize(device="cpu")
        self.solver = newton.solvers.SolverVBD(model)
        self.states = [model.state(), model.state()]
        self.control = model.control()

    def step(self) -> None:
        self.states[0].clear_forces()
        self.solver.step(self.states[0], self.states[1], self.control, None, 1.0 / 120.0)
        self.states.reverse()
        self.near_q, self.near_qd = self.states[0].particle_q, self.states[0].particle_qd
