"""run_here: endings, live objects, and a process that is as it was before."""

import inspect
import os
import random
import sys
import threading
import warnings

import numpy as np
import pytest
import torch

from bugzoo.errors import UserError
from bugzoo.running import Reading, run_here
from bugzoo.watching import StopRun

from .conftest import training


def test_finished_run_keeps_namespace_metrics_and_steps():
    run = run_here(training(20), file="small.py")
    assert run.outcome == "finished"
    assert len(run.trace.loss) == 20
    assert isinstance(run.namespace["model"], torch.nn.Module)
    assert run.trace.metrics == {"loss": run.namespace["loss"].item()}
    assert "20 steps" in repr(run)


def test_it_is_the_main_program_with_arguments_and_captured_text(capsys):
    source = "import sys\nif __name__ == '__main__':\n    print(sys.argv)\n    print('oops', file=sys.stderr)\n"
    run = run_here(source, file="main.py", argv=("--fast",))
    assert run.stdout == "['main.py', '--fast']\noops\n"
    assert capsys.readouterr().out == ""
    run_here("print('seen')", pass_output=True)
    assert capsys.readouterr().out == "seen\n"


def test_crash_names_file_line_and_real_source():
    run = run_here("def deep():\n    raise ValueError('no')\n\ndeep()\n", file="crash.py")
    error = run.trace.error
    assert (run.outcome, error["type"], error["message"]) == ("crashed", "ValueError", "no")
    assert (error["file"], error["line"]) == ("crash.py", 2)
    assert "raise ValueError('no')" in error["traceback"]
    assert "here.py" not in error["traceback"]


def test_crash_inside_torch_names_the_line_of_the_script():
    run = run_here("import torch\n\ntorch.ones(2) @ torch.ones(3)\n", file="shapes.py")
    assert (run.outcome, run.trace.error["line"]) == ("crashed", 3)


def test_syntax_error_is_a_crash_with_its_line():
    run = run_here("x = 1\ny = (\n", file="broken.py")
    assert (run.outcome, run.trace.error["type"], run.trace.error["line"]) == ("crashed", "SyntaxError", 2)


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        ("raise SystemExit", "finished"),
        ("import sys; sys.exit(0)", "finished"),
        ("import sys; sys.exit(3)", "crashed"),
        ("import sys; sys.exit('no data')", "crashed"),
        ("raise KeyboardInterrupt", "stopped"),
        ("raise MemoryError", "out_of_memory"),
        ("torch.empty(10**15)", "out_of_memory"),
        ("raise torch.OutOfMemoryError('CUDA out of memory')", "out_of_memory"),
        ("metrics = {'loss': float('nan')}", "non_finite"),
        ("input()", "crashed"),
    ],
)
def test_endings_keep_the_steps_taken(ending, outcome):
    run = run_here(training(3, then=ending + "\n"))
    assert run.outcome == outcome
    assert len(run.trace.step) == 3


def test_last_loss_not_finite_is_non_finite():
    source = training(4).replace("loss.backward()", "(loss if step < 3 else loss * float('inf')).backward()")
    assert run_here(source).outcome == "non_finite"


def test_stop_from_on_step_and_ctrl_c_leave_the_partial_trace():
    def stop(info):
        if info["step"] == 5:
            raise StopRun

    def interrupt(info):
        if info["step"] == 6:
            raise KeyboardInterrupt

    for on_step, steps in ((stop, 5), (interrupt, 6)):
        run = run_here(training(50), on_step=on_step)
        assert run.outcome == "stopped"
        assert len(run.trace.step) in (steps - 1, steps)


def test_process_is_as_before():
    main, argv, stdin, folder = sys.modules["__main__"], sys.argv, sys.stdin, os.getcwd()
    state = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy(), torch.get_num_threads()
    filters = list(warnings.filters)
    source = (
        "import os, random, sys, warnings, torch, numpy as np\n"
        "torch.manual_seed(5); random.seed(5); np.random.seed(5); torch.set_num_threads(3)\n"
        "torch.set_default_dtype(torch.float64); torch.set_default_device('meta'); torch.set_grad_enabled(False)\n"
        "torch.use_deterministic_algorithms(True); torch.autograd.set_detect_anomaly(True, check_nan=False)\n"
        "os.environ['LEFT_OVER'] = '1'; os.chdir('/'); warnings.simplefilter('ignore'); sys.path.append('/nowhere')\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anomaly mode warns when it is set
        filters = list(warnings.filters)
        run = run_here(source)
        assert warnings.filters == filters
    assert run.outcome == "finished", run.trace.error
    assert sys.modules["__main__"] is main and sys.argv is argv and sys.stdin is stdin and os.getcwd() == folder
    assert torch.equal(torch.get_rng_state(), state[0]) and random.getstate() == state[1]
    assert (np.random.get_state()[1] == state[2]).all() and torch.get_num_threads() == state[3]
    assert torch.get_default_dtype() == torch.float32 and torch.empty(1).device.type == "cpu"
    assert torch.is_grad_enabled() and not torch.is_anomaly_enabled()
    assert not torch.are_deterministic_algorithms_enabled()
    assert "LEFT_OVER" not in os.environ and "/nowhere" not in sys.path


def test_same_script_twice_gives_the_same_losses():
    first, second = run_here(training(10)), run_here(training(10))
    assert first.trace.loss.tolist() == second.trace.loss.tolist()


def test_inspect_shows_the_scripts_classes_and_functions_afterwards():
    run = run_here("class Net:\n    size = 3\n\ndef half(x):\n    return x / 2\n", file="shown.py")
    assert inspect.getsource(run.namespace["Net"]) == "class Net:\n    size = 3\n"
    assert inspect.getsource(run.namespace["half"]) == "def half(x):\n    return x / 2\n"


def test_two_runs_at_once_in_one_process_are_refused(monkeypatch):
    waiting, go = threading.Event(), threading.Event()

    def pause(info):
        waiting.set()
        go.wait(20)

    thread = threading.Thread(target=run_here, args=(training(1),), kwargs={"on_step": pause})
    thread.start()
    assert waiting.wait(10)
    monkeypatch.setattr("bugzoo.running.here.PATIENCE", 0.05)
    with pytest.raises(UserError, match="Another run is active"):
        run_here("pass")
    go.set()
    thread.join()
    assert run_here("pass").outcome == "finished"


def test_a_run_in_a_thread_leaves_the_other_threads_output_alone(capsys):
    ready, go = threading.Event(), threading.Event()
    runs = []

    def pause(info):
        ready.set()
        go.wait(10)

    thread = threading.Thread(target=lambda: runs.append(run_here(training(1, "print('script')\n"), on_step=pause)))
    thread.start()
    ready.wait(10)
    print("cell")
    go.set()
    thread.join()
    assert runs[0].stdout == "script\n"
    assert capsys.readouterr().out == "cell\n"


def test_after_is_called_with_the_run():
    run = run_here("x = 1", after="tests.running.measures:names")
    assert run.readings == {"names": Reading({"x": 1})}
    with pytest.raises(UserError, match="cannot be found"):
        run_here("x = 1", after="tests.running.measures:missing")
    with pytest.raises(TypeError, match=r"returns \{name: Reading\}.*gave \['dict'\]"):
        run_here("x = 1", after="tests.running.measures:plain")
