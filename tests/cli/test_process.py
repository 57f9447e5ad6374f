"""The process around a command: closed streams, pipes that nobody reads, full disks, odd terminals, Ctrl-C at any time.

Each line is typed into a real shell, with pipefail, in an empty folder; nothing of it may be found there afterwards.
"""

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

BUGZOO = f"{sys.executable} -m bugzoo"
FULL = "bugzoo: The output could not be written: No space left on device.\n"

# what is typed ("bugzoo" stands for the command), exit code, a piece of stdout, a piece of stderr ("" is none at all)
TYPED = [
    # closed streams
    ("bugzoo list >&-", 2, "", "stdout is closed"),
    ("bugzoo --help >&-", 2, "", "stdout is closed"),
    ("bugzoo list --json list.json >&-", 2, "", "stdout is closed"),
    ("bugzoo list programs 2>&-", 0, " programs", ""),
    ("bugzoo list nosuch 2>&-", 2, "", ""),
    ("bugzoo nosuch 2>&-", 2, "", ""),
    ("bugzoo list nosuch >&- 2>&-", 2, "", ""),
    ("bugzoo list programs <&-", 0, " programs", ""),
    ("bugzoo list programs <&- 2>&-", 0, " programs", ""),
    ("bugzoo interview <&-", 2, "", "stdin is closed"),
    ("bugzoo interview <&- >&-", 2, "", "stdout is closed"),
    ("bugzoo interview --seed 12345678901234567890123 < /dev/null", 2, "", "4294967295"),
    # pipes
    ("bugzoo list | head -1", 0, " faults", ""),
    ("bugzoo --help | head -1", 0, "", ""),
    ("bugzoo run --help | head -1", 0, "", ""),
    ("bugzoo list --json | head -c 1", 0, "[", ""),
    ("bugzoo show loop/stale_gradients | head -1", 0, "loop/stale_gradients", ""),
    ("bugzoo source mlp | head -1", 0, "Classify", ""),
    ("bugzoo source mlp | true", 0, "", ""),
    ("bugzoo list nosuch 2>&1 | true", 2, "", ""),
    ("yes | bugzoo list programs", 141, " programs", ""),  # `yes` ends by the closed pipe, bugzoo does not
    # a full disk behind the output
    ("bugzoo list > /dev/full", 2, "", FULL),
    ("bugzoo list --json > /dev/full", 2, "", FULL),
    ("bugzoo source mlp > /dev/full", 2, "", FULL),
    ("bugzoo --help > /dev/full", 2, "", FULL),
    ("bugzoo --version > /dev/full", 2, "", FULL),
    ("bugzoo list nosuch 2> /dev/full", 2, "", ""),
    ("bugzoo list programs --json=/dev/full", 2, "", "No space left"),
    ("(ulimit -f 1; exec bugzoo list --json list.json)", 2, "", "list.json could not be written"),
    ("(ulimit -f 1; exec bugzoo lab lab --no-open)", 2, "", "could not be written"),
    ("(ulimit -f 1; exec bugzoo run mlp --picture x.png)", 2, "", "x.png could not be written"),
    ("(ulimit -f 1; exec bugzoo verify --json x.json)", 2, "", "x.json could not be written"),
    # what a stream can hold
    ("PYTHONIOENCODING=ascii bugzoo show loop/stale_gradients", 0, "level 1 - symptom", ""),
    ("PYTHONIOENCODING=ascii bugzoo list", 0, " faults", ""),
    ("PYTHONIOENCODING=ascii bugzoo --help", 0, "Usage: bugzoo", ""),
    ("PYTHONIOENCODING=latin-1 bugzoo show loop/stale_gradients", 0, "symptom degraded", ""),
    ("LC_ALL=C bugzoo show loop/stale_gradients", 0, "symptom degraded", ""),
    ("LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 bugzoo show loop/stale_gradients", 0, "symptom degraded", ""),
    ("bugzoo show $'caf\\xe9'", 2, "", "caf\\udce9"),
    ("bugzoo checkup $'caf\\xe9.py'", 2, "", "There is no file"),
    ("LC_ALL=C bugzoo show $'caf\\xe9'", 2, "", "caf\\udce9"),
    ("PYTHONIOENCODING=ascii bugzoo show café", 2, "", "caf\\xe9"),
    # windows of any width
    ("COLUMNS=0 bugzoo list programs", 0, "The digits perceptron", ""),
    ("COLUMNS=-5 bugzoo list programs", 0, "The digits perceptron", ""),
    ("COLUMNS=wide bugzoo list programs", 0, "The digits perceptron", ""),
    ("COLUMNS=1 bugzoo list programs", 0, "perceptron", ""),
    ("COLUMNS=1000000000 bugzoo --help", 0, "Usage: bugzoo", ""),
    ("TERMINAL_WIDTH=wide bugzoo --help", 0, "Usage: bugzoo", ""),
    ("TERM=nosuch bugzoo list programs", 0, " programs", ""),
    # where we are
    ("mkdir gone; cd gone; rmdir ../gone; bugzoo list", 2, "", "working folder was deleted"),
    ("HOME=/nosuch bugzoo list programs", 0, " programs", ""),
    ("TMPDIR=/nosuch bugzoo list programs", 0, " programs", ""),
    ("BUGZOO_DATA=/dev/null/data bugzoo interview --folder case < /dev/null", 2, "", "/dev/null/data"),
]


