"""The evidence that a candidate can buy: real numbers of one real run of the broken program."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

from bugzoo import diagnostics
from bugzoo.faults.evidence import parse
from bugzoo.running import Reading, Run, run_worker
from bugzoo.running.reading import to_json
from bugzoo.scenario import Scenario

PRICES = {0: 2, 1: 4}
"""Cost class of an instrument (reads the run, calls the model) -> points of the budget."""
RERUN = 6
"""Points for each further run of the script that an instrument needs."""

BUDGET = 30

SCRIPT = "train.py"

TWIN, PRINTED = "healthy_twin", "terminal"
"""Two requests besides the instruments: the losses of a healthy run, and the script's output."""


@dataclass(frozen=True)
class Request:
    """One line of the list: number, name and price."""

    number: int
    name: str
    price: int
    about: str


@dataclass
class Evidence:
    """The run's numbers, and which of them the candidate has seen."""

    readings: dict[str, Reading]
    losses: list[float]
    twin_losses: list[float]
    printed: str
    outcome: str
    error: dict[str, Any]
    seen: list[str] = field(default_factory=list)
    spent: int = 0

    def requests(self) -> list[Request]:
        """Return every request, in a fixed order that says nothing about the case."""
        names = [(TWIN, 6), (PRINTED, 2)]
        names += [(name, price(name)) for name in diagnostics.names()]
        about = {TWIN: "the losses of a healthy run beside yours", PRINTED: "what the script printed, and how it ended"}
        return [
            Request(number, name, price, about.get(name) or _about(name))
            for number, (name, price) in enumerate(names, start=1)
        ]

    def ask(self, request: Request) -> str:
        """Return the numbers as text. Evidence seen before is free; evidence beyond the budget is refused."""
        if request.name not in self.seen:
            if self.spent + request.price > BUDGET:
                left = BUDGET - self.spent
                return f"{request.name} costs {request.price} points; {left} of {BUDGET} are left. Diagnose now."
            self.spent += request.price
            self.seen.append(request.name)
        return self.text(request.name)

    def text(self, name: str) -> str:
        """Return what one request shows: numbers without a verdict. The candidate judges them."""
        if name == TWIN:
            return f"your run   {curve(self.losses)}\nhealthy    {curve(self.twin_losses)}"
        if name == PRINTED:
            ending = f"the run ended as: {self.outcome}"
            said = f"{self.error['type']}: {self.error['message']}" if self.error else ""
            return "\n".join(filter(None, [self.printed.strip()[-2000:], ending, said]))
        reading = self.readings.get(name, Reading(why_not="it was not measured"))
        if not reading.applies:
            return f"{name}: no result here ({reading.why_not})"
        return "\n".join(f"{name}.{key} = {value(number)}" for key, number in reading.numbers.items())

    def fired(self) -> list[str]:
        """Return the instruments that fire on this run: those that a good candidate looks at."""
        return [verdict.instrument for verdict in diagnostics.judge_all(self.readings) if verdict.fired]

    def contradicts(self, claims: tuple[str, ...]) -> bool:
        """Return whether evidence that the candidate has seen contradicts a cause with these claims."""
        result = {"numbers": to_json(self.readings), "outcome": self.outcome, "metrics": {}}
        for claim in map(parse, claims):
            known = claim.instrument in self.seen or (claim.instrument == "outcome" and PRINTED in self.seen)
            if known and not claim.holds(result):
                return True
        return False


def _about(name: str) -> str:
    return diagnostics.question(name).rstrip(".")


def price(name: str) -> int:
    """Return an instrument's price, in points of the budget."""
    return PRICES[diagnostics.instrument(name).COST] + RERUN * diagnostics.reruns(name)


def value(number: Any) -> str:
    """Return a number as people write it."""
    if isinstance(number, float) and math.isfinite(number):
        return f"{number:.4g}"
    if isinstance(number, str) and len(number) > 200:
        return number[:200] + " ..."
    return str(number)


def curve(losses: list[float], points: int = 12) -> str:
    """Return a few losses along a run, with their steps."""
    if not losses:
        return "no step was taken"
    last = len(losses) - 1
    steps = sorted({round(last * i / (points - 1)) for i in range(points)})
    return "  ".join(f"{step + 1}: {value(losses[step])}" for step in steps)


def collect(scenario: Scenario) -> Evidence:
    """Run the broken program and its healthy twin once, each in a killable worker, under every instrument."""
    job = scenario.job(after="bugzoo.diagnostics:measure_all", after_args={"max_cost": 1})
    run = run_worker(replace(job, file=SCRIPT))  # the name of the candidate's file
    twin: Run = scenario.healthy().run("worker")
    if "stopped" in (run.outcome, twin.outcome):  # a worker that Ctrl-C ended returns what it had
        raise KeyboardInterrupt
    for name in diagnostics.names():
        if diagnostics.reruns(name):  # it runs the script again, which is pointless for an interrupted run
            again = run.outcome in ("finished", "non_finite") and scenario.ranks == 1
            ended = Reading(why_not=f"the run ended as {run.outcome}")
            run.readings[name] = diagnostics.read(name, run) if again else ended
    return Evidence(
        readings=run.readings,
        losses=[float(loss) for loss in run.trace.loss],
        twin_losses=[float(loss) for loss in twin.trace.loss],
        printed=run.stdout,
        outcome=run.outcome,
        error={key: run.trace.error.get(key) for key in ("type", "message")} if run.trace.error else {},
    )
