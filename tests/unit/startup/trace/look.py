#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""look.py FILE: reads a trace strictly, and says what is wrong with it; then `region count` lines,
`thread name`, `lost N`, and `tags REGION NUMBER` (how many tags there are, each as often)."""
import collections
import json
import sys


def once(pairs):
    keys = [k for k, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key twice: {keys}"
    return dict(pairs)


def never(word):
    raise ValueError(word)


def ns(us):
    value = round(us * 1000)
    assert value >= 0 and abs(us * 1000 - value) < 0.01, f"not whole ns: {us}"
    return value


with open(sys.argv[1], encoding="utf-8") as f:
    trace = json.load(f, object_pairs_hook=once, parse_constant=never)
assert set(trace) == {"displayTimeUnit", "traceEvents", "otherData"}, set(trace)
regions, tags, threads = collections.Counter(), collections.Counter(), collections.defaultdict(list)
for e in trace["traceEvents"]:
    if e["ph"] == "M":
        assert e["name"] == "thread_name"
        print("thread", e["args"]["name"])
        continue
    assert e["ph"] == "X" and set(e) == {"ph", "name", "pid", "tid", "ts", "dur", "args"}, e
    regions[e["name"]] += 1
    tags[e["name"], e["args"].get("tag")] += 1
    threads[e["tid"]].append((ns(e["ts"]), -(ns(e["ts"]) + ns(e["dur"]))))
# In one thread, two events are nested or disjoint.
for spans in threads.values():
    around = []
    for begin, end in sorted(spans):
        while around and around[-1] <= begin and around[-1] != -end:
            around.pop()
        assert not around or -end <= around[-1], f"{begin} to {-end} crosses {around[-1]}"
        around.append(-end)
for name, n in regions.items():
    print(name, n)
for name in regions:
    of = [n for (r, t), n in tags.items() if r == name and t]
    if of and len(set(of)) == 1:
        print("tags", name, len(of), of[0])
assert trace["otherData"]["entries"] == sum(regions.values())
print("lost", trace["otherData"]["lost"])
