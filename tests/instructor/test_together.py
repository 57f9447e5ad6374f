"""Several at once: in order, and whatever raises ends the rest."""

import threading
import time

import pytest

from bugzoo.instructor.together import together


def test_in_order() -> None:
    seen: list[int] = []
    assert together(lambda n: n * n, range(7), 3, seen.append) == [n * n for n in range(7)]
    assert sorted(seen) == [n * n for n in range(7)]
    assert together(lambda n: n, [], 2) == []


def test_ctrl_c_ends_the_rest() -> None:
    """What runs hears of it and is waited for; what has not begun never does."""
    stopping, begun = threading.Event(), []

    def work(number: int) -> int:
        begun.append(number)
        if number:
            stopping.wait(30)
        return number

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        together(work, range(50), 2, interrupt, stopping)
    count = len(begun)
    assert stopping.is_set() and count < 10
    time.sleep(0.3)
    assert len(begun) == count
    assert not [one for one in threading.enumerate() if one.name.startswith("bugzoo_")]


def test_an_error_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        together(lambda n: 1 // n, [1, 0, 2], 2)
