# SPDX-License-Identifier: MIT
"""Hardware performance counters of the calling thread, by region of code.

    import tach

    tach.configure("instructions, cycles", "ipc = instructions / cycles")
    with tach.region("parse") as r:
        parse(text)
    print(r.instructions, r.ipc, r.why)

A value that cannot be counted is None, and `why` gives the reason. The overhead of an entry is
measured and subtracted; `cost()` shows it.
"""
from __future__ import annotations

from typing import Any

from tach._tach import (Counts, Error, Reader, Region, Set, Snapshot, configure, disable, enabled,
                        region, tag, version)
from tach._python import CALIBRATION, Flag, cost, missing

__all__ = ["CALIBRATION", "Counts", "Error", "Flag", "Reader", "Region", "Set", "Snapshot", "configure",
           "cost", "disable", "enabled", "missing", "region", "report", "tag", "version"]


def report() -> dict[str, Any]:
    """Returns the sums of all regions of this process so far, as in the JSON report: tach-report(5)."""
    return Snapshot.take().report()
