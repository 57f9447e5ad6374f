"""`run_here`: run a training script in this process, so that you can inspect its objects afterwards."""

import contextlib
import linecache
import numbers
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bugzoo.errors import UserError
from bugzoo.machine import warn_of_untested_torch
from bugzoo.running.endings import describe
from bugzoo.running.printing import Printed
from bugzoo.running.reading import checked
from bugzoo.running.result import Run
from bugzoo.running.torch_state import preserved
from bugzoo.syntax import source_lines
from bugzoo.watching.trace import Trace

PATIENCE = 5.0
"""Seconds to wait for another run that is being stopped."""

_one_at_a_time = threading.Lock()
"""Generators, `sys.argv` and `__main__` belong to the whole process."""


def run_here(
    source: str,
    file: str = "train.py",
    on_step: Callable[[dict[str, Any]], None] | None = None,
    *,
    argv: tuple[str, ...] = (),
    watch: bool = True,
    pass_output: bool = False,
    output_mib: float = 1,
    after: str | None = None,
    **watch_settings: Any,
) -> Run:
    """Run `source` as the main program under the name `file` and return the Run.

    An error of the script is a result, not an exception here. `on_step` is called after each optimizer step with
    {"step", "loss", "grad_norm", "seconds"} and may raise `bugzoo.watching.StopRun`. StopRun and Ctrl-C end the run as
    `stopped`, with the steps so far. `pass_output` also shows the script's output while it runs.
    `watch_settings` go to `watch()`. `after` ("module:function") is called with the Run and fills `Run.readings`.
    After NaN, infinity or a crashed forward pass, that one step or pass is re-run: see `Trace.explain`.
    Torch's generators, default dtype, threads and flags are restored before it returns.
    Raises UserError when another thread of this process is running a script.
    """
    warn_of_untested_torch()
    if not _one_at_a_time.acquire(timeout=PATIENCE):
        raise UserError("Another run is active in this process. Stop it first, or run this one with where='worker'.")
    try:
        with preserved():
            run = execute(
                source,
                file,
                argv=argv,
                on_step=on_step,
                watch=watch,
                watch_settings=watch_settings,
                printed=Printed(int(output_mib * 2**20), pass_output),
            )
    finally:
        _one_at_a_time.release()
    if after:
        run.readings = checked(resolve(after)(run))
    return run


def execute(
    source: str,
    file: str,
    *,
    argv: tuple[str, ...] = (),
    on_step: Callable[[dict[str, Any]], None] | None = None,
    watch: bool = True,
    watch_settings: Mapping[str, Any] | None = None,
    printed: contextlib.AbstractContextManager[Any] | None = None,
    started: Callable[[Trace], None] | None = None,
    explain: bool = True,
) -> Run:
    """Run the script in the current process. `started` gets the trace while it is being filled.

    `explain`: after NaN or infinity, re-run one step to find the operation that produced the first one. After a crashed
    forward pass, re-run it to see the outputs of its modules.
    """
    settings = dict(watch_settings or {})
    register(source, file)
    module = types.ModuleType("__main__")
    module.__file__ = file
    run = Run(Trace(), source=source, file=file, namespace=module.__dict__)
    begin = time.perf_counter()
    failure: BaseException | None = None
    with printed or contextlib.nullcontext(), _as_main(module, file, argv):
        try:
            code = compile(source, file, "exec", dont_inherit=True)
            with _watching(watch, on_step, settings) as run.trace:
                if started:
                    started(run.trace)
                try:
                    exec(code, module.__dict__)
                except BaseException as error:  # the watch keeps StopRun to itself
                    failure = error
                    raise
        except BaseException as error:  # SystemExit, KeyboardInterrupt and StopRun are endings of a run as well
            failure = error
        if explain and not isinstance(failure, KeyboardInterrupt):
            try:
                run.trace.explain()
            except BaseException as error:
                failure = error
    run.seconds = time.perf_counter() - begin
    run.stdout = printed.text() if isinstance(printed, Printed) else ""
    for names in (module.__dict__, *(scope.names for scope in (run.trace.live.scopes if run.trace.live else ()))):
        run.trace.metrics = run.trace.metrics or _metrics(names)
    run.trace.outcome, run.trace.error = describe(failure, file, run.trace)
    _retag(module, file)
    return run


def resolve(name: str) -> Callable[..., Any]:
    """Return the function that `module:function` names. Raises UserError if there is no such function."""
    import importlib

    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UserError(f"after={name!r} cannot be found: {error}. Write it as 'module:function'.") from error


def register(source: str, file: str) -> None:
    """Let tracebacks and `inspect` show the lines of a source text that is not in a file."""
    # without a modification time, so that linecache.checkcache keeps the entry
    linecache.cache[file] = (len(source), None, source_lines(source, keepends=True), file)


def _watching(watch: bool, on_step: Any, settings: dict[str, Any]) -> contextlib.AbstractContextManager[Trace]:
    if not watch:
        return contextlib.nullcontext(Trace())
    from bugzoo.watching import watch as watcher

    options: dict[str, Any] = {"contracts": False, **settings}
    return watcher(on_step=on_step, **options)


@contextlib.contextmanager
def _as_main(module: types.ModuleType, file: str, argv: tuple[str, ...]) -> Iterator[None]:
    """Install the module as `__main__`, with `sys.argv`, the script's folder first on the path and an empty stdin."""
    main, arguments, stdin = sys.modules.get("__main__"), sys.argv, sys.stdin
    path = list(sys.path)
    sys.modules["__main__"], sys.argv = module, [file, *argv]
    sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
    with open(os.devnull, encoding="utf-8") as nothing:
        sys.stdin = nothing
        try:
            yield
        finally:
            sys.argv, sys.stdin, sys.path[:] = arguments, stdin, path
            if main is not None:
                sys.modules["__main__"] = main


def _metrics(namespace: Mapping[str, Any]) -> dict[str, float]:
    """Return the variable `metrics` if it is a dict of numbers."""
    metrics = namespace.get("metrics")
    if not isinstance(metrics, dict):
        return {}
    result = {}
    for name, value in metrics.items():
        with contextlib.suppress(TypeError, ValueError, RuntimeError):
            if isinstance(value, numbers.Real) or getattr(value, "numel", lambda: 0)() == 1:
                result[str(name)] = float(value)
    return result


def _retag(module: types.ModuleType, file: str) -> None:
    """Give the script's classes a new module, because `__main__` is the caller's again.

    `inspect.getsource(Net)` needs the class's module. An empty module with the right file name is enough.
    """
    name = "bugzoo_script_" + "".join(letter if letter.isalnum() else "_" for letter in os.path.basename(file))
    place = sys.modules[name] = types.ModuleType(name)
    place.__file__ = file
    for value in list(module.__dict__.values()):
        if isinstance(value, type) and value.__module__ == "__main__":
            with contextlib.suppress(TypeError, AttributeError):
                value.__module__ = name
