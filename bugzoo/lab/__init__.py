"""Tools for notebooks: live runs, break-it panels, questions, hints and a diagnosis form.

    from bugzoo import lab
    view = lab.live(scenario)        # a training run in a thread of this kernel: Run, Pause, Stop
    view.result                      # waits for it

Without a front end (nbgrader, nbclient, nbval, a plain script) everything is shown as text.
"""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bugzoo import course
from bugzoo import device as _device
from bugzoo.errors import UserError
from bugzoo.lab import calibration as _calibration
from bugzoo.lab import keep as _keep
from bugzoo.lab.arrange import MatchQuestion, OrderQuestion
from bugzoo.lab.choice import about as question_about
from bugzoo.lab.diagnosis import Diagnosis, DiagnosisForm
from bugzoo.lab.drawing import Drawing
from bugzoo.lab.engine import stop_all
from bugzoo.lab.frontend import headless, kernel, one_thread, plain_errors, warm_up
from bugzoo.lab.healthy_twin import Curve
from bugzoo.lab.hints import Hints
from bugzoo.lab.listing import lines
from bugzoo.lab.look import look
from bugzoo.lab.measured import measure, register
from bugzoo.lab.mine import mine
from bugzoo.lab.panel import Panel
from bugzoo.lab.play import Play
from bugzoo.lab.quiz import Prediction, QuickCheck, Unasked, from_lesson
from bugzoo.lab.table import Table, table
from bugzoo.lab.timer import Timer
from bugzoo.lab.tryout import try_out
from bugzoo.lab.view import LiveView
from bugzoo.scenario import Scenario

__all__ = [
    "Curve", "Diagnosis", "DiagnosisForm", "Drawing", "Hints", "LiveView", "Panel", "Prediction", "QuickCheck", "Table", "Timer",
    "break_it", "calibration", "case", "diagnose", "draw", "headless", "hints", "keep", "lines", "live", "look", "measure",
    "mine", "picture", "play", "predict", "quick_check", "quiz", "stop_all", "table", "timer", "try_out", "use", "variables",
]  # fmt: skip

plain_errors()
one_thread()
register()
warm_up()  # only in a notebook's kernel: import in the background what the first run needs


def use(device: str) -> str:
    """Choose where this notebook's programs run: "auto", "cpu" or "cuda". Return the device, "cpu" or "cuda".

    "auto" is CUDA where torch finds a GPU. Raises UserError for another value, and for a GPU that is not there.
    """
    chosen = _device.use(device)
    if chosen != _device.CPU:
        print(
            f"The programs of this notebook run on {chosen}. The text was measured on a CPU: numbers and answers may differ."
        )
        print('For the numbers and answers of the text, write device = "cpu" and run this cell again.')
    return chosen


def case(name: str) -> Scenario:
    """Return a lesson's case, such as `03/incident`, on the device of `use`; the notebook does not name its fault."""
    number, _, key = name.partition("/")
    return Scenario(*course.load(number).case(key), device=_device.used())


def live(what: Scenario | str, **options: Any) -> LiveView:
    """Show a run, which starts once it is on the screen. Options as in `LiveView`."""
    return LiveView(what, **options).show().start_when_seen()


def break_it(scenario: Scenario, **options: Any) -> Panel:
    """Show the break-it panel of a scenario; its Run button starts. Options as in `Panel`."""
    return Panel(scenario, **options).show()


def play(call: Callable[..., Any], **ranges: tuple[float, float, float]) -> Play:
    """Show sliders over a function of the notebook; `ranges`: name -> (lowest, highest, start). Details: `Play`."""
    return Play(call, **ranges).show()


