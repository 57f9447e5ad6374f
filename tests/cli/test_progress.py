"""`bugzoo progress`: the map in the terminal, and as JSON."""

import json

from bugzoo import record


def test_a_way_is_taken_and_kept(bugzoo) -> None:
    called = bugzoo("progress")
    assert called.code == 0 and called.out.startswith("A course of 12 weeks") and "No way is chosen yet" in called.out
    called = bugzoo("progress", "--way", "hour")
    assert called.code == 0 and called.out.startswith("An hour before an interview") and "No way" not in called.out
    assert bugzoo("progress").out == called.out


def test_json_holds_every_plan_and_what_is_done(bugzoo) -> None:
    record.attempt("07_sudden_nan", "repair", "passed", 7, 7)
    found = json.loads(bugzoo("progress", "--way", "mine", "--json").out)
    assert found["way"] == "mine" and found["chosen"] and found["next"]["command"] == "bugzoo checkup train.py"
    assert {one["name"] for one in found["plans"]} == {"course", "weekend", "hour", "mine"}
    passed = [one["name"] for one in found["exercises"] if one["state"] == "done"]
    assert passed == ["07_sudden_nan"] and len(found["lessons"]) >= 2
    rows = json.loads(bugzoo("exercises", "progress", "--json").out)
    assert [row["id"] for row in rows if row["passed"]] == passed, "both read one record"


def test_mistakes(bugzoo) -> None:
    called = bugzoo("progress", "--way", "weeknd")
    assert called.code == 2 and "Did you mean weekend?" in called.err and "Traceback" not in called.err
    record.folder().mkdir(parents=True)
    record.path().write_text("this is no database, and it is long enough to be noticed as such" * 20)
    called = bugzoo("progress")
    assert called.code == 2 and "record.sqlite" in called.err
