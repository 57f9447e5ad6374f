"""The break-it panel: sliders for a fault's parameters and a program's settings, over a live view."""

import html
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from bugzoo import programs
from bugzoo.errors import UserError
from bugzoo.lab import healthy_twin
from bugzoo.lab.frontend import headless
from bugzoo.lab.view import LiveView
from bugzoo.running import Run
from bugzoo.scenario import Scenario
from bugzoo.syntax import source_lines


class Panel:
    """Sliders for the parameters of `scenario`'s faults, and for the program's `settings` named here.

    from bugzoo.syntax import source_lines
        The diff stays hidden until its button is pressed. `ranges` narrows a slider: {"step": (10, 200)}.
        Without a front end the scenario runs once as it is, with a table and a picture.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        settings: Iterable[str] = ("seed", "learning_rate"),
        ranges: dict[str, tuple[float, float]] | None = None,
        pace: float | None = None,
    ) -> None:
        self.base = self.scenario = scenario
        self.ranges = ranges or {}
        self.view = LiveView(scenario, pace=pace)
        self.params: list[dict[str, Any]] = []
        self.settings: dict[str, Any] = {}
        defaults = programs.load(scenario.program).settings
        self._names = [name for name in settings if self._known(name, defaults)]
        self._defaults = defaults | dict(scenario.settings) | {"seed": scenario.seed}
        if scenario.size == "tiny":
            self._defaults = defaults | programs.load(scenario.program).tiny | dict(scenario.settings)
            self._defaults["seed"] = scenario.seed
        self.box: Any = None

    def _known(self, name: str, known: dict[str, Any]) -> bool:
        if name not in known:
            raise UserError(f"{self.base.program} has no setting {name!r}. Its settings: {', '.join(sorted(known))}.")
        return True

    def show(self) -> "Panel":
        """Show the panel in the cell's output."""
        if headless():
            self.view.show().start()
            return self
        from IPython.display import display

        self._build()
        display(self.box)
        self.view.show()
        return self

    def _build(self) -> None:
        import ipywidgets as w

        from bugzoo.lab import sliders

        rows = []
        for fault, values in self.base.specs:
            controls = {}
            for name, param in fault.params.items():
                low, high = self.ranges.get(name, (param.low, param.high))
                controls[name] = sliders.slider(name, values[name], low, high, param.doc)
                if name in self.ranges and isinstance(controls[name], w.IntSlider):
                    controls[name].min, controls[name].max = int(low), int(high)
                rows.append(controls[name])
            self.params.append(controls)
        for name in self._names:
            self.settings[name] = sliders.setting(name, self._defaults[name])
            rows.append(self.settings[name])
        self.twin_toggle = w.Checkbox(value=True, description="healthy twin behind", indent=False)
        self.diff_button = w.ToggleButton(description="Show the change", icon="eye", layout={"width": "220px"})
        self.answer, self.message = w.HTML(), w.HTML()
        rows += [w.HBox([self.twin_toggle, self.diff_button]), self.answer, self.message]
        for control in [*self.settings.values(), *(s for controls in self.params for s in controls.values())]:
            control.observe(self._moved, "value")
        self.twin_toggle.observe(self._twin, "value")
        self.diff_button.observe(self._diff, "value")
        self.box = w.VBox(rows)
        self.box.add_class("bugzoo-panel")

    # ---- callbacks

    def _moved(self, _: Any) -> None:
        """Use a moved slider's value for the next Run; a current run is left alone."""
        try:
            self.scenario = self._read()
        except UserError as error:
            self._say(str(error))
            return
        changed = "The next Run uses these values." if self.view.state not in ("ready", "ended") else ""
        self._say(changed)
        self.view.next_case = healthy_twin.case_of(self.scenario)
        self._diff(None)

    def _read(self) -> Scenario:
        specs = []
        for (fault, _), controls in zip(self.base.specs, self.params, strict=True):
            query = "&".join(f"{name}={control.value!r}" for name, control in controls.items())
            specs.append(fault.id + ("?" + query if query else ""))
        chosen = {name: control.value for name, control in self.settings.items()}
        seed = chosen.pop("seed", self.base.seed)
        moved = {name: value for name, value in chosen.items() if value != self._defaults[name]}
        return replace(self.base, faults=tuple(specs), seed=seed, settings=dict(self.base.settings) | moved)

    def _twin(self, change: Any) -> None:
        self.view.show_twin = change["new"]

    def _diff(self, _: Any) -> None:
        visible = self.diff_button.value
        self.answer.value = _coloured(self.scenario.diff()) if visible else ""
        self.diff_button.description = "Hide the change" if visible else "Show the change"

    def _say(self, text: str) -> None:
        self.message.value = f'<div class="bugzoo-status">{html.escape(text)}</div>' if text else ""

    # ---- for the cells below

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the latest run has ended."""
        return self.view.wait(seconds)

    @property
    def result(self) -> Run:
        """The latest run, after waiting for it."""
        return self.view.result

    def __repr__(self) -> str:
        return f"<Panel of {self.scenario.ticket}: {self.view.state}>"


def _coloured(diff: str) -> str:
    """Return the diff as HTML in the page's colors, with signs as well as colors."""
    lines = []
    for line in source_lines(diff):
        added, removed = line.startswith("+") and line[:3] != "+++", line.startswith("-") and line[:3] != "---"
        kind = "added" if added else "removed" if removed else "same"
        lines.append(f'<div class="{kind}">{html.escape(line) or "&nbsp;"}</div>')
    return f'<div class="bugzoo-diff">{"".join(lines)}</div>'
