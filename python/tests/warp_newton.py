"""Bodies and particles stepped by two solvers of newton (github.com/newton-physics/newton), unchanged.

Run by NVIDIA Warp and by gbxcule.warp; GBXCULE_NEWTON is the folder that holds the package `newton`. A chain of
three bodies, and a net of 16 particles.
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


def net() -> newton.Model:
    builder = newton.ModelBuilder()
    for row in range(4):
        for column in range(4):
            place = wp.vec3(0.1 * column, 0.02 * row * column, 1.0 + 0.1 * row)
            builder.add_particle(place, wp.vec3(0.0, 0.3 * row, 0.1 * column), 0.1)
    for at in range(16):
        if at % 4 < 3:
            builder.add_spring(at, at + 1, 1.0e3, 1.0, 0.0)
        if at < 12:
            builder.add_spring(at, at + 4, 1.0e3, 1.0, 0.0)
        if at % 4 < 3 and at < 12:
            builder.add_triangle(at, at + 1, at + 5)
            builder.add_triangle(at, at + 5, at + 4)
    return builder.finalize(device="cpu")


class Example:
    def __init__(self) -> None:
        kinds = [newton.solvers.SolverSemiImplicit, newton.solvers.SolverXPBD]
        self.solvers = [kind(model) for model in (chain(), net()) for kind in kinds]
        self.states = [[each.model.state(), each.model.state()] for each in self.solvers]
        self.controls = [each.model.control() for each in self.solvers]

    def step(self) -> None:
        for solver, states, control in zip(self.solvers, self.states, self.controls, strict=True):
            states[0].clear_forces()
            solver.step(states[0], states[1], control, None, 0.001)
            states.reverse()
        (semi, _), (xpbd, _), (semi_net, _), (xpbd_net, _) = self.states
        self.semi_q, self.semi_qd = semi.body_q, semi.body_qd
        self.xpbd_q, self.xpbd_qd = xpbd.body_q, xpbd.body_qd
        self.semi_net_q, self.semi_net_qd = semi_net.particle_q, semi_net.particle_qd
        self.xpbd_net_q, self.xpbd_net_qd = xpbd_net.particle_q, xpbd_net.particle_qd
