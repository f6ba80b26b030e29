# SPDX-License-Identifier: MIT
"""face.py read|pair|region|nothing N: that, N times, from Python, for bench/faces to compare."""
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


what, n = sys.argv[1], int(sys.argv[2])
if what == "read":
    reads(tach.Reader(tach.Set("instructions")), n)
elif what == "pair":
    pairs(tach.Reader(tach.Set("instructions")), n)
elif what == "region":
    tach.configure("instructions")
    regions(n)
else:
    nothing(n)
