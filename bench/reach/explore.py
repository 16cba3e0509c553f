"""What angr finds out about a target: run by ``bench/reach.py`` with a Python that has angr.

    python bench/reach/explore.py PROGRAM FUNCTION bfs|dfs SECONDS KIND...

KINDs are the C types of the parameters. Integers are symbolic, pointers lead to symbolic bytes. The last line that is
printed is "reached", "unreachable" (all paths have ended), "timeout" or "crash", with the number of states.
"""

from __future__ import annotations

import logging
import resource
import sys
import time

import angr
import claripy
import z3

APART = 0x100000
"""Bytes between what two pointers point to."""
MEMORY = 6 << 30


def main() -> None:
    """One exploration."""
    program, function, order, seconds, *kinds = sys.argv[1:]
    logging.getLogger("angr").setLevel("CRITICAL")
    logging.getLogger("cle").setLevel("CRITICAL")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    started = time.monotonic()
    project = angr.Project(program, auto_load_libs=False)
    arguments = []
    for number, kind in enumerate(kinds):
        if "*" in kind:
            arguments.append(claripy.BVV(0x10000000 + number * APART, 64))
        else:
            arguments.append(claripy.BVS(f"argument{number}", 64))
    start = project.loader.find_symbol(function).rebased_addr
    target = project.loader.find_symbol("loopless_target").rebased_addr
    # What is read there and was never written is a fresh symbol.
    symbols = {angr.options.SYMBOL_FILL_UNCONSTRAINED_MEMORY, angr.options.SYMBOL_FILL_UNCONSTRAINED_REGISTERS}
    state = project.factory.call_state(start, *arguments, add_options=symbols)
    manager = project.factory.simulation_manager(state)
    if order == "dfs":
        manager.use_technique(angr.exploration_techniques.DFS())
    steps = 0
    while manager.active:
        if time.monotonic() - started > float(seconds):
            print(f"timeout {len(manager.active)} active states after {steps} steps")
            return
        manager.step()
        steps += 1
        manager.move("active", "found", lambda found: found.addr == target)
        if manager.stashes.get("found"):
            print(f"reached after {steps} steps")
            return
    print(f"{'crash' if manager.errored else 'unreachable'} after {steps} steps, {len(manager.errored)} errors")


if __name__ == "__main__":
    try:
        main()
    except (MemoryError, claripy.ClaripyError, z3.Z3Exception) as error:
        if "memory" not in str(error) and not isinstance(error, MemoryError):
            raise
        print("memory is full")
