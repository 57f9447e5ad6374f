"""What a suspect's score is: how often the instrument was right where it fired on scripts that it was not made from.

The counts are in scores.json, which `python -m tests.benchmarks.instrument_scores --save` writes. An instrument's score is
(hits + 1) / (firings + 2), Laplace's rule of succession: 0.5 if it never fired there. That of one of its causes begins at
the instrument's score instead of 0.5, and is counted in the same way. The number that the instrument itself gives is a cap.
"""

import json
from collections.abc import Container, Iterable
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bugzoo.diagnostics._presupposed import possible
from bugzoo.diagnostics.verdict import Verdict

if TYPE_CHECKING:
    from bugzoo.running.result import Run


@cache
def _counts() -> dict[str, dict[str, list[int]]]:
    """Return instrument -> cause -> [firings, hits]."""
    return json.loads(files("bugzoo.diagnostics").joinpath("scores.json").read_text(encoding="utf-8"))["counts"]


def score(instrument: str, cause: str) -> float:
    """Return how often this instrument is right, from 0 to 1, when it names this cause on a script that is new to it."""
    causes = _counts().get(instrument, {})
    firings, hits = [sum(column) for column in zip(*causes.values(), strict=True)] or (0, 0)
    whole = (hits + 1) / (firings + 2)
    firings, hits = causes.get(cause, (0, 0))
    return (hits + 2 * whole) / (firings + 2)


def refuted(verdicts: Iterable[Verdict], effects: Container[str] = ()) -> set[str]:
    """Return the causes that a measurement excludes, whatever else names them. `effects`: what broken contracts explain."""
    numbers: dict[str, Any] = {verdict.instrument: verdict.numbers for verdict in verdicts if not verdict.fired}
    causes = set()
    if numbers.get("double_normalisation", {}).get("log_prob_spread", 0) > 1:
        causes.add("loss/double_softmax")  # log-softmax of probabilities spans at most 1 nat
    if numbers.get("retain_graph", {}).get("kept_share") == 0:
        causes.add("memory/retain_graph_left_on")
    if "negative loss" in effects:
        causes.add("loss/sign_flipped")
    return causes


def weighed(verdicts: Iterable[Verdict], run: "Run", effects: Container[str] = ()) -> list[Verdict]:
    """Return the verdicts with suspects that the script can have and no measurement excludes, each with its score.

    A verdict with no such suspect does not fire: what it measures is not there. `effects`: as in `refuted`.
    """
    verdicts = list(verdicts)
    out = refuted(verdicts, effects)
    weighted = []
    for verdict in verdicts:
        left = [suspect for suspect in verdict.suspects if suspect.cause not in out and possible(suspect.cause, run)]
        scored = (replace(each, score=min(each.score, score(verdict.instrument, each.cause))) for each in left)
        weighted.append(
            replace(verdict, fired=verdict.fired and bool(left or not verdict.suspects), suspects=tuple(scored))
        )
    return weighted
