"""The line `device = "auto"` of a notebook: what it means on which machine, and what it does to a program's text."""

import difflib

import pytest
import torch

from bugzoo import Scenario, UserError, device, programs


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch):
    """A machine with two GPUs, for all that torch is asked before a program runs."""
    monkeypatch.delenv("BUGZOO_DEVICE", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.fixture
def none(monkeypatch: pytest.MonkeyPatch):
    """A machine without a GPU."""
    monkeypatch.delenv("BUGZOO_DEVICE", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def test_auto_is_cuda_where_there_is_a_gpu(gpus) -> None:
    assert [device.resolved(name) for name in ("auto", "cuda", "cuda:1", "cpu")] == ["cuda", "cuda", "cuda:1", "cpu"]


def test_auto_is_the_cpu_elsewhere(none) -> None:
    assert device.resolved("auto") == device.resolved("cpu") == "cpu"


def test_a_variable_decides_for_auto_and_for_nothing_else(gpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUGZOO_DEVICE", "cpu")
    assert device.resolved("auto") == "cpu" and device.resolved("cuda") == "cuda"
    monkeypatch.setenv("BUGZOO_DEVICE", "auto")
    assert device.resolved("auto") == "cuda"
    monkeypatch.setenv("BUGZOO_DEVICE", "gpu")
    with pytest.raises(UserError, match=r"^BUGZOO_DEVICE='gpu' is not allowed"):
        device.resolved("auto")


@pytest.mark.parametrize("choice", ["gpu", "CUDA", "", None, 0, "cuda:", "cuda:x", "meta"])
def test_another_value_is_refused_with_what_is_allowed(gpus, choice: object) -> None:
    with pytest.raises(UserError) as caught:
        device.resolved(choice)
    assert str(caught.value).startswith(f"device = {choice!r} is not allowed. ")
    assert all(f'"{name}"' in str(caught.value) for name in ("auto", "cpu", "cuda"))


def test_a_gpu_that_is_not_there_is_told(none, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r'finds no CUDA GPU here\. Use "cpu", or "auto"'):
        device.resolved("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(UserError, match=r"no such GPU here\. The last one is cuda:1\."):
        device.resolved("cuda:2")


def test_a_mistake_changes_nothing(gpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_used", "cpu")
    assert device.use("cuda:1") == device.used() == "cuda:1"
    with pytest.raises(UserError):
        device.use("tpu")
    assert device.used() == "cuda:1"


@pytest.mark.parametrize("name", programs.names())
def test_one_line_of_a_program_is_replaced(name: str) -> None:
    text = programs.load(name).source
    assert device.of_text(text) == "cpu" and device.on_device(text, "cpu") is text
    moved = device.on_device(text, "cuda")
    changed = [line for line in difflib.ndiff(text.splitlines(), moved.splitlines()) if line[0] in "+-"]
    assert changed == ['- device = "cpu"', '+ device = "cuda"'] and device.of_text(moved) == "cuda"
    assert device.on_cpu(moved) == text and device.on_cpu(text) == text
    assert device.on_device(Scenario(name).source, "cuda") == Scenario(name, device="cuda").source


@pytest.mark.parametrize(
    "text",
    [
        'device = "cuda"\n', "device = torch.device('cpu')\n",
        'device = "cuda" if there else "cpu"\n', 'where = "cpu"\n', "device = = 1\n", 'a\0b = "cpu"\n',
        'def f():\n    device = "cpu"\n', "device = None\n", "",
    ],
)  # fmt: skip
def test_a_text_without_the_very_line_runs_as_it_is(text: str) -> None:
    assert device.on_device(text, "cuda:1") == text


@pytest.mark.parametrize(
    ("text", "graded"),
    [
        ('device = "cuda"  # ä\n', 'device = "cpu"  # ä\n'),
        ("é = 1; device = 'cuda:3'; x = 'cuda'\n", "é = 1; device = \"cpu\"; x = 'cuda'\n"),
        ('device: str = "mps"\n', 'device: str = "cpu"\n'),
        ('device = torch.device("cuda:0")\n', 'device = torch.device("cpu")\n'),
        (
            'device = "cuda" if torch.cuda.is_available() else "cpu"\n',
            'device = "cpu" if torch.cuda.is_available() else "cpu"\n',
        ),
        ('device = "cpu"\nseed = 0\ndevice = "cuda"\n', 'device = "cpu"\nseed = 0\ndevice = "cpu"\n'),
        ('device = (\n    "cuda"\n)\n', 'device = (\n    "cpu"\n)\n'),
        ('device = os.environ["DEVICE"]\n', 'device = os.environ["DEVICE"]\n'),
        ('device = f"cuda:{0}"\n', 'device = f"cuda:{0}"\n'),
        ('name = "cuda"\n', 'name = "cuda"\n'),
        ("device = = 'cuda'\n", "device = = 'cuda'\n"),
    ],
)
def test_a_submission_that_names_a_gpu_is_graded_on_the_cpu(text: str, graded: str) -> None:
    assert device.on_cpu(text) == graded


def test_what_is_said_of_two_runs() -> None:
    assert device.places("cpu", "cpu") == ("", "")
    assert device.places("cuda", "cuda", recorded=True) == (", on cuda", ", on cuda")
    assert device.places("cuda", "cpu") == (", on cuda", ", on the CPU")
    assert device.places("cuda", "cpu", recorded=True) == (", on cuda", ", recorded on the CPU")
