"""A sandbox for other people's code, entered by an already warm process. It uses bubblewrap's namespaces (Linux).

Guarantees for a script run with `Job(isolated=True)`, whatever it does:
- No network (only its own loopback). It sees no other process, and all its processes end with it.
- It sees the Python installation, the C libraries and the packages of bugzoo that run and measure, all read-only. It
  does not see the catalogue, reference programs, graders or users' files. It can write to a small /tmp and its folder.
- No capabilities, no setuid programs, an empty environment, and none of the system calls listed in `seccomp.py`
  (new namespaces, mounts, other processes' memory, BPF, io_uring). Memory, time, output, files, processes are limited.
- Wall time, exit code, memory and output come from the supervisor outside. Its files are read as plain data.

Not guaranteed: the script shares its process with the watch and with `Job.after`. It can patch torch, change the trace
or write its own result file. So do not trust loss curves, instrument numbers or metrics of a hostile script.
Compute the score from unknown targets: give `Job.predict` the inputs, keep the targets, and compute the metric from
`Run.arrays["predictions"]` on the trusted side. Or load exported weights into the grader's own model.
Never send targets into the worker.

`Job.withheld` says which installed files a submission must not read. A grader fills it with the held-out examples:
scikit-learn's last 360 digits and last 88 patients, and the held-out part of Python's help texts, in every copy in the
usual places. Other files lie over them, so a script loads the same shapes and the same training data, but finds no
answer. Generated examples are drawn with a salt that stays outside. Targets that follow from the inputs by a rule still
count as known: sums modulo a number, the label of a generated review. So do the first words of a held-out line of
`word_lines`.
"""

import fcntl
import glob
import os
import resource
import shutil
import signal
import socket
import struct
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import bugzoo
from bugzoo.running import identity, mounts, seccomp
from bugzoo.running.job import MOST_FILES, WORK, Job

_MANUALS = ("/usr/share/doc", "/usr/share/info")
"""The system's manuals, which may hold the texts of Python's help. No submission needs them."""
NOTHING: Mapping[str, str] = MappingProxyType({})
_NEWUTS, _NEWIPC, _NEWPID = 0x4000000, 0x8000000, 0x20000000
ROOMS = (
    "__init__.py",
    "errors.py",
    "files.py",
    "machine.py",
    "plain.py",
    "syntax.py",
    "running",
    "watching",
    "rerun",
    "diagnostics",
    "contracts",
)
"""The parts of bugzoo that a submission may read."""
_MOST_OPEN = 1024
"""Open files of a process. Each socket holds up to 200 KiB of the kernel's memory, which no other limit counts."""


class IsolationError(RuntimeError):
    """This machine does not allow the sandbox. The script was not started."""


def isolate(folder: Path, mib: int, instead: Mapping[str, str] = NOTHING) -> int:
    """Move this process (single-threaded, just forked) into the sandbox. Returns in a child that is process 1 there.

    The script's folder has the path and the files of `folder`, but is a separate file system of `mib` MiB. So a full
    one does not disturb other processes. Returns an open handle on it. `instead`: installed path -> what is shown there.

    Raises IsolationError if the kernel or a container forbids a step, or the machine's system calls are unknown.
    Nothing runs half-isolated.
    """
    try:
        return _isolated(folder, mib, instead)
    except OSError as error:
        step = error.filename or "a step"
        raise IsolationError(f"The sandbox cannot be set up here: {step} failed ({error.strerror}).") from None


def _isolated(folder: Path, mib: int, instead: Mapping[str, str]) -> int:
    os.umask(0o022)  # files made here must be readable by the script's user
    places = [place for place in visible() if place.is_dir()]
    flags = mounts.NEWUSER | mounts.NEWNS | mounts.NEWNET | _NEWPID | _NEWIPC | _NEWUTS
    result, nobody = identity.unshare(flags, places)
    mounts.check(result, "unshare")
    child = os.fork()
    if child:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code < 0:  # end by the same signal as the script, so that the supervisor sees it
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
            os.kill(os.getpid(), -code)
        os._exit(code)
    mounts.libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    _loopback_up()
    place = _new_root(folder, mib, nobody, instead)
    _drop_privileges(nobody)
    seccomp.forbid()
    os.environ.update(HOME="/tmp", TMPDIR="/tmp", TORCHINDUCTOR_CACHE_DIR="/tmp/inductor", MPLCONFIGDIR="/tmp/mpl")
    return place


