# SPDX-License-Identifier: MIT
"""face.py read|pair|region|nothing N: does this N times from Python. bench/faces compares the results.

face.py count: prints READ PAIR REGION in one line, counted by the processor itself (tests/clients/faces.sh).
"""
import sys

import tach


def reads(reader, n):
    for _ in range(n):
        reader.read()


def pairs(reader, n):
    for _ in range(n):
        reader.begin()
        reader.end()


def regions(n):
    for _ in range(n):
        with tach.region("face"):
            pass


def nothing(n):
    for _ in range(n):
        pass


def counted(meter, turns):
    """Instructions per iteration: the minimum of some tries with 100 extra iterations."""
    def least(n):
        found = []
        for _ in range(5):
            meter.begin()
            turns(n)
            found.append(meter.end()["instructions"])
        return min(found)

    return (least(200) - least(100)) / 100


def count():
    tach.configure("instructions")
    meter, reader = (tach.Reader(tach.Set("instructions")) for _ in range(2))
    empty = counted(meter, nothing)
    of = lambda function: lambda n: function(reader, n)
    print("\t".join(f"{counted(meter, f) - empty:.1f}" for f in (of(reads), of(pairs), regions)))


what, n = sys.argv[1], int((sys.argv + ["0"])[2])
if what == "count":
    count()
elif what == "read":
    reads(tach.Reader(tach.Set("instructions")), n)
elif what == "pair":
    pairs(tach.Reader(tach.Set("instructions")), n)
elif what == "region":
    tach.configure("instructions")
    regions(n)
else:
    nothing(n)
