# SPDX-License-Identifier: MIT
"""watch.py FILE SECONDS REGION: reads a report again and again while it is replaced, for so long and until it has seen two;
each time it is whole, and counts only grow."""
import json
import sys
import time

file, seconds, region = sys.argv[1], float(sys.argv[2]), sys.argv[3]
reads, seen, last = 0, 0, 0
end = time.monotonic() + seconds
while time.monotonic() < end or (seen < 2 and reads < 100000):
    with open(file) as f:
        report = json.load(f)
    calls = sum(r["calls"] for r in report["regions"] if r["name"] == region)
    if calls < last:
        sys.exit("%d calls after %d" % (calls, last))
    seen += calls > last
    last = calls
    reads += 1
    time.sleep(0.01)
print("# %d reads of %d reports in %g s, none torn; %d calls of %s" % (reads, seen, seconds, last, region))
sys.exit(seen < 2)
