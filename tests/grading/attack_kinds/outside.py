"""Processes, signals and burdens: what may outlive, end or fill something; each must leave the grader as it was."""
# ruff: noqa: E501 (a text that is handed in stands in one line)

from tests.grading.attack_kinds.parts import FOLDER, Kind, at
from tests.grading.tricks import _WON

ENDED, LATE = (
    "a run that does not come to its end has no result",
    "the folder is looked at when nothing of the run is alive",
)
BROKEN = "the program is as broken as before, whatever else it does"


def end(why: str, text: str, section: str = "End") -> Kind:
    return Kind("10", why, at(section, "import os, signal, sys, time\n" + text))


FORKED = "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
PROCESSES = {
    "a fork writes results late": end(LATE, FOLDER + FORKED + "        time.sleep(1)\n"
        "        open(folder + '/result-0.json', 'w').write('{}')\n        os._exit(0)\n    os._exit(0)\n"),
    "a fork writes results all the time": end(LATE, FOLDER + FORKED + "        while True:\n"
        f"            open(folder + '/result-0.json', 'w').write({_WON!r})\n    os._exit(0)\n"),
    "a fork holds the pipes open": end(BROKEN, FORKED + "        time.sleep(600)\n    os._exit(0)\n"),
    "a fork ignores all signals": end(BROKEN, FORKED + "        for s in range(1, 32):\n            try:\n"
        "                signal.signal(s, signal.SIG_IGN)\n            except OSError:\n                pass\n"
        "        time.sleep(600)\n    os._exit(0)\n"),
    "a fork stops itself": end(BROKEN, FORKED + "        os.kill(os.getpid(), signal.SIGSTOP)\n    os._exit(0)\n"),
    "os._exit in forward": end(ENDED, "usual = Net.forward\nNet.forward = lambda s, x: usual(s, x) if s.training else os._exit(0)\n",
                               "Model"),
    "os._exit in state_dict": end(ENDED, "model.state_dict = lambda *a, **k: os._exit(0)\n"),
    "os._exit while it is predicted": end(ENDED, "model.forward = lambda *a: os._exit(0)\n"),
    "os._exit in an exit handler": end(BROKEN, "import atexit\natexit.register(os._exit, 0)\n"),
    "os._exit in a signal handler": end(BROKEN, "signal.signal(signal.SIGALRM, lambda *a: os._exit(0))\nsignal.setitimer(0, 0.3)\n"),
    "os._exit with 70, as a failed machine": end(ENDED, "os._exit(70)\n"),
    "killed by itself": end(ENDED, "os.kill(os.getpid(), signal.SIGKILL)\n"),
    "a segmentation fault": end(ENDED, "import ctypes\nctypes.string_at(0)\n"),
    "os.abort": end(ENDED, "os.abort()\n"),
    "an illegal instruction": end(ENDED, "os.kill(os.getpid(), signal.SIGILL)\n"),
    "SIGINT to itself": end(ENDED, "os.kill(os.getpid(), signal.SIGINT)\n"),
    "SIGSTOP to itself": end(ENDED, "os.kill(os.getpid(), signal.SIGSTOP)\n"),
    "signals to every process": end(BROKEN, "for pid in (0, -1, os.getppid(), *range(2, 300)):\n    try:\n"
        "        os.kill(pid, signal.SIGTERM) if pid > 1 else None\n    except OSError:\n        pass\n"),
    "signals to its parent's group": end(BROKEN, "try:\n    os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)\n"
        "except OSError:\n    pass\n"),
    "ptrace of its parent": end(BROKEN, "import ctypes\nlibc = ctypes.CDLL(None)\nassert libc.ptrace(16, os.getppid(), 0, 0) == -1\n"),
    "process_vm_writev to others": end(BROKEN, "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "assert libc.process_vm_writev(1, 0, 0, 0, 0, 0) == -1\n"),
    "/proc/self/mem rewritten": end(BROKEN, "with open('/proc/self/mem', 'r+b') as memory:\n    memory.seek(id(step))\n    memory.read(8)\n"),
    "exec of another Python": end(ENDED, "os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])\n"),
    "exec of nothing": end(ENDED, "os.execv('/bin/true', ['true'])\n"),
    "a session and a terminal of its own": end(BROKEN, "import pty\ntry:\n    pty.openpty()\nexcept OSError:\n    pass\n"),
    "all handles closed": end(BROKEN, "os.closerange(3, 4096)\n"),
    "stdout and stderr closed": end(BROKEN, "os.close(1)\nos.close(2)\n"),
    "the folder of results removed": end(BROKEN, FOLDER + "[os.remove(p) for p in glob.glob(folder + '/*') if os.path.isfile(p)]\n"
        "os.chmod(folder, 0)\n"),
    "the pid's file says 1": end(BROKEN, FOLDER + "open(folder + '/rank-000.pid', 'w').write('-1')\n"),
    "lines for steps that there are not": end(BROKEN, "for handle in range(3, 64):\n    try:\n"
        "        os.write(handle, b'{\"step\": 10000000000, \"loss\": NaN, \"grad_norm\": 1e999, \"rank\": 9}\\n' * 999)\n"
        "    except OSError:\n        pass\n"),
    "a line of 30 MB for a step": end(BROKEN, "for handle in range(3, 64):\n    try:\n        for _ in range(30):\n"
        "            os.write(handle, b'[' * 2**20)\n    except OSError:\n        pass\n"),
}  # fmt: skip
FILLED = "what fills its own room is no excuse, and nobody else's trouble"
BURDENS = {
    "a million threads": end(BROKEN, "import threading\ntry:\n    for _ in range(10**6):\n"
        "        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nexcept RuntimeError:\n    pass\n"),
    "recursion without an end": end(ENDED, "sys.setrecursionlimit(10**9)\ndef deep(n):\n    return [deep(n + 1)]\ndeep(0)\n"),
    "a number of 10^9 digits": end(ENDED, "10 ** 10 ** 10\n"),
    "a regular expression without an end": end(ENDED, "import re\nre.match('(a+)+$', 'a' * 60 + 'b')\n"),
    "a string of 100 GB": end(ENDED, "'x' * 10 ** 11\n"),
    "a tensor of 100 GB": end(ENDED, "torch.ones(25 * 10 ** 9)\n"),
    "shared memory filled": end(FILLED, "try:\n    with open('/dev/shm/x', 'wb') as file:\n        while True:\n"
        "            file.write(bytes(2**20))\nexcept OSError:\n    pass\n"),
    "/tmp filled": end(FILLED, "try:\n    with open('/tmp/x', 'wb') as file:\n        while True:\n            file.write(bytes(2**20))\n"
        "except OSError:\n    pass\n"),
    "/tmp full of empty files": end(FILLED, "try:\n    for i in range(10**6):\n        open(f'/tmp/{i}', 'w').close()\n"
        "except OSError:\n    pass\n"),
    "folders 3000 deep": end(FILLED, "os.chdir('/tmp')\ntry:\n    for _ in range(3000):\n        os.mkdir('d')\n        os.chdir('d')\n"
        "except OSError:\n    pass\n"),
    "a million handles": end(FILLED, "found = []\ntry:\n    while True:\n        found.append(os.pipe())\nexcept OSError:\n    pass\n"),
    "memfds beyond the limit": end(FILLED, "try:\n    for _ in range(64):\n        os.write(os.memfd_create('x'), bytes(2**26))\n"
        "except OSError:\n    pass\n"),
    "mapped memory that is shared": end(FILLED, "import mmap\ntry:\n    held = [mmap.mmap(-1, 2**28) for _ in range(40)]\n"
        "    [part.write(bytes(2**26)) for part in held]\nexcept (OSError, ValueError):\n    pass\n"),
    "an endless line of output": end(BROKEN, "for _ in range(50):\n    sys.stdout.write('x' * 2**20)\n"),
    "output that is no text": end(BROKEN, "os.write(1, bytes(range(256)) * 4000)\nos.write(2, b'\\xff\\x1b]0;passed\\x07' * 999)\n"),
    "an evaluation that sleeps": end(ENDED, "time.sleep(600)\n"),
    "a forward that sleeps when it is predicted": end(ENDED, "model.forward = lambda *a: time.sleep(600)\n"),
    "a state_dict of a million names": end(BROKEN, "model.state_dict = lambda *a, **k: {str(i): torch.zeros(1) for i in range(10**6)}\n"),
    "answers of 1 GB": end(BROKEN, "model.forward = lambda x: torch.zeros(len(x), 2**20)\n"),
    "metrics of a million numbers": end(BROKEN, "metrics = {str(i): 0.0 for i in range(10**6)}\n"),
    "an exception of 100 MB": end(ENDED, "raise ValueError('x' * 10**8)\n"),
    "an exception whose text raises": end(ENDED, "class Mine(Exception):\n    def __str__(self):\n        raise ValueError\nraise Mine\n"),
    "a BaseException of its own": end(ENDED, "class Mine(BaseException):\n    pass\nraise Mine\n"),
    "an exception chain 10000 long": end(ENDED, "error = None\nfor _ in range(10000):\n    new = ValueError()\n"
        "    new.__cause__ = error\n    error = new\nraise error\n"),
}  # fmt: skip
KINDS = PROCESSES | BURDENS
LONG = {
    "a fork holds the pipes open", "a number of 10^9 digits", "a regular expression without an end", "an evaluation that sleeps",
    "a forward that sleeps when it is predicted", "SIGSTOP to itself",
    "recursion without an end",
}  # fmt: skip
"""These wait for the end of their time."""
