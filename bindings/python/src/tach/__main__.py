# SPDX-License-Identifier: MIT
"""python -m tach script.py [argument ...]: runs a script, and measures each of its functions."""
from __future__ import annotations

import atexit
import importlib.machinery
import io
import os
import sys
import threading
import types
from typing import Any, Optional

import tach
from tach import _tach

USAGE = """usage: python -m tach SCRIPT [ARGUMENT]...

Runs SCRIPT as `python SCRIPT` does, and measures each function of Python. The report goes to
standard error, or where TACH_OUTPUT says. TACH_EVENTS, TACH_METRICS and TACH_REGIONS (globs of
names) choose what is measured: man tach-environment.
"""


def empty() -> None:
    """Does nothing: its row shows the cost of a function call, which the report does not subtract."""


EMPTY = "python: empty function"
if sys.version_info >= (3, 11):
    empty.__code__ = empty.__code__.replace(co_name=EMPTY, co_qualname=EMPTY)
else:
    empty.__code__ = empty.__code__.replace(co_name=EMPTY)


def fail(text: str) -> int:
    print(f"python -m tach: {text}", file=sys.stderr)
    return 2


def run(path: str) -> None:
    """Runs the script as module __main__, as if Python had started it."""
    with io.open_code(os.path.abspath(path)) as file:
        source = file.read()
    module = types.ModuleType("__main__")
    place = os.path.abspath(path)
    module.__dict__.update(__file__=place, __builtins__=__builtins__, __cached__=None,
                           __loader__=importlib.machinery.SourceFileLoader("__main__", place))
    sys.modules["__main__"] = module
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    hide_frames()
    code = compile(source, place, "exec", dont_inherit=True)
    threading.setprofile(_tach._profile)
    sys.setprofile(_tach._profile)
    try:
        exec(code, module.__dict__)
    finally:
        sys.setprofile(None)


def hide_frames() -> None:
    """Removes this module's frames, so that a traceback begins in the script."""
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: Optional[types.TracebackType]) -> None:
        while trace and (trace.tb_frame.f_code.co_filename == __file__ or "runpy" in trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        shown(kind, error.with_traceback(trace), trace)

    sys.excepthook = show


def report(process: int) -> None:
    threading.setprofile(None)
    sys.setprofile(None)
    _tach._profile_end(False)
    # The library writes it, if TACH_OUTPUT was set. A child has its own report then.
    if os.getpid() == process and not os.environ.get("TACH_OUTPUT"):
        try:
            sys.stderr.write(tach.Snapshot.take().text())
        except (AttributeError, OSError, ValueError):
            pass  # the script closed the stream


def main(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(USAGE, end="", file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    if words[0].startswith("-"):
        return fail(f"cannot use {words[0]!r}: give a script")
    if not os.path.isfile(words[0]):
        return fail(f"can't open file {os.path.abspath(words[0])!r}: no such file")
    try:
        if not tach.enabled():
            tach.configure()
    except tach.Error as error:
        return fail(str(error))
    sys.argv[:] = words
    atexit.register(report, os.getpid())
    os.register_at_fork(after_in_child=lambda: _tach._profile_end(True))
    sys.setprofile(_tach._profile)
    for _ in range(64):
        empty()
    sys.setprofile(None)
    _tach._profile_end(False)
    run(words[0])
    return 0


status: Any = main(sys.argv[1:])
if status:
    sys.exit(status)
