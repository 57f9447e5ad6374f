"""`lab`: copy lessons and exercises to a folder, and open them in JupyterLab."""

import importlib.util
import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import path_argument
from bugzoo.cli.output import emit, json_option
from bugzoo.errors import UserError

FOLDER = Path("bugzoo_lab")
"""Where the notebooks go if no folder is named."""


@app.command(context_settings={"allow_extra_args": True})
def lab(
    context: typer.Context,
    folder: Annotated[Path, path_argument("DIR", "The folder for the notebooks; made if it is missing.")] = FOLDER,
    lesson: Annotated[
        str | None, typer.Option(help="The number of the lesson to open. Default: the map of the course.")
    ] = None,
    update: Annotated[
        bool,
        typer.Option("--update", help="Next to a notebook you changed, write its newer version as NAME.new.ipynb."),
    ] = False,
    solutions: Annotated[bool, typer.Option("--solutions", help="Copy the solutions as well.")] = False,
    instructor: Annotated[
        bool, typer.Option("--instructor", help="Show nbgrader's menu, tabs and Validate button in JupyterLab.")
    ] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Copy, but do not start JupyterLab.")] = False,
    json: Annotated[str | None, json_option("Write the list of copied files as JSON.")] = None,
) -> None:
    """Copy lessons and exercises to a folder and open them in JupyterLab.

    A notebook that you changed is never overwritten. An unchanged one is updated to the newer version.
    Arguments after `--` go to JupyterLab.

    Examples:

    - `bugzoo lab my_lab`
    - `bugzoo lab my_lab -- --port 9000 --no-browser`
    - `bugzoo lab my_lab --update --no-open`
    - `bugzoo lab my_class --instructor`
    """
    from bugzoo.material import copy_to, lesson_file

    extra = list(context.args)
    if str(folder).startswith("-"):  # `bugzoo lab -- --no-browser`: an option of Jupyter's, not a folder
        folder, extra = FOLDER, [str(folder), *extra]
    notebook = lesson_file(lesson)  # an unknown lesson is reported before anything is copied
    copied = copy_to(folder, solutions=solutions, beside=update)
    if json:
        emit({"folder": folder, "notebook": notebook} | vars(copied), json)
    if json != "-":
        _tell(copied, update)
    if not no_open:
        _installed(folder)
        _open(folder, notebook, extra, instructor)


def _tell(done: Any, update: bool) -> None:
    for names, text in ((done.new, "new"), (done.updated, "updated to the newer version")):
        if names:
            print(f"{text}: {len(names)} file{'s' if len(names) > 1 else ''}")
    for name in done.kept:
        print(f"kept with your changes: {name}")
    for name in done.beside:
        print(f"newer version written: {name}")
    if done.newer and not update:
        print(f"{len(done.newer)} of these have a newer version. `--update` writes it next to yours as NAME.new.ipynb.")
    elif len(done.newer) > len(done.beside):
        print("You changed a NAME.new.ipynb, so it is kept. Move it away, then `--update` writes it again.")


def _installed(folder: Path) -> None:
    """Raise UserError if JupyterLab is missing. The notebooks are already copied."""
    if importlib.util.find_spec("jupyterlab") is None:
        problem = f"The notebooks are in {folder}, but JupyterLab is not installed for {sys.executable}."
        raise UserError(f"{problem} Type: {sys.executable} -m pip install jupyterlab")


def _taken(extra: list[str]) -> int | None:
    """Return the requested port if another program already listens on it."""
    import socket

    words = " ".join(extra).replace("=", " ").split()
    for before, word in pairwise(words):
        if before in ("--port", "--ServerApp.port") and word.isdigit() and 0 < int(word) < 65536:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(word))) == 0:
                    return int(word)
    return None


JUPYTER = Path(__file__).parents[1] / "lab" / "jupyter"
"""Jupyter's configuration. For everyone: no question about news. For learners: no tabs and menu of nbgrader."""


def _open(folder: Path, notebook: str, extra: list[str], instructor: bool) -> None:
    """Replace this process by JupyterLab, so that Ctrl-C and the exit code are JupyterLab's own."""
    # nbgrader calls `alembic` by its bare name, so the environment's programs must be on PATH
    environment = os.environ | {"PATH": _before(str(Path(sys.executable).parent), "PATH")}
    configured = [str(JUPYTER / who) for who in ("everyone", *([] if instructor else ["learner"]))]
    environment["JUPYTER_CONFIG_PATH"] = _before(os.pathsep.join(configured), "JUPYTER_CONFIG_PATH")
    arguments = [sys.executable, "-m", "jupyterlab", "--ServerApp.root_dir=.", "--log-level=WARN"]
    # no request to the internet
    arguments += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    # the lesson is the start page and not an argument, so that the printed address leads to it
    arguments.append(f"--LabApp.default_url=/lab/tree/{notebook}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")  # containers run as root, and Jupyter would refuse to start
    if not browser() and not any(word.startswith("--no-browser") for word in extra):
        arguments.append("--no-browser")
        print("No browser was found. Open the address below in your browser.")
    if port := _taken(extra):
        print(f"Port {port} is in use. JupyterLab picks another one: see the address below.")
    print("Starting JupyterLab. Press Ctrl-C to stop it.", flush=True)
    os.chdir(folder)
    if os.name == "posix":
        os.execve(sys.executable, [*arguments, *extra], environment)
    import subprocess

    raise typer.Exit(subprocess.call([*arguments, *extra], env=environment))


def _before(folder: str, variable: str) -> str:
    """Return a search path of the environment with a folder, or several, in front."""
    return os.pathsep.join(filter(None, [folder, os.environ.get(variable, "")]))


def browser() -> bool:
    """Return whether a browser with a window can be opened: this machine needs a screen."""
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return bool(os.environ.get("BROWSER"))
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True
