"""`bugzoo` and `python -m bugzoo`. Ctrl-C is heard before anything is imported: a traceback of our imports helps nobody."""

import os


def _stop(number: int = 2, frame: object = None) -> None:
    """Nothing has been begun, or everything is done: there is nothing to clean up."""
    try:
        os.write(2, b"\nbugzoo: stopped.\n")
    finally:
        os._exit(130)


def main() -> None:
    """The entry point of the installed command."""
    try:
        import signal

        ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a script's background job ignores it
        if ours:
            signal.signal(signal.SIGINT, _stop)
        from bugzoo.cli import main as command
        from bugzoo.cli import streams

        closed = streams.mend()
    except KeyboardInterrupt:
        return _stop()
    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        command(closed=closed)
    finally:
        if ours:
            signal.signal(signal.SIGINT, _stop)


if __name__ == "__main__":
    main()
