"""What stands at the end of an exercise: what was thought on the way, why, the lines, and what it could have been."""

from pathlib import Path
from typing import Any

import pytest

from bugzoo import faults, record
from bugzoo.grading import debrief, would_say
from bugzoo.grading.exercises import load, with_program
from tests.sampling import only_in_prove


@pytest.fixture(autouse=True)
def own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DATA", str(tmp_path))


def test_guesses_are_laid_beside_what_is_true() -> None:
    exercise = load("04")
    assert "What you said" not in debrief.text(exercise)
    ticket = exercise.scenario.ticket
    record.note(ticket, "hypothesis", {"cause": "a wrong learning rate", "sure": 80, "after": ["loss_curve"]})
    record.note(ticket, "diagnosis", {"cause": "a wrong learning rate"})
    record.note(ticket, "diagnosis", {"cause": "a loss function with the wrong kind of input"})
    guesses, _, rest = debrief.text(exercise).partition(f"### {exercise.about_fault[0].title}")
    assert guesses.index("a wrong learning rate, 80 % sure") < guesses.index("a wrong learning rate, handed in")
    assert "The right cause: **a loss function with the wrong kind of input**." in guesses and rest


@pytest.mark.parametrize("name", list(with_program()))
def test_the_lines_that_were_changed_are_shown_and_each_look_alike_says_which_run_is_meant(name: str) -> None:
    exercise = load(name)
    text = debrief.text(exercise)
    assert ("```diff\n" in text) != exercise.trap
    if not exercise.trap:
        changes = text.partition("```diff\n")[2].partition("\n```")[0].splitlines()
        assert changes and all(line[:1] in "-+" for line in changes)
    ids = {fault.id for fault, _ in exercise.about_faults}
    every = [like for fault, _ in exercise.about_faults for like in fault.look_alikes if like.other not in ids]
    look_alikes = {like.other: like for like in every}.values()  # two findings may have one look-alike
    assert text.count("\n- This run: ") == text.count("\n- That one: ") == len(look_alikes)
    for look_alike in look_alikes:
        title = faults.load(look_alike.other).title
        assert f"**{title}.** {look_alike.test}" in text or f"**A healthy run: {title}.** {look_alike.test}" in text
    assert exercise.about_fault[0].title not in [faults.load(look_alike.other).title for look_alike in look_alikes], (
        "not its own look-alike"
    )
    assert "**Nothing is wrong.**" not in text, "of a look-alike that would say that this program is healthy"


def test_the_picture_stands_between_the_reasons_and_what_comes_next(monkeypatch: pytest.MonkeyPatch) -> None:
    displayed: list[Any] = []
    monkeypatch.setenv("BUGZOO_WIDGETS", "1")
    monkeypatch.setattr("IPython.display.display", lambda *what, **_: displayed.extend(what))
    monkeypatch.setattr(debrief, "picture", lambda exercise, program: b"\x89PNG\r\n\x1a\n")
    monkeypatch.setattr(debrief.would_say, "text", lambda exercise: "### What `checkup` would have said")
    debrief.show(load("04"))
    assert [type(part).__name__ for part in displayed[:5]] == ["Markdown", "Markdown", "Image", "Markdown", "Markdown"]
    assert any("application/vnd.jupyter.widget-view+json" in part for part in displayed[5:]), (
        "the button for another case"
    )
    assert "**Repair.**" in displayed[0].data and "`checkup`" in displayed[3].data and "### Next" in displayed[4].data


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"), [only_in_prove("04", "1. `loss/double_softmax`, line "), only_in_prove("17", "Nothing found")]
)
def test_what_checkup_would_have_said(name: str, said: str) -> None:
    assert said in would_say.text(load(name))


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("07_sudden_nan", "+        largest = torch.logsumexp(20.0 * logits, dim=-1).mean()"),
        ("09_another_step_each_time", "+        strip = strip / strip.amax((1, 2), keepdim=True).clamp(min=1e-6)"),
        ("16_another_size", "+        counted = (targets >= 0).float()"),
    ],
)
def test_a_repair_that_keeps_what_the_lines_are_for_comes_first(name: str, kept: str) -> None:
    """The healthy text was never changed, so it lacks the whole idea: that alone would teach to take features out."""
    first, second = debrief.text(load(name)).split("```diff\n")[1:]
    assert kept in first and kept not in second
    assert "the version before it:" in first.split("```")[1]


def test_a_missing_line_is_put_in() -> None:
    assert debrief.text(load("10_restless_loss")).count("```diff\n") == 1
