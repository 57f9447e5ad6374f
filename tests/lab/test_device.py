"""One setting at the top of a lesson says where all its programs run."""

import pytest
import torch

import bugzoo
from bugzoo import devices, lab, lessons
from bugzoo.errors import UserError

NAMES = [name for name in lessons.files() if lessons.load(name).cases]


@pytest.fixture(autouse=True)
def back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_chosen", "cpu")  # whatever a test chooses is gone behind it


def machine(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """A machine with so many CUDA devices, as far as asking goes; nothing runs on them here."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_first_code_of_every_lesson_and_says_cpu(name: str) -> None:
    lesson = lessons.load(name)
    for book in (lesson.notebook(), lesson.notebook(proofs=True)):
        first = next(cell for cell in book.cells if cell.cell_type == "code")
        assert first.id == "device"
        names: dict[str, object] = {}
        exec(first.source, names)
        assert names["device"] == devices.default() == "cpu"
        others = [cell for cell in book.cells if cell.cell_type == "code" and cell is not first]
        assert not any("\ndevice = " in f"\n{cell.source}" for cell in others), "it is chosen in one place"


def test_all_of_them_have_it_but_those_without_a_program() -> None:
    assert set(lessons.files()) - set(NAMES) == {"00_start_here", "instructor", "interview"}


def test_every_case_twin_and_scenario_follows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, 1)
    before = lab.case("12/incident")
    assert lab.device("cuda") == "cuda"
    for made in (lab.case("12/incident"), lab.case("17/stuck"), bugzoo.Scenario("mlp"), bugzoo.Scenario("mlp", seed=3)):
        for scenario in (made, made.healthy()):
            assert scenario.device == "cuda" and 'device = "cuda"' in scenario.source
            assert 'device = "cuda"' in scenario.job().source
    assert 'device = "cpu"' in before.source, "what was made before keeps its own"
    assert 'device = "cpu"' in bugzoo.Scenario("mlp", device="cpu").source, "what is said with a scenario wins"
    assert lab.device("cpu") == "cpu" and 'device = "cpu"' in lab.case("12/incident").source


def test_the_ticket_does_not_depend_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, 1)
    ticket = lab.case("03/incident").ticket
    lab.device("cuda")
    assert lab.case("03/incident").ticket == ticket, "hints and forms are kept by it"


@pytest.mark.parametrize(
    ("count", "name", "said"),
    [
        (0, "cuda", r'No CUDA device can be used here; choose the CPU with lab\.device\("cpu"\)\.'),
        (0, "gpu", r"no device named 'gpu'.* It is cpu or cuda; see `help\(lab\.device\)`"),
        (0, "", r"no device named ''"),
        (1, "cuda:1", r"There is no CUDA device cuda:1; they go up to cuda:0\."),
    ],
)
def test_what_is_not_there_is_refused_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, count: int, name: str, said: str
) -> None:
    machine(monkeypatch, count)
    with pytest.raises(UserError, match=said):
        lab.device(name)
    assert devices.default() == "cpu" and 'device = "cpu"' in bugzoo.Scenario("mlp").source


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_a_case_really_runs_there() -> None:
    lab.device("cuda")
    run = lab.case("12/incident").run()
    assert run.trace.live is not None
    assert {parameter.device.type for parameter in run.trace.live.namespace["model"].parameters()} == {"cuda"}
