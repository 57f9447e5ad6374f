"""A seccomp filter (Linux): the kernel refuses system calls that training never needs and sandbox escapes start with.

The namespaces of `isolation.py` limit what a script can reach. This filter forbids calls altogether: new namespaces and
mounts, other processes' memory, kernel modules, BPF, io_uring, performance counters, memory that belongs to no process,
and socket families that namespaces do not cover. It is hand-written classic BPF, set through prctl, and inherited by every child.
"""

import ctypes
import errno
import os
import struct

_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST = 0, 4, 16
"""Offsets of the call's number, the machine's code and the low half of the first argument."""
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEW*: time, mounts, control groups, names, queues, users, processes, network."""
FAMILIES = (1, 2, 10, 16)
"""Allowed sockets: unix, IPv4, IPv6 (only the sandbox's own loopback) and netlink, which lists interfaces."""
CODES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name -> number on (x86-64, aarch64); -1: the call does not exist
CALLS = {
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "mount_setattr": (442, 442),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "unshare": (272, 97), "setns": (308, 268), "capset": (126, 91),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "syslog": (103, 116),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186),
    "sethostname": (170, 161), "setdomainname": (171, 162), "vhangup": (153, 58),
    "iopl": (172, -1), "ioperm": (173, -1), "modify_ldt": (154, -1), "uselib": (134, -1),
}  # fmt: skip
_CLONE, _CLONE3, _SOCKET, _SOCKETPAIR = (56, 220), (435, 435), (41, 198), (53, 199)


class Unknown(RuntimeError):
    """The filter cannot be set on this machine."""


def number(name: str, machine: str | None = None) -> int:
    """Return the number of one of the CALLS. Raises Unknown for a machine whose numbers are not listed here."""
    return CALLS[name][_column(machine)]


def program(machine: str | None = None) -> bytes:
    """Return the filter in the kernel's format, 8 bytes per instruction. Raises Unknown."""
    column = _column(machine)
    machine = machine or os.uname().machine
    refuse = _step(_RETURN, _ERRNO | errno.EPERM)
    steps = [_step(_LOAD, _MACHINE), _step(_EQUAL, CODES[machine], 1, 0), _step(_RETURN, _KILL), _step(_LOAD, _NUMBER)]
    if machine == "x86_64":  # the x32 ABI has a second set of numbers for the same calls
        steps += [_step(_ABOVE, 0x40000000, 0, 1), refuse]
    for call in sorted(numbers[column] for numbers in CALLS.values() if numbers[column] >= 0):
        steps += [_step(_EQUAL, call, 0, 1), refuse]
    # clone3's arguments are in memory, which a filter cannot read; without clone3, libc uses clone
    steps += [_step(_EQUAL, _CLONE3[column], 0, 1), _step(_RETURN, _ERRNO | errno.ENOSYS)]
    steps += [_step(_EQUAL, _CLONE[column], 0, 4), _step(_LOAD, _FIRST), _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1), refuse]
    steps += [_step(_RETURN, _ALLOW)]
    for call in (_SOCKET[column], _SOCKETPAIR[column]):
        steps += [_step(_EQUAL, call, 0, len(FAMILIES) + 3), _step(_LOAD, _FIRST)]
        steps += [_step(_EQUAL, family, len(FAMILIES) - at, 0) for at, family in enumerate(FAMILIES)]
        steps += [_step(_RETURN, _ERRNO | errno.EAFNOSUPPORT), _step(_RETURN, _ALLOW)]
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def forbid() -> None:
    """Set the filter for this process and all its children, for good. Raises Unknown if that fails."""
    code = program()
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(code, len(code))
    descriptor = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))  # struct sock_fprog
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, descriptor, 0, 0):  # no_new_privs; seccomp, by a filter
        why = os.strerror(ctypes.get_errno())
        raise Unknown(f"The sandbox cannot be set up here: the kernel takes no filter of system calls ({why}).")


def _column(machine: str | None) -> int:
    machine = machine or os.uname().machine
    if machine not in CODES:
        machines = " and ".join(CODES)
        raise Unknown(
            f"The sandbox cannot be set up on {machine}: its system calls are not known, only those of {machines}."
        )
    return list(CODES).index(machine)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
