"""What a notebook shows: live runs, things to break, questions, hints, a diagnosis to fill in.

    from bugzoo import lab
    view = lab.live(scenario)        # a training run in a thread of this kernel: Run, Pause, Stop
    view.result                      # waits for it

Everything degrades to text where nobody looks: under nbgrader, nbclient, nbval or in a plain script.
"""

from collections.abc import Sequence
from typing import Any

from bugzoo import course
from bugzoo.lab.diagnosis import Diagnosis, DiagnosisForm
from bugzoo.lab.engine import stop_all
from bugzoo.lab.frontend import headless, kernel, plain_errors, warm_up
from bugzoo.lab.healthy_twin import Curve
from bugzoo.lab.hints import Hints
from bugzoo.lab.hypothesis import Hypothesis
from bugzoo.lab.panel import Panel
from bugzoo.lab.quiz import Answer, Prediction, Question, QuickCheck
from bugzoo.lab.quiz import about as question_about
from bugzoo.lab.timer import Timer
from bugzoo.lab.tryout import try_out
from bugzoo.lab.view import LiveView
from bugzoo.scenario import Scenario

__all__ = [
    "Curve", "Diagnosis", "DiagnosisForm", "Hints", "Hypothesis", "LiveView", "Panel", "Prediction", "QuickCheck", "Timer",
    "break_it", "case", "diagnose", "headless", "hints", "live", "picture", "predict", "quick_check", "quiz", "stop_all",
    "timer", "try_out",
]  # fmt: skip

plain_errors()
warm_up()  # only in a notebook's kernel: what a first run would import comes in the background, while people read


def case(name: str) -> Scenario:
    """A lesson's case, such as `03/incident`: what is wrong with it stays out of the notebook."""
    number, _, key = name.partition("/")
    return Scenario(*course.load(number).case(key))


def live(what: Scenario | str, **options: Any) -> LiveView:
    """Show a run and start it. Options as in `LiveView`."""
    return LiveView(what, **options).show().start()


def break_it(scenario: Scenario, **options: Any) -> Panel:
    """Show the break-it panel of a scenario; its Run button starts. Options as in `Panel`."""
    return Panel(scenario, **options).show()


def quick_check(name: str) -> QuickCheck:
    """Ask a lesson's question, such as `03/guess`."""
    return QuickCheck(_question(name), key=name).show()


def predict(name: str) -> Prediction:
    """Ask what a run will show, before it runs: `.reveal()` in the cell of the result comes back to it."""
    return Prediction(_question(name), key=name).show()


def _question(name: str) -> Question:
    number, _, key = name.partition("/")
    asked = course.load(number).question(key)
    return Question(asked.text, tuple(Answer(*one) for one in asked.answers))


def picture(figure: Any) -> None:
    """Show a matplotlib figure; its sheet is transparent, so that it fits a light and a dark page."""
    import io

    from IPython.display import Image, display

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, transparent=True)
    if kernel() is not None:
        display(Image(buffer.getvalue()))


def quiz(scenario: Scenario, what: str = "cause") -> QuickCheck:
    """Ask what is wrong with a run, or which `test` tells it; the answers are drawn from what looks like it."""
    return QuickCheck(question_about(scenario, what), key=f"{scenario.ticket}/{what}").show()


def hints(what: Scenario | Sequence[str], *, ticket: str = "", **options: Any) -> Hints:
    """Three hints for a scenario, or for texts of your own. Options as in `Hints`."""
    if isinstance(what, Scenario):
        texts = what.specs[0][0].hints if what.specs else ("Nothing here is broken on purpose.",)
        return Hints(texts, ticket=ticket or what.ticket, costs=tuple(range(1, len(texts) + 1))).show()
    return Hints(what, ticket=ticket, **options).show()


def diagnose(what: Scenario | str = "", **options: Any) -> DiagnosisForm:
    """Show a diagnosis form; `form.diagnosis` is the record. Options as in `DiagnosisForm`.

    Of a scenario the causes, the tests and the lines to choose from are its own. Of a ticket they are in the options, and
    what was looked at is asked.
    """
    if not isinstance(what, Scenario):
        return DiagnosisForm(what, **{"ask_evidence": True, **options}).show()
    texts = {name: [answer.text for answer in question_about(what, name).answers] for name in ("cause", "test")}
    own = {"causes": texts["cause"], "tests": texts["test"], "source": what.source}
    return DiagnosisForm(what.ticket, **{**own, **options}).show()


def timer(minutes: float | None = None) -> Timer:
    """Show a clock."""
    return Timer(minutes).show()
