"""The entry point itself: exit codes, optional file names, pipes, start-up."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bugzoo.cli import optional_value

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (["list", "--json"], ["list", "--json=-"]),
        (["list", "--json", "out.json"], ["list", "--json=out.json"]),
        (["checkup", "--json", "train.py"], ["checkup", "--json=-", "train.py"]),
        (["checkup", "train.py", "--json"], ["checkup", "train.py", "--json=-"]),
        (["run", "mlp", "--json", "OUT"], ["run", "mlp", "--json=OUT"]),
        (["run", "mlp", "--json", "--seed", "1"], ["run", "mlp", "--json=-", "--seed", "1"]),
        (["run", "mlp", "--json", "-"], ["run", "mlp", "--json=-"]),
        (["verify", "--device", "cuda", "--json", "OUT"], ["verify", "--device", "cuda", "--json=OUT"]),
        (["lab", ".", "--", "--json"], ["lab", ".", "--", "--json"]),
        (["run", "--json=x", "mlp"], ["run", "--json=x", "mlp"]),
    ],
)
def test_json_with_and_without_a_name(given, made):
    assert optional_value(given) == made


def test_help_teaches(bugzoo):
    called = bugzoo("--help")
    assert called.code == 0
    assert "bugzoo run mlp" in called.out
    for command in ("list", "show", "source", "run", "break", "verify", "check", "checkup", "interview", "lab", "new"):
        assert command in called.out
        assert "xample" in bugzoo(command, "--help").out or command == "new"


def leaves(group, *path):
    for name, command in group.commands.items():
        yield from leaves(command, *path, name) if hasattr(command, "commands") else [((*path, name), command)]


def test_every_command_speaks_json():
    import typer

    from bugzoo.cli import app, commands

    commands()
    table = dict(leaves(typer.main.get_command(app)))
    assert len(table) > 15
    for path, command in table.items():
        options = [word for param in command.params for word in param.opts]
        assert "--json" in options, f"bugzoo {' '.join(path)} has no --json"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lsit"], "list"),
        (["run"], "PROGRAM"),
        (["run", "mlp", "--sead", "1"], "--seed"),
        (["run", "mlp", "--seed", "x"], "'x' was given"),
        (["run", "mlp", "--seed=1.5"], "'1.5' was given"),
    ],
)
def test_usage_mistakes_end_with_2(bugzoo, arguments, said):
    called = bugzoo(*arguments)
    assert called.code == 2
    assert said in called.err
    assert "Traceback" not in called.err


def test_version(bugzoo):
    assert bugzoo("--version").out.startswith("bugzoo ")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
@pytest.mark.sampled(1)
@pytest.mark.parametrize("words", ["list", "list --json", "source mlp"])
def test_a_full_disk_behind_stdout_is_one_message(words):
    shell = f"{sys.executable} -m bugzoo {words} > /dev/full"
    process = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, timeout=60)
    assert process.returncode == 2
    assert process.stderr == "bugzoo: The output could not be written: No space left on device.\n"


def test_json_into_a_pipe_leaves_the_pipe_there(bugzoo, tmp_path):
    # as root a file put in its place would replace a device such as /dev/null as well
    pipe, got = tmp_path / "pipe.json", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    assert bugzoo("list", "--json", str(pipe)).code == 0
    reader.join(20)
    assert json.loads(got[0]) and pipe.is_fifo()


def test_json_through_a_link_writes_what_it_points_to(bugzoo, tmp_path):
    link, real = tmp_path / "link.json", tmp_path / "real.json"
    link.symlink_to(real)
    for _ in range(2):
        assert bugzoo("list", "--json", str(link)).code == 0
        assert link.is_symlink() and json.loads(real.read_text())
    folder = tmp_path / "folder.json"
    folder.mkdir()
    called = bugzoo("list", "--json", str(folder))
    assert called.code == 2 and "is a folder" in called.err


@pytest.mark.slow
def test_listing_loads_no_torch():
    code = (
        "import sys; from bugzoo.cli import main\n"
        "try: main(['list'])\n"
        "except SystemExit: pass\n"
        "heavy = ('torch', 'matplotlib', 'plotly', 'anywidget', 'sklearn', 'IPython')\n"
        "print('heavy:', [name for name in heavy if name in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout.splitlines()[-1] == "heavy: []"


WRONG = [
    "assign new --program mlp --fault loop/stale_gradients --students class.csv --secret short",
    "assign new --program mlp --fault loop/stale_gradients --students none.csv --secret long",
    "assign new --program mlp --fault numerics/log_at_step?step=60..40",
    "assign torn --program mlp --fault loop/stale_gradients",
    "grade handed_in --assignment torn",
    "grade handed_in --assignment 01 --students none.csv",
]
"""Each with something that is wrong with a file: a secret, a roster, a key, a folder that is taken."""


def test_what_is_wrong_with_a_file_is_told_before_torch_is_loaded(tmp_path):
    (tmp_path / "handed_in").mkdir()
    (tmp_path / "torn/instructor").mkdir(parents=True)
    (tmp_path / "torn/instructor/key.json").write_text("{")
    (tmp_path / "class.csv").write_text("student_id\nada\n")
    (tmp_path / "short").write_text("word")
    (tmp_path / "long").write_text("a secret that is long enough")
    code = (
        "import sys; from bugzoo.cli import main\n"
        f"for line in {WRONG!r}:\n"
        "    try: main(line.split())\n"
        "    except SystemExit as stop: print(stop.code, [n for n in ('torch', 'numpy') if n in sys.modules], line)\n"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert process.stdout.splitlines() == [f"2 [] {line}" for line in WRONG], process.stderr


def test_nothing_is_imported_before_ctrl_c_is_heard():
    """What Python itself does before our first line is out of our hands; nothing of ours makes that time longer."""
    code = "import os, sys; before = set(sys.modules); import bugzoo.__main__; print(sorted(set(sys.modules) - before))"
    process = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert process.stdout.split() == ["['bugzoo',", "'bugzoo.__main__']"]


def test_help_starts_quickly():
    before = os.times()
    subprocess.run([sys.executable, "-m", "bugzoo", "--help"], capture_output=True, check=True)
    after = os.times()  # processor time: a busy machine makes nothing slow that is not
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert spent < 1.0, f"bugzoo --help takes {spent:.2f} s"


def test_ctrl_c_while_a_text_is_executed_ends_with_130(tmp_path):
    """As dataclasses do while torch is imported: Python remembers it, and ends by the signal whatever the exit code is."""
    (tmp_path / "pressed.py").write_text(
        "import bugzoo.cli as cli\n"
        "def cut(*words, **names):\n    exec('raise KeyboardInterrupt')\n"
        "cli.commands()\ncli.app = cut\ncli.main(['list'])\n"
    )
    command = [sys.executable, "-m", "pressed"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 130 and process.stderr == "\nbugzoo: stopped.\n"


def test_ctrl_c_that_a_library_swallowed_is_no_traceback():
    """An import cut in half may be caught by whoever imported; what fails then for want of the rest is not news."""
    code = (
        "import os, signal, time, bugzoo.cli as cli\n"
        "def half(*words, **names):\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGINT)\n        time.sleep(5)\n"
        "    except KeyboardInterrupt:\n        raise AttributeError('module has no attribute') from None\n"
        "cli.commands()\ncli.app = half\ncli.main(['list'])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 130 and process.stderr == "\nbugzoo: stopped.\n"
