"""A clock that was set: times never go back, and one bad evening spoils no other."""

import random
import time

from bugzoo.practice.times import steady


def test_a_clock_that_nobody_touched_is_believed() -> None:
    assert steady([], 9) == [] and steady([1, 2, 2, 5], 9) == [1, 2, 2, 5]


def test_one_evening_in_another_year_changes_that_evening_alone() -> None:
    assert steady([10, 20, 3, 30], 99) == [10, 20, 20, 30], "set back"
    assert steady([10, 2000, 30, 40], 99) == [10, 10, 30, 40], "set forward, beyond now"
    assert steady([10, 80, 30, 40], 99) == [10, 10, 30, 40], "set forward, and now is later than that"
    assert steady([3, 10, 20], 5) == [3, 5, 5], "now is set back: what was answered just before was answered just now"
    assert steady([500, 10, 20], 99) == [10, 10, 20] and steady([500, 600], 99) == [99, 99]


def test_whatever_it_did_nothing_goes_back_or_lies_ahead() -> None:
    draw = random.Random(3)
    for _ in range(300):
        times = [draw.uniform(0, 120) for _ in range(draw.randrange(12))]
        found = steady(times, 100)
        assert found == sorted(found) and all(0 <= at <= 100 for at in found), times
        assert len(found) == len(times)
        assert steady(found, 100) == found


def test_ten_thousand_answers_take_no_time() -> None:
    many = [float(at) for at in range(10_000, 0, -1)]
    begun = time.process_time()
    assert len(set(steady(many, 1e6))) <= 2
    assert time.process_time() - begun < 5