def confine(job: Job) -> None:
    """Set resource limits that the script cannot raise: file size, open files, core dumps, processes and threads."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**29, 2**29))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind, most in ((resource.RLIMIT_NPROC, job.limits.threads), (resource.RLIMIT_NOFILE, _MOST_OPEN)):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _new_root(folder: Path, mib: int, nobody: bool, instead: Mapping[str, str]) -> int:
    mounts.mount("none", "/", "", mounts.REC | mounts.PRIVATE)
    root = folder / "root"
    root.mkdir()
    _mount_memory(root, "1m", "755")
    # first of all, because bugzoo or its Python may be below /tmp
    for name, size in (("tmp", "128m"), ("dev", "1m"), ("dev/shm", "64m")):
        (root / name).mkdir(exist_ok=True)
        _mount_memory(root / name, size, "1777")
    for place in visible():
        _show(place, root)
    package = Path(bugzoo.__file__).parent
    for name in ROOMS:
        _show(package / name, root)
    reviews = find_spec("film_reviews")  # what two of the programs read
    for place in (reviews and reviews.submodule_search_locations) or ():
        _show(Path(place), root)
    for device in ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", *glob.glob("/dev/nvidia*")):
        _show(Path(device), root, read_only=False)
    _withhold(instead, root)
    (root / "proc").mkdir()
    mounts.mount("proc", str(root / "proc"), "proc", mounts.NOSUID | mounts.NODEV)
    place = _own_place(folder, root, mib, nobody)
    (root / "old").mkdir()
    new, old = str(root).encode(), str(root / "old").encode()
    mounts.check(mounts.libc.syscall(seccomp.number("pivot_root"), new, old), "pivot_root")
    os.chdir("/")
    mounts.check(mounts.libc.umount2(b"/old", mounts.DETACH), "umount")
    os.rmdir("/old")
    mounts.read_only("/", recursive=False)
    return place


def _withhold(instead: Mapping[str, str], root: Path) -> None:
    """Bind other files over those that a submission must not read, and an empty folder where there is no other."""
    empty = root / "empty"
    empty.mkdir()
    for place, other in instead.items():
        target = root / Path(place).relative_to("/")
        if os.path.lexists(target):  # a link would be an error of ours: it is refused, not left as it is
            mounts.mount(other or str(empty), str(target), "", mounts.BIND)
            mounts.read_only(str(target), recursive=False)


def _own_place(folder: Path, root: Path, mib: int, nobody: bool) -> int:
    """Mount a small file system in memory at the path of `folder` under `root`, with the job's files and an owner."""
    target = root / folder.relative_to("/")
    target.mkdir(parents=True)
    _mount_memory(target, f"{mib}m", "700")
    for file in folder.iterdir():
        if file.is_file():
            shutil.copyfile(file, target / file.name)
    if (folder / WORK).is_dir():
        shutil.copytree(folder / WORK, target / WORK)
    if nobody:
        for path in (target, *target.rglob("*")):
            os.chown(path, identity.NOBODY, identity.NOBODY)
    return os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _mount_memory(place: Path, size: str, mode: str) -> None:
    """Mount a file system in memory. An empty file takes none of its size, but takes the kernel's memory."""
    options = f"size={size},nr_inodes={MOST_FILES},mode={mode}"
    mounts.mount("tmpfs", str(place), "tmpfs", mounts.NOSUID | mounts.NODEV, options)


def visible() -> list[Path]:
    """Return the places that the script may see: Python, its packages and the system's libraries."""
    system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"]
    system += [f"/etc/{name}" for name in ("ld.so.cache", "passwd", "group", "hosts", "nsswitch.conf", "localtime")]
    here = str(Path(bugzoo.__file__).parent.parent)
    packages = (path for path in sys.path if path.endswith(("site-packages", "dist-packages")))
    python = {sys.prefix, sys.base_prefix, *packages}
    # a bugzoo inside site-packages is covered below, so that only its visible packages show
    chosen: list[Path] = []
    for place in sorted(Path(path) for path in {*system, *python}):
        if place.exists() and not any(place.is_relative_to(other) and not other.is_symlink() for other in chosen):
            chosen.append(place)
    if any(Path(here).is_relative_to(place) for place in chosen):
        chosen.append(Path(bugzoo.__file__).parent)
    return chosen


def empty_folders() -> dict[str, str]:
    """Return the folders that the sandbox shows empty, each with "": manuals, this user's record and cache, where visible."""
    from bugzoo import kept, record  # not shown in the sandbox, where this module is imported for several ranks

    roots = [Path(os.path.realpath(place)) for place in visible()]
    private = [Path(os.path.realpath(place)) for place in (*_MANUALS, record.folder(), kept.folder())]
    return {str(folder): "" for folder in private if folder.is_dir() and any(map(folder.is_relative_to, roots))}


def _show(place: Path, root: Path, read_only: bool = True) -> None:
    """Bind `place` at the same path under `root`."""
    target = root / place.relative_to("/")
    if place == Path(bugzoo.__file__).parent:  # empty, and filled with the visible packages only
        empty = root / "rooms"
        empty.mkdir(exist_ok=True)
        for name in ROOMS:
            (empty / name).mkdir() if (place / name).is_dir() else (empty / name).touch()
        mounts.mount(str(empty), str(target), "", mounts.BIND)
        return
    if not os.path.lexists(place):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if place.is_symlink():
        if not os.path.lexists(target):
            target.symlink_to(os.readlink(place))
        return
    if not target.exists():
        target.mkdir() if place.is_dir() else target.touch()
    mounts.mount(str(place), str(target), "", mounts.BIND | (mounts.REC if read_only else 0))
    if read_only:
        mounts.read_only(str(target), recursive=True)


def _loopback_up() -> None:
    """Start the loopback network, which ranks of one script use. It leads nowhere else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", 1 | 64))  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING


def _drop_privileges(nobody: bool) -> None:
    with open("/proc/sys/kernel/cap_last_cap") as file:
        last = int(file.read())
    for capability in range(last + 1):
        mounts.libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    if nobody:
        identity.become_nobody()
    mounts.check(mounts.libc.prctl(38, 1, 0, 0, 0), "no_new_privs")
    header = struct.pack("Ii", 0x20080522, 0)
    mounts.check(mounts.libc.syscall(seccomp.number("capset"), header, bytes(24)), "capset")
