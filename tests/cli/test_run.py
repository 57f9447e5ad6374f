"""`run`, `verify` and `checkup` on real, small runs."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

LOG = "numerics/log_at_step?step=50&eps=0"


@pytest.mark.slow
def test_run_writes_json_and_a_picture(bugzoo, tmp_path):
    out, picture = tmp_path / "out.json", tmp_path / "twins.png"
    called = bugzoo("run", "mlp", "--fault", LOG, "--size", "tiny", "--json", str(out), "--picture", str(picture))
    assert called.code == 0, called.err
    text = out.read_text()
    summary = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert summary["outcome"] == "non_finite"
    assert summary["first_non_finite"]["step"] == 51
    assert {"step", "module", "op"} <= set(summary["first_non_finite"])
    broken, healthy = summary["broken"], summary["healthy"]
    assert broken["losses"][:50] == healthy["losses"][:50], "steps count from 1: step 51 is index 50"
    assert "NaN" in broken["losses"] and "NaN" not in healthy["losses"]
    assert healthy["metrics"]["accuracy"] > 0.8 > broken["metrics"]["accuracy"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "first_non_finite" in called.out and "non_finite" in called.out


@pytest.mark.slow
def test_run_prints_json_alone(bugzoo):
    called = bugzoo("run", "mlp", "--size", "tiny", "--json")
    summary = json.loads(called.out)
    assert summary["broken"] is None and summary["outcome"] == "finished" and summary["first_non_finite"] is None
    assert summary["healthy"]["losses"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mpl"], "Did you mean mlp"),
        (["mlp", "--fault", "nothing/here"], "no fault named"),
        (["mlp", "--device", "tpu"], "cpu or cuda"),
        (["mlp", "--size", "small"], "full or tiny"),
        (["mlp", "--picture", "x.txt"], ".png, .svg or .pdf"),
        (["mlp", "--json", "."], "is a folder"),
    ],
)
def test_run_mistakes(bugzoo, arguments, said):
    called = bugzoo("run", *arguments)
    assert called.code == 2
    assert said in called.err and "Traceback" not in called.err


def test_no_gpu_is_a_message(bugzoo):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    called = bugzoo("run", "mlp", "--device", "cuda")
    assert called.code == 2 and "no CUDA device" in called.err


@pytest.mark.parametrize("fault", ["device/half_on_cpu_half_on_gpu", "reproducibility/nondeterministic_kernel"])
def test_a_fault_that_needs_a_gpu_says_so(bugzoo, fault):
    program = "mlp" if fault.startswith("device") else "sentiment_lstm"
    called = bugzoo("run", program, "--fault", fault)
    assert called.code == 2 and f"{fault} shows only on a CUDA device" in called.err and "--device cuda" in called.err


@pytest.mark.slow
def test_a_device_fault_has_a_form_for_the_cpu(bugzoo):
    called = bugzoo("run", "mlp", "--fault", "device/batch_left_on_cpu", "--size", "tiny")
    assert called.code == 0 and "inputs on cpu (line" in called.out and "on meta" in called.out


@pytest.mark.sampled(0)
@pytest.mark.serial
@pytest.mark.slow
def test_ctrl_c_ends_with_130_and_writes_nothing(tmp_path):
    # the longest program there is: the fastest machine is not done with it before the signal comes
    broken = ["amp_transformer", "--fault", "precision/no_grad_scaler"]
    command = [sys.executable, "-m", "bugzoo", "run", *broken, "--json", "out.json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as talk:
        time.sleep(4)
        for _ in range(3):  # a library that is being imported may swallow the first: then it is pressed again
            os.kill(talk.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                _, err = talk.communicate(timeout=20)
                break
        else:
            talk.kill()
            pytest.fail("Ctrl-C, pressed three times in a minute, did not end it")
    assert talk.returncode == 130, err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_verify_one_cell(bugzoo, tmp_path, monkeypatch):
    monkeypatch.setenv("BUGZOO_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "verify.json"  # not of the program on which every repair is graded: that is `verify`'s own test
    called = bugzoo("verify", "loop/stale_gradients", "--program", "regression_mlp", "--json", str(out))
    report = json.loads(out.read_text())
    assert report["ok"] and called.code == 0, called.out
    assert report["cells"][0]["fault"] == "loop/stale_gradients"
    assert {"python", "torch", "device"} <= set(report["environment"])
    again = bugzoo("verify", "loop/stale_gradients", "--program", "regression_mlp")
    assert "10 from the cache" in again.out


def test_verify_an_unknown_fault(bugzoo):
    called = bugzoo("verify", "loop/stale_gradient")
    assert called.code == 2 and "Did you mean" in called.err


SICK = """\
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.02)
x = torch.randn(512, 8)
y = x[:, :3].argmax(1)
for i in range(120):
    rows = torch.randint(512, (32,))
    err = nn.functional.cross_entropy(net(x[rows]), y[rows])
    err.backward()
    opt.step()
"""


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_checkup_of_a_script_of_ones_own(bugzoo, tmp_path):
    script = tmp_path / "own.py"
    script.write_text(SICK)
    called = bugzoo("checkup", "--json", str(script))
    assert called.code == 0, called.err
    assert script.read_text() == SICK
    report = json.loads(called.out)
    assert report["outcome"] == "found"
    assert report["suspects"][0]["cause"] == "loop/stale_gradients"
    assert {"cause", "score", "reason", "file", "line"} <= set(report["suspects"][0])
    assert report["not_checked"]
    assert "loop/stale_gradients" in bugzoo("checkup", str(script)).out


@pytest.mark.parametrize(("text", "said"), [(None, "no file"), ("for for\n", "1:")])
def test_checkup_of_what_is_none(bugzoo, tmp_path, text, said):
    script = tmp_path / "odd.py"
    if text:
        script.write_text(text)
    called = bugzoo("checkup", str(script))
    assert called.code == 2 and said in called.err and "Traceback" not in called.err


@pytest.mark.slow
def test_checkup_of_a_script_that_leaves(bugzoo, tmp_path):
    script = tmp_path / "leaves.py"
    script.write_text("import sys\nprint('bye')\nsys.exit(3)\n")
    report = json.loads(bugzoo("checkup", "--json", str(script)).out)
    assert report["outcome"] in ("found", "unjudged")
