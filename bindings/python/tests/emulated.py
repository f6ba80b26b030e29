# SPDX-License-Identifier: MIT
"""emulated.py: tests instructions under `tach run --emulate`, where they are exact."""
import tach


def taken(n):
    with tach.region("loop") as r:
        for _ in range(n):
            pass
    return r


def empty():
    with tach.region("nothing") as r:
        pass
    return r


for _ in range(20):
    taken(10)
    last = empty()
assert last.why == "" and "emulated" in last.provenance, (last.why, last.provenance)
spread = last.cost["instructions"]["spread"]
assert last.instructions <= spread, (last.values, last.cost)
r = taken(1000)
assert r.raw["instructions"] - r.instructions == r.cost["instructions"]["entry"] > 100, (r.raw, r.values, r.cost)
once, twice, thrice = (taken(n).instructions for n in (1000, 2000, 3000))
# An iteration takes about ten instructions, or several tens if the interpreter did not specialise the loop.
assert abs((thrice - twice) - (twice - once)) <= 2000 and 5_000 < twice - once < 500_000, (once, twice, thrice)
with tach.region("outer") as outer:
    for _ in range(100):
        empty()
flat = outer.instructions
assert flat < 0.9 * outer.raw["instructions"], (flat, outer.raw)
print("ok python emulated")
