# SPDX-License-Identifier: MIT
"""The parts of the extension module in Python: reports, decorators, and the overhead of an entry."""
from __future__ import annotations

import enum
import functools
import inspect
import json
from typing import Any, Callable, Optional, TypeVar

from tach import _tach

Function = TypeVar("Function", bound=Callable[..., Any])

# The region of the empty entries: every report shows the overhead of an entry from Python.
CALIBRATION = "python: empty region"
AROUND = "python: empty region inside another"
ROUNDS = 64


class Flag(enum.IntFlag):
    """How a value was obtained: the bits of tach/flags.h."""

    RESCHEDULED = 0x0001
    INCOMPLETE = 0x0002
    SYSCALL = 0x0004
    SCALED = 0x0008
    MIXED = 0x0010
    LOST = 0x0020
    CLOCK = 0x0040
    DIVZERO = 0x0080
    STALE = 0x0100
    SMALL = 0x0200
    CORRECTED = 0x0400
    EMULATED = 0x0800
    SHARED = 0x1000


def report_of(text: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(text)
    return report


def quantities() -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], str, float, bool]:
    """Returns the quantities of regions: names, metrics, formulas, missing parts, nanoseconds of a tick,
    and true if an emulator counts."""
    report = _tach.Snapshot.take().report()
    hz = report["clock"]["hz"]
    return (tuple(q["name"] for q in report["quantities"]), tuple(m["name"] for m in report["metrics"]),
            tuple(m["formula"] for m in report["metrics"]), report["note"], 1e9 / hz if hz else 0.0,
            any("emulated" in value["flags"] for r in report["regions"] for value in r["inclusive"].values()))


def runs_in_pieces(function: Callable[..., Any]) -> bool:
    """Returns true if calling a function, method, partial or callable object gives a coroutine or a generator."""
    while isinstance(function, functools.partial):
        function = function.func
    called = function if inspect.isroutine(function) or isinstance(function, type) else type(function).__call__
    return any(kind(f) for f in (function, called)
               for kind in (inspect.iscoroutinefunction, inspect.isgeneratorfunction, inspect.isasyncgenfunction))


def decorated(name: str, function: Function) -> Function:
    """Makes each call of the function a region. Refuses generators and coroutines, whose body runs in pieces."""
    if runs_in_pieces(function):
        raise TypeError(f"{getattr(function, '__qualname__', function)} runs in pieces, and others between them would be counted in it: "
                        "put `with tach.region(...)` around what does not wait")
    region = _tach.region

    @functools.wraps(function)
    def measured(*args: Any, **keywords: Any) -> Any:
        with region(name):
            return function(*args, **keywords)

    return measured  # type: ignore[return-value]


def ticks(counts: _tach.Counts | _tach.Region) -> Optional[tuple[int, ...]]:
    """Returns raw counts in the order of names, with time in the clock's unit, or None if nothing was counted."""
    return counts._ticks()


def least(samples: list[tuple[int, ...]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    columns = list(zip(*samples))
    return tuple(min(c) for c in columns), tuple(max(c) - min(c) for c in columns)


def calibrate() -> None:
    """Measures empty entries, alone and nested, with the same byte code as users' code."""
    region = _tach.region
    alone = []
    around = []
    for _ in range(ROUNDS):
        with region(CALIBRATION) as r:
            pass
        alone.append(ticks(r))
    for _ in range(ROUNDS):
        with region(AROUND) as outer:
            with region(CALIBRATION) as r:
                pass
        around.append(ticks(outer))
    q = _tach._regions()
    if q is None:
        return
    found = [a for a in alone if a is not None]
    pairs = [a for a in around if a is not None]
    if not found or not pairs:
        return
    empty, spread = least(found)
    q.calibrated(empty, spread, tuple(max(0, p - e) for p, e in zip(least(pairs)[0], empty)))


def calibrate_reader(reader: _tach.Reader, q: _tach._Quantities) -> None:
    samples = []
    for _ in range(ROUNDS):
        reader.begin()
        counts = reader.end()
        t = ticks(counts)
        if t is not None:
            samples.append(t)
    if samples:
        empty, spread = least(samples)
        q.calibrated(empty, spread, (0,) * len(empty))


def missing() -> str:
    """Returns why requested events are not counted in regions, or ''."""
    q = _tach._regions()
    return "" if q is None else q.missing


def cost() -> dict[str, dict[str, float]]:
    """Returns the overhead of an entry from Python, for each quantity: its minimum (`entry`), the additional
    cost of other entries (`spread`), and the part that the enclosing region contains (`inside`). Values of entries
    exclude this overhead. Sums of reports include it, except the library's own part. {} if regions are off or
    cannot be calibrated."""
    q = _tach._regions()
    return {} if q is None else q.cost()
