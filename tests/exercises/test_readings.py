"""An instrument's picture is seen by whoever looks at the exercise in JupyterLab, whatever its kernel has loaded."""

import pytest
from IPython.display import Image

from bugzoo import lab
from bugzoo.grading import readings
from bugzoo.running import Reading


def test_the_picture_is_sent_as_png(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    shown = []
    monkeypatch.setenv("BUGZOO_WIDGETS", "1")
    monkeypatch.setattr(lab, "kernel", lambda: "one")
    monkeypatch.setattr("IPython.display.display", lambda *what, **_: shown.extend(what))
    numbers = {"first_loss": 2.3, "best_loss": 0.1, "ratio": 0.04, "steps": 300}
    readings.show("overfit_one_batch", Reading(numbers), None, verdict=False)
    [picture] = shown
    assert isinstance(picture, Image) and picture.data.startswith(b"\x89PNG"), (
        "a kernel that never loaded pyplot shows a bare figure as <Figure size ...>"
    )
    assert "<Figure" not in capsys.readouterr().out
