"""`lab.mine`: a view of the reader's own script, whatever it is, and what the reader types next."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from bugzoo import UserError, lab
from bugzoo.lab.mine import SHIPPED, _Visit
from bugzoo.running import overlay
from tests.scripts import TRAIN

ENDLESS = TRAIN.replace("for i in range(60):", "while True:")
ARGUMENTS = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, required=True)
epochs = parser.parse_args().epochs
""" + TRAIN.replace("60", "epochs")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """write(text) -> the name of a script in the current folder, which is `tmp_path`."""
    monkeypatch.chdir(tmp_path)

    def script(text, name="train.py"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return script


def refused(*call, **how):
    with pytest.raises(UserError) as error:
        lab.mine(*call, **how)
    return str(error.value)


def no_layer(monkeypatch):
    monkeypatch.setenv(overlay.NO_OVERLAY, "1")


@pytest.mark.slow
def test_the_view_of_a_script_is_printed_and_returned(write, capsys):
    rows = lab.mine(write(TRAIN))
    assert rows["parameter tensors"] == 2
    printed = capsys.readouterr().out
    assert "train.py runs for at most 2 minutes." in printed and "train.py: 60 optimizer steps." in printed
    assert "weights: " in printed and "discarded" not in printed, "it wrote nothing"
    assert lab.mine("train.py", view="loss_curve")["optimizer steps"] == 60


@pytest.mark.slow
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "view", ["batch", "loss_curve", "outputs", "one_batch", "evaluation", "weights", "modes", "layers", "influence"]
)
def test_without_a_script_a_shipped_one_runs_and_every_view_has_numbers(view, capsys):
    assert len(lab.mine(view=view)) >= 5
    printed = capsys.readouterr().out
    assert any(f"{script.name} runs" in printed for script in SHIPPED) and "nothing to see" not in printed


def test_three_scripts_are_shipped_and_all_are_in_use():
    assert len(SHIPPED) == 3
    assert {_Visit(None, view, "", 2, False).path for view in ("weights", "one_batch", "evaluation")} == set(SHIPPED)


@pytest.mark.slow
def test_files_that_it_writes_are_named_and_discarded(write, tmp_path, capsys):
    if why := overlay.impossible(str(tmp_path)):
        pytest.skip(why)
    more = "import os\nos.makedirs('runs')\nopen('runs/log.txt', 'w').write('x')\nopen('train.txt', 'a').write('y')\n"
    (tmp_path / "train.txt").write_text("mine")
    assert lab.mine(write(TRAIN + more))
    assert (
        "Files that it wrote were discarded: runs/log.txt, train.txt. Yours are unchanged." in capsys.readouterr().out
    )
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "data") == ["train.py", "train.txt"]
    assert (tmp_path / "train.txt").read_text() == "mine"


@pytest.mark.slow
def test_without_a_layer_it_asks_before_it_writes_for_real(write, tmp_path, monkeypatch, capsys):
    no_layer(monkeypatch)
    name = write(TRAIN + "open('out.txt', 'w').write('x')\n")
    message = refused(name, view="loss_curve", args="--epochs 2")
    assert "train.py would write its files for real" in message and "BUGZOO_NO_OVERLAY is set" in message
    assert message.endswith('type lab.mine("train.py", view="loss_curve", args="--epochs 2", write=True).')
    assert not (tmp_path / "out.txt").exists()
    assert lab.mine(name, write=True) and (tmp_path / "out.txt").exists()
    assert "It wrote files for real, such as" in capsys.readouterr().out
    assert lab.mine(view="loss_curve"), "a shipped script writes nothing"


@pytest.mark.slow
def test_a_crash_shows_its_line_and_what_was_measured_before(write, capsys):
    rows = lab.mine(write(TRAIN + "    if i == 29:\n        net(x.double())\n"), view="loss_curve")
    assert rows["optimizer steps"] == 30
    printed = capsys.readouterr().out
    assert "It ended with an error at line 12: `net(x.double())`." in printed
    assert "RuntimeError: mat1 and mat2 must have the same dtype" in printed and "from before" in printed


