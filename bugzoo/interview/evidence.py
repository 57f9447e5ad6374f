"""The evidence that a candidate can buy: views of one real run of the broken program, and two requests besides."""

from dataclasses import dataclass, field
from typing import Any

from bugzoo import views
from bugzoo.diagnostics.numbers import Number, digits
from bugzoo.errors import UserError
from bugzoo.faults.evidence import Claim, parse
from bugzoo.interview import measure, tables
from bugzoo.interview.requests import ABOUT, BUDGET, PRINTED, RERUN, TWIN, Request
from bugzoo.running import Reading, Run
from bugzoo.scenario import Scenario
from bugzoo.views import views_of


@dataclass
class Evidence:
    """One run of the broken program, its views, and which of them the candidate has seen."""

    scenario: Scenario
    run: Run
    """With the readings of all instruments: they stay behind the debrief."""
    readings: dict[str, Reading]
    """Each view's."""
    twin_losses: list[float]
    seen: list[str] = field(default_factory=list)
    spent: int = 0
    _bought: dict[tuple[str, int | None], Reading] = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        return self.run.outcome

    def ask(self, request: Request, step: int | None = None) -> str:
        """Buy a request and return it as text. What was bought is free, and what exceeds the budget is refused.

        A view that needs further runs makes them now. They are not charged where the script did not end by itself.
        Raises UserError for a step that is not there: it costs nothing.
        """
        self._checked(request.name, step)
        if (request.name, step) in self._bought:
            return self.text(request.name, step)
        cost = self.cost(request, step)
        if self.spent + cost > BUDGET:
            left = BUDGET - self.spent
            return f"{request.name} costs {cost} points; {left} of {BUDGET} are left. Ask for less, or diagnose."
        self._bought[request.name, step] = self._measured(request.name, step)
        self.spent += cost - (RERUN if self._not_run_again(request.name) else 0)
        if request.name not in self.seen:
            self.seen.append(request.name)
        return self.text(request.name, step)

    def cost(self, request: Request, step: int | None = None) -> int:
        """Return what a request costs now: a step of a view costs a further run, and the view itself only once."""
        if (request.name, step) in self._bought or (step is None and request.name in self.seen):
            return 0
        return RERUN * (step is not None) + request.price * (request.name not in self.seen)

    def bought(self, name: str, step: int | None = None) -> Reading | None:
        """Return the reading of a view that was bought, None for any other."""
        return self._bought.get((name, step)) if name not in ABOUT else None

    def text(self, name: str, step: int | None = None) -> str:
        """Return what one request shows: numbers beside usual ranges, no verdict. The candidate judges them."""
        if name == TWIN:
            losses = [float(loss) for loss in self.run.trace.loss]
            return f"your run   {tables.curve(losses)}\nhealthy    {tables.curve(self.twin_losses)}"
        if name == PRINTED:
            error = self.run.trace.error
            message = f"{error.get('type')}: {error.get('message')}" if error else ""
            ending = f"the run ended as: {self.outcome}"
            return "\n".join(filter(None, [self.run.stdout.strip()[-2000:], ending, message]))
        return view_text(name, self._bought.get((name, step)) or self.readings[name])

    def _checked(self, name: str, step: int | None) -> None:
        if step is None:
            return
        if name in ABOUT or not measure.takes_step(name):
            able = " or ".join(view for view in views.names() if measure.takes_step(view))
            raise UserError(f"{name} takes no step. Only the view {able} shows a step that you choose.")
        steps = len(self.run.trace.step)
        if isinstance(step, bool) or not isinstance(step, int) or not 1 <= step <= steps:
            raise UserError(f"step {step!r} is not an optimizer step of this run. Choose from 1 to {steps}.")

    def _measured(self, name: str, step: int | None) -> Reading:
        if step is not None:
            reading = measure.at_step(self.scenario, name, step)
            if not reading.applies:
                raise UserError(f"{name} has nothing to show at step {step}: {reading.why_not}.")
            return reading
        if name not in ABOUT and views.reruns(name):
            self.readings[name] = measure.run_again(name, self.run, self.readings[name])
        return self.readings.get(name, Reading())

    def _not_run_again(self, name: str) -> bool:
        return name not in ABOUT and views.reruns(name) > 0 and not measure.ended_by_itself(self.run)

    # ---- which evidence speaks for or against a cause

    def outside(self, name: str) -> list[Number]:
        """Return the rows of a view whose number is outside its usual range; none for the other requests."""
        return views.outside(name, self.readings[name].numbers) if name in self.readings else []

    def unusual(self) -> bool:
        """Return whether something that the candidate has seen is not as in a healthy run."""
        ended = PRINTED in self.seen and self.outcome != "finished"
        return ended or any(self.outside(name) for name in self.seen)

    def contradicts(self, claims: tuple[str, ...]) -> bool:
        """Return whether a number that the candidate has seen contradicts a cause with these claims.

        It was seen if the view in which it stands was bought.
        """
        return any(self._contradicted(claim) for claim in map(parse, claims))

    def _contradicted(self, claim: Claim) -> bool:
        if claim.left == "outcome":
            visible = PRINTED in self.seen or ("layers" in self.seen and claim.right in ("crashed", "out_of_memory"))
            return visible and self.outcome != claim.right
        for name in views_of([claim.left]):
            row = next((row for row in views.rows(name) if row.source == claim.left), None)
            value = row.value(self.readings[name].numbers) if row and name in self.seen else None
            if isinstance(value, int | float) and claim.right != "healthy":
                instrument, _, key = claim.left.partition(".")
                return not claim.holds({"numbers": {instrument: {key: value}}, "outcome": "", "metrics": {}})
        return False


def view_text(name: str, reading: Reading) -> str:
    """Return a view's question, its rows in words, and the lines of its tables."""
    lines = [f"{name}: {views.question(name)}"]
    if not reading.applies:
        return f"{lines[0]}\n  nothing to see: {reading.why_not}"
    for row in views.rows(name):
        if (value := row.value(reading.numbers)) is not None:
            lines.append(f"  {row_text(row, value)}")
    return "\n".join(lines + tables.text(name, reading.numbers))


def row_text(row: Number, value: Any) -> str:
    """Return "label: number (usual: range)"."""
    usual = row.usual_text()
    return f"{row.label}: {digits(value)}" + (f" (usual: {usual})" if usual else "")


def collect(scenario: Scenario) -> Evidence:
    """Run the broken program and its healthy twin once, each in a killable worker."""
    run, readings = measure.collected(scenario)
    twin: Run = scenario.healthy().run("worker")
    if "stopped" in (run.outcome, twin.outcome):  # a worker that Ctrl-C ended returns what it had
        raise KeyboardInterrupt
    return Evidence(scenario, run, readings, [float(loss) for loss in twin.trace.loss])
