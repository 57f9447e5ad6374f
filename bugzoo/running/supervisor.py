"""The supervisor, one small process per job: it forks the script's process, enforces the limits and kills leftovers.

It measures time, memory, exit code and output from outside the script's process. It sends JSON lines on the channel:
{"step": {...}} during the run if asked for, and {"done": {...}} at the end. A received line "stop", or a closed
channel, ends the job.

What it takes in from the script is capped, and its own memory is limited: a script that floods it ends itself, not its
supervisor.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import time
import traceback
from pathlib import Path
from typing import BinaryIO

from bugzoo.running import handed, processes
from bugzoo.running.account import Account
from bugzoo.running.child import READY, enter
from bugzoo.running.draw import Draw
from bugzoo.running.intake import Intake
from bugzoo.running.job import STEPS, Job
from bugzoo.running.own_time import OwnTime
from bugzoo.running.printing import HeadTail

GRACE = 3.0
"""Seconds that a script has, after SIGINT, to save its trace so far."""
_FULL = 2 * 2**20
"""A disk with fewer bytes left is full."""
_AT_ONCE = 2**20
"""Bytes that are read from a pipe before the limits are checked again."""
_OWN_MIB = 256
"""Memory of the supervisor on top of the warm process. All that it takes in needs less than half of that."""
_TURN = 0.03
"""Seconds between two looks at the limits."""
_FLOODED = "What its run sent to the supervisor takes too much memory to read."
_MOST_WAITED = 6
"""The hard end of a script on a busy machine: by the clock, in multiples of its limit."""
_PR_SET_CHILD_SUBREAPER = 36


def supervise(channel: socket.socket, folder: str, cwd: str, path: list[str], relay: bool) -> None:
    """Run the job in `folder` to its end and report on `channel`."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    # orphans of the script become our children, so that none can escape
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    Supervisor(channel, Path(folder), cwd, path, relay).run()