@pytest.mark.slow
def test_a_script_that_takes_too_long_is_stopped_and_shown_so_far(write, capsys):
    begun = time.monotonic()
    assert lab.mine(write(ENDLESS), view="loss_curve", minutes=0.05)["optimizer steps"] > 10
    assert time.monotonic() - begun < 100, "not the two minutes that are usual"
    printed = capsys.readouterr().out
    assert "It was stopped after 3 seconds at line" in printed
    assert 'For more, type lab.mine("train.py", view="loss_curve", minutes=0.15).' in printed


@pytest.mark.slow
def test_missing_arguments_say_how_to_pass_them(write):
    message = refused(write(ARGUMENTS))
    assert "the following arguments are required: --epochs" in message
    assert 'lab.mine("train.py", view="weights", args="--epochs 2")' in message
    assert lab.mine("train.py", args="--epochs 7", view="loss_curve")["optimizer steps"] == 7
    assert lab.mine("train.py", args=["--epochs", 3], view="loss_curve")["optimizer steps"] == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("print('hello')\n", "Name the script that trains: one that calls loss.backward() and optimizer.step()."),
        ("def main():\n    1 / 0\nmain()\n", "at line 2: `1 / 0`. ZeroDivisionError: division by zero."),
        ("import no_such_module\n", "Install that module"),
        ("import time\nwhile True:\n    time.sleep(1)\n", "It was stopped after 1 seconds"),
    ],
)
def test_a_script_without_a_step_has_nothing_to_show(write, text, words):
    message = refused(write(text), minutes=1 / 60)
    assert message.startswith("There is nothing to look at: train.py made no optimizer step.") and words in message


def test_what_is_no_script_is_refused_before_anything_runs(write, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["bugzoo.lab.mine"], "run_worker", None)
    assert f"There is no file 'nosuch.py' in {tmp_path}" in refused("nosuch.py")
    assert "is a notebook, not a script. Type `jupyter nbconvert --to script work.ipynb`" in refused(
        write(json.dumps({"cells": []}), "work.ipynb")
    )
    assert "cannot be read: Is a directory. Give the path of a training script." in refused(tmp_path)
    assert "train.py:1: invalid syntax" in refused(write("for for\n"))
    assert 'not an object of type Linear. Type lab.mine("train.py", view="modes").' in refused(
        __import__("torch").nn.Linear(2, 2), "modes"
    )
    assert "Did you mean `lab.mine(..., view='weights')`?" in refused("train.py", view="weigths")
    write(TRAIN)
    for minutes in (0, -1, float("nan"), "2", True, 61):
        assert f"minutes={minutes!r} is not allowed" in refused("train.py", minutes=minutes)
    assert "cannot be read (No closing quotation)" in refused("train.py", args='--name "x')


@pytest.mark.slow
@pytest.mark.serial
def test_an_interrupt_shows_what_was_measured_and_leaves_nothing_behind(write, tmp_path):
    text = f"from bugzoo import lab\nprint(sorted(lab.mine({write(ENDLESS)!r}, view='loss_curve')))\n"
    (tmp_path / "temporary").mkdir()
    environment = os.environ | {"TMPDIR": str(tmp_path / "temporary"), "BUGZOO_WIDGETS": "1", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", text], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        assert process.stdout is not None
        seen = ""
        while ": step " not in seen:
            seen += process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        seen += process.stdout.read()
    assert process.returncode == 0, seen
    assert "You stopped it. The numbers are from before." in seen and "'optimizer steps'" in seen
    place = str(tmp_path / "temporary")
    left = [p for p in psutil.process_iter(["environ"]) if (p.info["environ"] or {}).get("TMPDIR") == place]
    assert psutil.wait_procs(left, timeout=5)[1] == [] and list((tmp_path / "temporary").glob("bugzoo-*")) == []
