"""Several submissions are graded at once, each in a thread of one process, and torch's generators belong to the process."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from bugzoo.grading import data_order, reference
from bugzoo.grading.grade import grade
from bugzoo.scenario import Scenario

CASE = Scenario("mlp", ("loop/stale_gradients",))


@pytest.mark.slow
def test_who_draws_has_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A split that was drawn between another thread's numbers made strangers of all training examples, for every hand-in."""
    reference._space.cache_clear()
    data_order._known.clear()
    drew, without = [], []

    def listening(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def heard(*args: Any, **kwargs: Any) -> Any:
            drew.append(name)
            if not reference.trusted._is_owned():
                without.append(name)
            return original(*args, **kwargs)

        return heard

    for place, name in (
        (torch, "manual_seed"),
        (torch, "set_rng_state"),
        (torch, "get_rng_state"),
        (torch.random, "fork_rng"),
    ):
        monkeypatch.setattr(place, name, listening(name, getattr(place, name)))
    assert grade(CASE.healthy().source, CASE, seeds=(0,), draw=3).passed
    assert {"manual_seed", "fork_rng"} <= set(drew) and not without


def test_two_threads_get_the_same_split() -> None:
    """One makes the data while another draws batches from its loader, again and again."""
    order = reference.space(reference.healthy_text(CASE), "mlp")["order"]
    ready = threading.Barrier(2)

    def splits() -> list[bool]:
        ready.wait()
        matches = []
        for _ in range(10):
            reference._space.cache_clear()
            matches.append(torch.equal(reference.space(reference.healthy_text(CASE), "mlp")["order"], order))
        return matches

    def draws() -> None:
        ready.wait()
        for _ in range(5):
            data_order._known.clear()
            data_order._healthy(reference.healthy_text(CASE), CASE)

    with ThreadPoolExecutor(2) as pool:
        future, other = pool.submit(splits), pool.submit(draws)
        assert all(future.result())
        other.result()
