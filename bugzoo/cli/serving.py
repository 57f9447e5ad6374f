"""`classroom`: the page of a class, and who may look at it."""

import getpass
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from bugzoo.cli import app
from bugzoo.cli.arguments import place
from bugzoo.cli.command import App
from bugzoo.cli.output import emit, json_option, table
from bugzoo.errors import UserError

LOCAL = ("127.0.0.1", "::1", "localhost")
Json = Annotated[str | None, json_option()]
Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", parser=place, help="The assignment's folder, which `bugzoo assign` made.")
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="How the instructor is called here.")]

group = App(no_args_is_help=True, help="The page of a class: hand-ins, grading, overrides and feedback, in a browser.")
user = App(no_args_is_help=True, help="Who may log in to the page of a class.")
group.add_typer(user, name="user")
app.add_typer(group, name="classroom")


@group.command()
def serve(
    folder: Folder,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8700,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; only this machine by default.")
    ] = LOCAL[0],
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Submissions at once; one a core when left out.")
    ] = None,
    json: Json = None,
) -> None:
    """Serve the page of a class, for its instructors: who has handed in, grading, overrides, feedback, the gradebook.

    Everything is kept in FOLDER/instructor/classroom.db, which only you can read, and nothing leaves this machine. Each
    submission is graded in the sandbox, as `bugzoo grade` does it. Ctrl-C ends the server; a grading that was running goes
    on at the next start.

    Examples:

    - `bugzoo classroom user add ada week_3`
    - `bugzoo classroom serve week_3`
    - `bugzoo classroom serve week_3 --port 0 --jobs 2`
    """
    from bugzoo.instructor.serve import app as server

    def ready(address: str, resumed: bool) -> None:
        if json:
            emit({"address": address, "folder": folder, "resumed": resumed}, json)
        if json != "-":
            print(f"The class is at {address}")
            if resumed:
                print("The grading that was running goes on.")
            print("Ctrl-C stops it.")
        sys.stdout.flush()

    if host not in LOCAL:
        print(
            f"Listening on {host}: others can reach the page, and passwords cross the network as they are. Put a server "
            "with TLS in front of it, or leave --host out.",
            file=sys.stderr,
        )
    server.serve(Path(os.path.abspath(folder)), host, port, jobs, ready)


@user.command()
def add(
    name: Name,
    folder: Folder,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from the first line of stdin.")
    ] = False,
    json: Json = None,
) -> None:
    """Let somebody log in; the password is asked for, and kept as a salted hash.

    Examples:

    - `bugzoo classroom user add ada week_3`
    - `bugzoo classroom user add ada week_3 --password-stdin < password.txt`
    """
    with _store(folder) as store:
        from bugzoo.instructor.serve.access import Access

        Access(store).add(name, _password(name, password_stdin))
    if json:
        emit({"added": name, "folder": folder}, json)
    if json != "-":
        print(f"{name} may log in. `bugzoo classroom serve {folder}` serves the page.")


@user.command()
def remove(name: Name, folder: Folder, json: Json = None) -> None:
    """Let somebody log in no more; open sessions end at once, and what they did stays in the log.

    Example: `bugzoo classroom user remove ada week_3`
    """
    with _store(folder) as store:
        from bugzoo.instructor.serve.access import Access

        Access(store).remove(name)
    if json:
        emit({"removed": name, "folder": folder}, json)
    if json != "-":
        print(f"{name} may not log in any more.")


@user.command("list")
def list_(folder: Folder, json: Json = None) -> None:
    """Who may log in.

    Example: `bugzoo classroom user list week_3`
    """
    with _store(folder) as store:
        from bugzoo.instructor.serve.access import Access

        found = [dict(one) for one in Access(store).users()]
    if json:
        emit(found, json)
    if json != "-":
        table(["name", "since"], [[one["name"], one["made_at"]] for one in found], "users")


def _store(folder: Path):
    from bugzoo.instructor import folder as files
    from bugzoo.instructor.serve.store import Store

    files.key(folder)  # an assignment's folder, or it is said
    return Store.open(folder)


def _password(name: str, from_stdin: bool) -> str:
    """Raises UserError where two that were typed differ, or where nobody can be asked."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise UserError("A password is asked for at a terminal; elsewhere say --password-stdin and give it on stdin.")
    try:
        first = getpass.getpass(f"Password for {name}: ")
        if first != getpass.getpass("Once more: "):
            raise UserError("The two passwords differ. Nothing was kept; type the command again.")
    except EOFError:
        raise UserError("No password was given. Nothing was kept.") from None
    return first
