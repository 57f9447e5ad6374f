"""What `checkup` says today of the opened scripts that were rebuilt from reports; the sealed half is for the number alone."""

import json
from pathlib import Path

import pytest

from bugzoo.diagnostics.checkup import checkup
from tests.sampling import only_in_prove

FOLDER = Path(__file__).parents[1] / "corpus" / "reported"
ANSWERS = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))
MISSED = {"r19", "r29", "r49", "r51", "r55", "r59"}
"""Nothing is named; of three the cause is among the readings."""
OPENED = sorted(name for name in ANSWERS if int(name[1:]) % 2 and name not in MISSED)


LONG = ("r29",)
"""Take 8 s and more."""


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", [only_in_prove(name) if name in LONG else name for name in OPENED])
def test_an_opened_script_gets_its_cause_or_is_left_in_peace(name):
    answer, found = ANSWERS[name], checkup(FOLDER / f"{name}.py", most_reruns=0)
    first = [one.cause for one in found.suspects[:1]]
    if answer["cause"] is None:
        assert found.outcome == "nothing", str(found)
    else:
        right = {answer["cause"], *answer["also"], answer["second"]}
        assert set(first) & right, str(found)
