"""`bugzoo check` of the exercises in which something is to be broken: our own edit and others earn everything, and nothing
else does: no repair of the fault, no other fault, not the fault beside another one, no attack on the grader.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from bugzoo.errors import UserError
from bugzoo.grading.breaking import breakings, load
from bugzoo.grading.breaking.judge import handed_out, judge, solution
from bugzoo.grading.breaking.model import Breaking
from bugzoo.grading.grade import same_program, tidy
from bugzoo.grading.repairs import pretences, repairs
from bugzoo.proving import code, ledger
from bugzoo.proving.attacks import attacks
from bugzoo.scenario import Scenario

KIND = "breakings"
LEAST = 2, 4
"""Edits that must pass, and other ones that must not."""


@dataclass
class Proof:
    """What was found for one. `right`, `wrong`: name of each edit -> what it earned."""

    breaking: str
    right: dict[str, float] = field(default_factory=dict)
    wrong: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    cached: bool = False

    @property
    def proved(self) -> bool:
        return not self.problems


def right(task: Breaking) -> dict[str, str]:
    """Name -> text of what must pass."""
    own = solution(task)
    made = pretences(own, *task.broken.specs[0])
    return {"our own": own} | {name: made[name] for name in task.ways if name in made}


def wrong(task: Breaking) -> Iterator[tuple[str, str]]:
    """(name, text) of what must not earn everything, and what is no such edit at all, which must earn nothing."""
    own, well = solution(task), handed_out(task)
    yield "as handed out", well
    for name, text in repairs(own, *task.broken.specs[0]).items():
        if not same_program(text, well):
            yield f"repaired: {name}", text
    for spec in task.others:
        yield f"another fault: {spec}", tidy(Scenario(task.program, (spec,), seed=task.seed).source)
        both = _both(task, spec)
        if both:
            yield f"{BOTH}{spec}", both
    for name, text in attacks(well).items():
        yield f"attack: {name}", text


BOTH = "beside another fault: "


def _both(task: Breaking, spec: str) -> str:
    try:
        return tidy(Scenario(task.program, (task.fault, spec), seed=task.seed).source)
    except UserError:  # the two edit the same line
        return ""


def key_of(task: Breaking) -> str:
    """Everything that its proof depends on."""
    said = (task.seeds, task.points, task.also, [str(claim) for claim in task.asked])
    texts = (sorted(right(task).items()), list(wrong(task)))
    return code.keyed((said, texts), (code.grading(),))


def check(
    names: Iterable[str] = (), tell: Callable[[int, int], None] | None = None, fresh: bool = False
) -> list[Proof]:
    """Prove some, all by default. What the ledger holds is believed. Raises UserError for an unknown name."""
    chosen = list(dict.fromkeys(load(name).name for name in names)) or list(breakings())
    proofs = []
    for name in chosen:
        task, entry = load(name), ledger.read(KIND, name)
        if not fresh and entry.get("key") == key_of(task):
            proofs.append(Proof(name, entry["right"], entry["wrong"], cached=True))
            continue
        proof = prove(task, tell)
        proofs.append(proof)
        if proof.proved:
            entry = {"key": key_of(task), "right": proof.right, "wrong": proof.wrong, "with": ledger.environment()}
            ledger.write(KIND, name, entry)
    return proofs


def prove(task: Breaking, tell: Callable[[int, int], None] | None = None) -> Proof:
    """Grade every edit as a learner's is graded."""
    proof, good, bad = Proof(task.name), right(task), dict(wrong(task))
    of, done = len(good) + len(bad), 0
    if missing := set(task.ways) - set(good):
        proof.problems.append(f"{', '.join(sorted(missing))} does not fit {task.program}")
    tried = sum(not name.startswith("attack") for name in bad)
    if len(good) < LEAST[0] or tried < LEAST[1]:
        proof.problems.append(
            f"{len(good)} edits that pass and {tried} that do not; {LEAST[0]} and {LEAST[1]} are asked for"
        )
    for held, texts in ((proof.right, good), (proof.wrong, bad)):
        for name, text in texts.items():
            result = judge(task, text)
            held[name] = result.share
            done += 1
            if tell:
                tell(done, of)
            failed = "; ".join(check.saw for check in result.checks if not check.passed) or result.message
            if held is proof.right and not result.passed:
                proof.problems.append(f"{name} must pass and is {result.status}: {failed}")
            if held is proof.wrong and result.share >= (1.0 if name.startswith(BOTH) else 0.01):
                proof.problems.append(f"{name} must not pass and earns {result.share:.0%}")
    return proof
