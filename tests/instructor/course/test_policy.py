"""What lateness costs: the policy's file, the times of hand-ins, and the points that count."""

from dataclasses import replace
from pathlib import Path

import pytest

from bugzoo.errors import UserError
from bugzoo.instructor import gradebook
from bugzoo.instructor import records as store
from bugzoo.instructor.course import standing
from bugzoo.instructor.lms.feedback import lines
from bugzoo.instructor.records import Record
from bugzoo.instructor.submission import Submission

TEXT = """
due = 2026-10-05T23:59:00
zone = "Europe/Berlin"
late_days = 1
late_penalty = 0.25
closes = "2026-10-12T23:59:00"
extensions = { ben = "2026-10-08", "zoë k." = 2026-10-20T12:00:00+00:00 }
"""


def rules(tmp_path: Path, text: str = TEXT) -> standing.Rules:
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    return standing.read(tmp_path / "policy.toml")


def record(student: str, when: str, points: float | None = 8.0, **more: str) -> Record:
    part = {"points": points, "max_points": 10.0, "status": "wrong", "checks": []}
    return Record(student, "wrong", points, 10.0, timestamp=when, repair=part, **more)


@pytest.mark.parametrize(
    ("when", "points", "word"),
    [
        ("2026-10-05 21:59:00 UTC", 8.0, ""),  # the very second, in another zone
        ("2026-10-05 23:59:00 Europe/Berlin", 8.0, ""),
        ("2026-10-05 23:59:00 CEST", 8.0, ""),
        ("2026-10-05 23:59:00", 8.0, ""),
        ("2026-10-05T21:59:01Z", 8.0, "1 late day begun after 2026-10-05 23:59 (UTC+02:00), of which 1 free: nothing was"),
        ("2026-10-06 21:59:00.5 +00:00", 8.0, "1 late day begun"),
        ("2026-10-06 21:59:01+00:00", 6.0, "2 late days begun after 2026-10-05 23:59 (UTC+02:00), of which 1 free: 2 points"),
        ("2026-10-09 12:00:00+0000", 2.0, "4 late days"),
        ("2026-10-12 21:00:00 UTC", 0.0, "8 points (100%)"),
        ("2026-10-12 22:00:00 UTC", 0.0, "after it closed, 2026-10-12 23:59 (UTC+02:00): 8 points were taken off"),
        ("2026-10-30 12:00:00 PDT", 8.0, "not known"),  # no zone that this course has
        ("2026-13-45 99:99:99", 8.0, "not known"),
        ("", 8.0, "When it was handed in is not known; nothing was taken off"),
    ],
)  # fmt: skip
def test_late(tmp_path: Path, when: str, points: float, word: str) -> None:
    [one] = standing.applied([record("ada", when)], rules(tmp_path))
    assert (one.raw, one.points) == (8.0, points) and one.penalty == 8.0 - points
    assert (word in " ".join(one.changes)) if word else one.changes == []
    assert all(change in gradebook.why(one) for change in one.changes)
    assert bool(one.changes) == (f"What counts: {points:g} of 10." in lines(one))


def test_who_has_longer(tmp_path: Path) -> None:
    given = rules(tmp_path)
    late = ("2026-10-08 21:59:00 UTC", "2026-10-10 21:59:00 UTC", "2026-10-20 11:00:00 UTC", "2026-10-20 13:00:00 UTC")
    who = ("ben", "ben", "zoë k.", "zoë k.")
    found = standing.applied([record(name, when) for name, when in zip(who, late, strict=True)], given)
    # a day without a time ends as the due date does; an extension beyond the end is the end
    assert [one.points for one in found] == [8.0, 6.0, 8.0, 0.0]
    given.check({"ben", "zoë k.", "ada"})
    with pytest.raises(UserError, match=r"an extension for 'ben', who is neither .* Did you mean benn\?"):
        given.check({"zoë k.", "benn"})


def test_a_file_s_own_time_is_no_hand_in(tmp_path: Path) -> None:
    late = record("ada", "2026-10-30 12:00:00", clock="file")
    [one] = standing.applied([late], rules(tmp_path))
    assert one.points == 8.0 and "its file is of 2026-10-30" in one.changes[0]
    [one] = standing.applied([late], rules(tmp_path, "file_times = true" + TEXT))
    assert one.points == 0.0


