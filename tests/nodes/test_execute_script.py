"""A reviewed script reaches its own files and nothing else, ends in its bounds, or does not run at all."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from nodes.execute import script
from nodes.execute.script import MOST_OUTPUT_BYTES, NotConfined, OutOfTime, Ran, TooMuchOutput, run_script

pytestmark = pytest.mark.skipif(
    script.confinement_fault() is not None, reason=f"no script can run here: {script.confinement_fault()}"
)
TIME_S = 20.0
OUTSIDE = f"""
import ctypes, fcntl, os, pathlib, platform, resource, socket, subprocess, sys, urllib.request
libc = ctypes.CDLL(None, use_errno=True)
CALLS = {{
    "x86_64": {{"clone": 56, "inotify_init1": 294, "execveat": 322}},
    "aarch64": {{"clone": 220, "inotify_init1": 26, "execveat": 281}},
}}[platform.machine()]
def bare(*call):
    # What goes wrong otherwise than by the rules was let through. A process that came of it ends here.
    found = libc.syscall(*call)
    if found < 0 and ctypes.get_errno() == 1:
        raise PermissionError
    if found == 0:
        os._exit(0)
home = {str(Path.home())!r}
TRIES = {{
    "read a file": lambda: open("/etc/passwd").read(),
    "list a folder": lambda: os.listdir("/"),
    "list the home": lambda: os.listdir(home),
    "look at processes": lambda: os.listdir("/proc"),
    "read the environment of others": lambda: open(f"/proc/{{os.getppid()}}/environ").read(),
    "go up": lambda: os.listdir("../.."),
    "write a file": lambda: open("/tmp/written-by-a-skill", "w"),
    "change the script": lambda: open(__file__, "w"),
    "add a file beside it": lambda: open(__file__ + ".new", "w"),
    "link outside": lambda: (os.symlink("/etc/passwd", "link"), open("link").read()),
    "open a connection": lambda: socket.create_connection(("127.0.0.1", 5432), 1),
    "ask a name": lambda: socket.getaddrinfo("localhost", 80) and socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "a local socket": lambda: socket.socket(socket.AF_UNIX),
    "a raw socket": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "fetch a page": lambda: urllib.request.urlopen("http://127.0.0.1:1/", timeout=1),
    "change the rights of a file": lambda: os.chmod(home, os.stat(home).st_mode),
    "change the times of a file": lambda: os.utime(home, (0, 0)),
    "give a file away": lambda: os.chown(home, os.getuid(), os.getgid()),
    "mark a file": lambda: os.setxattr(home, "user.mark", b"x"),
    "take rights": lambda: ctypes.CDLL(None).unshare(0x10000000) and 1 / 0,
    "run a program": lambda: subprocess.run(["/bin/true"], check=True),
    "run a program from memory": lambda: bare(CALLS["execveat"], -1, b"", None, None, 0x1000),
    "hold memory that no file has": lambda: os.memfd_create("x"),
    "begin a process": lambda: os.fork() or os._exit(0),
    "begin a process by a bare call": lambda: bare(CALLS["clone"], 17, 0, 0, 0, 0),
    "take a namespace with a process": lambda: bare(CALLS["clone"], 0x10000000 | 17, 0, 0, 0, 0),
    "two sockets that are a pair": lambda: socket.socketpair(),
    "watch a folder": lambda: bare(CALLS["inotify_init1"], 0),
    "change the root": lambda: os.chroot("."),
    "have a file signal the agent": lambda: fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid()),
    "choose the signal of a file": lambda: fcntl.fcntl(0, 10, 9),
    "kill the agent": lambda: os.kill({os.getpid()}, 0),
    "signal the agent's group": lambda: os.kill(-{os.getpgid(0)}, 0),
    "signal all": lambda: os.kill(-1, 0),
    "limit the agent": lambda: resource.prlimit({os.getpid()}, resource.RLIMIT_CORE),
    "slow the agent down": lambda: os.setpriority(os.PRIO_PROCESS, {os.getpid()}, 19),
    "read its input": lambda: sys.stdin.read() or 1 / 0,
}}
for name, attempt in TRIES.items():
    try:
        attempt()
    except Exception:
        continue
    print("could:", name)
