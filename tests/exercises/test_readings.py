"""An instrument's picture is seen by whoever looks at the exercise in JupyterLab, whatever its kernel has loaded."""

import pytest
from IPython.display import Image

from bugzoo import frontend, lab
from bugzoo.grading import readings
from bugzoo.running import Reading


def test_the_picture_is_sent_as_png(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    shown = []
    monkeypatch.setenv("BUGZOO_WIDGETS", "1")
    monkeypatch.setattr(lab, "kernel", lambda: "one")
    monkeypatch.setattr("IPython.display.display", lambda *what, **_: shown.extend(what))
    numbers = {"first_loss": 2.3, "chance": 2.3, "ratio": 1.0}
    readings.show("initial_loss", Reading(numbers), None, verdict=False)
    [picture] = shown
    assert isinstance(picture, Image) and picture.data.startswith(b"\x89PNG"), (
        "a kernel that never loaded pyplot shows a bare figure as <Figure size ...>"
    )
    assert "<Figure" not in capsys.readouterr().out


def test_bars_are_in_proportion_and_counts_are_none_of_them() -> None:
    found = [
        ("loss", 2.3, ""),
        ("steps", 300, ""),
        ("share", 0.5, ""),
        ("lost", float("inf"), ""),
        ("what", "text", ""),
    ]
    assert readings.drawn(found) == {"loss": 2.3, "share": 0.5}
    assert readings.drawn([("steps", 300, ""), ("share", 0.0, "")]) == {}, "a picture of nothing"


def test_what_somebody_reads_is_broken_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "NO  evidence: " + ", ".join(20 * ["gradient_health"]) + "\nok  test: D"
    monkeypatch.setenv("BUGZOO_WIDGETS", "0")
    assert frontend.fit(text) == text
    monkeypatch.setenv("BUGZOO_WIDGETS", "1")
    lines = frontend.fit(text).splitlines()
    assert max(map(len, lines)) <= frontend.WIDE and lines[-1] == "ok  test: D" and lines[1].startswith("    gradient")
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())
    spaced = "  " + "label" + " " * 20 + "0.5   usual: " + "x " * 50
    assert frontend.fit(spaced).startswith("  label" + " " * 20 + "0.5   usual:")


def test_a_number_that_has_no_end_is_shown_as_such(
    capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUGZOO_WIDGETS", "0")
    numbers = {"used": 0.001, "best": 0.0056, "climbs": float("inf"), "of_limit": 0.0}
    readings.show("learning_rate_finder", Reading(numbers), None, verdict=False)
    assert "inf" in capsys.readouterr().out
