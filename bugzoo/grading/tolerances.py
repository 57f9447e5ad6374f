"""What a repair of a scenario may need, and its run conditions: declared by the faults, read by the grader."""

from dataclasses import dataclass, fields

from bugzoo.scenario import Scenario

MEMORY_MIB = 2048
"""Memory that a program may use on top of its imports; our largest program takes a fifth of it."""


@dataclass(frozen=True)
class Allowances:
    """The combined fields of all faults in a scenario."""

    room: float
    own_forward: bool
    same_forward: bool
    ignore: tuple[str, ...]
    free: tuple[str, ...]
    healthy: bool
    """Nothing is wrong: a repair must not change the behavior."""
    memory_mib: int

    def __repr__(self) -> str:
        # `free` says which comparisons a verdict holds, as the grader's code does: proofs hold it in their half for code
        parts = (f"{part.name}={getattr(self, part.name)!r}" for part in fields(self) if part.name != "free")
        return f"Allowances({', '.join(parts)})"


def tolerances(scenario: Scenario) -> Allowances:
    """Return the tolerances for a repair of `scenario`, the same in exercises, assignments and interviews."""
    faults = [fault for fault, _ in scenario.specs]
    return Allowances(
        room=max((fault.room for fault in faults), default=1.0),
        own_forward=any(fault.own_forward for fault in faults),
        same_forward=any(fault.same_forward for fault in faults),
        free=tuple(dict.fromkeys(name for fault in faults for name in fault.free)),
        ignore=tuple(dict.fromkeys(name for fault in faults for name in fault.ignore)),
        healthy=bool(faults) and all(fault.trap for fault in faults),
        memory_mib=min(MEMORY_MIB, scenario.needs.memory_mib or MEMORY_MIB),
    )
