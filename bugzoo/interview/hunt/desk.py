"""The desk of a hunt: keeps every save, minds the clock, tells the public bar. `python hunt.py --help` says how.

This file needs nothing but Python and git: it stands in the candidate's folder as `hunt.py`, on machines without bugzoo.
What it keeps lies in `.hunt/`: `saves.git` (a repository of its own, so that yours stays yours), `events.jsonl`, `beat.json`.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCRIPT, FINDINGS, BRIEF, STATE = "train.py", "FINDINGS.md", "BRIEF.md", "hunt.json"
HOME = ".hunt"
KEPT = (".py", ".md", ".txt", ".ipynb", ".toml")
MOST = 2**20
"""Bytes of a file that is kept; a larger one is said and left out."""
POLL, BEAT = 0.5, 5.0
"""Seconds between two looks at the folder, and between two notes of the clock."""
RUN_SECONDS = 300.0
TAIL = 4000
"""Characters of an error that are shown."""
_READ = """\
import json, runpy, sys
told = runpy.run_path("train.py", run_name="__main__").get("metrics")
if isinstance(told, dict):
    json.dump({str(k): float(v) for k, v in told.items() if isinstance(v, (int, float))}, open(sys.argv[1], "w"))
"""

_CACHED = """\
import json, runpy, sys
import torch
found = runpy.run_path("train.py", run_name="__main__")
model, write, why, passed = found["model"].eval(), found.get("generate"), "", [0]
def count(module, given):
    passed[0] += given[0].shape[1] if given[0].ndim == 2 else 0
tables = [one for one in model.modules() if isinstance(one, torch.nn.Embedding)]
if not callable(write):
    why = "there is no function `generate(ids, count)`"
if not tables:
    why = "the model has no embedding of tokens"
for one in tables:
    one.register_forward_pre_hook(count)
draw, new = torch.Generator().manual_seed(7), 8
for length in () if why else (1, 5, 12, 3):
    ids = torch.randint(0, tables[0].num_embeddings, (2, length), generator=draw)
    with torch.no_grad():
        passed[0] = 0
        out = torch.as_tensor(write(ids.clone(), new))[:, -new:]
        went = passed[0]
        if out.shape != (2, new):
            why = f"generate(ids, {new}) gives {tuple(out.shape)}; (batch, count) is asked for, or that behind the prompt"
            break
        whole = model(torch.cat([ids, out], 1)[:, :-1])[:, -new:].float()
    short = (whole.amax(-1) - whole.gather(-1, out[..., None])[..., 0]).max().item()
    if not short < 1e-3:
        why = f"after a prompt of {length} tokens it writes something else than without a cache"
    elif went > length + new:
        why = f"for {length} + {new} tokens {went} positions went through the model; with a cache they are {length + new - 1}"
    if why:
        break
