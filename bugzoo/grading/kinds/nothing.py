"""*nothing*: the fault is a trap. The run is healthy, and the right answer is that nothing is wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bugzoo.grading.kinds.repair import Repair, Values

if TYPE_CHECKING:
    from bugzoo.grading.model import Exercise, Result
    from bugzoo.grading.trials import Trial

EMPTY = "The diagnosis is empty. First say what is wrong, if anything."


@dataclass(frozen=True)
class Nothing(Repair):
    """Find out that nothing is wrong, and leave the program's behavior as it is."""

    name: ClassVar[str] = "nothing"

    def accepted(self, exercise: "Exercise") -> dict[str, str]:
        return super().accepted(exercise) | {"solution": exercise.handed_out}

    def grade(self, exercise: "Exercise", source: str, diagnosis: Values, options: Values) -> "Result":
        """Grade a program whose behavior should be unchanged; the diagnosis has to say that nothing is wrong."""
        from bugzoo.diagnostics.causes import says
        from bugzoo.grading.model import Check, Result

        if not (cause := diagnosis.get("cause")):
            return Result("not attempted", message=EMPTY)
        if not says(cause, exercise.about_fault[0].id):
            saw = f"Your diagnosis says “{cause}”. The run does not show it."
            expected = "The run should confirm the diagnosis."
            return Result("wrong", 0.0, [Check("verdict", "wrong", saw, expected, group="unchanged")])
        return super().grade(exercise, source, diagnosis, {**options, "attempted": True})  # it may stay as it is

    def tried(self, exercise: "Exercise", source: str, options: Values) -> "Result":
        """Run a change of a healthy program: it is answered as one that does not find the fault."""
        from bugzoo.grading.groups import of_a_trap

        return of_a_trap(super().grade(exercise, source, {}, {"seeds": exercise.seeds[:1], **options}))

    def why(self, exercise: "Exercise") -> list[str]:
        from bugzoo.grading.debrief import explained, thought

        return [thought(exercise), *explained(exercise)]

    def compared(self, exercise: "Exercise", own: str) -> list[tuple[str, str]]:
        """Return nothing: before and after are the same."""
        return []

    def trials(self, exercise: "Exercise") -> Iterator["Trial"]:
        """Yield the program as handed out too, without a verdict and with a wrong one: both earn nothing."""
        from bugzoo.diagnostics.causes import words
        from bugzoo.grading.answers import true_causes
        from bugzoo.grading.trials import Trial

        another = next(word for word in words() if word != true_causes(exercise)[0])
        yield Trial(exercise.name, "unsolved", "as handed out", exercise.handed_out)
        yield Trial(exercise.name, "unsolved", "as handed out, blamed", exercise.handed_out, {"cause": another})
        yield from super().trials(exercise)
