"""The text of a lesson is held to what its proof cells measure: each way in which it can be wrong is noticed."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bugzoo.course.source import Lesson, read
from bugzoo.proving import ledger, lesson_proof
from bugzoo.proving.lesson_proof import Ran, elsewhere, holds, judge, read_through, run

LINE = 'device = "cpu"  # or "auto", "cuda"\n'
GOOD = """
# %% [markdown] title
# # 07 · Small
#
# The area is {3.14 = area}, {more than three = more}. `1.5` is code, and so is 23:40 a time.

# %% setup
radius = 1

# %% [proof]
import math

area = math.pi * radius**2
more = area > 3
"""


def lesson(folder: Path, *changes: tuple[str, str]) -> Lesson:
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "07_small.py").write_text(text, encoding="utf-8")
    return read(folder / "07_small.py")


@pytest.mark.parametrize(
    ("shown", "value", "so"),
    [
        ("1.38", 1.379, True), ("1.38", 1.3601, False), ("1.38", 1.3849, True), ("1.38", float("nan"), False),
        ("about 0.95", np.float32(0.9474), True), ("about 0.95", np.float32(0.9444), False),
        ("-20.7", torch.tensor(-20.72), True), ("20.7", -20.72, False),
        ("0.48 to 0.51", 0.4793, True), ("0.48 to 0.51", 0.5149, True), ("0.48 to 0.51", 0.516, False),
        ("81 to 83 %", 0.8349, True), ("81 to 83 %", 0.836, False), ("0.48 to 0.51", (0.4, 0.6), True),
        ("0.48 to 0.61", (0.4, 0.6), False), ("1.4", (1.0, float("inf")), True), ("1", float("inf"), False),
        ("51", 51, True), ("51", 52, False), ("51", 51.4, True), ("4,000", 4000, True), ("82 %", 0.8249, True),
        ("60 %", 0.61, False), ("12.5%", 0.125, True), ("90", (81, 95), True), ("900", (81, 95), False),
        ("almost twice", True, True), ("almost twice", False, False), ("almost twice", np.bool_(True), True),
        ("almost twice", 1.9, False), ("log", "log", True), ("log", "sqrt", False), ("1e-9", 1e-9, True),
        ("1e-9", 1e-8, False),
    ],
)  # fmt: skip
def test_a_text_and_a_measurement(shown, value, so) -> None:
    assert holds(shown, value) is so


def test_every_wrong_claim_is_told() -> None:
    with pytest.raises(AssertionError) as caught:
        judge([("1.0", "a", "here"), ("2.0", "b", "there"), ("3", "c", "beyond")], {"a": 1.0, "b": 2.5, "c": 4})
    assert str(caught.value).splitlines() == [
        "there: the text says '2.0', but b is 2.5",
        "beyond: the text says '3', but c is 4",
    ]


def test_a_variable_of_a_comprehension_is_no_name_of_the_cell(tmp_path: Path) -> None:
    """Python 3.12 runs a comprehension in its cell's own scope, and symtable lists its variables there."""
    setup = ("radius = 1\n", "radius = sum(one for one in [1])\nsizes = [one * radius for one in [1]]\n")
    theirs = ("import math\n", "import math\n\nassert [one for one in sizes] == [1]\n")
    assert read_through(lesson(tmp_path, setup, theirs)) == []
    used = ("radius = 1\n", "radius = 1\nsizes = [one + area for one in [1]]\n")
    (problem,) = read_through(lesson(tmp_path, used))
    assert "area comes only from a proof cell" in problem


