"""What a candidate can ask for: the views under their headings, and two requests besides. Each has a price."""

from dataclasses import dataclass

from bugzoo import diagnostics, views
from bugzoo.errors import UserError, unknown
from bugzoo.views import views_of

PRICES = {0: 2, 1: 4}
"""Cost class of a view -> points of the budget. 1: at least half of its instruments call the model; 0: most read the run."""
RERUN = 6
"""Points besides for a view that needs further runs of the script, and for each step of the view `batch` that is asked for."""

BUDGET = 30
"""Points: about seven requests, as a median one costs 4."""

TWIN, PRINTED = "healthy_twin", "terminal"
"""Two requests besides the views: the losses of a healthy run, and the script's output."""
BESIDES = "the run"
"""Heading of these two."""
ABOUT = {TWIN: "the losses of a healthy run beside yours", PRINTED: "what the script printed, and how it ended"}
LIST = "list"
"""What to type for the list of evidence."""


@dataclass(frozen=True)
class Request:
    """One line of the list: its heading, number, name and price, and the question that it answers."""

    heading: str
    number: int
    name: str
    price: int
    about: str


def listed() -> list[Request]:
    """Return every request, in the order of the list. It is the same in every interview."""
    named = [(heading, name) for heading, names in views.HEADINGS.items() for name in names]
    named += [(BESIDES, TWIN), (BESIDES, PRINTED)]
    about = {name: ABOUT.get(name) or views.question(name) for _, name in named}
    return [Request(heading, place, name, price(name), about[name]) for place, (heading, name) in enumerate(named, 1)]


def price(name: str) -> int:
    """Return a request's price, in points of the budget."""
    if name in ABOUT:
        return {TWIN: 6, PRINTED: 2}[name]
    costs = [diagnostics.instrument(instrument).COST for instrument in views.instruments(name)]
    return PRICES[int(2 * sum(costs) >= len(costs))] + RERUN * bool(views.reruns(name))


def find(typed: str, where: str = LIST) -> Request:
    """Return the request with this number or name. Raises UserError; for an instrument's name it says the view.

    `where`: what to type for the list.
    """
    requests = listed()
    if typed.isascii() and typed.isdigit() and len(typed) <= 9:
        if not 1 <= int(typed) <= len(requests):
            raise UserError(f"There is no evidence {typed}. Choose from 1 to {len(requests)}.")
        return requests[int(typed) - 1]
    for request in requests:
        if request.name == typed:
            return request
    if moved := views_of([typed]):
        advice = f"{typed!r} stands in the view {moved[0]!r}: ask for that one."
        raise UserError(f"Interviews show views of a run now. {advice}")
    raise unknown("piece of evidence", typed, [request.name for request in requests], where)
