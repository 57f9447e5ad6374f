"""What is written of each claim is there, of today's texts, and what `verdict` says of its numbers; one is measured anew."""

from urllib.parse import urlparse

import pytest

from bugzoo import claims
from bugzoo.claims._model import HOLDS, NOT, PART, Finding
from bugzoo.proving import ledger

CASES = claims.names()


@pytest.fixture(autouse=True)
def the_real_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BUGZOO_PROOFS")


@pytest.mark.parametrize("name", CASES)
def test_the_result_is_committed_and_is_what_its_numbers_say(name: str) -> None:
    entry = claims.read(name)
    assert entry, f"type `bugzoo claims run {name}` and commit what it writes"
    assert claims.current(name), f"what it runs has changed since {entry['date']}: type `bugzoo claims run {name}`"
    found = claims.load(name).verdict(entry["numbers"])
    assert (found.verdict, found.why) == (entry["verdict"], entry["why"]), f"type `bugzoo claims run {name}`"
    assert entry["date"] and entry["with"] and entry["machine"] and entry["runs"] == len(claims.load(name).jobs())


@pytest.mark.parametrize("name", CASES)
def test_a_claim_says_what_it_must(name: str) -> None:
    module = claims.load(name)
    claim, place = module.CLAIM, urlparse(module.CLAIM.url)
    assert place.scheme == "https" and "." in place.netloc
    assert claim.said.endswith(".") and claim.tried.endswith(".") and claim.limits.endswith(".")
    assert "holds where" in claim.tried or "holds from" in claim.tried, "when it holds is said beforehand"
    assert module.__doc__.splitlines()[0].endswith("?")


def test_nothing_is_written_about_a_claim_that_there_is_not() -> None:
    assert set(ledger.names(claims.KIND)) == set(claims.names())


def test_one_that_only_reads_comes_out_the_same() -> None:
    entry = claims.measure("one_batch_catches_most")
    assert entry["verdict"] == claims.read("one_batch_catches_most")["verdict"]


@pytest.mark.slow
def test_one_that_runs_comes_out_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path))
    name, told = "log_after_min_gives_nan", []
    monkeypatch.setattr(claims.load(name), "SEEDS", (0,))  # a third of its runs
    entry = claims.measure(name, progress=lambda done, of: told.append((done, of)))
    written = claims.read(name)
    assert entry["verdict"] == written["verdict"] and entry["runs"] == written["runs"] / 3
    for case, one in written["numbers"].items():
        assert entry["numbers"][case]["finite_share"] == one["finite_share"], case
    assert told[0] == (0, entry["runs"]) and told[-1] == (entry["runs"], entry["runs"])
    told.clear()
    assert claims.measure(name, progress=lambda done, of: told.append((done, of)))["numbers"] == entry["numbers"]
    assert told == [(entry["runs"], entry["runs"])], "nothing is run twice"


def _all(numbers: dict, **values: object) -> dict:
    """The numbers with every part of that name set to a value, wherever it stands."""
    return {
        name: values[name] if name in values else _all(part, **values) if isinstance(part, dict) else part
        for name, part in numbers.items()
    }


def _one(numbers: dict, **values: object) -> dict:
    """The same in the first case alone."""
    first = next(iter(numbers))
    return numbers | {first: numbers[first] | values}


def _clipped(numbers: dict, cut: float) -> dict:
    return {name: one | {"healthy": 1.0, "cut": cut} for name, one in numbers.items()}


def _half(cases: dict) -> dict:
    return {name: one | {"diverged": 1.0, "fixed": at % 2} for at, (name, one) in enumerate(cases.items())}


def _by_flatness(numbers: dict, points: float) -> dict:
    """Each way as accurate as it is flat."""
    return {
        kind: {way: one | {"accuracy": -points * one["sharpness"] / 100} for way, one in ways.items()}
        for kind, ways in numbers.items()
    }


