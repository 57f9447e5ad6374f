"""From what one sees to what it can be: which instrument to ask next, worked out from what fired in the proofs.

A fork asks one instrument. Of all that divide the faults that are still possible, the one is asked that tells most for
its price (bits of Shannon's information over 1 + cost + further runs of the script). A fault on which an instrument
fires on some programs and is silent on others stands on both sides of the fork.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bugzoo import diagnostics
from bugzoo.faults.model import Fault
from bugzoo.proving import ledger

SURE = 0.75
"""Share of the programs on which an instrument fires, or is silent, for one to rely on it."""
Fired = Mapping[str, Mapping[str, float]]
"""Fault -> instrument -> share of its programs on which it fires."""


@dataclass
class Fork:
    """One instrument to ask, and what is left when it fires and when it is silent. `instrument` is "" at an end."""

    faults: tuple[str, ...]
    instrument: str = ""
    fires: "Fork | None" = None
    silent: "Fork | None" = None


@dataclass
class Node:
    """What is counted for one instrument among the faults that are left."""

    yes: list[str] = field(default_factory=list)
    no: list[str] = field(default_factory=list)


def fired(faults: Iterable[Fault]) -> dict[str, dict[str, float]]:
    """What the ledger says of each fault that is proved somewhere."""
    found: dict[str, dict[str, float]] = {}
    for fault in faults:
        cells = [cell for cell in ledger.read("faults", fault.id).get("cells", {}).values() if not cell["problems"]]
        names = {name for cell in cells for name in cell["fired"]}
        if cells:
            found[fault.id] = {name: sum(name in cell["fired"] for cell in cells) / len(cells) for name in names}
    return found


def grow(shares: Fired, prices: Mapping[str, float], left: Iterable[str] = ()) -> Fork:
    """The tree over the faults of `shares`; `prices`: instrument -> what asking it costs."""
    ids = tuple(sorted(left or shares))
    best, most, sides = "", 1e-9, Node()
    for name in sorted(prices, key=lambda name: (prices[name], name)):
        node = _divide(shares, name, ids)
        worth = _bits(node, len(ids)) / prices[name]
        if worth > most:
            best, most, sides = name, worth, node
    if not best:
        return Fork(ids)
    return Fork(ids, best, grow(shares, prices, sides.yes), grow(shares, prices, sides.no))


def _divide(shares: Fired, name: str, ids: Iterable[str]) -> Node:
    node = Node()
    for one in ids:
        share = shares[one].get(name, 0.0)
        if share > 1 - SURE:
            node.yes.append(one)
        if share < SURE:
            node.no.append(one)
    return node


def _bits(node: Node, of: int) -> float:
    """Information of a fork, when every fault is as likely as every other; 0 where one side holds them all."""
    if of in (len(node.yes), len(node.no)):
        return 0.0
    both = len(node.yes) + len(node.no)
    after = sum(len(side) / both * math.log2(len(side)) for side in (node.yes, node.no) if side)
    return max(0.0, math.log2(of) - after)


def prices() -> dict[str, float]:
    """Instrument -> 1, and 1 more where the model is called again, and for each further run of the script."""
    said: dict[str, dict[str, Any]] = {name: diagnostics.declared(name) for name in diagnostics.names()}
    return {name: 1.0 + one.get("COST", 0) + one.get("RERUNS", 0) for name, one in said.items()}
