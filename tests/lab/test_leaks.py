"""What a learner can see of a case carries its ticket and no catalogue name."""

import nbformat

from bugzoo import Scenario, faults, lab

NAMES = {part for fault in faults.catalogue() for part in (fault, fault.rsplit("/", 1)[1])}


def _named(text: str) -> set[str]:
    return {name for name in NAMES if name in text}


def test_views_and_files_name_no_fault(front_end, monkeypatch) -> None:
    scenario = Scenario("mlp", ("numerics/log_at_step?step=5&eps=0",))
    view = lab.LiveView(scenario, pace=0).show()
    view.start()
    run = view.result
    view.wait()
    texts = [
        repr(view),
        repr(view.case.label),
        view.case.file,
        view.widgets.status.value,
        str(view._bundle()["text/plain"]),
    ]
    texts += [repr(run), run.file, repr(sorted(view.objects)), repr(lab.Hints(("a", "b", "c"), ticket=scenario.ticket))]
    for text in texts:
        assert not _named(text), text


def test_a_traceback_of_a_case_names_no_fault(front_end) -> None:
    scenario = Scenario("mlp", ("graph/inplace_activation",))
    view = lab.LiveView(scenario, pace=0, show_twin=False).show()
    view.start()
    assert view.result.outcome == "crashed"
    view.wait()
    assert not _named(view.widgets.status.value) and "mlp.py" in view.widgets.status.value


def test_the_lesson_names_it_only_after_the_reveal() -> None:
    from pathlib import Path

    file = Path(__file__).resolve().parents[2] / "notebooks" / "03_hunting_nan.ipynb"
    cells = nbformat.read(file, as_version=4).cells
    reveal = next(i for i, cell in enumerate(cells) if cell.id == "reveal-read")
    for cell in cells[:reveal]:
        assert not _named(cell.source), cell.id
