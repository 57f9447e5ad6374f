"""The filter of system calls: read as the kernel reads it for both machines, and really tried on this one."""

import errno
import json
import os
import struct

import pytest

from bugzoo.running import Job, run_worker, seccomp

ALLOWED, REFUSED = "allowed", "refused"


def verdict(machine: str, code: int, call: int, first: int = 0) -> str | int:
    """What the filter of `machine` says to a call: the kernel's rules, for the five instructions that are used."""
    steps = [struct.unpack_from("HBBI", seccomp.program(machine), place) for place in
             range(0, len(seccomp.program(machine)), 8)]  # fmt: skip
    memory, value, at = {0: call, 4: code, 16: first & 0xFFFFFFFF}, 0, 0
    while True:
        kind, if_true, if_false, operand = steps[at]
        at += 1
        if kind == 0x20:
            value = memory[operand]
        elif kind == 0x06:
            if operand == 0x7FFF0000:
                return ALLOWED
            return "killed" if operand == 0x80000000 else operand & 0xFFFF
        else:
            holds = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[kind]
            at += if_true if holds else if_false


MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_says_what_it_should(machine):
    code, column = MACHINES[machine]
    for name, numbers in seccomp.CALLS.items():
        if numbers[column] >= 0:
            assert verdict(machine, code, numbers[column]) == errno.EPERM, name
    read, getpid, clone, socket, pair = {"x86_64": (0, 39, 56, 41, 53), "aarch64": (63, 172, 220, 198, 199)}[machine]
    assert verdict(machine, code, read) == verdict(machine, code, getpid) == ALLOWED
    assert verdict(machine, code, clone, 17) == ALLOWED  # fork
    assert verdict(machine, code, clone, 0x3D0F00) == ALLOWED  # a thread
    for namespace in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(machine, code, clone, namespace | 17) == errno.EPERM
    assert verdict(machine, code, 435) == errno.ENOSYS
    for family in (1, 2, 10, 16):
        assert verdict(machine, code, socket, family) == verdict(machine, code, pair, family) == ALLOWED
    for family in (0, 3, 17, 31, 38, 40):
        assert verdict(machine, code, socket, family) == errno.EAFNOSUPPORT
    assert verdict(machine, 0x40000003, getpid) == "killed"
    if machine == "x86_64":
        assert verdict(machine, code, 0x40000000 + getpid) == errno.EPERM


def test_a_machine_that_is_not_known_is_said(monkeypatch):
    for ask in (seccomp.program, lambda machine: seccomp.number("mount", machine)):
        with pytest.raises(seccomp.Unknown, match=r"cannot be set up on riscv64.*x86_64 and aarch64"):
            ask("riscv64")


TRY = """
import ctypes, errno, json, os, socket
libc = ctypes.CDLL(None, use_errno=True)

def call(number, *given):
    ctypes.set_errno(0)
    result = libc.syscall(number, *given)
    if result == 0 and number == CLONE:
        os._exit(0)
    return "done" if result >= 0 else errno.errorcode[ctypes.get_errno()]

def family(number):
    try:
        socket.socket(number, socket.SOCK_DGRAM if number != 40 else socket.SOCK_STREAM).close()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"

found = {name: call(number) for name, number in CALLS.items()}
found |= {"clone": call(CLONE, 0x10000000 | 17, 0, 0, 0, 0), "new users": call(UNSHARE, 0x10000000)}
found |= {"clone3": call(435, 0, 0), "packet": family(17), "vsock": family(40), "crypto": family(38)}
found |= {"unix": family(1), "ip": family(2)}
import threading, subprocess
thread = threading.Thread(target=lambda: found.update(thread="done"))
thread.start(), thread.join()
found["program"] = subprocess.run(["true"]).returncode
print(json.dumps(found))
"""


def tried(calls: dict[str, int], isolated: bool) -> dict:
    names = f"CALLS, UNSHARE, CLONE = {calls!r}, {seccomp.number('unshare')}, {56 if x86() else 220}\n"
    run = run_worker(Job(names + TRY, watch=False, isolated=isolated, withheld={}))
    assert run.outcome == "finished", (run.trace.error, run.stdout)
    return json.loads(run.stdout.splitlines()[-1])


def x86() -> bool:
    return os.uname().machine == "x86_64"


@pytest.mark.usefixtures("sandboxed")
def test_every_call_is_refused_inside():
    column = 0 if x86() else 1
    calls = {name: numbers[column] for name, numbers in seccomp.CALLS.items() if numbers[column] >= 0}
    answers = tried(calls, isolated=True)
    assert {name for name in calls if answers[name] != "EPERM"} == set()
    assert answers["new users"] == answers["clone"] == "EPERM" and answers["clone3"] == "ENOSYS"
    assert {answers[name] for name in ("packet", "vsock", "crypto")} == {"EAFNOSUPPORT"}
    assert answers["unix"] == answers["ip"] == answers["thread"] == "done" and answers["program"] == 0


@pytest.mark.usefixtures("sandboxed")
def test_it_is_the_filter_that_refuses():
    """The same calls outside, as far as they do nothing there: they are answered, or refused for another reason."""
    names = ("ptrace", "process_vm_readv", "io_uring_setup", "name_to_handle_at", "open_tree", "kcmp")
    answers = tried({name: seccomp.number(name) for name in names}, isolated=False)
    assert sum(answers[name] != "EPERM" for name in names) >= 4, answers
    assert answers["clone"] == answers["new users"] == "done" and answers["clone3"] != "ENOSYS"
