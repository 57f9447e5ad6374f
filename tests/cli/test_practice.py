"""`bugzoo practice`: its tables, as text and as JSON, and what it refuses."""

import json
import sqlite3
import time
from datetime import date, timedelta

import pytest

from bugzoo import record


@pytest.fixture
def missed(bugzoo) -> None:
    """Two days ago something was missed, and an exercise was not passed."""
    with pytest.MonkeyPatch.context() as patch:
        then = time.time() - 2 * 86400
        patch.setattr(record.time, "time", lambda: then)
        value = {"cause": "a word", "fault": "loop/stale_gradients", "right": False, "sure": 90, "seconds": 9.0}
        assert record.event("card", "X-1", value | {"program": "mlp"})
        assert record.attempt("01_standing_still", "repair", "wrong", 0, 7)


def test_what_is_due(bugzoo, missed) -> None:
    found = json.loads(bugzoo("practice", "--due", "--json").out)
    assert found["due"] == 2 and "01_standing_still" in found["exercises"] and found["new"] > 100
    assert {one["family"] for one in found["causes"]} >= {"loop"} and found["causes"][0]["recall"] == 0
    assert "stale_gradients" not in json.dumps(found), "what comes is not told before it comes"
    called = bugzoo("practice", "--due")
    assert called.code == 0 and "2 causes are due" in called.out and "01_standing_still" in called.out


def test_accuracy_time_and_calibration(bugzoo, missed) -> None:
    found = json.loads(bugzoo("practice", "--stats", "--json").out)
    assert found["families"]["loop"]["brier"] == 0.81 and found["all"]["answers"] == 2 and found["all"]["asked"] == 1
    called = bugzoo("practice", "--stats", "--family", "loop")
    assert called.code == 0 and "0.81" in called.out and "90-100" in called.out and "attention" not in called.out


def test_a_plan(bugzoo, missed) -> None:
    by = (date.today() + timedelta(days=30)).isoformat()
    found = json.loads(bugzoo("practice", "--by", by, "--json").out)
    assert found["days"] == 30 and found["new"] > 100 and found["recall"] > 0.9 and len(found["families"]) > 20
    called = bugzoo("practice", "--by", by)
    assert called.code == 0 and "cards a day" in called.out and "First: " in called.out


def test_a_record_of_a_newer_bugzoo_is_refused(bugzoo, missed) -> None:
    with sqlite3.connect(record.path()) as connection:
        connection.execute("pragma user_version = 99")
    connection.close()
    called = bugzoo("practice")
    assert called.code == 2 and "written by a newer bugzoo" in called.err and "Traceback" not in called.err
