"""`python -I -S confined.py`: runs one reviewed script where it reaches nothing but its own files (S9).

It stands alone: the interpreter that runs it loads nothing of ours and nothing that was installed. The process takes
namespaces of its own (users, network, processes) where it may, then limits, rules for files (Landlock) and rules for
calls (seccomp). Where those cannot be had it ends before the script begins, with the reason.
"""

import ctypes
import json
import os
import platform
import resource
import runpy
import signal
import stat
import struct
import sys

# What stands before the script ends with one of these words on the status pipe.
READY, REFUSED = "ready", "refused"

_CLONE_NEWUTS, _CLONE_NEWIPC = 0x04000000, 0x08000000
_CLONE_NEWUSER, _CLONE_NEWPID, _CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every machine
_OLDEST = 3  # of Landlock (Linux 6.2): before it a file that may be read, or of this user, can be emptied
_EVERY_RIGHT = (15, 15, 16)  # from that on, how many bits of file rights the kernel's version knows
_READ = 1 << 2 | 1 << 3  # files, folders
_READ_FILE, _WRITE_FILE = 1 << 2, 1 << 1
_WRITE = _READ | 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8  # write, remove and make files and folders
_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# What rules for files do not hold, with its numbers on these machines: a socket is a door to every local service that
# has a file's name, rights and times of any file are changed without opening it, other processes could be reached, a
# program can be run from memory alone, and a folder can be watched that may not be read.
_FORBIDDEN = {
    "x86_64": """socket 41 io_uring_setup 425 add_key 248 request_key 249 keyctl 250 bpf 321 unshare 272 setns 308
        mount 165 chmod 90 fchmod 91 fchmodat 268 fchmodat2 452 chown 92 fchown 93 lchown 94 fchownat 260 truncate 76
        utime 132 utimes 235 futimesat 261 utimensat 280 setxattr 188 lsetxattr 189 fsetxattr 190 removexattr 197
        lremovexattr 198 fremovexattr 199 setxattrat 463 removexattrat 466 ptrace 101 process_vm_readv 310
        process_vm_writev 311 pidfd_open 434 pidfd_send_signal 424 pidfd_getfd 438 rt_sigqueueinfo 129
        rt_tgsigqueueinfo 297 setpriority 141 sched_setparam 142 sched_setscheduler 144 sched_setaffinity 203
        sched_setattr 314 ioprio_set 251 migrate_pages 256 move_pages 279 kcmp 312 shmget 29 semget 64 msgget 68
        mq_open 240 socketpair 53 fork 57 vfork 58 execve 59 execveat 322 memfd_create 319 memfd_secret 447
        inotify_init 253 inotify_init1 294 fanotify_init 300 perf_event_open 298 userfaultfd 323 chroot 161""",
    "aarch64": """socket 198 io_uring_setup 425 add_key 217 request_key 218 keyctl 219 bpf 280 unshare 97 setns 268
        mount 40 fchmod 52 fchmodat 53 fchmodat2 452 fchownat 54 fchown 55 truncate 45 utimensat 88 setxattr 5
        lsetxattr 6
        fsetxattr 7 removexattr 14 lremovexattr 15 fremovexattr 16 setxattrat 463 removexattrat 466 ptrace 117
        process_vm_readv 270 process_vm_writev 271 pidfd_open 434 pidfd_send_signal 424 pidfd_getfd 438
        rt_sigqueueinfo 138 rt_tgsigqueueinfo 240 setpriority 140 sched_setparam 118 sched_setscheduler 119
        sched_setaffinity 122 sched_setattr 274 ioprio_set 30 migrate_pages 238 move_pages 239 kcmp 272 shmget 194
        semget 190 msgget 186 mq_open 180 socketpair 199 execve 221 execveat 281 memfd_create 279 memfd_secret 447
        inotify_init1 26 fanotify_init 262 perf_event_open 241 userfaultfd 282 chroot 51""",
}
# kill, tkill, tgkill reach this process alone; prlimit64 is asked of it by the name 0.
_OWN_ALONE = {"x86_64": ((62, 200, 234), 302), "aarch64": ((129, 130, 131), 261)}
# A thread is begun by the same call as a process, and told apart by a flag; the newer call hides its flags, and where
# it is not there the older one is used. By fcntl a file is made to signal any process of this user.
_CLONE, _CLONE3, _CLONE_THREAD = {"x86_64": 56, "aarch64": 220}, 435, 0x10000
_FCNTL, _F_SETOWN, _F_SETSIG, _F_SETOWN_EX = {"x86_64": 72, "aarch64": 25}, 8, 10, 15
_ALLOW, _DENY, _UNKNOWN, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000

_libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """What cannot be enforced here."""


def limit(timeout_s: int, memory_bytes: int, file_bytes: int) -> None:
    """Time of the processor, memory, what a file may hold, open files, processes."""
    for what, most in (
        (resource.RLIMIT_CPU, timeout_s),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_NPROC, 32),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


