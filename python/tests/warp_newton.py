"""A chain of three bodies, stepped by two solvers of newton (github.com/newton-physics/newton), unchanged.

Run by NVIDIA Warp and by gbxcule.warp; GBXCULE_NEWTON is the folder that holds the package `newton`.
"""

import os
import sys

import warp as wp

sys.path.insert(0, os.environ["GBXCULE_NEWTON"])

import newton  # type: ignore[import-not-found]  # noqa: E402


def chain() -> newton.Model:
    builder = newton.ModelBuilder()
    inertia = wp.mat33(0.1, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.3)
    joints = []
    before = -1
    for at in range(3):
        place = wp.transform(wp.vec3(0.5 + at, 0.0, 0.0), wp.quat_identity())
        link = builder.add_link(xform=place, mass=1.0 + at, inertia=inertia)
        joint = builder.add_joint_revolute(
            parent=before,
            child=link,
            axis=wp.vec3(0.0, 1.0, 0.0),
            parent_xform=wp.transform(wp.vec3(0.0 if before < 0 else 0.5, 0.0, 0.0), wp.quat_identity()),
            child_xform=wp.transform(wp.vec3(-0.5, 0.0, 0.0), wp.quat_identity()),
        )
        joints.append(joint)
        before = link
    builder.add_articulation(joints)
    return builder.finalize(device="cpu")


class Example:
    def __init__(self) -> None:
        self.model = chain()
        self.solvers = [newton.solvers.SolverSemiImplicit(self.model), newton.solvers.SolverXPBD(self.model)]
        self.states = [[self.model.state(), self.model.state()] for _ in self.solvers]
        self.control = self.model.control()

    def step(self) -> None:
        for solver, states in zip(self.solvers, self.states, strict=True):
            states[0].clear_forces()
            solver.step(states[0], states[1], self.control, None, 0.001)
            states.reverse()
        (semi, _), (xpbd, _) = self.states
        self.semi_q, self.semi_qd = semi.body_q, semi.body_qd
        self.xpbd_q, self.xpbd_qd = xpbd.body_q, xpbd.body_qd
