"""Run by path, in a bare interpreter: becomes a server's command, which dies with the process that asked for it.

It imports nothing of ours, since the server's environment holds nothing of ours.
"""

import ctypes
import os
import signal
import sys

_PDEATHSIG = 1  # prctl(2); it outlives execve


def main() -> None:
    """Become the command after the asking process's id. Exits 127 where it cannot be run."""
    asked, *command = sys.argv[1:]
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != int(asked):  # it ended in between
            os._exit(1)
    try:
        os.execvp(command[0], command)  # noqa: S606 - the command that the operator declared
    except OSError:
        os._exit(127)


if __name__ == "__main__":
    main()
