"""Scripts around public bug reports that checkup was tried on, and their repaired twins."""

import pytest

from bugzoo.diagnostics.checkup import checkup
from tests.corpus import TWINNED, scripts
from tests.sampling import only_in_prove

SILENT = {
    "vocoder_collate",  # torch itself warns there, and the share of the time that it costs depends on the machine
    # what is wrong is in the script's own formulas, which no call shows, or is what others do on purpose
    "contrast_digits", "mixup_digits", "vae_digits", "blob_segmenter", "distil_cached", "pole_policy", "cond_digit_gan",
    "first_seen", "spell_numbers", "load_forecast", "moons_flow", "track_vae", "continued_run", "club_ranking",
    "topic_packed", "delivery_quantiles",
    "churn_cv", "point_query", "plane_dqn", "digit_wgan", "grid_load",
    "spectra_pyramid", "head_transfer", "parity_head", "digit_patches", "bean_table",
}  # fmt: skip
FALSE_ALARMS = {"random_filters", "fourier_head", "diabetes_uncertainty"}  # frozen at random, or dropped, on purpose
QUICK = {"captcha_ctc", "feature_match, repaired", "colour_digits", "panel_tasks", "transfer_head", "new_scanner"}
ALL = list(scripts(*TWINNED))
CASES = [one if one.name in QUICK else only_in_prove(one) for one in ALL]


@pytest.mark.slow
@pytest.mark.parametrize("truth", CASES, ids=[one.name for one in ALL])
def test_each_has_its_cause_first_and_each_twin_nothing(truth, tmp_path):
    report = checkup(truth.placed(tmp_path).path, most_reruns=0)
    expected = truth.name in FALSE_ALARMS or (truth.faulty and truth.name not in SILENT)
    assert report.outcome == ("found" if expected else "nothing"), str(report)
    if report.suspects and truth.faulty:
        assert truth.right(report.remaining[0]), str(report)