def set_apart() -> None:
    """Leave the network, and the sight of other processes, where this user may: a second wall, since what must hold is
    held by the rules below, and many machines let nobody do this."""
    _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWPID | _CLONE_NEWIPC | _CLONE_NEWUTS)


def shut_in(readable: list[str], writable: str) -> None:
    """Let no file be read, written or run beyond these."""
    _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "privileges cannot be given up")
    version = _checked(_libc.syscall(_CREATE_RULESET, None, 0, 1), "no Landlock in this kernel")
    if version < _OLDEST:
        raise Refused(f"Landlock {version} in this kernel lets files be emptied; it takes {_OLDEST}")
    rights = (1 << _EVERY_RIGHT[min(version - _OLDEST, len(_EVERY_RIGHT) - 1)]) - 1
    ruleset = _checked(_libc.syscall(_CREATE_RULESET, struct.pack("Q", rights), 8, 0), "no rules for files")
    for path in readable:
        _beneath(ruleset, path, _READ, _READ_FILE)
    _beneath(ruleset, "/dev/null", _READ_FILE | _WRITE_FILE, _READ_FILE | _WRITE_FILE)
    _beneath(ruleset, writable, _WRITE, _READ_FILE | _WRITE_FILE)
    _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0), "rules for files do not hold")
    os.close(ruleset)


def _beneath(ruleset: int, path: str, of_folder: int, of_file: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # a folder that other systems have
    is_folder = stat.S_ISDIR(os.fstat(opened).st_mode)
    rule = struct.pack("=Qi", of_folder if is_folder else of_file, opened)
    _checked(_libc.syscall(_ADD_RULE, ruleset, 1, rule, 0), f"no rule for {path}")
    os.close(opened)


def forbid_calls() -> None:
    """Let no socket be made, whatever its family, no program be run, no process be begun or reached, and no rights or
    times of a file be changed."""
    name = platform.machine()
    if name not in _MACHINES or sys.maxsize < 1 << 32:
        raise Refused(f"no rules for calls on {name}")
    load, equal, at_least, any_bit, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    steps = [(load, 0, 0, 4), (equal, 1, 0, _MACHINES[name]), (answer, 0, 0, _KILL), (load, 0, 0, 0)]
    steps += [(at_least, 0, 1, 0x40000000), (answer, 0, 0, _DENY)]  # the same calls under other numbers
    for call in map(int, _FORBIDDEN[name].split()[1::2]):
        steps += [(equal, 0, 1, call), (answer, 0, 0, _DENY)]
    signals, limits = _OWN_ALONE[name]
    for call, own in (*((call, os.getpid()) for call in signals), (limits, 0)):
        # The first argument, whose low half stands at 16: allowed where it is our own.
        steps += [
            (equal, 0, 4, call),
            (load, 0, 0, 16),
            (equal, 0, 1, own),
            (answer, 0, 0, _ALLOW),
            (answer, 0, 0, _DENY),
        ]
    steps += [(equal, 0, 1, _CLONE3), (answer, 0, 0, _UNKNOWN)]
    steps += [
        (equal, 0, 4, _CLONE[name]),
        (load, 0, 0, 16),
        (any_bit, 0, 1, _CLONE_THREAD),
        (answer, 0, 0, _ALLOW),
        (answer, 0, 0, _DENY),
    ]
    steps += [(equal, 0, 6, _FCNTL[name]), (load, 0, 0, 24)]
    steps += [(equal, 3 - place, 0, command) for place, command in enumerate((_F_SETOWN, _F_SETSIG, _F_SETOWN_EX))]
    steps += [(answer, 0, 0, _ALLOW), (answer, 0, 0, _DENY)]
    steps.append((answer, 0, 0, _ALLOW))
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    head = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(program))
    _checked(_libc.prctl(_PR_SET_SECCOMP, 2, head, 0, 0), "no rules for calls")


def _checked(result: int, why: str) -> int:
    if result < 0:
        raise Refused(f"{why} ({os.strerror(ctypes.get_errno())})")
    return result


def main() -> None:
    """Confine this process as the request on standard input says, then run the script in it."""
    given = json.load(sys.stdin)
    status = os.fdopen(given["status"], "w")
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        if not sys.platform.startswith("linux"):
            raise Refused(f"no way to cut off the network on {sys.platform}")
        set_apart()
        if inner := os.fork():
            status.close()
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) & 0xFF)
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.chdir(given["work"])
        limit(given["timeout_s"], given["memory_bytes"], given["file_bytes"])
        shut_in([*given["readable"], given["files"]], given["work"])
        forbid_calls()
    except (Refused, OSError, ValueError) as refused:
        status.write(f"{REFUSED}: {refused}")
        sys.exit(1)
    status.write(READY)
    status.close()  # the script has its own two pipes and no other
    script = os.path.join(given["files"], given["script"])  # noqa: PTH118 - pathlib is not loaded for this alone
    sys.argv = [given["script"], *given["arguments"]]
    sys.path.insert(0, os.path.dirname(script))  # noqa: PTH120 - as above
    sys.dont_write_bytecode = True
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
