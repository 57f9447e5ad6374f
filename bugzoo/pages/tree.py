"""From a symptom to its possible causes: which instrument to ask next, from the instruments that fired in the proofs.

A fork asks one instrument. Of the instruments that divide the remaining faults, it takes the one with the most
information for its price: bits (Shannon) over 1 + cost + further runs of the script. If an instrument fires for a fault
on some programs only, the fault is on both sides of the fork.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bugzoo import diagnostics
from bugzoo.faults.model import Fault
from bugzoo.proving import ledger

SURE = 0.75
"""Share of the programs on which an instrument must fire, or be silent, to be reliable."""
Fired = Mapping[str, Mapping[str, float]]
"""Fault -> instrument -> share of its programs on which it fires."""


@dataclass
class Fork:
    """One instrument to ask, and the faults left if it fires or is silent. `instrument` is "" at a leaf."""

    faults: tuple[str, ...]
    instrument: str = ""
    fires: "Fork | None" = None
    silent: "Fork | None" = None


@dataclass
class Node:
    """Counts for one instrument among the remaining faults."""

    yes: list[str] = field(default_factory=list)
    no: list[str] = field(default_factory=list)


def fired(faults: Iterable[Fault]) -> dict[str, dict[str, float]]:
    """Return the ledger's shares for each fault that is proved on some program."""
    shares: dict[str, dict[str, float]] = {}
    for fault in faults:
        cells = [cell for cell in ledger.read("faults", fault.id).get("cells", {}).values() if not cell["problems"]]
        names = {name for cell in cells for name in cell["fired"]}
        if cells:
            shares[fault.id] = {name: sum(name in cell["fired"] for cell in cells) / len(cells) for name in names}
    return shares


def grow(shares: Fired, prices: Mapping[str, float], left: Iterable[str] = ()) -> Fork:
    """Return the tree over the faults of `shares`; `prices`: instrument -> its price."""
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
    for fault_id in ids:
        share = shares[fault_id].get(name, 0.0)
        if share > 1 - SURE:
            node.yes.append(fault_id)
        if share < SURE:
            node.no.append(fault_id)
    return node


def _bits(node: Node, of: int) -> float:
    """Return a fork's information in bits, with equally likely faults; 0 if one side holds them all."""
    if of in (len(node.yes), len(node.no)):
        return 0.0
    total = len(node.yes) + len(node.no)
    after = sum(len(side) / total * math.log2(len(side)) for side in (node.yes, node.no) if side)
    return max(0.0, math.log2(of) - after)


def prices() -> dict[str, float]:
    """Return instrument -> 1, plus 1 if it calls the model again, plus 1 for each further run of the script."""
    declarations: dict[str, dict[str, Any]] = {name: diagnostics.declared(name) for name in diagnostics.names()}
    return {name: 1.0 + facts.get("COST", 0) + facts.get("RERUNS", 0) for name, facts in declarations.items()}
