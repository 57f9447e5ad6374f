"""Scripts that nobody need start twice more are told from those whose order hangs on a hash."""

from dataclasses import replace

import pytest

from bugzoo.diagnostics import instrument, read, reread
from bugzoo.running import Job

fresh = instrument("fresh_process")
NEEDLESS = "names = dict(a=1)\nfor name in sorted(names.keys()):\n    print(name)\n"


@pytest.mark.parametrize(
    "line",
    [
        "names = {'a', 'b'}",
        "names = list({str(n) for n in range(3)})",
        "names = frozenset('ab')",
        "row = hash('a') % 7",
        "left = a.keys() - b.keys()",
        "both = a.union(b)",
        "exec('names = {1, 2}')",
    ],
)
def test_what_a_hash_may_order_is_started_again(line):
    assert fresh.needless(f"import torch\n{line}\n") == ""


def test_what_no_hash_orders_costs_no_run(monkeypatch, tiny_run):
    monkeypatch.setattr(fresh, "again", lambda job: pytest.fail("it was started again"))
    run = replace(tiny_run, source=NEEDLESS)
    for reading in (reread("fresh_process", run, Job(NEEDLESS)), read("fresh_process", run)):
        assert not reading.applies and "uses no set" in reading.why_not
