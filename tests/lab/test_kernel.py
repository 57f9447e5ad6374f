"""Live runs in a real IPython kernel: interrupted, crashing, printing, pressed twice, one behind another."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

from tests.sampling import only_in_prove

pytestmark = pytest.mark.slow

SETUP = """
import os, threading, time
os.environ["BUGZOO_WIDGETS"] = "1"
from bugzoo import Scenario, lab
SICK = Scenario("mlp", ("numerics/log_at_step?step=50&eps=0",))
ENDLESS = "import time\\nwhile True:\\n    time.sleep(0.01)\\n"

def left():
    return sorted(t.name for t in threading.enumerate() if t.name in ("bugzoo-run", "bugzoo-view", "bugzoo-timer"))
"""


class Kernel:
    """Runs cells and collects what they put out."""

    def __init__(self, manager: KernelManager) -> None:
        self.manager, self.client = manager, manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def begin(self, code: str) -> str:
        return self.client.execute(code)

    def end(self, message: str, seconds: float = 60) -> tuple[str, list[dict]]:
        """(printed text and error, every message) of a cell, once the kernel is idle again."""
        text, messages, end = "", [], time.monotonic() + seconds
        while time.monotonic() < end:
            got = self.client.get_iopub_msg(timeout=max(1, end - time.monotonic()))
            if got["parent_header"].get("msg_id") != message:
                continue
            messages.append(got)
            content = got["content"]
            if got["msg_type"] == "stream":
                text += content["text"]
            elif got["msg_type"] == "error":
                text += f"{content['ename']}: {content['evalue']}"
            elif got["msg_type"] == "status" and content["execution_state"] == "idle":
                return text, messages
        raise AssertionError(f"the cell did not end within {seconds} s; it said: {text}")

    def run(self, code: str) -> str:
        return self.end(self.begin(code))[0]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    home = tmp_path_factory.mktemp("kernel")
    variables = {"IPYTHONDIR": str(home), "BUGZOO_DATA": str(home / "data"), "OMP_NUM_THREADS": "1"}
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(Path(home)), env=os.environ | variables)
    try:
        kernel = Kernel(manager)
        assert kernel.run(SETUP) == ""
        yield kernel
        kernel.client.stop_channels()
    finally:
        manager.shutdown_kernel(now=True)


@pytest.fixture(autouse=True)
def nothing_left(kernel: Kernel) -> Iterator[None]:
    yield
    kernel.manager.interrupt_kernel()  # a cell of a test that failed
    kernel.run("lab.stop_all()")
    names = kernel.run(
        "end = time.monotonic() + 20\nwhile left() and time.monotonic() < end: time.sleep(0.05)\nprint(left())"
    )
    assert names.strip() == "[]"


def test_interrupting_the_cell_that_waits_ends_the_run(kernel: Kernel) -> None:
    kernel.run("view = lab.LiveView(ENDLESS, show_twin=False).show().start()")
    # the interrupt must come while the cell waits, so the word comes from another thread, a second later
    message = kernel.begin(
        "threading.Timer(1, lambda: print('waiting', flush=True)).start()\nprint(view.result.outcome)"
    )
    while kernel.client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
        pass
    kernel.manager.interrupt_kernel()
    assert kernel.end(message)[0].strip() == "stopped"
    assert kernel.run("print(view.state)").strip() == "ended"


def test_interrupting_another_cell_leaves_the_run_alone(kernel: Kernel) -> None:
    kernel.run("view = lab.LiveView(SICK, show_twin=False, pace=100).show().start()")
    message = kernel.begin("print('busy', flush=True)\ntime.sleep(300)")
    while kernel.client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
        pass
    kernel.manager.interrupt_kernel()
    assert "KeyboardInterrupt" in kernel.end(message)[0]
    assert kernel.run("print(view.result.outcome, len(view.points))").split() == ["non_finite", "216"]


def test_run_pressed_twice_starts_one_run(kernel: Kernel) -> None:
    printed = kernel.run(
        "view = lab.LiveView(SICK, show_twin=False, pace=200).show()\n"
        "view.widgets.run.click(); view.widgets.run.click()\n"
        "first = view._engine\n"
        "print(view.result.outcome, view._engine is first, len(view.points))"
    )
    assert printed.split() == ["non_finite", "True", "216"]


def test_a_run_that_prints_a_lot_floods_nothing(kernel: Kernel) -> None:
    text = "for i in range(200_000):\n    print('x' * 80)\nprint('the end')\n"
    begin = kernel.begin(f"view = lab.LiveView({text!r}).show().start()\nprint(len(view.result.stdout))")
    printed, messages = kernel.end(begin)
    assert 900_000 < int(printed) < 1_200_000, "the beginning and the end are kept, a mebibyte in all"
    assert len(messages) < 300
    assert kernel.run("print(view.result.stdout.rstrip()[-7:])").strip() == "the end"


def test_a_crash_shows_its_own_lines_and_the_next_run_works(kernel: Kernel) -> None:
    text = kernel.run("view = lab.LiveView('x = 1\\nraise ValueError(\"seven\")\\n').show().start()\nview.wait()\n"
                      "while 'seven' not in view.widgets.status.value: time.sleep(0.05)\n"
                      "print(view.result.outcome, 'bugzoo/' in view.widgets.status.value)\n"
                      "view.restart(SICK.source); print(view.result.outcome)")  # fmt: skip
    assert text.split() == ["crashed", "False", "non_finite"]


def test_sliders_move_while_a_run_goes_on_and_count_from_the_next(kernel: Kernel) -> None:
    printed = kernel.run(
        "panel = lab.break_it(SICK, pace=100)\n"
        "panel.twin_toggle.value = False\n"
        "panel.view.widgets.run.click()\n"
        "while len(panel.view.points) < 20: time.sleep(0.02)\n"
        "panel.params[0]['eps'].value, panel.settings['seed'].value = 1e-9, 4\n"
        "first = panel.result\n"
        "print(first.outcome, 'seed = 0' in first.source)\n"
        "panel.view.widgets.run.click()\n"
        "print(panel.result.outcome, 'seed = 4' in panel.result.source)"
    )
    assert printed.split() == ["non_finite", "True", "finished", "True"]


def test_a_run_behind_a_paused_one_says_so_instead_of_waiting_for_ever(kernel: Kernel) -> None:
    kernel.run("one = lab.LiveView(SICK, show_twin=False, pause_at=3).start(); one.wait_pause()")
    printed = kernel.run("two = lab.LiveView(SICK, show_twin=False).start(); two.result")
    assert printed.startswith("UserError") and "paused. Press Resume or Stop" in printed
    assert kernel.run("one.stop(); print(two.result.outcome)").strip() == "non_finite"


@pytest.mark.sampled(0)
def test_a_run_behind_one_that_the_cell_holds_gets_its_turn(kernel: Kernel) -> None:
    # a learner who skips the cell between: the first run stands still while a cell computes, and this cell waits for it
    kernel.run("one = lab.LiveView(SICK, show_twin=False, pace=100).start()")
    printed = kernel.run("two = lab.LiveView(SICK, show_twin=False, pause_at=3).start(); print(two.wait_pause(30))")
    assert printed.strip() == "True"
    kernel.run("two.stop(); two.wait(); one = lab.LiveView(SICK, show_twin=False, pace=100).start()")
    begin = kernel.begin("print(lab.LiveView(SICK, show_twin=False).start().result.outcome, one.state)")
    assert kernel.end(begin, 30)[0].split() == ["non_finite", "ended"]


def test_a_clock_that_nobody_holds_stops_ticking(kernel: Kernel) -> None:
    assert kernel.run("clock = lab.timer(); print(left())").strip() == "['bugzoo-timer']"
    kernel.run("del clock")  # `nothing_left` looks whether its thread ends


@pytest.mark.sampled(0)
def test_a_run_that_the_page_starts_goes_on_without_another_cell(tmp_path: Path) -> None:
    """In a fresh kernel, whose first run begins between two cells: nothing else has heard of cells by then."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(tmp_path), env=os.environ | {"BUGZOO_DATA": str(tmp_path), "OMP_NUM_THREADS": "1"})
    try:
        kernel = Kernel(manager)
        later = "get_ipython().kernel.io_loop.call_later(0.5, view._seen)"
        kernel.run(SETUP + "view = lab.live(SICK, show_twin=False)\n" + later)
        status, end = "", time.monotonic() + 60
        while "not finite" not in status and time.monotonic() < end:  # no cell asks: it would let the run go on
            content = kernel.client.get_iopub_msg(timeout=60)["content"]
            status = str(content.get("data", {}).get("state", {}).get("value", ""))
        assert "not finite" in status
        kernel.client.stop_channels()
    finally:
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize(("extra", "wanted"), [({}, "1"), only_in_prove({"OMP_NUM_THREADS": "2"}, "2")])
def test_a_notebook_computes_with_one_thread_as_the_texts_were_measured(
    tmp_path: Path, extra: dict[str, str], wanted: str
) -> None:
    variables = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(tmp_path), env=variables | extra | {"BUGZOO_DATA": str(tmp_path)})
    try:
        kernel = Kernel(manager)
        printed = kernel.run("import torch\nfrom bugzoo import lab\nprint(torch.get_num_threads())")
        assert printed.strip() == wanted
        kernel.client.stop_channels()
    finally:
        manager.shutdown_kernel(now=True)
