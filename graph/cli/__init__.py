"""The command line `agent`. Nothing heavy is imported before a command needs it."""

import sys


def main() -> int:
    """Run `agent` with the arguments of the process. Gives the exit code."""
    try:
        # Imported here, so that Ctrl-C is quiet from the first moment on.
        from graph.cli.entry import run

        return run(sys.argv[1:])
    except KeyboardInterrupt as stopped:
        sys.stderr.write(f"agent: {str(stopped) or 'stopped'}\n")
        return 130
