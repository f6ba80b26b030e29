# SPDX-License-Identifier: MIT
"""face_ctypes.py pair|region|nothing N: does that N times, by the binding of docs/recipes/other-languages.md, for bench/faces."""
import os
import pathlib
import re
import sys

os.environ.update(TACH_EVENTS="instructions", TACH_OUTPUT="/dev/null")
recipe = pathlib.Path(__file__).resolve().parent.parent / "docs/recipes/other-languages.md"
source = re.search(r"^```python\n(.*?)^with region", recipe.read_text(), re.S | re.M).group(1)
exec(compile(source, recipe, "exec"))


def pairs(counters, n):
    def empty():
        pass

    for _ in range(n):
        counters.of(empty)


def regions(face, n):
    for _ in range(n):
        with face:
            pass


def nothing(n):
    for _ in range(n):
        pass


what, n = sys.argv[1], int(sys.argv[2])
if what == "pair":
    pairs(Counters("instructions"), n)
elif what == "region":
    regions(region("face"), n)
else:
    nothing(n)
