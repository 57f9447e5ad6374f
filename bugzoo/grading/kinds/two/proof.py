"""The proof of a *two* exercise: repairs of one and of both faults, and findings that earn all points, half, or nothing."""

from collections.abc import Iterator, Sequence
from typing import Any

from bugzoo.diagnostics.causes import words
from bugzoo.grading.answers import filled, right
from bugzoo.grading.diagnosis import changed_lines
from bugzoo.grading.halves import half, halves
from bugzoo.grading.kinds.repair import LEAST
from bugzoo.grading.kinds.two.findings import KEY
from bugzoo.grading.model import Exercise
from bugzoo.grading.repairs import all_made, made
from bugzoo.grading.texts import healthy_text, same_program
from bugzoo.grading.trials import AT_MOST, HALF, Trial, fewer
from bugzoo.grading.trials.attacks import attacks
from bugzoo.grading.trials.wrong_fixes import PRETENCES


def asked(exercise: Exercise) -> list[tuple[list[dict[str, Any]], float]]:
    """Return pairs of findings with what each pair has to earn, as a share of the points."""
    first, other = (filled(exercise, of) for of in (0, 1))
    true = [word for of in (0, 1) for word in right(exercise, of).causes]
    pairs: list[tuple[list[dict[str, Any]], float]] = [([first, other], 1.0), ([other, first], 1.0)]
    pairs += [(pair, 0.5) for pair in ([first, {}], [{}, other], [first, first], [other, other])]
    for cause in (word for word in words() if word not in true):
        wrong, wrong_too = first | {"cause": cause}, other | {"cause": cause}
        pairs += [([first, wrong_too], 0.5), ([wrong, other], 0.5), ([wrong, wrong_too], 0.0)]
    return pairs


def thin(exercise: Exercise, trials: Sequence[Trial]) -> list[str]:
    """Return sentences for too few repairs or pretences of one of the faults."""
    problems = []
    for fault, _ in exercise.about_faults:
        kinds = [trial.kind for trial in trials if trial.name.startswith(f"{fault.id}: ")]
        counts = {"correct repairs": kinds.count(HALF), "pretences of its own": kinds.count("degenerate")}
        problems += [f"{fault.id}: {text}" for text in fewer(counts, LEAST)]
    return problems


def diagnoses(exercise: Exercise) -> tuple[int, list[str]]:
    """Return how many diagnoses were graded, and sentences on wrong grades."""
    problems, pairs = [], asked(exercise)
    for findings, share in pairs:
        if (earned := exercise.kind.grade_diagnosis(exercise, {KEY: findings}).share) != share:
            named = " and ".join(repr(finding.get("cause", "")) for finding in findings)
            problems.append(f"the diagnosis {named} earns {earned:.0%}, not {share:.0%}")
    return len(pairs), problems


def trials(exercise: Exercise) -> Iterator[Trial]:
    """Yield the submissions for two faults: repairs of one and of both, and pretences, alone and beside a repair."""
    broken, healthy = exercise.handed_out, healthy_text(exercise)
    for name, text in exercise.kind.accepted(exercise).items():
        yield Trial(exercise.name, "solution" if name == "solution" else "correct", name, text)
    yield Trial(exercise.name, "unsolved", "as handed out", broken)
    mended = [text for of in (0, 1) for text in halves(exercise, of).values()]
    for of, (fault, params) in enumerate(exercise.about_faults):
        for name, text in halves(exercise, of).items():
            yield Trial(exercise.name, HALF, f"{fault.id}: {name}", text)
        for name, edits in fault.pretences.items():
            for kind, base in (("degenerate", broken), (AT_MOST, half(exercise, 1 - of))):
                text = made(base, edits, params)
                if text is not None and not any(same_program(text, repaired) for repaired in (healthy, *mended)):
                    kind = AT_MOST if _repairs_other(exercise, of, text) else kind
                    alone = " alone" if base == broken else ""
                    yield Trial(exercise.name, kind, f"{fault.id}: {name}{alone}", text)
    names = {name for fault, _ in exercise.about_faults for name in (*fault.repairs, *fault.pretences)}
    for name, text in all_made(
        broken, {name: edits for name, edits in PRETENCES.items() if name not in names}, {}
    ).items():
        yield Trial(exercise.name, "degenerate", name, text)
    for name, text in attacks(broken).items():
        yield Trial(exercise.name, "attack", name, text)


def _repairs_other(exercise: Exercise, of: int, text: str) -> bool:
    """Return whether a pretence for one fault changes a line that a repair of the other one changes.

    To divide the learning rate is no repair of a summed loss, but it is one of a learning rate that is too high.
    """
    places = right(exercise, 1 - of).places
    changed = changed_lines(text, exercise.handed_out)
    return any(first <= end and start <= last for first, last in changed for start, end in places)