# what would have to be measured for each verdict, as a change of the committed numbers
COULD_BE = {
    "anomaly_mode_slow": {
        HOLDS: lambda n: _all(n, ratio=7.0),
        PART: lambda n: _one(_all(n, ratio=1.5), ratio=7.0),
        NOT: lambda n: _all(n, ratio=1.5),
    },
    "checklist_catches_most": {
        HOLDS: lambda n: n | {"all": n["all"] | {"faults": 100, "caught": 80}},
        PART: lambda n: n | {"all": n["all"] | {"faults": 100, "caught": 50}},
        NOT: lambda n: n | {"all": n["all"] | {"faults": 100, "caught": 10}},
    },
    "clip_rate": {
        HOLDS: lambda n: _clipped(n, 0.05),
        PART: lambda n: _one(_clipped(n, 0.05), cut=0.5),
        NOT: lambda n: _clipped(n, 0.5),
    },
    "double_softmax_accuracy": {
        HOLDS: lambda n: _all(n, points_lost=9.0),
        PART: lambda n: _one(_all(n, points_lost=1.0), points_lost=9.0),
        NOT: lambda n: _all(n, points_lost=1.0),
    },
    "double_softmax_first_loss": {
        HOLDS: lambda n: _all(n, first=47.0),
        PART: lambda n: n | {"programs": _one(n["programs"], first=9.0)},
        NOT: lambda n: _all(n, first=0.7),
    },
    "flat_minima_generalise": {
        HOLDS: lambda n: _by_flatness(n, 10.0),
        PART: lambda n: _one(_all(n, accuracy=0.9), **{"SAM 0.5": {**n["right labels"]["SAM 0.5"], "accuracy": 0.95}}),
        NOT: lambda n: _all(n, accuracy=0.9),
    },
    "four_workers": {
        HOLDS: lambda n: _all(n, waiting=0.05),
        PART: lambda n: _all(n, waiting=0.8) | {"4 workers, pinned": {"seconds": 1.0, "waiting": 0.3}},
        NOT: lambda n: _all(n, waiting=0.8),
    },
    "frozen_features": {
        HOLDS: lambda n: _all(n, gap=8.0),
        PART: lambda n: _one(_all(n, gap=30.0), gap=8.0),
        NOT: lambda n: _all(n, gap=30.0),
    },
    "half_without_scaler": {
        HOLDS: lambda n: _all(n, fails_at=[501, 476, 526]),
        PART: lambda n: _one(_all(n, fails_at=[None] * 3), fails_at=[501, 501, 501]),
        NOT: lambda n: _all(n, fails_at=[None] * 3),
    },
    "head_has_largest_gradients": {
        HOLDS: lambda n: _all(n, head=0.9),
        PART: lambda n: _all(n, head=0.1) | {name: n[name] | {"head": 0.9} for name in list(n)[: len(n) // 2]},
        NOT: lambda n: _all(n, head=0.1),
    },
    "leaky_normalisation_inflates": {
        HOLDS: lambda n: _all(n, gain=0.05, error=0.01),
        PART: lambda n: _one(_all(n, gain=0.0), gain=0.05, error=0.01),
        NOT: lambda n: _all(n, gain=0.0),
    },
    "log_after_min_gives_nan": {
        HOLDS: lambda n: _all(n, finite_share=0.0),
        PART: lambda n: _one(_all(n, finite_share=1.0), finite_share=0.5),
        NOT: lambda n: _all(n, finite_share=1.0),
    },
    "mask_after_softmax": {
        HOLDS: lambda n: {name: one | {"points_lost": float(at)} for at, (name, one) in enumerate(n.items())},
        PART: lambda n: _all(n, points_lost=0.0) | {"read at 180": n["read at 180"] | {"points_lost": 9.0}},
        NOT: lambda n: _all(n, points_lost=0.0),
    },
    "one_batch_catches_most": {
        HOLDS: lambda n: n | {"all": n["all"] | {"faults": 100, "faults caught": 80}},
        PART: lambda n: n | {"all": n["all"] | {"faults": 100, "faults caught": 50}},
        NOT: lambda n: n | {"all": n["all"] | {"faults": 100, "faults caught": 10}},
    },
    "skip_connections_smooth": {
        HOLDS: lambda n: {name: one | {"smooth": 3 * ("skip" in name)} for name, one in n.items()},
        PART: lambda n: _all(n, smooth=3),
        NOT: lambda n: {name: one | {"smooth": 3 * ("skip" not in name)} for name, one in n.items()},
    },
    "tenth_of_the_rate": {
        HOLDS: lambda n: _all(n, diverged=1.0, fixed=1.0),
        PART: lambda n: {"cases": _half(n["cases"])},
        NOT: lambda n: _all(n, diverged=1.0, fixed=0.0),
    },
    "zero_grad_forgotten": {
        HOLDS: lambda n: _all(n, power=1.0),
        PART: lambda n: _one(_all(n, power=0.0, power_of_length=0.0), power=1.0),
        NOT: lambda n: _all(n, power=0.0, power_of_length=0.0),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_every_verdict_could_have_come_out(name: str) -> None:
    """No verdict is written down: other numbers give another one, and another sentence."""
    module, numbers = claims.load(name), claims.read(name)["numbers"]
    came = {wanted: module.verdict(change(numbers)) for wanted, change in COULD_BE[name].items()}
    assert {wanted: found.verdict for wanted, found in came.items()} == {kind: kind for kind in claims.VERDICTS}
    assert len({found.why for found in came.values()}) == 3


def test_a_verdict_is_one_of_three() -> None:
    with pytest.raises(ValueError, match="'perhaps' is no verdict; it is one of holds, holds in part, does not hold"):
        Finding("perhaps", "nobody knows.")
