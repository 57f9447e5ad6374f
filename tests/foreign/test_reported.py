"""What `checkup` says today of the opened scripts that were rebuilt from reports; the sealed half is for the number alone."""

import pytest

from bugzoo.diagnostics.checkup import checkup
from tests.corpus import scripts
from tests.sampling import only_in_prove

MISSED = {"r19", "r29", "r49", "r51", "r55", "r59"}
"""Nothing is named; of three the cause is among the readings."""
OPENED = {script.name: script for script in scripts("reported") if not script.sealed and script.name not in MISSED}


LONG = ("r29",)
"""Take 8 s and more."""


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", [only_in_prove(name) if name in LONG else name for name in OPENED])
def test_an_opened_script_gets_its_cause_or_is_left_in_peace(name):
    report = checkup(OPENED[name].path, most_reruns=0)
    if not OPENED[name].faulty:
        assert report.outcome == "nothing", str(report)
    else:
        assert OPENED[name].named([suspect.cause for suspect in report.suspects]), str(report)
