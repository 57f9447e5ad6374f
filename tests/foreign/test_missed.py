"""Ten scripts around public bug reports that checkup once missed, and their repaired twins."""

import pytest

from bugzoo.diagnostics.checkup import checkup
from tests.benchmarks.accuracy_folder import truths
from tests.benchmarks.opened import MISSED
from tests.sampling import only_in_prove

SILENT = {"vocoder_collate"}
"""torch itself warns there, and the share of the time that it costs depends on the machine."""
QUICK = {"captcha_ctc", "feature_match, repaired"}


CASES = [one if one.name in QUICK else only_in_prove(one) for one in truths(MISSED)]


@pytest.mark.slow
@pytest.mark.parametrize("truth", CASES, ids=[one.name for one in truths(MISSED)])
def test_each_has_its_cause_first_and_each_twin_nothing(truth):
    report = checkup(truth.path, most_reruns=0)
    assert report.outcome == ("found" if truth.faulty and truth.name not in SILENT else "nothing"), str(report)
    if report.suspects:
        assert truth.right(report.remaining[0]), str(report)