json.dump(why, open(sys.argv[1], "w"))
"""
"""The likeliest token at each place, whatever batch norms and drop-outs there are, and each position once."""


class Mistake(Exception):
    """Something that whoever types can mend."""


# ---- the folder


def state(folder: Path) -> dict[str, Any]:
    """What the folder knows of its hunt; no answers. Raises Mistake for another folder."""
    try:
        found = json.loads((folder / STATE).read_text(encoding="utf-8"))
    except OSError:
        raise Mistake(
            f"{folder} is no folder of a hunt: there is no {STATE}. `bugzoo hunt sit CASE DIR` makes one."
        ) from None
    except ValueError:
        raise Mistake(f"{folder / STATE} cannot be read. Put it back as it was handed out.") from None
    if not isinstance(found, dict) or not {"ticket", "minutes", "bar"} <= set(found):
        raise Mistake(f"{folder / STATE} is not as it was handed out.")
    return found


def events(folder: Path) -> list[dict[str, Any]]:
    """What happened, in its order; a line that a crash cut off is left out."""
    found = []
    with contextlib.suppress(OSError):
        for line in (folder / HOME / "events.jsonl").read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                one = json.loads(line)
                if isinstance(one, dict) and isinstance(one.get("at"), int | float):
                    found.append(one)
    return found


def note(folder: Path, event: str, **what: Any) -> None:
    """Add an event at the hunt's own time; nothing that stands there is ever changed."""
    row = {"event": event, "at": round(elapsed(folder), 2), "wall": time.time()} | what
    place = folder / HOME / "events.jsonl"
    with open(place, "ab") as file:
        file.write((json.dumps(row) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())
    _beat(folder, row["at"])


# ---- the clock


def elapsed(folder: Path) -> float:
    """Seconds since the hunt began. Wall time, but never less than was known: a clock that is set back gives nobody time."""
    known, wall = 0.0, 0.0
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        beat = json.loads((folder / HOME / "beat.json").read_text(encoding="utf-8"))
        known, wall = float(beat["at"]), float(beat["wall"])
    for one in events(folder)[-1:]:
        if one["at"] > known:
            known, wall = float(one["at"]), float(one.get("wall", 0.0))
    return known + max(0.0, time.time() - wall) if wall else known


def left(folder: Path) -> float:
    return max(0.0, 60 * float(state(folder)["minutes"]) - elapsed(folder))


def finished(folder: Path) -> bool:
    return any(one["event"] == "done" for one in events(folder))


def _beat(folder: Path, at: float) -> None:
    place = folder / HOME / "beat.json"
    new = place.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps({"at": at, "wall": time.time()}), encoding="utf-8")
    os.replace(new, place)


# ---- saves