def typed(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """One line in bash, as somebody types it."""
    around = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "PYTHONIOENCODING", "LC_ALL")
    }
    around |= {"BUGZOO_DATA": str(folder.parent / "data")} | environment
    command = ["bash", "-c", "set -o pipefail\n" + line.replace("bugzoo ", f"{BUGZOO} ", 1)]
    return subprocess.run(
        command,
        cwd=folder,
        env=around,
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=120,
        check=False,
    )


@pytest.mark.sampled(8)
@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
@pytest.mark.parametrize(("line", "code", "out", "err"), TYPED, ids=[case[0][:70] for case in TYPED])
def test_the_process_around_a_command(tmp_path, line, code, out, err):
    folder = tmp_path / "here"
    folder.mkdir()
    process = typed(line, folder)
    assert process.returncode == code, process.stdout + process.stderr
    assert "Traceback" not in process.stderr and "Exception ignored" not in process.stderr
    assert (out in process.stdout) if out else (code == 0 or not process.stdout)
    assert (err in process.stderr) if err else not process.stderr
    assert len(process.stderr.splitlines()) <= 3
    assert not list(folder.iterdir()), "something was left behind"


def test_forty_columns_are_enough_to_read(bugzoo, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    commands = [
        "list",
        "list programs",
        "show numerics/log_at_step",
        "show mlp",
        "--help",
        "run --help",
        "assign --help",
    ]
    for command in commands:
        lines = bugzoo(*command.split()).out.splitlines()
        assert max(len(line) for line in lines) <= 40, command
        words = [re.sub(r"[^\w]", "", line) for line in lines if line.strip()]
        slivers = sum(0 < len(word) <= 2 for word in words)
        assert slivers < 4, f"{command}: {slivers} lines hold a letter or two"


AT = ["typer", "bugzoo.errors", "bugzoo.cli.command", "bugzoo.cli", "bugzoo.cli.streams", "bugzoo.cli.output"]
AT += ["bugzoo.cli.catalogue", "bugzoo.cli.runs", "bugzoo.proving.listing", "rich.console"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("module", AT)
def test_ctrl_c_while_it_starts_is_one_line(module, tmp_path):
    """Python tells on stderr what it has imported: so Ctrl-C comes when it is to come, on a busy machine as well."""
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "bugzoo", "list"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    printed, sent = "", False
    with process:
        assert process.stderr
        for line in process.stderr:
            if line.startswith("import time:"):
                if not sent and line.split("|")[-1].strip() == module:
                    process.send_signal(signal.SIGINT)
                    sent = True
            else:
                printed += line
    assert sent and process.returncode == 130
    assert printed.strip() == "bugzoo: stopped."


def at_terminal(code: str) -> str:
    """What a piece of Python shows at a terminal, which it ends by itself."""
    reader, writer = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", code], stdin=writer, stdout=writer, stderr=writer, close_fds=True)
    os.close(writer)
    screen = b""
    try:
        while chunk := os.read(reader, 65536):
            screen += chunk
    except OSError:  # the terminal is closed when the last writer is gone
        pass
    process.wait(60)
    os.close(reader)
    return screen.decode()


@pytest.mark.slow
def test_progress_shows_the_time_left_and_ctrl_c_leaves_the_terminal_whole():
    code = (
        "import time; from bugzoo.cli.output import progress\n"
        "try:\n"
        "    with progress('runs') as tell:\n"
        "        for done in range(4): tell(done, 9); time.sleep(0.3)\n"
        "        raise KeyboardInterrupt\n"
        "except KeyboardInterrupt: print('stopped')\n"
    )
    screen = at_terminal(code)
    assert "runs" in screen and "3/9" in screen and re.search(r"0:00:0\d", screen)
    assert screen.rindex("\x1b[?25h") > screen.rindex("\x1b[?25l"), "the cursor is hidden"
    assert screen.rstrip().endswith("stopped")


def test_no_progress_beside_json_but_a_line_now_and_then(capsys, monkeypatch):
    from bugzoo.cli import output

    clock = iter([0.0, *(step * 3.0 for step in range(1, 11)), 99.0])
    monkeypatch.setattr(output.time, "monotonic", lambda: next(clock))
    with output.progress("runs", json="-") as tell:
        for count in range(0, 11):
            tell(count, 10)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[0] == "runs: 1 of 10, about 54 s left"
    assert 3 <= len(printed.err.splitlines()) <= 6