class Supervisor:
    def __init__(self, channel: socket.socket, folder: Path, cwd: str, path: list[str], relay: bool) -> None:
        self.channel, self.folder, self.relay = channel, folder, relay
        self.job = Job.load(folder)
        self.printed = HeadTail(int(self.job.limits.output_mib * 2**20))
        self.steps = Intake(self.job.ranks, relay)
        self.reason = ""
        self.ready, self.refusal = not self.job.isolated, b""
        self.ended, self.flooded = False, False
        # of other people's code no more threads than it was given count as kept waiting
        self.entitled = self.job.ranks * self.job.threads if self.job.isolated else None
        self.own_time = OwnTime(self.entitled)
        self.zygote = os.getppid()
        self.output, output = os.pipe()
        # no pipe: what opens it anew by its name below /proc, such as a file that the script saves, writes no steps
        self.progress, progress = (end.detach() for end in socket.socketpair())
        self.gate, gate = socket.socketpair()
        draw_file = self._open_draw()
        pairs = [socket.socketpair() for _ in range(self.job.ranks if draw_file is not None else 0)]
        fcntl.fcntl(self.output, fcntl.F_SETPIPE_SZ, 2**20)
        for end in (self.output, self.progress):
            os.set_blocking(end, False)
        self.place = self.folder  # where the script's process leaves its files
        self.gate.setblocking(False)
        self.started = self.last_step = time.monotonic()
        # a stop that arrives while Python's own hooks run after the fork would be lost, or raised by fork() in the child
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self.child = os.fork()
        if self.child == 0:
            code = 70
            try:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
                channel.close()
                os.close(self.output)
                os.close(self.progress)
                self.gate.close()
                if draw_file is not None:
                    draw_file.close()  # unread, and removed: nothing of it comes with the fork
                for end, _ in pairs:
                    end.close()
                asking = [other.detach() for _, other in pairs]
                code = enter(folder, cwd, path, self.job, output, progress, gate.detach(), asking)
            except KeyboardInterrupt:
                code = 130  # stopped before the script had begun
            except BaseException:
                traceback.print_exc()  # an error of ours, not the script's: it goes to the run's output
            finally:
                os._exit(code)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.close(output)
        os.close(progress)
        gate.close()
        channel.setblocking(False)
        self.draws: dict[socket.socket, Draw] = {}
        self.disk = ""  # why a kept step could not be written
        if draw_file is not None:
            spec, most = draw_file.read(), self.job.limits.result_mib
            draw_file.close()
            for rank, (end, other) in enumerate(pairs):
                other.close()
                end.setblocking(False)
                self.draws[end] = Draw(spec, self.folder, rank, most)
        self.memory = processes.Memory(self.child, self.job.limits.memory_mib)
        self.began_with = processes.field(os.getpid(), "status", "VmRSS")
        most = processes.field(os.getpid(), "status", "VmData") + _OWN_MIB * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (most, resource.getrlimit(resource.RLIMIT_DATA)[1]))

    def run(self) -> None:
        """Supervise to the end. Without memory of its own it ends the job, and says that its results are not read."""
        exit_code, stacks = 0, {}
        try:
            exit_code, stacks = self._supervise()
        except MemoryError:
            self.flooded, self.printed = True, HeadTail(2**10)
            self.steps.clear()
        finally:
            with contextlib.suppress(ChildProcessError):  # the usual case: all have been reaped
                exit_code = processes.end_all(self.child, self._over()) or exit_code
        self._answer(exit_code, stacks, *self._look())

    def _supervise(self) -> tuple[int, dict[str, list[str]]]:
        """Return the exit code and, of a job that hung or took too long, the stacks."""
        stacks = {}
        with selectors.DefaultSelector() as self.watched:
            self.watched.register(self.output, selectors.EVENT_READ)
            if self.relay:  # otherwise no caller waits for steps, and waking up for each would cost more than the run
                self.watched.register(self.progress, selectors.EVENT_READ)
            self.watched.register(self.gate, selectors.EVENT_READ)
            self.watched.register(self.channel, selectors.EVENT_READ)
            for end in self.draws:
                self.watched.register(end, selectors.EVENT_READ)
            looked = 0.0
            while not (self.reason or self._over()):
                self._turn(_TURN)
                if time.monotonic() - looked >= _TURN:  # not at each question: the script waits for its answer
                    self.reason, looked = self.reason or self._broken_limit(), time.monotonic()
            if self.reason in ("timed_out", "hung"):
                stacks = processes.dump_stacks(self.child, self.place)
            if self.reason in ("timed_out", "hung", "stopped"):
                self._ask_to_stop()
            # processes that a script left running keep the pipes open: kill them, then read the rest
            exit_code = processes.end_all(self.child, self.ended)
            while self._turn(0):
                pass
        return exit_code, stacks

    def _over(self) -> bool:
        if not self.ended:
            self.ended = os.waitid(os.P_PID, self.child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return self.ended

    def _turn(self, timeout: float) -> bool:
        """Read output, steps and commands that are ready. Returns True if something was read."""
        moved = False
        for key, _ in self.watched.select(timeout):
            if key.fileobj is self.channel:
                self._commands()
                continue
            if key.fileobj is self.gate:
                self._gate()
                continue
            if isinstance(key.fileobj, socket.socket):
                moved = self._asked(key.fileobj) or moved
                continue
            try:
                data = os.read(key.fd, _AT_ONCE)
            except BlockingIOError:
                continue
            if not data:
                self.watched.unregister(key.fd)
                continue
            moved = True
            if key.fd == self.output:
                self.printed.add(data)
            else:
                self._take_steps(data)
        if not self.relay:
            moved = self._progressed() or moved
        self._send()
        return moved

    def _progressed(self) -> bool:
        """Read steps that were reported. One piece only: a script can write as fast as we read."""
        data = b""
        with contextlib.suppress(BlockingIOError):
            if data := os.read(self.progress, _AT_ONCE):
                self._take_steps(data)
        return bool(data)

    def _asked(self, end: socket.socket) -> bool:
        """Answer a rank that asks whether its step is kept, or take a part of that step. Returns whether it sent something."""
        draw = self.draws[end]
        try:
            if not (data := end.recv(_AT_ONCE)):
                self.watched.unregister(end)
                return False
            self._progressed()  # what it reported before it asked
            if answer := draw.take(data, self.steps.made[draw.rank]):
                end.send(answer)
        except BlockingIOError:
            return False
        except ConnectionError:
            self.watched.unregister(end)
        except OSError as error:
            self.disk = f"The temporary folder {self.folder.parent} takes nothing more: {error.strerror}."
        return True

    def _open_draw(self) -> BinaryIO | None:
        """Open the file that says which steps are kept, and remove it. None without such a file."""
        try:
            file = open(self.folder / STEPS, "rb")
        except FileNotFoundError:
            return None
        (self.folder / STEPS).unlink()
        return file

    def _commands(self) -> None:
        try:
            data = self.channel.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.watched.unregister(self.channel)
        if not data or b"stop" in data:
            self.reason = self.reason or "stopped"

    def _gate(self) -> None:
        """Receive the sandbox's folder and start the script's clock, or receive why the sandbox failed."""
        data, places, _, _ = socket.recv_fds(self.gate, 4096, 1)
        if not data:
            self.watched.unregister(self.gate)
        elif data == READY and places:
            self.ready, self.place = True, Path(f"/proc/self/fd/{places[0]}")
            self.started = self.last_step = time.monotonic()
            self.own_time = OwnTime(self.entitled)
        else:
            self.refusal = data

    def _look(self) -> tuple[dict[str, str], str, bool]:
        """Return (why results cannot be read, by rank; the machine's failure; whether the script's own folder is full)."""
        trouble, unread = self._trouble(), {}
        full = handed.space(self.place) < _FULL
        if self.ready and (self.job.isolated or self.job.quiet):
            unread, failed = handed.look(self.job, self.place, self.folder)
            trouble = trouble or failed
        if full and not self.job.isolated and not all(path.exists() for path in self._results(self.folder)):
            place = self.folder.parent
            trouble = trouble or f"The temporary folder {place} is full: the results could not be kept there."
        for draw in self.draws.values():
            if draw.broken:
                unread[str(draw.rank)] = f"{draw.broken}."
        if self.flooded:
            unread = {str(rank): _FLOODED for rank in range(self.job.ranks)}
        return unread, trouble, full and self.job.isolated

    def _results(self, place: Path) -> list[Path]:
        return [place / f"result-{rank}.json" for rank in range(self.job.ranks)]

    def _trouble(self) -> str:
        """Return why the machine could not run the script. The script's own errors do not count."""
        if self.disk:
            return self.disk
        if self.ready or self.reason == "stopped":
            return ""
        if self.refusal:
            return self.refusal.decode("utf-8", "replace")
        return "The sandbox was not set up: its process ended, or was too slow, before it stood."

    def _take_steps(self, data: bytes) -> None:
        if self.steps.take(data):
            self.last_step = time.monotonic()

    def _send(self) -> None:
        if not self.steps.unsent:
            return
        try:
            del self.steps.unsent[: self.channel.send(self.steps.unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self.steps.unsent.clear()

    def _broken_limit(self) -> str:
        limits, now = self.job.limits, time.monotonic()
        if os.getppid() != self.zygote:
            return "stopped"
        if self.disk or any(draw.broken for draw in self.draws.values()):
            return "asked"
        quiet = now - self.last_step
        self.own_time.look(self.memory.members)
        if now - self.started > limits.seconds and self._had_its_time(now - self.started):
            begun = bool(self.steps) or self.job.ranks > 1
            return "hung" if begun and quiet > max(2.0, min(10.0, limits.seconds / 4)) else "timed_out"
        if limits.quiet_seconds and self.steps and quiet > limits.quiet_seconds:
            return "hung"
        if self.memory.exceeded():
            return "out_of_memory"
        too_many_threads = self.job.isolated and self.own_time.threads > limits.threads
        return "processes" if len(self.memory.members) > limits.processes or too_many_threads else ""

    def _had_its_time(self, elapsed: float) -> bool:
        """Return whether the time is up, without waiting for other programs: a busy machine must not end a script.

        Its processor time counts, also of its other threads and processes, and so does its own waiting, as in a sleep.
        """
        limit, clock = self.job.limits.seconds, self.own_time
        if elapsed - clock.waited > limit:
            clock.look(self.memory.members, now=True)
        used = clock.used / clock.most
        return used > limit or elapsed - clock.waited > limit or elapsed > _MOST_WAITED * limit

    def _ask_to_stop(self) -> None:
        """Send SIGINT to the script (each of its ranks) and wait briefly: KeyboardInterrupt lets it save its trace."""
        for pid in processes.ranks(self.place) or [self.child]:
            processes.send(pid, signal.SIGINT)
        # inside a collective no signal reaches Python, so waiting helps little
        deadline = time.monotonic() + (1.0 if self.job.ranks > 1 else GRACE)
        results = self._results(self.place)
        while not self._over() and time.monotonic() < deadline and not all(path.exists() for path in results):
            self._turn(_TURN)

    def _answer(
        self, exit_code: int, stacks: dict[str, list[str]], unread: dict[str, str], trouble: str, full: bool
    ) -> None:
        account = Account(
            exit_code=exit_code,
            seconds=time.monotonic() - self.started,
            peak_mib=self.memory.peak / 2**20,
            stdout=self.printed.text(),
            reason=self.reason,
            stacks=stacks,
            steps=self.steps.rows(),
            trouble=trouble,
            unread=unread,
            full=full,
            processor_s=self.own_time.used,
            supervisor_mib=max(processes.own_peak() - self.began_with, 0) / 2**20,
        )
        self.channel.setblocking(True)
        self.channel.settimeout(30)
        try:
            self.channel.sendall(self.steps.unsent + json.dumps({"done": account.to_json()}).encode() + b"\n")
        except OSError:  # the caller was killed, or gave up while the script still wrote
            shutil.rmtree(self.folder, ignore_errors=True)
