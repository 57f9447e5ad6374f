"""When did a run begin to differ from its twin, and what was different first?

Numbers are recorded at every step, so that these are compared first, and with them the random states and what an epoch began
with. They say by when the runs differ. What is kept of both runs at the same steps is bisected for a state that is still
equal; from there single steps are run again on both sides, as few as it takes, and the first that differs is run once more
with everything that it makes noted down.
"""

from dataclasses import dataclass, replace

from bugzoo.watching.by_numbers import afterwards, evaluated, recorded
from bugzoo.watching.difference import Divergence, told
from bugzoo.watching.history import Snapshot
from bugzoo.watching.replay import Past, execute, starts
from bugzoo.watching.replay import same as same_loss
from bugzoo.watching.same import Pair, first_pair
from bugzoo.watching.tape import Entry, Tape, of_random, of_state
from bugzoo.watching.trace import Trace

Found = tuple[list[Pair], Pair | None]
"""Of two lists of entries: all pairs of the first stage that differs, the first that does."""


@dataclass
class _Side:
    trace: Trace
    past: Past
    states: dict[int, Snapshot]
    replayed: int = 0

    @classmethod
    def of(cls, trace: Trace) -> "_Side | None":
        past = trace.live.past if trace.live is not None else None
        if past is None or past.history is None or past.models.several_ranks():
            return None
        return cls(trace, past, past.history.states())

    def again(self, start: int, step: int, whole: bool) -> Tape | None:
        """`step` made again from the state at step `start`; None where that does not give the recorded loss."""
        history, snapshot = self.past.history, self.states[start]
        run = history.leading(snapshot, step) if history is not None else []
        for from_start in starts(run) if run else ():
            tape = Tape(self.past, run[-1], whole)
            info, _ = execute(self.past, snapshot, run, step, from_start, tape)
            self.replayed += step - start + 1
            if "step" in info and same_loss(info["loss"], float(self.trace.loss[step - 1])):
                return tape
        return None

    def begins(self) -> dict[int, list[Entry]]:
        """step -> its random state at the first forward and, where an epoch begins, buffers and settings."""
        found: dict[int, list[Entry]] = {}
        for one in self.past.history.iterations if self.past.history is not None else ():
            if one.step in found:
                continue
            entries = found[one.step] = of_random(one.rng)
            if one.between is not None:
                entries += [
                    Entry("buffer", f"buffer {n} of the models", value)
                    for n, (_, value) in enumerate(one.between.buffers)
                ]
                settings = [group for _, groups in one.between.groups for group in groups]
                entries += [
                    Entry("setting", f"{key} {n}", v) for n, row in enumerate(settings) for key, v in row.items()
                ]
        return found


def divergence(here: Trace, there: Trace, tolerance: float = 0.0) -> Divergence:
    """See Trace.differs_from."""
    common = min(len(here.step), len(there.step))
    shown = recorded(here, there, common, tolerance)
    one, other = _Side.of(here), _Side.of(there)
    found, known, why = None, 0, "of one of the runs nothing but numbers is there"
    if one is not None and other is not None and common:
        found, known, why = _bisect(one, other, shown, tolerance)
    if found is None and shown is not None:
        found = replace(shown, why=why)
    found = found or afterwards(here, there, common, tolerance)
    replayed = sum(side.replayed for side in (one, other) if side is not None)
    also = (*found.also, *(() if found.what == "evaluation" else evaluated(here, there)))
    what = (
        "the numbers noted at each step",
        *(("a kept state" if known == 1 else f"{known} kept states",) if known else ()),
        *found.compared,
    )
    return replace(found, steps=common, replayed=replayed, states=known, tolerance=tolerance, also=also, compared=what)


def _bisect(one: _Side, other: _Side, shown: Divergence | None, tolerance: float) -> tuple[Divergence | None, int, str]:
    """(the first difference or None, pairs of states that were compared, why no step was run again)."""
    shared = sorted(one.states.keys() & other.states.keys())
    first, second = one.begins(), other.begins()
    known: dict[int, Found] = {}

    def at(step: int) -> Found:
        """What differs in the states at this step's first forward."""
        if step not in known:
            mine, theirs = (of_state(side.past, side.states[step].state) for side in (one, other))
            known[step] = first_pair(mine, theirs, tolerance)
        return known[step]

    noted = [] if shown is None or shown.step is None else [shown]
    for step in sorted(first.keys() & second.keys()):
        pairs, pair = first_pair(first[step], second[step], tolerance)
        if pair is not None:
            noted.append(told(step, pairs, pair))
            break
    fit = [step for step in shared if all(step <= (known_at.step or 0) for known_at in noted)]
    low, high = 0, len(fit)  # fit[:low] are equal, fit[high:] are not
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if at(fit[middle])[1] is None else (low, middle)
    if high < len(fit):
        noted.append(told(fit[high], *at(fit[high])))
    if not noted:
        return None, len(known), ""
    earliest = min(noted, key=lambda known_at: known_at.step or 0)
    end = earliest.step or 0
    found: Divergence | None = None
    if not shared:
        why = "no state of the same step is kept of both; watch(rewind=True) keeps them"
    elif low == 0 and fit[:1] != [1]:
        why = f"the oldest state that is kept of both is that of step {shared[0]}, and there they differ already"
    else:
        start = fit[low - 1] if low else fit[0]
        found, why = _run_again(one, other, start, end, tolerance)
    return found or replace(earliest, why=why), len(known), why


def _run_again(one: _Side, other: _Side, start: int, end: int, tolerance: float) -> tuple[Divergence | None, str]:
    """The first step from `start` to `end` that differs, and what differs first in it."""
    step = _earliest(one, other, start, end, tolerance)
    tapes = [side.again(start, step, whole=True) for side in (one, other)] if step else [None]
    held = [tape.entries for tape in tapes if tape is not None]
    if step is None or len(held) < 2:
        return None, f"the steps from {start} on did not give the same numbers when they were run again"
    pairs, pair = first_pair(held[0], held[1], tolerance)
    if pair is None:
        return None, f"step {step} shows nothing when it is run again, as rounding of another number of threads would"
    return replace(told(step, pairs, pair), by="kept states"), ""


def _earliest(one: _Side, other: _Side, start: int, end: int, tolerance: float) -> int | None:
    """The first step from `start` on that differs, knowing that `end` does; None where a step cannot be run again.

    A difference mostly shows where it is made, so the search goes back from `end` in steps that double, then halves.
    """
    before, back = end, 1
    while before > start:
        step = max(start, end - back)
        differs = _left_differently(one, other, start, step, tolerance)
        if differs is None:
            return None
        if not differs:
            break
        before, back = step, 2 * back
    else:
        return start
    low = step  # what it leaves is equal, what `before` leaves, or is, is not
    while before - low > 1:
        middle = (low + before) // 2
        differs = _left_differently(one, other, start, middle, tolerance)
        if differs is None:
            return None
        low, before = (low, middle) if differs else (middle, before)
    return before


def _left_differently(one: _Side, other: _Side, start: int, step: int, tolerance: float) -> bool | None:
    tapes = [side.again(start, step, whole=False) for side in (one, other)]
    if tapes[0] is None or tapes[1] is None:
        return None
    return first_pair(tapes[0].after, tapes[1].after, tolerance)[1] is not None
