"""`@pytest.mark.sampled(n)`: of the cases of a parametrised test n are run, others each time, so that `make test` stays short.

The draw is named in the header; `BUGZOO_SAMPLE_SEED=...` takes it again, and `BUGZOO_SAMPLE=all`, as `make prove` has it,
runs every case. Cases asked for by name (`pytest 'file.py::test[case]'`) are run as asked.
"""

import os
import random
from collections.abc import Sequence

import pytest

SEED, ALL = "BUGZOO_SAMPLE_SEED", "BUGZOO_SAMPLE"


def settle() -> None:
    """Draw the seed once: the processes of xdist inherit it, as they have to collect the same tests."""
    os.environ.setdefault(SEED, str(random.SystemRandom().randrange(10**6)))


def header() -> str:
    if os.environ.get(ALL) == "all":
        return "sampled tests: every case"
    return f"sampled tests: {SEED}={os.environ[SEED]} ({ALL}=all runs every case)"


def split(items: Sequence[pytest.Item], named: Sequence[str] = ()) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """(tests to run, cases left out this time). `named`: the beginnings of node ids that somebody asked for."""
    if os.environ.get(ALL) == "all":
        return list(items), []
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark and not any(item.nodeid.startswith(name) for name in named):
            groups.setdefault(item.nodeid.split("[")[0], []).append(item)
    out: set[pytest.Item] = set()
    for name, group in groups.items():
        mark = group[0].get_closest_marker("sampled")
        assert mark is not None
        some = random.Random(f"{os.environ[SEED]} {name}").sample(group, min(mark.args[0], len(group)))
        out |= set(group) - set(some)
    return [item for item in items if item not in out], [item for item in items if item in out]
