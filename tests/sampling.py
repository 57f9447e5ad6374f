"""`@pytest.mark.sampled(n)`: n of the cases of a parametrized test are run; `sampled(0)`: none, but in `make prove`.

The seed below decides which, so that the gate runs the same tests every time; change it by hand. `make explore` draws another
one, and `BUGZOO_SAMPLE_SEED=...` takes that draw again. `make prove` runs every case (`BUGZOO_SAMPLE=all`). A case that is
asked for by name (`pytest 'file.py::test[case]'`) runs as asked.
"""

import hashlib
import os
import random
from collections.abc import Sequence
from typing import Any

import pytest

SEED, ALL = "BUGZOO_SAMPLE_SEED", "BUGZOO_SAMPLE"
CHOSEN = "20261125"


def seed() -> str:
    """The seed in force."""
    return os.environ.get(SEED) or CHOSEN


def fresh_seed() -> int:
    """A random seed, for `make explore`."""
    return random.SystemRandom().randrange(10**6)


def only_in_prove(*case: Any) -> Any:
    """A case of `parametrize` that takes long and shows what a quicker one shows: `make prove` runs it."""
    return pytest.param(*case, marks=pytest.mark.sampled(0))


def header() -> str:
    if os.environ.get(ALL) == "all":
        return "sampled tests: every case"
    return f"sampled tests: {SEED}={seed()} ({ALL}=all runs every case)"


def split(items: Sequence[pytest.Item], named: Sequence[str] = ()) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """(tests to run, cases left out). `named`: the beginnings of node ids that the user asked for.

    Each case has a rank of its own, so that a new case changes the draw by one case at most. Cases of one test that are
    marked with different numbers are drawn apart: `pytest.param(..., marks=pytest.mark.sampled(0))` leaves out a slow one. Of
    a case's number and that of its test the smaller one counts.
    """
    if os.environ.get(ALL) == "all":
        return list(items), []
    groups: dict[tuple[str, int], list[pytest.Item]] = {}
    for item in items:
        counts = [mark.args[0] for mark in item.iter_markers("sampled")]  # a case's own, then its test's, in any order
        if counts and not any(item.nodeid.startswith(name) for name in named):
            groups.setdefault((item.nodeid.split("[")[0], min(counts)), []).append(item)
    out: set[pytest.Item] = set()
    for (_, count), group in groups.items():
        ranked = sorted(group, key=lambda item: hashlib.sha256(f"{seed()} {item.nodeid}".encode()).digest())
        out |= set(ranked[count:])
    return [item for item in items if item not in out], [item for item in items if item in out]
