"""Accuracy, time, calibration, and the plan to a date."""

from datetime import date, datetime, timedelta

import pytest

from bugzoo.errors import UserError
from bugzoo.practice import figures, plan, standing
from bugzoo.practice.memory import DAY
from bugzoo.practice.plan import day_of
from bugzoo.practice.weights import pressing
from tests.practice.conftest import START

STALE, SOFTMAX = "loop/stale_gradients", "loss/double_softmax"


def on(day: float, *family: str):
    return standing(family, START + day * DAY)


def test_each_family_has_its_accuracy_its_seconds_and_its_brier_score(said) -> None:
    said(STALE, True, 0, 90, seconds=10.0)
    said(STALE, False, 0.1, 80, seconds=30.0)
    said(STALE, True, 0.2, None, seconds=20.0)
    said("traps/log_softmax_first", False, 0.3, 100)
    found = figures(on(1))
    row = found["families"]["loop"]
    assert (row["answers"], row["right"], row["seconds"], row["asked"]) == (3, 0.667, 20.0, 2)
    assert row["brier"] == pytest.approx((0.1**2 + 0.8**2) / 2, abs=1e-3) and row["sure"] == 85 and row["over"] == 35
    assert found["families"]["nothing is wrong"]["brier"] == 1.0 and found["families"]["loss"]["right"] is None
    assert found["all"]["answers"] == 4 and found["all"]["new"] == len(on(1).new)
    bins = {(row["from"], row["to"]): (row["answers"], row["right"]) for row in found["calibration"]}
    assert bins == {(0, 49): (0, None), (50, 69): (0, None), (70, 89): (1, 0.0), (90, 100): (2, 0.5)}
    assert set(figures(on(1, "loss"))["families"]) == {"loss", "nothing is wrong"}


def test_a_plan_meets_every_cause_before_the_day_and_says_what_a_day_costs(said) -> None:
    now = on(0)
    by = datetime.fromtimestamp(now.now).date() + timedelta(days=30)
    made = plan(now, by)
    assert made.days == 30 and made.new == len(now.causes) and made.recall_today == 0 and made.recall > 0.9
    assert made.new_a_day * 22 >= made.new and sum(week["new"] for week in made.weeks) == made.new
    assert sum(week["reviews"] for week in made.weeks) == made.reviews > made.new
    assert made.cards_a_day <= made.busiest and len(made.weeks) == 5 and not made.seconds_known
    short = plan(now, by - timedelta(days=25))
    assert short.cards_a_day > 2 * made.cards_a_day and short.new == made.new
    for _ in range(12):
        said(STALE, True, 0, seconds=100.0)
    mine = plan(on(0, "loop"), by)
    assert mine.seconds_known and mine.minutes_a_day == pytest.approx(mine.cards_a_day * 100 / 60, abs=0.1)
    assert mine.new < made.new and mine.recall_today > 0


def test_what_would_be_missed_and_is_asked_often_comes_first(said) -> None:
    before = pressing(on(0))
    assert list(before.values()) == sorted(before.values(), reverse=True)
    first = next(iter(before))
    for cause in (name for name in on(0).causes if name.startswith(f"{first}/")):
        said(cause, True, 0)
    after = pressing(on(0))
    assert (
        next(iter(after)) != first
        and after[first] == 0
        and list(plan(on(0), date(2023, 12, 24)).families) == list(after)
    )


def test_a_plan_of_one_day_is_one() -> None:
    now = on(0, "loop")
    made = plan(now, datetime.fromtimestamp(now.now).date() + timedelta(days=1))
    assert made.days == 1 and made.new == made.new_a_day == len(now.causes)


@pytest.mark.parametrize(
    "text", ["2023-02-30", "tomorrow", "", "2020-01-01", "2099-01-01", "24.12.2023", "20231224", "２０２３-12-24"]
)
def test_bad_days(text) -> None:
    with pytest.raises(UserError, match=r"--by .* such as (--by )?2023-12-14"):
        day_of(text, START)
    assert day_of("2023-12-24", START) == date(2023, 12, 24)
