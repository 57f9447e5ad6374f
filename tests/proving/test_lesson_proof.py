"""The text of a lesson is held to what its proof cells measure: each way in which it can be wrong is noticed."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bugzoo.course.source import Lesson, read
from bugzoo.proving.lesson_proof import holds, judge, read_through, run

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
        ("1.38", 1.379, True), ("1.38", 1.3601, True), ("1.38", 1.41, False), ("1.38", float("nan"), False),
        ("about 0.95", np.float32(0.9444), True), ("-20.7", torch.tensor(-20.72), True), ("20.7", -20.72, False),
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
        (("radius = 1", 'radius = lab.case("07/incident")'), "(setup): there is no [case] incident"),
    ],
)
def test_what_is_wrong_is_seen_without_running_it(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    (problem,) = read_through(lesson(tmp_path, change))
    assert said in problem


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
    found, measured = run(lesson(tmp_path, change))
    assert bool(found) is bool(said)
    assert found or measured == {"area": pytest.approx(3.14159, abs=1e-5), "more": True}
    for part in said:
        assert part in found[0]