def test_nothing_graded_stays_so_and_records_stay_as_they_are(tmp_path: Path) -> None:
    first = record("ada", "2026-10-10 12:00:00 UTC")
    before = replace(first)
    given = rules(tmp_path)
    once = standing.applied([first], given)
    assert first == before and standing.applied(once[:0], given) == []
    [none] = standing.applied([record("ada", "2026-10-30 12:00:00 UTC", None)], given)
    assert (none.points, none.changes) == (None, [])
    absent = Record("zed", "not handed in", 0.0, 10.0)
    assert standing.applied([absent], given)[0].changes == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("due = 2026-10-05T23:59:00", r"does not say in which zone. Write 2026-10-05T23:59:00\+02:00, or add zone"),
        ("due = 2026-10-05", "it is a day and a time"),
        ('due = "soon"', "it is a day and a time"),
        ("due = 7", "it is a day and a time"),
        ('due = 2026-10-05T23:59:00\nzone = "Berlin"', "zone 'Berlin' is not known here"),
        ('due = 2026-10-05T23:59:00\nzone = "../../etc/passwd"', "is not known here"),
        ("late_days = 1", "says nothing without `due`"),
        ("due = 2026-10-05T23:59:00Z\nlate_days = -1", "a whole number from 0 to 366"),
        ("due = 2026-10-05T23:59:00Z\nlate_days = true", "a whole number"),
        ("due = 2026-10-05T23:59:00Z\nlate_penalty = 10", "a number from 0 to 1"),
        ("due = 2026-10-05T23:59:00Z\nlate_penalty = nan", "a number from 0 to 1"),
        ("due = 2026-10-05T23:59:00Z\ncloses = 2026-10-04T23:59:00Z", "before it is due"),
        ('due = 2026-10-05T23:59:00Z\nextensions = { ada = "2026-10-01" }', "the extension of ada, .*, ends before"),
        ("due = 2026-10-05T23:59:00Z\nextensions = [1]", "extensions = "),
        ("attempts = 3", "attempts = 3 is not allowed; it is a list of at most 100 numbers that do not rise"),
        ("attempts = [5, 7]", r"attempts = \[5, 7\] is not allowed"),
        ("attempts = [0, 0]", "is not allowed"),
        ("attempts = [10, true]", "is not allowed"),
        ("attempts = [10, -1]", "is not allowed"),
        ("attempts = [inf]", "is not allowed"),
        ("dew = 2026-10-05T23:59:00Z", "there is no key 'dew'"),
        ("due = ", "it is no TOML"),
    ],
)
def test_refused(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(UserError, match=word):
        rules(tmp_path, text)


@pytest.mark.parametrize(
    ("when", "days"),
    [
        ("2026-10-25 11:00:00 UTC", 1),
        ("2026-10-25 12:00:00", 1),
        ("2026-10-25 11:00:01 UTC", 2),
        ("2026-10-25 12:00:01", 2),
    ],
)
def test_a_summer_hour(tmp_path: Path, when: str, days: int) -> None:
    """A day ends at the same hour of the course's clock, also where that was put back and the day had 25 hours."""
    text = 'due = 2026-10-24T12:00:00\nzone = "Europe/Berlin"\nlate_penalty = 0.1'
    [one] = standing.applied([record("ada", when)], rules(tmp_path, text))
    assert f"{days} late day" in one.changes[0] and one.points == round(8 * (1 - days / 10), 4)


def hand_in(results: Path, digest: str, state: str = "wrong", points: float | None = 8.0, **more: object) -> Record:
    """What `bugzoo grade` keeps of one hand-in of ada's, after those before."""
    tries = store.earlier(results, Submission("ada", digest=digest))
    checks = [] if state in (store.UNGRADED, "not attempted") or more.pop("no_python", False) else [{"name": "run"}]
    part = {"points": points, "max_points": 10.0, "status": state, "checks": checks}
    made = Record("ada", state, points, 10.0, repair=part, digest=digest, tries=tries, timestamp="2026-10-05 12:00:00")
    made = replace(made, **more)
    store.keep(results, made)
    return made


def test_the_best_of_the_hand_ins_that_count(tmp_path: Path) -> None:
    """Points fall by the try; what cannot be judged costs none, nor does the same file; a late one is late by its own time."""
    given = rules(tmp_path, "attempts = [10, 7, 5]\n" + TEXT.replace("late_days = 1", "late_days = 0"))

    def counts(record: Record, under: standing.Rules = given) -> tuple[float | None, str]:
        [one] = standing.applied([record], under)
        return one.points, " ".join(one.changes)

    assert counts(hand_in(tmp_path, "a", points=2.0)) == (2.0, "")
    assert counts(hand_in(tmp_path, "a", points=2.0)) == (2.0, ""), "the same file"
    said = "This hand-in costs no attempt. Of 1 that did number 1 counts"
    assert counts(hand_in(tmp_path, "b", store.UNGRADED, None)) == (2.0, said)
    assert counts(hand_in(tmp_path, "c", "not attempted", 0.0)) == (2.0, said)
    assert counts(hand_in(tmp_path, "d", "your code raised", 0.0, no_python=True)) == (2.0, said)
    assert counts(hand_in(tmp_path, "e")) == (5.6, "Of 2 that did number 2 counts, with 70% of its 8 points")
    late = hand_in(tmp_path, "f", "passed", 10.0, timestamp="2026-10-06 12:00:00")
    assert counts(late) == (5.6, "Of 3 that did number 2 counts, with 70% of its 8 points"), (
        "half of 10, less a quarter"
    )
    last = hand_in(tmp_path, "g", "passed", 10.0)
    assert counts(last) == (5.6, "Of 4 that did number 2 counts, with 70% of its 8 points; only 3 could")
    assert [one["digest"] for one in last.tries] == ["a", "e", "f"]
    assert counts(last, rules(tmp_path, TEXT)) == (10.0, ""), "worked out on reading"
    [one] = standing.applied([last], rules(tmp_path, "attempts = [10, 7, 5, 5]"))
    assert (one.raw, one.points, one.penalty) == (10.0, 5.6, 0.0)
    assert counts(hand_in(tmp_path, "e"))[0] == 5.6, "one that was handed in before is the try that it was"
