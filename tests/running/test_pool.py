"""Several at once: in order, and whatever raises ends the rest."""

import threading
import time

import pytest

from bugzoo.running.pool import run_all


def test_in_order() -> None:
    answers: dict[int, int] = {}
    assert run_all(lambda n: n * n, range(7), workers=3, on_done=answers.__setitem__) == [n * n for n in range(7)]
    assert answers == {n: n * n for n in range(7)}
    assert run_all(lambda n: n, []) == []


def test_ctrl_c_ends_the_rest() -> None:
    """What runs hears of it and is waited for; what has not begun never does."""
    stopping, begun = threading.Event(), []

    def work(number: int) -> int:
        begun.append(number)
        if number:
            stopping.wait(30)
        return number

    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_all(work, range(50), workers=2, on_done=interrupt, stopping=stopping)
    count = len(begun)
    assert stopping.is_set() and count < 10
    time.sleep(0.3)
    assert len(begun) == count
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("bugzoo_")]


def test_an_error_comes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        run_all(lambda n: 1 // n, [1, 0, 2], workers=2)
