"""The conversation: a request in one's own words -> the numbers of a real run that answer it."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from bugzoo import diagnostics
from bugzoo.interview.evidence import PRINTED, TWIN, Evidence, collect
from bugzoo.interview.hunt.words import Table, findings, stems
from bugzoo.interview.spoken.cases import Spoken

LEAST = 0.12
"""Likeness below which a request speaks of nothing that was measured."""
HELP = (
    "Say what you would look at, in your own words; `cause: ...` names the cause, `done` ends. Each request is "
    "answered from a real "
    "run."
)
ALSO = {
    TWIN: "loss curve losses healthy twin compare beside reference run over the steps training loss",
    PRINTED: "printed output log terminal message traceback error exception stack how did it end accuracy metric result",
    "first_non_finite": "first nan inf infinite not finite which operation step overflow where appears",
    "gradient_health": "gradients norm size layers vanishing exploding per layer",
    "fresh_gradient": "gradient older batches accumulated zero_grad cleared stale last batch alone compare",
    "step_timeline": "profile profiler time of a step data loading forward backward waiting slow loader timeline gpu "
    "utilisation",
    "memory_audit": "memory growth allocated tensors alive leak per step graph",
    "generalisation": "training against validation gap overfit curves both train test",
    "normalisation_source": "normalisation mean deviation scaling statistics computed from which rows fitted split",
    "train_validation_overlap": "duplicates overlap same samples both splits leakage",
    "mode_watch": "model eval train mode dropout batchnorm evaluation",
    "rank_check": "ranks stacks of each rank py-spy collective hang all_reduce waits",
    "scale_watch": "loss scale grad scaler underflow half precision fp16 zero gradients skipped steps",
    "activation_stats": "activations logits range values saturation hidden",
    "learning_rate_log": "learning rate schedule actual",
    "data_inspection": "look at the data samples labels shapes ranges inputs batch",
    "crash": "which line crashed where in the step forward backward optimizer",
}
"""Words that people use for what an instrument shows, beside its name and its question."""

Say = Callable[..., None]


@lru_cache(maxsize=1)
def _table() -> Table:
    told = {name: f"{name.replace('_', ' ')} {diagnostics.question(name)}" for name in diagnostics.names()}
    names = dict.fromkeys([*told, TWIN, PRINTED])
    return Table({name: stems(f"{told.get(name, '')} {f' {ALSO.get(name, str())}' * 3}") for name in names})


def meant(text: str, most: int = 2) -> list[str]:
    """What of a run a request speaks of: names of instruments, of the twin's curve or of what was printed; the "
    "nearest first."""
    order = [(name, near) for name, near in _table().ranked(text) if near >= LEAST]
    return [name for name, near in order[:most] if near >= 0.6 * order[0][1]]


def names_cause(text: str, case: Spoken) -> bool:
    """Whether somebody's words mean the cause of this case."""
    return any(one.means for one in findings(text, case.program, {case.fault: ()}))


def play(case: Spoken, lines: Iterable[str], say: Say = print, evidence: Evidence | None = None) -> dict[str, Any]:
    """Hold the conversation over `lines`; what was asked for and whether the cause was named."""
    say(f"{case.says}\n\n{HELP}")
    evidence = evidence or collect(case.scenario)
    asked: list[dict[str, Any]] = []
    found, guesses = False, 0
    for line in lines:
        text = line.strip()
        if not text:
            continue
        if text.lower() in ("done", "quit", "q"):
            break
        if text.lower().startswith("cause:"):
            guesses += 1
            found = names_cause(text[6:], case)
            say("That is it. What would you do about it?" if found else "The run does not bear that out.")
            if found:
                break
            continue
        names = meant(text)
        asked.append({"said": text, "shown": names})
        for name in names:
            say(f"[{name}]\n{evidence.text(name)}")
        if not names:
            say(
                "Nobody measured that. Which numbers, which curve, what of the data, the gradients, the memory, the time?"
            )
    shown = {name for one in asked for name in one["shown"]}
    return {
        "case": case.name,
        "found": found,
        "guesses": guesses,
        "asked": asked,
        "well_asked": sorted(shown & set(evidence.fired())),
    }