def _continuing(ask: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a function that says so where the lesson no longer asks, and goes on."""

    @functools.wraps(ask)
    def call(name: str) -> Any:
        try:
            return ask(name)
        except course.MissingPart as error:
            print(error)
            return Unasked()

    return call


@_continuing
def quick_check(name: str) -> QuickCheck:
    """Ask a lesson's question, such as `03/guess`."""
    return QuickCheck(from_lesson(_asked(name), name), key=name).show()


@_continuing
def predict(name: str) -> Prediction:
    """Ask what a run will show, before it runs; call `.reveal()` in the cell with the result."""
    question = from_lesson(_asked(name), name)
    if isinstance(question, MatchQuestion | OrderQuestion):
        raise UserError(f"{name} asks for an arrangement, not for a prediction. Write `lab.quick_check({name!r})`.")
    return Prediction(question, key=name, asks_sure=_calibration.asks(name)).show()


def calibration(number: str) -> None:
    """Print how often a lesson's predictions were right, by how sure the learner was of them. `number`: as in "02"."""
    print(_calibration.summary(number))


@_continuing
def draw(name: str) -> Drawing:
    """Ask for a curve, drawn through its points before the run; call `.reveal(x, y)` in the cell with the result."""
    number, _, key = name.partition("/")
    return Drawing(course.load(number).drawing(key), key=name).show()


def _asked(name: str) -> Any:
    number, _, key = name.partition("/")
    return course.load(number).question(key)


def variables(scenario: Scenario, step: int = 1) -> dict[str, Any]:
    """Return a program's variables after an optimizer step, name -> value. The run ends there."""
    view = LiveView(scenario, pause_at=step, show_twin=False).start()
    view.wait_pause()
    names = dict(view.objects)
    view.stop()
    view.wait()
    return names


def keep(function: Callable[..., Any]) -> None:
    """Write a function of this lesson into `test_mine.py` beside the notebook, with its imports and two tests.

    One test runs it on the lesson's incident, one on the healthy twin. Raises UserError for what cannot be kept.
    """
    print(_keep.keep(function, Path.cwd()))


def picture(figure: Any) -> None:
    """Show a matplotlib figure, and the device below it.

    Its background becomes transparent, black becomes gray, and small text larger: for light and dark pages.
    """
    show_figure(figure)
    if _device.used() != _device.CPU:
        print(f"on {_device.used()}")


def show_figure(figure: Any) -> None:
    """Show a figure that says itself where its numbers were measured."""
    import io

    from IPython.display import Image, display

    from bugzoo import plots

    buffer = io.BytesIO()
    plots.dress(figure).savefig(buffer, format="png", dpi=plots.DPI)
    if kernel() is not None:
        display(Image(buffer.getvalue()))


def quiz(scenario: Scenario, what: str = "cause") -> QuickCheck:
    """Ask what is wrong with a run, or which `test` confirms it; the choices come from its look-alikes."""
    return QuickCheck(question_about(scenario, what), key=f"{scenario.ticket}/{what}").show()


def hints(what: Scenario | Sequence[str], *, ticket: str = "", **options: Any) -> Hints:
    """Show three hints for a scenario, or your own texts as hints. Options as in `Hints`."""
    if isinstance(what, Scenario):
        texts = what.specs[0][0].hints if what.specs else ("Nothing here is broken on purpose.",)
        return Hints(texts, ticket=ticket or what.ticket, costs=tuple(range(1, len(texts) + 1))).show()
    return Hints(what, ticket=ticket, **options).show()


def diagnose(what: Scenario | str = "", **options: Any) -> DiagnosisForm:
    """Show a diagnosis form; `form.diagnosis` is the record. Options as in `DiagnosisForm`.

    A scenario brings its own causes, tests and lines to choose from. For a ticket, pass them as options; the form then
    asks which views were used.
    """
    if not isinstance(what, Scenario):
        return DiagnosisForm(what, **{"ask_evidence": True, **options}).show()
    texts = {name: [answer.text for answer in question_about(what, name).answers] for name in ("cause", "test")}
    defaults = {"causes": texts["cause"], "tests": texts["test"], "source": what.source}
    return DiagnosisForm(what.ticket, **{**defaults, **options}).show()


def timer(minutes: float | None = None) -> Timer:
    """Show a clock."""
    return Timer(minutes).show()
