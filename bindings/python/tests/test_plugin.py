# SPDX-License-Identifier: MIT
"""Tests for pytest --tach: tests/check/slow/python.sh lists which must pass and which must fail."""
import pytest


def work(n):
    for _ in range(n):
        pass


@pytest.mark.tach(instructions=10_000_000)
def test_within():
    work(10)


@pytest.mark.tach(instructions=10)
def test_beyond():
    work(1000)


def test_fixture_within(tach_limit):
    with tach_limit(instructions=1_000_000):
        work(1000)


def test_fixture_beyond(tach_limit):
    with tach_limit(instructions=1000):
        work(1000)


@pytest.mark.tach(instructions=float("nan"))
def test_no_limit():
    work(10)


@pytest.mark.tach(cycles=1)
def test_not_counted():
    pass


def test_body():
    assert work(1) is None