def test_a_good_one_has_nothing_wrong(tmp_path: Path) -> None:
    assert read_through(lesson(tmp_path)) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("{3.14 = area}", "{3.14 = aera}"), "(title): 3.14 is aera, which no proof cell measures"),
        (("{3.14 = area}", "3.14"), "(title): 3.14 has no proof: write {3.14 = name}"),
        (("{3.14 = area}", "12.5 %"), "12.5 % has no proof"),
        (("a time.", "a time, or 2.5."), "2.5 has no proof:"),
        (("radius = 1", "radius = 1\narea = 0"), "(setup): area is bound here and in 07_small.py, line 11 (proof-2)"),
        (
            ("radius = 1", "radius = 1\n\n\ndef half():\n    return area / 2"),
            "(setup): area comes only from a proof cell",
        ),
        (
            ("radius = 1", f'{LINE}device = lab.use(device)\nlab.case("07/incident")'),
            "(setup): there is no [case] incident",
        ),
        (
            ("radius = 1", "bugzoo.Scenario('mlp', device=device)"),
            '(setup): begin the first code cell with device = "cpu"',
        ),
        (("radius = 1", f"{LINE}bugzoo.Scenario('mlp', device=device)"), "and end it with device = lab.use(device)"),
        (
            ("radius = 1", f"{LINE}device = lab.use(device)\nbugzoo.Scenario('mlp')"),
            "(setup): a Scenario runs on the CPU; give it device=device",
        ),
    ],
)
def test_what_is_wrong_is_seen_without_running_it(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    (problem,) = read_through(lesson(tmp_path, change))
    assert said in problem


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("", ""), []),
        (("radius = 1", "radius = 2"), ["line 2 (title): the text says '3.14', but area is 12.56"]),
        (("{3.14 = area}", "{3.24 = area}"), ["line 2 (title): the text says '3.24', but area is 3.14"]),
        (
            ("area > 3\n", "area > 3\nassert area > 4, area\n"),
            ["07_small.py, line 10 (proof-2) raised AssertionError", "assert area > 4"],
        ),
    ],
)
def test_what_is_wrong_is_seen_when_it_is_run(tmp_path: Path, change: tuple[str, str], said: list[str]) -> None:
    problems, measured, times, opened = run(lesson(tmp_path, change))
    assert bool(problems) is bool(said)
    assert problems or measured == {"area": pytest.approx(3.14159, abs=1e-5), "more": True}
    assert problems or (times["setup"] > 0 and times["title"] == 0)
    assert problems or opened == {"programs": [], "views": [], "instruments": []}
    for part in said:
        assert part in problems[0]


@pytest.mark.slow
def test_the_fastest_run_tells_the_longest_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_PROOFS", str(tmp_path / "proofs"))
    draft, lines = lesson(tmp_path), []
    for seconds in (40.0, 8.0, 30.0, 7.9):
        times = {draft.of("code")[0].key: seconds}
        monkeypatch.setattr(lesson_proof, "run", lambda *_, now=times, **__: Ran([], {}, now, {}))
        assert lesson_proof.prove(draft) == []
        lines.append(lesson_proof.longest(draft))
    assert lines == ["setup 40.0 s", "setup 8.0 s", "setup 8.0 s", "setup 8.0 s"], "7.9 is the same"


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_on_a_device_all_that_does_not_hold_is_told_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proof cell that raises hides no number that others measure; a learner's cell that raises ends the run."""
    monkeypatch.setattr(ledger, "write", lambda *_: pytest.fail("the ledger is about the CPU"))
    where = f"{LINE}\nradius = {{'cpu': 1, 'cuda': 2}}[device]"
    asserted = "area > 3\nassert radius == 1, 'another radius'\n\n# %% [proof]\nassert len('ab') == 2\n"
    same = ("radius = 1", where), ("area > 3\n", asserted)
    assert elsewhere(lesson(tmp_path, *same), "cpu") == {"words": [], "digits": [], "apart": []}
    assert run(lesson(tmp_path, *same))[0] == [], "without a device the proof is made on the CPU"
    differences = elsewhere(lesson(tmp_path, *same), "cuda")
    (raised,), (claim,) = differences["words"], differences["digits"]
    assert raised.startswith("07_small.py, line 12 (proof-2): AssertionError: another radius, at `assert radius == 1")
    assert claim == "07_small.py, line 2 (title): the text says '3.14', but area is 12.566370614359172"
    early = ("area = math.pi", "assert radius == 1\narea = math.pi")
    raised, *claims = elsewhere(lesson(tmp_path, *same, early), "cuda")["words"]
    assert "AssertionError" in raised and claims == [
        "07_small.py, line 2 (title): the text says '3.14', but area is 'not measured'",
        "07_small.py, line 2 (title): the text says 'more than three', but more is 'not measured'",
    ]
    here = elsewhere(lesson(tmp_path, *same, ("# %% setup", "# %% late\n1 / 0\n\n# %% setup")), "cuda")
    (failed,) = here["apart"]
    assert here["words"] == here["digits"] == [], "it fails on the CPU as well"
    assert "(late) raised ZeroDivisionError" in failed
