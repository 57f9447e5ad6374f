"""A view and a tool in an exercise: what is printed, drawn, kept back, and how often the program runs for it."""

import pytest
from IPython.display import Image

from bugzoo import frontend, lab, views
from bugzoo.grading import looks
from bugzoo.running import Reading

SEEN = Reading({"steps": 3.0, "x": [1.0, 2.0, 3.0], "losses": [2.3, 2.0, 1.5], "lost": 0.0, "lowest": 1.5})


def test_the_picture_is_sent_as_png(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    displayed = []
    monkeypatch.setenv("BUGZOO_WIDGETS", "1")
    monkeypatch.setattr(lab, "kernel", lambda: "one")
    monkeypatch.setattr("IPython.display.display", lambda *what, **_: displayed.extend(what))
    assert looks.show("loss_curve", SEEN)["optimizer steps"] == 3.0
    picture, numbers = displayed
    assert isinstance(picture, Image) and picture.data.startswith(b"\x89PNG"), (
        "a kernel that never loaded pyplot shows a bare figure as <Figure size ...>"
    )
    assert "<Figure" not in capsys.readouterr().out and "optimizer steps" in numbers["text/plain"]


def test_a_view_that_saw_nothing_says_why(capsys: pytest.CaptureFixture) -> None:
    assert looks.show("ranks", Reading(why_not="the script runs on one rank")) == {}
    assert "nothing to see: the script runs on one rank" in capsys.readouterr().out


def test_one_run_serves_all_views(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    runs: list[list[str]] = []

    def measured(names: list[str], *_: object) -> dict[str, Reading]:
        runs.append(names)
        return dict.fromkeys(names, SEEN)

    monkeypatch.setattr(looks, "measured", measured)
    readings = looks.Looks()
    for name in ("batch", "loss_curve", "batch", "repeat", "gradients", "repeat"):
        readings.reading(name, "x = 1", 1)
    assert len(runs) == 2 and runs[1] == ["repeat"], "a view that runs the program again has a run of its own"
    printed = capsys.readouterr().out
    assert "once, for all views" in printed and f"runs {1 + views.reruns('repeat')} times for this view" in printed
    readings.reading("batch", "x = 1", 1, step=5)
    readings.reading("batch", "x = 2", 1)
    assert runs[2] == ["batch"] and len(runs) == 4, "another step, and a changed program, are run"


def test_a_tool_keeps_its_conclusion_back_until_the_diagnosis(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    from bugzoo.running import Run
    from bugzoo.watching.trace import Trace

    run = Run(Trace())
    numbers = {"used": 0.001, "best": 0.0056, "climbs": float("inf"), "of_limit": 0.0, "rates": [1e-3]}
    numbers |= {"losses": [2.3], "first_loss": 2.3, "lowest_loss": 2.3}
    run.readings = {"learning_rate_finder": Reading(numbers)}
    monkeypatch.setattr(looks, "run_worker", lambda job: run)
    looks.use("learning_rate_finder", "x = 1", 1, diagnosed=False)
    before = capsys.readouterr().out
    assert "inf" in before and "opens with your diagnosis" in before
    looks.use("learning_rate_finder", "x = 1", 1, diagnosed=True)
    assert "opens with your diagnosis" not in capsys.readouterr().out


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
