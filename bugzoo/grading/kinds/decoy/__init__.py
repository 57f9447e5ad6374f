"""*decoy*: a repair beside something odd and harmless, which the healthy twin and the solution have too.

A repair that also takes it away passes with one point less of five (`marks`). The cause that it looks like is in the form. A
trap that moves a number of the story is no decoy: label smoothing moves the validation loss more than many faults do. Nor is
one that only removes a line, as there is nothing to leave alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from bugzoo.grading.kinds.repair import Repair, Values
from bugzoo.scenario import Scenario

if TYPE_CHECKING:
    from bugzoo.grading.model import Exercise, Result
    from bugzoo.grading.trials import Trial


@dataclass(frozen=True)
class Decoy(Repair):
    """Find and repair the fault, and leave alone what only looks like one."""

    trap: str
    """The spec of the trap that stays in the program. Name it in the fault's `beside`; `bugzoo pairs --prove` proves the pair."""
    name: ClassVar[str] = "decoy"

    def scenario(self, exercise: "Exercise") -> Scenario:
        return replace(super().scenario(exercise), decoy=self.trap)

    def suspected(self, exercise: "Exercise") -> tuple[str, ...]:
        """Return the cause that the decoy looks like."""
        from bugzoo.diagnostics import causes

        words = [causes.cause(like.other).word for trap, _ in exercise.scenario.odd for like in trap.look_alikes]
        return tuple(word for word in words if word not in (causes.OTHER, causes.NOTHING))[:1]

    def graded(self, exercise: "Exercise", source: str, options: Values) -> "Result":
        from bugzoo.grading.grade import grade
        from bugzoo.grading.kinds.decoy.marks import priced

        return priced(source, exercise.scenario, lambda case: grade(source, case, **options))

    def why(self, exercise: "Exercise") -> list[str]:
        """Return the explanation, and why the decoy is harmless, with its lines."""
        from bugzoo.grading.kinds.decoy.marks import marks

        lines = "\n".join(dict.fromkeys(mark.line for mark in marks(exercise.scenario)))
        harmless = [
            f"### Odd and harmless\n\n**{trap.title}.** {trap.why}\n\nThe healthy program has these lines too, so they may "
            f"stay:\n\n```python\n{lines}\n```"
            for trap, _ in exercise.scenario.odd
        ]
        return [*super().why(exercise), *harmless]

    def trials(self, exercise: "Exercise") -> Iterator["Trial"]:
        """Yield as well what a learner may do to the decoy: take it away beside a repair, and take it away alone."""
        from bugzoo.grading.answers import true_causes
        from bugzoo.grading.texts import healthy_text
        from bugzoo.grading.trials import TOUCHED, Trial

        yield from super().trials(exercise)
        plain, diagnosis = replace(exercise, kind=Repair()), {"cause": true_causes(exercise)[0]}
        yield Trial(exercise.name, TOUCHED, "the odd thing taken away as well", healthy_text(plain), diagnosis)
        yield Trial(exercise.name, "degenerate", "only the odd thing taken away", plain.handed_out, diagnosis)

    def seen(self, exercise: "Exercise") -> list["Trial"]:
        """Return also the proof that the decoy is harmless."""
        from bugzoo.grading.trials import DECOY, Trial

        return [*super().seen(exercise), Trial(exercise.name, DECOY, "", "")]

    def of_an_end(self, case: "Exercise") -> Iterator["Trial"]:
        from bugzoo.grading.trials import DECOY, Trial

        yield from super().of_an_end(case)
        yield Trial(case.name, DECOY, "", "")

    def claims(self, exercise: "Exercise") -> tuple[object, ...]:
        return (exercise.scenario.undecoyed().healthy().source,)
