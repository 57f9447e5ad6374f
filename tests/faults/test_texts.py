"""Idioms changed how faults are written, not what they write: every broken text is the one of before, byte for byte.

`texts_before_idioms.json` was recorded with plain swaps: the text from its Settings section on, as sha256 per cell (spec,
program, size, seed); programs whose own text has changed since are not in it any more. `numerics/log_at_step` has got a
comment since, and no other byte of it has changed. `accepted_before_idioms.json`: the lines that `bugzoo break` took then in
scripts of other styles.
"""

import hashlib
import json
from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.scenario import Scenario, break_source
from tests.corpus import ROOT

HERE = Path(__file__).parent
TEXTS = json.loads((HERE / "texts_before_idioms.json").read_text(encoding="utf-8"))
MISTAKEN = {("scripts/argparse_main.py", "distributed/skipped_batch"): "it has no ranks, and what came out did not run"}
ACCEPTED = json.loads((HERE / "accepted_before_idioms.json").read_text(encoding="utf-8"))


def digest(cell: str) -> str:
    spec, program, size, seed = cell.split()
    text = Scenario(program, (spec,), seed=int(seed), size=size).source
    return hashlib.sha256(text[text.index("# %% Settings") :].encode()).hexdigest()


@pytest.mark.parametrize("spec", sorted({cell.split()[0] for cell in TEXTS}))
def test_broken_texts_are_what_they_were(spec):
    cells = [cell for cell in TEXTS if cell.split()[0] == spec]
    assert cells
    assert [cell for cell in cells if digest(cell) != TEXTS[cell]] == []


@pytest.mark.parametrize("script", sorted(ACCEPTED))
def test_break_takes_what_it_took(script):
    source = (ROOT / script).read_text(encoding="utf-8")
    for fault, was in ACCEPTED[script].items():
        if (script, fault) in MISTAKEN:
            continue
        if was["one"]:
            compile(break_source(source, [fault], script).broken, script, "exec")
            continue
        try:  # several places then: one of them is meant now, or they are offered still
            break_source(source, [fault], script)
        except UserError as error:
            assert "--at LINE" in str(error)
        for line in was["lines"]:
            compile(break_source(source, [fault], script, line).broken, script, "exec")