print("done")
"""
FILLS = "import os, time; os.close(1); os.close(2)\n"


def run(text: str, *arguments: str, timeout_s: float = TIME_S, **files: bytes) -> Ran:
    given = {name.replace("__", "/").replace("_", "."): data for name, data in files.items()}
    return run_script({"scripts/a.py": text.encode(), **given}, "scripts/a.py", arguments, timeout_s=timeout_s)


@pytest.fixture
def no_process_is_left() -> Iterator[None]:
    before = {one.pid for one in psutil.Process().children(recursive=True)}
    yield
    until = time.monotonic() + 5
    while left := {one.pid for one in psutil.Process().children(recursive=True)} - before:
        assert time.monotonic() < until, left
        time.sleep(0.05)


def test_it_reaches_nothing_outside_its_own_files() -> None:
    assert run(OUTSIDE) == Ran(0, "done\n", "")


@pytest.mark.parametrize(
    ("step", "could"),
    [
        ("(*((call, os.getpid()) for call in signals), (limits, 0))", "kill the agent"),
        ('        shut_in([*given["readable"], given["files"]], given["work"])\n', "read a file"),
        ("        forbid_calls()\n", "change the times of a file"),
        ("        forbid_calls()\n", "a local socket"),
    ],
)
def test_each_part_of_the_confinement_holds_something(
    step: str, could: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = script.PROGRAM.read_text()
    assert step in whole
    alone = whole.replace("        set_apart()\n", "")
    (tmp_path / "confined.py").write_text(alone.replace(step, "()" if step.startswith("(") else ""))
    monkeypatch.setattr(script, "PROGRAM", tmp_path / "confined.py")
    kept = "\n".join(line for line in OUTSIDE.splitlines() if '": lambda' not in line or could in line)
    assert run(kept.replace("(home, (0, 0))", "('.', (0, 0))")).output == f"could: {could}\ndone\n"


def test_it_reaches_nothing_where_it_may_have_no_namespaces_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "confined.py").write_text(script.PROGRAM.read_text().replace("        set_apart()\n", ""))
    monkeypatch.setattr(script, "PROGRAM", tmp_path / "confined.py")
    assert run(OUTSIDE) == Ran(0, "done\n", "")
    assert run("import os, resource; print(resource.getrlimit(resource.RLIMIT_CORE)); os.abort()").exit_code != 0
    with pytest.raises(OutOfTime):
        run("import os, time\nos.setsid()\ntime.sleep(60)", timeout_s=1.5)


def test_it_has_its_arguments_its_own_files_and_a_folder_to_work_in() -> None:
    text = (
        "import json, os, sys, beside\n"
        "open('made', 'w').write(beside.WORD)\n"
        "data = open(os.path.dirname(__file__) + '/../data.txt').read()\n"
        "print(json.dumps([sys.argv, open('made').read(), data, sorted(os.environ)]))"
    )
    ran = run(text, "a b", "--c=$HOME", scripts__beside_py=b"WORD = 'x'", data_txt=b"d")
    assert ran == Ran(0, '[["scripts/a.py", "a b", "--c=$HOME"], "x", "d", ["HOME", "LANG", "TMPDIR"]]\n', "")
    assert run(text, "a b", "--c=$HOME", scripts__beside_py=b"WORD = 'x'", data_txt=b"d") == ran


def test_how_it_ends_is_told() -> None:
    assert run("import sys; sys.exit(3)").exit_code == 3
    failed = run("raise ValueError('no such order')")
    assert (failed.exit_code, failed.errors.splitlines()[-1]) == (1, "ValueError: no such order")
    assert run("import os, signal; os.abort()").exit_code != 0
    assert run("x = 'a' * 10**9").errors.endswith("MemoryError\n")
    assert run("import sys; sys.stderr.write('e' * 100_000)").errors == "e" * 8_000


@pytest.mark.usefixtures("no_process_is_left")
@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("while True: pass", OutOfTime),
        ("import time; time.sleep(60)", OutOfTime),
        ("import os, time; os.close(1); os.close(2); time.sleep(60)", OutOfTime),
        (
            "import threading, time\nfor _ in range(9): threading.Thread(target=time.sleep, args=[60]).start()",
            OutOfTime,
        ),
        (f"print('x' * {MOST_OUTPUT_BYTES})", TooMuchOutput),
        ("while True: print('x' * 1000)", TooMuchOutput),
        (f"{FILLS}for name in range(100): open(str(name), 'w').write('x' * 9_000_000)\ntime.sleep(60)", TooMuchOutput),
        (f"{FILLS}for name in range(2000): open(str(name), 'w')\ntime.sleep(60)", TooMuchOutput),
        (f"{FILLS}for name in range(2000): os.mkdir(str(name))\ntime.sleep(60)", TooMuchOutput),
    ],
)
def test_it_is_killed_at_its_bounds_with_all_that_it_began(text: str, ends: type[Exception]) -> None:
    with pytest.raises(ends):
        run(text, timeout_s=1.5 if ends is OutOfTime else TIME_S)


def test_it_may_have_threads_and_files_that_come_and_go() -> None:
    text = (
        "import os, threading\n"
        "found = []\n"
        "def work(name):\n"
        "    for turn in range(40):\n"
        "        with open(name, 'w') as file: file.write('x' * 1_000_000)\n"
        "        os.remove(name)\n"
        "    found.append(name)\n"
        "threads = [threading.Thread(target=work, args=[name]) for name in 'abc']\n"
        "for one in threads: one.start()\n"
        "for one in threads: one.join()\n"
        "print(sorted(found))"
    )
    assert run(text) == Ran(0, "['a', 'b', 'c']\n", "")


@pytest.mark.parametrize(
    ("spoilt", "by", "says"),
    [
        ("_libc.syscall(_CREATE_RULESET, None, 0, 1)", "-1", "no Landlock in this kernel"),
        ("_libc.syscall(_CREATE_RULESET, None, 0, 1)", "2", "Landlock 2 in this kernel lets files be emptied"),
        ("_libc.syscall(_RESTRICT_SELF, ruleset, 0)", "-1", "rules for files do not hold"),
        ("name not in _MACHINES", "True", "no rules for calls on"),
        ("_libc.prctl(_PR_SET_SECCOMP, 2, head, 0, 0)", "-1", "no rules for calls"),
        ("not sys.platform.startswith('linux')", "True", "no way to cut off the network"),
        ("set_apart()\n", "os._exit(1)\n", "ended before it was confined"),
    ],
)
def test_where_a_bound_cannot_be_had_nothing_runs(
    spoilt: str, by: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = script.PROGRAM.read_text().replace('"linux"', "'linux'")
    head, body = whole.split("class Refused")
    assert spoilt in body
    changed = tmp_path / "confined.py"
    changed.write_text(f"{head}class Refused{body.replace(spoilt, by)}")
    monkeypatch.setattr(script, "PROGRAM", changed)
    with pytest.raises(NotConfined, match=says):
        run("print('it ran')")
