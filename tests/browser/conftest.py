"""A JupyterLab server of its own and Debian's Chromium, for tests that do what a learner does."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bugzoo.cli.classroom import JUPYTER
from tests.interview.seeds import first_seed

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "artefacts" / "browser"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def _missing(why: str) -> None:
    if os.environ.get("CI", "").lower() == "true" or os.environ.get("BUGZOO_NEED_BROWSER"):
        pytest.fail(f"{why}; in CI a browser test must not be skipped")
    pytest.skip(why)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless browser."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        _missing("no chromium on the PATH")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright for Python is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Server:
    url: str
    folder: Path
    data: Path
    """Where the learner's record is."""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """JupyterLab on a copy of the lessons and exercises, with settings of its own and the configuration of `bugzoo lab`."""
    folder, home = tmp_path_factory.mktemp("lab"), tmp_path_factory.mktemp("home")
    for kind in ("notebooks", "exercises"):
        shutil.copytree(ROOT / kind, folder / kind, ignore=shutil.ignore_patterns(".*"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    variables = {name: str(home / name.lower()) for name in (
        "JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR",
        "IPYTHONDIR", "XDG_DATA_HOME", "XDG_CACHE_HOME",
    )}  # fmt: skip
    variables["JUPYTER_CONFIG_PATH"] = os.pathsep.join(str(JUPYTER / who) for who in ("everyone", "learner"))
    environment = os.environ | variables | {"BUGZOO_DATA": str(home / "data"), "OMP_NUM_THREADS": "1"}
    environment |= {"BUGZOO_INTERVIEW_SEED": str(first_seed("numerics/log_at_step", "mlp"))}
    environment["PATH"] = str(Path(sys.executable).parent) + os.pathsep + environment["PATH"]
    with open(home / "server.log", "w") as log:
        process = subprocess.Popen(
            [
                sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--allow-root",
                "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None",
                f"--ServerApp.root_dir={folder}",
            ],
            cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        try:
            _wait(lambda: urllib.request.urlopen(f"{url}/api/status", timeout=2).status == 200, process, home)
            yield Server(url, folder, home / "data")
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(ready: Callable[[], bool], process: subprocess.Popen, home: Path) -> None:
    end = time.monotonic() + 180  # seconds: beside other tests on a busy machine
    while time.monotonic() < end and process.poll() is None:
        try:
            if ready():
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail("JupyterLab did not start:\n" + (home / "server.log").read_text()[-3000:])


class Lab:
    """One page with one notebook, driven as a person would."""

    def __init__(self, page: Any, url: str) -> None:
        self.page, self.url = page, url

    def open(self, notebook: str) -> None:
        """Open a notebook and wait for an idle kernel."""
        self.page.goto(f"{self.url}/lab/tree/{notebook}?reset", wait_until="domcontentloaded")
        self.page.wait_for_function(
            """() => { const app = window.jupyterapp; if (!app) return false;
                const context = app.shell.currentWidget?.context?.sessionContext;
                return context?.session?.kernel?.status === 'idle'; }""",
            timeout=90_000,
        )

    def theme(self, name: str) -> None:
        """Change to "JupyterLab Light" or "JupyterLab Dark" and wait until the page has."""
        self.command("apputils:change-theme", {"theme": name})
        light = "false" if "Dark" in name else "true"
        self.page.wait_for_selector(f'body[data-jp-theme-light="{light}"]', state="attached")

    def command(self, name: str, arguments: dict | None = None) -> None:
        self.page.evaluate(  # without the result: what a command returns may be a widget
            "async ([name, args]) => { await window.jupyterapp.commands.execute(name, args); }", [name, arguments or {}]
        )

    def run_all(self, timeout: float = 600) -> None:
        """Run every cell and wait until none is waiting any more."""
        # a second time in the same kernel counts as well: forget the numbers of the first
        self.page.evaluate(
            """() => { window.jupyterapp.shell.currentWidget.content.widgets.filter(cell => cell.model.type === 'code')
                .forEach(cell => { cell.model.executionCount = null; });
                window.jupyterapp.commands.execute('notebook:run-all-cells'); }"""
        )
        self.until(
            """() => window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model)
                .filter(model => model.type === 'code' && model.sharedModel.getSource().trim())
                .every(model => model.executionCount !== null && model.executionState !== 'running')""",
            timeout,
            "every cell has run",
        )

    def until(self, condition: str, seconds: float, what: str, polling: Any = "raf") -> None:
        """Wait for a condition in the page; where it does not come, say what the notebook shows instead."""
        from playwright.sync_api import TimeoutError as TooLate

        try:
            self.page.wait_for_function(condition, timeout=seconds * 1000, polling=polling)
        except TooLate:
            self.picture("too_late")
            cells = self.page.evaluate(
                """() => window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model)
                    .filter(model => model.type === 'code')
                    .map(model => `${model.id}: [${model.executionCount}] ${model.executionState}`)"""
            )
            pytest.fail(f"after {seconds:g} s not yet: {what}\n" + "\n".join([*cells, *self.errors()]))

    def errors(self) -> list[str]:
        """Tracebacks that are shown in the notebook."""
        return self.page.evaluate(
            """() => window.jupyterapp.shell.currentWidget.content.widgets
                .filter(cell => cell.model.type === 'code')
                .flatMap(cell => cell.model.outputs.toJSON().filter(one => one.output_type === 'error')
                .map(one => cell.model.id + ': ' + one.ename + ': ' + one.evalue))"""
        )

    def outputs(self, cell: str) -> list[dict]:
        """The outputs of one cell, by its id, as they would be saved."""
        return self.page.evaluate(
            """id => window.jupyterapp.shell.currentWidget.content.widgets
                .find(cell => cell.model.id === id).model.outputs.toJSON()""",
            cell,
        )

    def show(self, cell: str) -> Any:
        """Scroll a cell into view and return its element."""
        self.page.evaluate(
            """id => { const notebook = window.jupyterapp.shell.currentWidget.content;
                const index = notebook.widgets.findIndex(cell => cell.model.id === id);
                notebook.activeCellIndex = index; return notebook.scrollToItem(index, 'start'); }""",
            cell,
        )
        cell = self.page.locator(".jp-Notebook .jp-mod-active.jp-Cell")
        cell.wait_for()
        # scrolling and what a view draws late move things: wait until the cell stands still
        self.until(
            """() => { const cell = document.querySelector('.jp-Notebook .jp-mod-active.jp-Cell');
                const place = cell && JSON.stringify(cell.getBoundingClientRect());
                const still = place === window.bugzooPlace; window.bugzooPlace = place; return place && still; }""",
            30,
            f"the cell {cell} stands still",
            polling=150,
        )
        return cell

    def type_and_run(self, code: str) -> None:
        """A new cell at the bottom, typed and run as a person would."""
        self.page.evaluate(
            """async code => { const app = window.jupyterapp, notebook = app.shell.currentWidget.content;
                notebook.activeCellIndex = notebook.widgets.length - 1;
                await app.commands.execute('notebook:insert-cell-below');
                notebook.activeCell.model.sharedModel.setSource(code);
                await app.commands.execute('notebook:run-cell'); }""",
            code,
        )

    def run_cell(self, cell: str, timeout: float = 150) -> None:
        """Run one cell, by its id, and wait until it is done."""
        self.page.evaluate(
            """id => { const app = window.jupyterapp, notebook = app.shell.currentWidget.content;
                const index = notebook.widgets.findIndex(cell => cell.model.id === id);
                notebook.deselectAll(); notebook.activeCellIndex = index;
                notebook.widgets[index].model.executionCount = null;
                app.commands.execute('notebook:run-cell'); }""",
            cell,
        )
        self.until(
            f"""() => {{ const model = window.jupyterapp.shell.currentWidget.content.widgets.map(cell => cell.model)
                .find(model => model.id === '{cell}');
                return model.executionCount !== null && model.executionState !== 'running'; }}""",
            timeout,
            f"the cell {cell} has run",
        )

    def picture(self, name: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png")


def line_index(form: Any, line: int) -> int:
    """Return the index of a program's line in a form's listing, which begins at the first statement; 0: no line."""
    labels = form.locator("select option").all_inner_texts()
    return next(
        index for index, label in enumerate(labels) if label.replace("\xa0", " ").split()[:1] == [str(line or "-")]
    )


@pytest.fixture
def lab(chromium: Any, server: Server) -> Iterator[Lab]:
    """A fresh page."""
    page = chromium.new_page(viewport={"width": 1300, "height": 1000})
    page.set_default_timeout(30_000)
    yield Lab(page, server.url)
    page.close()
