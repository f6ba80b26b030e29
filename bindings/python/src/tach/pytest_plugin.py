# SPDX-License-Identifier: MIT
"""pytest --tach: prints the cost of tests as a table, and checks limits on counts that a marker or a fixture sets.

    @pytest.mark.tach(instructions=120_000)
    def test_parse(): ...

    def test_query(tach_limit):
        with tach_limit(instructions=50_000):
            query()

Without --tach nothing is measured and no limit is checked. If an event of a test cannot be counted, the
test is skipped, or fails with TACH_EXPECT_REQUIRED=1. On a machine without a PMU,
`tach run --emulate -- python3 -m pytest --tach` counts instructions.
"""
from __future__ import annotations

import contextlib
import os
from typing import Any, Callable, ContextManager, Iterator, Optional

import pytest

import tach

class Measured:
    """Measures the cost of tests. With --tach, it is registered as a plugin of this name."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, tach.Region]] = []


def measured_in(config: pytest.Config) -> Optional[Measured]:
    found = config.pluginmanager.get_plugin("tach-measured")
    return found if isinstance(found, Measured) else None


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tach", "hardware counters")
    group.addoption("--tach", action="store_true", help="count what tests take, and check limits on it")
    group.addoption("--tach-events", metavar="EVENTS", default=None,
                    help="what to count (default: TACH_EVENTS, else the usual events)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "tach(NAME=MOST, ...): what a call of the test may take, checked with --tach")
    if not config.getoption("--tach"):
        return
    config.pluginmanager.register(Measured(), "tach-measured")
    try:
        tach.configure(config.getoption("--tach-events"))
    except tach.Error as error:
        raise pytest.UsageError(f"--tach-events: {error}") from error


def check(name: str, r: tach.Region, limits: dict[str, float]) -> None:
    """Fails a test whose entry exceeds a limit; fails or skips it if the entry was not counted."""
    for quantity, most in limits.items():
        if not isinstance(most, (int, float)) or most != most:
            pytest.fail(f"{name}: the limit of {quantity} is {most!r}, which is no number", pytrace=False)
        try:
            value = r[quantity]
            why = r.why
        except KeyError as error:
            value, why = None, error.args[0]
            if not tach.missing():
                pytest.fail(f"{name}: {why}", pytrace=False)
        if value is None:
            if os.environ.get("TACH_EXPECT_REQUIRED", "0") not in ("", "0"):
                pytest.fail(f"{name}: {why}", pytrace=False)
            pytest.skip(f"{name}: {why}")
        if value > most:
            pytest.fail(f"{name}: {value:,.10g} {quantity}, more than {most:,.10g} ({100 * (value / most - 1):+.2f} %)"
                        if most else f"{name}: {value:,.10g} {quantity}, more than 0", pytrace=False)


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    measured = measured_in(pyfuncitem.config)
    if measured is None:
        yield
        return
    with tach.region(pyfuncitem.nodeid) as r:
        outcome = yield
    measured.entries.append((pyfuncitem.nodeid, r))
    limits: dict[str, float] = {}
    for marker in reversed(list(pyfuncitem.iter_markers("tach"))):
        limits.update(marker.kwargs)
    if outcome.excinfo is None:  # type: ignore[attr-defined]
        check(pyfuncitem.nodeid, r, limits)


@pytest.fixture
def tach_limit(request: pytest.FixtureRequest) -> Callable[..., ContextManager[tach.Region]]:
    """Gives tach_limit(instructions=MOST, ...): a context that limits the cost of its body."""

    @contextlib.contextmanager
    def limit(**limits: float) -> Iterator[tach.Region]:
        name = f"{request.node.nodeid} {', '.join(limits)}"
        with tach.region(name) as r:
            yield r
        if measured_in(request.config):
            check(name, r, limits)

    return limit


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    found = measured_in(config)
    if found is None or not found.entries:
        return
    measured = found.entries
    names = list(dict.fromkeys(n for _, r in measured for n in r.values))
    terminalreporter.section("tach")
    for test, r in measured:
        shown = ", ".join(f"{r.values[n]:,.4g} {n}{' ns' if n == 'time' else ''}" if isinstance(r.values[n], float)
                          else f"{r.values[n]:,} {n}" for n in names if r.values.get(n) is not None)
        terminalreporter.line(f"{test}: {shown or r.why}")
    why = dict.fromkeys(r.why for _, r in measured if r.why)
    for text in why:
        terminalreporter.line(f"not counted: {text}")
    for name, cost in tach.cost().items():
        terminalreporter.line(f"subtracted from each: {cost['entry']:,.4g} {name} (up to {cost['spread']:,.4g} more)")
