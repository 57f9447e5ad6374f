"""`lab`: lessons and exercises in a folder, open in JupyterLab."""

import importlib.util
import os
import socket
import sys
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import place
from bugzoo.cli.output import emit, json_option
from bugzoo.errors import UserError


@app.command(context_settings={"allow_extra_args": True})
def lab(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", parser=place, help="Where the notebooks go; it is made when it is missing.")
    ] = Path("bugzoo_lab"),
    lesson: Annotated[
        str | None, typer.Option(help="The lesson to open, by its number; the first one when left out.")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the newer version of a notebook you changed beside it, as NAME.new.")
    ] = False,
    solutions: Annotated[bool, typer.Option("--solutions", help="Copy the solutions as well.")] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Copy only.")] = False,
    json: Annotated[str | None, json_option("What was copied, as JSON.")] = None,
) -> None:
    """Copy lessons and exercises to a folder and open them in JupyterLab.

    What you changed is never overwritten; a notebook that is still as it was copied gets the newer version.
    What follows `--` goes to JupyterLab.

    Examples:

    - `bugzoo lab my_lab`
    - `bugzoo lab my_lab -- --port 9000 --no-browser`
    - `bugzoo lab my_lab --update --no-open`
    """
    from bugzoo.material import copy_to, lesson_file

    extra = list(context.args)
    if str(folder).startswith("-"):  # `bugzoo lab -- --no-browser`: an option of Jupyter's, not a folder
        folder, extra = Path("bugzoo_lab"), [str(folder), *extra]
    notebook = lesson_file(lesson)  # an unknown one is told before anything is copied
    done = copy_to(folder, solutions=solutions, beside=update)
    if json:
        emit({"folder": folder, "notebook": notebook} | vars(done), json)
    if json != "-":
        _tell(done, update)
    if not no_open:
        _installed(folder)
        _open(folder, notebook, extra)


def _tell(done: Any, update: bool) -> None:
    for names, text in ((done.new, "new"), (done.updated, "updated to the newer version")):
        if names:
            print(f"{text}: {len(names)} file{'s' if len(names) > 1 else ''}")
    for name in done.kept:
        print(f"kept as you left it: {name}")
    for name in done.beside:
        print(f"the newer version is beside it: {name}")
    if done.newer and not update:
        print(f"Newer versions exist of {len(done.newer)}; `--update` writes them beside yours, as NAME.new.ipynb.")
    elif len(done.newer) > len(done.beside):
        print("A NAME.new.ipynb that you changed is kept as well: move it away, then `--update` writes it again.")


def _installed(folder: Path) -> None:
    """Raises UserError without JupyterLab; the notebooks are there by then."""
    if importlib.util.find_spec("jupyterlab") is None:
        raise UserError(
            f"The notebooks are in {folder}, but JupyterLab is not installed for {sys.executable}. "
            f"Type: {sys.executable} -m pip install jupyterlab"
        )


def _taken(extra: list[str]) -> int | None:
    """The port that was asked for, where something else listens on it."""
    words = " ".join(extra).replace("=", " ").split()
    for before, word in pairwise(words):
        if before in ("--port", "--ServerApp.port") and word.isdigit() and 0 < int(word) < 65536:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(word))) == 0:
                    return int(word)
    return None


def _open(folder: Path, notebook: str, extra: list[str]) -> None:
    """Become JupyterLab, so that Ctrl-C and its exit code are its own."""
    # nbgrader calls `alembic` by its bare name, so the environment's programs must be found
    programs = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": programs + os.pathsep + os.environ.get("PATH", "")}
    arguments = [sys.executable, "-m", "jupyterlab", "--ServerApp.root_dir=.", "--log-level=WARN"]
    # nothing is asked of the internet, and no question about news lies over the first lesson
    arguments += ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    # as the start page rather than as a file, so that the address that is printed leads to the lesson
    arguments.append(f"--LabApp.default_url=/lab/tree/{notebook}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")  # in a container everybody is root, and Jupyter would refuse to start
    if not browser() and not any(word.startswith("--no-browser") for word in extra):
        arguments.append("--no-browser")
        print("No browser found here: open the address below in one.")
    if port := _taken(extra):
        print(f"Port {port} is taken: JupyterLab takes another one, see the address below.")
    print("Starting JupyterLab; Ctrl-C stops it.", flush=True)
    os.chdir(folder)
    if os.name == "posix":
        os.execve(sys.executable, [*arguments, *extra], environment)
    import subprocess

    raise typer.Exit(subprocess.call([*arguments, *extra], env=environment))


def browser() -> bool:
    """Whether a browser can be opened here: one that shows windows, on a machine that has a screen."""
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return bool(os.environ.get("BROWSER"))
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True