def git(folder: Path, *words: str, **extra: Any) -> subprocess.CompletedProcess[str]:
    """git on the hunt's own repository; nobody's configuration or hooks have a say."""
    given = ["user.name=hunt", "user.email=hunt@localhost", "core.hooksPath=/dev/null", "commit.gpgsign=false"]
    given += ["core.autocrlf=false", "gc.auto=0", "core.excludesFile=", "advice.addIgnoredFile=false"]
    settings = [part for one in given for part in ("-c", one)]
    place = [f"--git-dir={folder / HOME / 'saves.git'}", f"--work-tree={folder}"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {"LC_ALL": "C"}
    done = subprocess.run(
        ["git", *settings, *place, *words],
        capture_output=True, text=True, errors="replace", check=False, env=environment, stdin=subprocess.DEVNULL, **extra,
    )  # fmt: skip
    if done.returncode:
        raise Mistake(f"git could not keep a save: {(done.stderr or done.stdout).strip()[:300]}")
    return done


def seen(folder: Path) -> dict[str, tuple[int, int]]:
    """name -> (time of change, size) of what is kept."""
    found = {}
    with os.scandir(folder) as inside:
        for one in inside:
            with contextlib.suppress(OSError):
                if one.is_file(follow_symlinks=False) and one.name.endswith(KEPT) and one.name != "hunt.py":
                    about = one.stat(follow_symlinks=False)
                    if about.st_size <= MOST:
                        found[one.name] = (about.st_mtime_ns, about.st_size)
    return found


def save(folder: Path, why: str = "save") -> str:
    """Keep the folder as it is; the commit, or "" where nothing is new."""
    names = sorted(seen(folder))
    known = git(folder, "ls-files", "-z").stdout.split("\0")
    if names:
        git(folder, "add", "-f", "--", *names)
    if gone := [name for name in known if name and name not in names]:
        git(folder, "rm", "-q", "--cached", "--", *gone)
    if not git(folder, "diff", "--cached", "--name-only").stdout.strip():
        return ""
    git(folder, "commit", "-q", "-m", f"{why} at {elapsed(folder):.0f} s")
    commit = git(folder, "rev-parse", "HEAD").stdout.strip()
    note(folder, "save", commit=commit)
    return commit


def begin(folder: Path) -> None:
    """The first save of a folder that was just written; its clock begins."""
    (folder / HOME).mkdir()
    _beat(folder, 0.0)
    git(folder, "init", "-q")
    note(folder, "begin")
    save(folder, "handed out")


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One keeper a folder. Raises Mistake where there is another; the system lets go of it when a process dies."""
    import fcntl

    with open(folder / HOME / "keeper", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Mistake(f"The saves of {folder} are being kept already, by another process. One is enough.") from None
        yield


def keep(folder: Path, say: Any = print, stop: threading.Event | None = None) -> str:
    """Keep each save until the time is over, `done` was said, or Ctrl-C; how it ended.

    What is saved several times within half a second is kept once, as it then stands.
    """
    stop = stop or threading.Event()
    with alone(folder):
        before, told, at, large = None, time.monotonic(), elapsed(folder), False
        begun = time.monotonic()
        while True:
            if not (folder / STATE).exists():
                raise Mistake(f"{folder} is gone, or no longer a folder of a hunt; nothing more can be kept.")
            now = seen(folder)
            if now != before:
                save(folder)
                before = now
            if not large and _too_large(folder):
                large = True
                say(f"{_too_large(folder)} has more than {MOST // 2**20} MiB and is not kept.")
            if finished(folder):
                return "done"
            spent = at + time.monotonic() - begun
            if spent >= 60 * float(state(folder)["minutes"]):
                save(folder)
                note(folder, "time over")
                return "time over"
            if time.monotonic() - told > BEAT:
                told = time.monotonic()
                _beat(folder, round(spent, 2))
            if stop.wait(POLL):
                save(folder)
                return "stopped"


def _too_large(folder: Path) -> str:
    for file in folder.iterdir():
        with contextlib.suppress(OSError):
            if file.suffix in KEPT and file.is_file() and file.stat().st_size > MOST:
                return file.name
    return ""


def text_at_end(folder: Path, name: str = SCRIPT) -> tuple[str | None, str]:
    """(a file as it was last saved in time, a note where it is not the folder's last save); (None, ...) if it never was."""
    commits = git(folder, "log", "--format=%H").stdout.split()
    for place, commit in enumerate(commits):
        with contextlib.suppress(Mistake):
            return git(folder, "show", f"{commit}:{name}").stdout, "" if place == 0 else f"{name} was gone at the end"
    return None, f"{name} was never there"


# ---- the public bar


def check(folder: Path, seconds: float = RUN_SECONDS) -> dict[str, Any]:
    """Run a copy of the script and hold its metric against the public bar: {"passed", "saw", "metrics"}.

    The copy is taken first: the file may be edited meanwhile. What it prints is not read.
    """
    bar = state(folder)["bar"]
    with _copied(folder) as place:
        if not (place / SCRIPT).exists():
            found = {"passed": False, "saw": f"there is no {SCRIPT} (of at most {MOST // 2**20} MiB)", "metrics": {}}
        else:
            found = _held(bar, *_run(place, seconds))
    note(folder, "check", passed=found["passed"], saw=found["saw"][:300])
    return found


def check_cache(folder: Path, seconds: float = RUN_SECONDS) -> dict[str, Any]:
    """The follow-up: does `generate(ids, count)` of the script write what the model would, with a key/value cache?

    The likeliest tokens are asked for, a few prompts of several lengths, two at a time. Whether there is a cache is told by how
    many positions go through the embedding.
    """
    with _copied(folder) as place:
        why, trouble = _answer(place, _CACHED, seconds)
    found = {"passed": not trouble and why == "", "saw": trouble or why or "the same tokens, each position once"}
    note(folder, "check", passed=found["passed"], saw=f"cache: {found['saw']}"[:300])
    return found


@contextlib.contextmanager
def _copied(folder: Path) -> Iterator[Path]:
    """The files as they are now, in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="hunt-") as place:
        for name in seen(folder):
            with contextlib.suppress(OSError):
                shutil.copyfile(folder / name, Path(place) / name)
        yield Path(place)


class Tail:
    """The end of what a process prints, however much that is, read beside it."""

    def __init__(self, stream: Any, most: int = TAIL) -> None:
        self._stream, self._most, self._kept = stream, most, bytearray()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def _read(self) -> None:
        while block := self._stream.read1(65536):
            self._kept.extend(block)
            del self._kept[: -self._most]

    def __enter__(self) -> "Tail":
        self._thread.start()
        return self

    def __exit__(self, *what: object) -> None:
        self._thread.join(5)  # a grandchild that left the group may hold the pipe
        if not self._thread.is_alive():
            self._stream.close()

    def text(self) -> str:
        return bytes(self._kept).decode(errors="replace")


def ended(child: "subprocess.Popen[bytes]", seconds: float) -> int | None:
    """The exit code of a process of its own session, or None where it had to be ended; nothing of it is left."""
    code = None
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = child.wait(seconds)
    finally:
        with contextlib.suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    return code


def _run(place: Path, seconds: float) -> tuple[dict[str, float], str]:
    """(metrics, what went wrong)."""
    found, trouble = _answer(place, _READ, seconds)
    return (found, "") if isinstance(found, dict) else ({}, trouble or "it has no `metrics` at its end")


def _answer(place: Path, reader: str, seconds: float) -> tuple[Any, str]:
    """(what a reader of the script tells, or None; what went wrong)."""
    out, quiet = place / ".answer.json", subprocess.DEVNULL
    child = subprocess.Popen(
        [sys.executable, "-c", reader, str(out)],
        cwd=place, start_new_session=True, stdout=quiet, stdin=quiet, stderr=subprocess.PIPE,
    )  # fmt: skip
    with Tail(child.stderr) as tail:
        code = ended(child, seconds)
    if code is None:
        return None, f"it did not end within {seconds:g} s"
    if code:
        said = tail.text().strip().splitlines()
        return None, f"it ended with an error: {said[-1][:300] if said else f'exit code {code}'}"
    try:
        return json.loads(out.read_text(encoding="utf-8")), ""
    except (OSError, ValueError):
        return None, ""


def _held(bar: dict[str, Any], metrics: dict[str, float], trouble: str) -> dict[str, Any]:
    name, value = bar["metric"], metrics.get(bar["metric"])
    if trouble or value is None:
        return {"passed": False, "saw": trouble or f"its `metrics` have no {name}", "metrics": metrics}
    good = value <= bar["value"] if bar["better"] == "lower" else value >= bar["value"]
    bound = "at most" if bar["better"] == "lower" else "at least"
    saw = f"{name} {value:.4g}, asked for: {bound} {bar['value']:g}"
    other = [k for k, v in bar["identical"].items() if abs(metrics.get(k, float("nan")) - v) > 1e-5 * max(1.0, abs(v))]
    other += [k for k in bar["identical"] if metrics.get(k) != metrics.get(k)]
    if bar["identical"]:
        saw += (
            f"; not the reference's: {', '.join(sorted(set(other)))}" if other else "; just what the reference prints"
        )
    return {"passed": bool(good and not other), "saw": saw, "metrics": metrics}


def done(folder: Path) -> None:
    """Hand in: the last save is the one that counts."""
    if not finished(folder):
        save(folder, "handed in")
        note(folder, "done")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="hunt.py", description="keep: start this first, in a terminal of its own.")
    parser.add_argument(
        "what", choices=["keep", "check", "left", "done"], help="keep saves; the public bar; time; hand in"
    )
    what, folder = parser.parse_args(argv).what, Path(__file__).resolve().parent
    try:
        if what == "keep":
            if not (folder / HOME).exists():
                begin(folder)
            print(f"{left(folder) / 60:.0f} minutes. Every save of yours is kept; Ctrl-C stops that, not the clock.")
            print(keep(folder))
        elif what in ("check", "cache"):
            found = check(folder) if what == "check" else check_cache(folder)
            print(("pass: " if found["passed"] else "fail: ") + found["saw"])
            return 0 if found["passed"] else 1
        elif what == "left":
            print(f"{left(folder) / 60:.1f} minutes left")
        else:
            done(folder)
            print("handed in")
    except Mistake as mistake:
        print(f"hunt: {mistake}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        with contextlib.suppress(Mistake):
            save(folder)
        print("\nhunt: stopped; the clock goes on. `python hunt.py keep` goes on keeping.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
