"""Meetings of lanes of one warp that run in several roles (:mod:`.roles`), at a shuffle, a vote or a warp's barrier.

A role waits there until all lanes that its mask names have come in their own roles. The last one to come runs the
function for all of them, and the others take over what it found.
"""

import numpy as np

from course_pkg.simt.front.source import SourceLine
from course_pkg.simt.run.hindsight import follow
from course_pkg.simt.run.merge import merge
from course_pkg.simt.run.roles import Role
from course_pkg.simt.run.values import Value
from course_pkg.simt.run.waits import Waits


def met_in_warp(run, frame, node, name: str, arguments: list, mask, function):
    """Run a warp function; if lanes of the warp run in other roles, do so together with those that the mask names.

    Parameters
    ----------
    arguments : list of Value
    function : callable
        What runs the function for some lanes, with the parameters of :func:`.intrinsics.intrinsic`.
    """
    role = run.half
    if not (isinstance(role, Role) and role.crew.in_parts_of_warps):
        return function(run, frame, node, name, arguments, mask)
    role.makes_ready()
    waits = Waits(SourceLine(frame.program.name, node.lineno), mask, call=node, arguments=arguments)
    before, role.stuck, role_waits = role.stuck, waits, role.waiting
    while not waits.found:
        there = [one for one in role.crew.members if not one.done and _waits_at(one, node)]
        waits.alone, together = _wait_alone(role, there), _of_same_warps(role, there)
        if not any(_wait_alone(one, there).any() for one in together):
            _run_for_all(run, frame, node, name, [one.stuck for one in together], function)
            role.crew.news += 1
        elif not role.waits(waits, waits):
            role.crew.divide()
            waits.found = [function(run, frame, node, name, arguments, mask)]
    role.stuck, role.waiting = before, role_waits
    found = waits.found[0]
    if not isinstance(found, Value):
        return found
    return follow(run.view(found, found.data, found.type, found.key), lambda data: data, found)


def _waits_at(role: Role, node) -> bool:
    """Return whether a role waits at a call; if not, it may still be there, with what the call has found a trip ago."""
    return role.stuck is not None and role.stuck.call is node and not role.stuck.found


def _wait_alone(role: Role, there: list) -> np.ndarray:
    """Return which warps of a role wait for lanes that their call names, and that have not left the kernel."""
    wave, waits = role.lanes.wave, role.stuck
    rows = waits.lanes.rows
    bits = np.full(rows.shape, -1)
    if waits.arguments:
        bits = wave.by_warp(waits.arguments[0].data.astype(np.int64), -1)
    named = np.bitwise_or.reduce(np.where(rows, bits, 0), axis=1)
    wanted = (named[:, None] >> np.arange(rows.shape[1])) & 1 > 0
    came = wave.by_warp(role.crew.exited.full, True)
    for one in there:
        came = came | one.stuck.lanes.rows
    return (wanted & ~came).any(axis=1)


def _of_same_warps(role: Role, there: list) -> list:
    """Return the roles that share a warp with a role, or with another one of these."""
    found, warps = [role], role.stuck.lanes.rows.any(axis=1)
    while True:
        more = [one for one in there if one not in found and (one.stuck.lanes.rows.any(axis=1) & warps).any()]
        if not more:
            return [one for one in there if one in found]
        found += more
        warps = warps | np.logical_or.reduce([one.stuck.lanes.rows.any(axis=1) for one in more])


def _run_for_all(run, frame, node, name, calls: list, function) -> None:
    """Run a call for all roles that have come to it, and give each of them what it found."""
    first, *others = calls
    lanes, arguments = first.lanes, list(first.arguments)
    for one in others:
        arguments = [
            merge(run, one.lanes, new, old) for new, old in zip(one.arguments, arguments, strict=True)
        ]
        lanes = lanes.union(one.lanes)
    found = function(run, frame, node, name, arguments, lanes)
    for one in calls:
        one.found = [found]
