"""`bugzoo` and `python -m bugzoo`. Ctrl-C is handled before any import, so that it never prints a traceback."""

import os


def _stop(number: int = 2, frame: object = None) -> None:
    """Exit at once: no work has started, or all of it is done."""
    try:
        os.write(2, b"\nbugzoo: stopped.\n")
    finally:
        os._exit(130)


def main() -> None:
    """The entry point of the installed command."""
    try:
        import signal

        interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # background jobs ignore SIGINT
        if interruptible:
            signal.signal(signal.SIGINT, _stop)
        from bugzoo.cli import main as command
        from bugzoo.cli import streams

        closed = streams.mend()
    except KeyboardInterrupt:
        return _stop()
    try:
        if interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command(closed=closed)
    except KeyboardInterrupt:  # it came before the command could handle it
        return _stop()
    finally:
        if interruptible:
            signal.signal(signal.SIGINT, _stop)


if __name__ == "__main__":
    main()
