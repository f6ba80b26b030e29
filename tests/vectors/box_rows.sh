#!/usr/bin/env bash
# Each row of the tables of boxes that are not from Intel's lists (those: uncore_vendor.c) gives the word that its cells make:
# AMD's, Arm's, NVIDIA's, RAPL.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || { echo "skip box_rows: python3 is not installed"; exit 77; }
B=${B:-build} python3 - <<'END'
import json, os, pathlib, re, subprocess, sys

tach = f"{os.environ['B']}/tach"
bad, rows, tables, fields = [], 0, 0, {"e": 18, "i": 23, "c": 24}
for path in sorted(pathlib.Path("arch").glob("*/uncore/*.tsv")):
    head, want, event = {}, {}, None
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    for cell in lines:
        if cell[0].startswith("@"):
            head.setdefault(cell[0], []).append(cell[1:])
    if "perfmon" in str(head.get("@source")) or any("libpfm-4" in str(s) for s in head.get("@source", [])):
        continue
    inst = head["@inst"][0]
    pmu = re.sub("%[dx]", inst[1].split("-")[0], inst[0])
    encoding = head["@encoding"][0][0]
    for kind, name, code, group, ctrs, mods, hw, flags, src, attrs, *_ in (c for c in lines if c[0] in ("E", "U")):
        wired = sum(int(v, 0) << fields[k] for k, v in (p.split("=") for p in hw.split(",") if hw != "-"))
        other = re.search(r"\binst=(\d+)", attrs)
        box = re.sub("%[dx]", other[1], inst[0]) if other and "%" in inst[0] else pmu
        if kind == "E":
            event = (name, int(code, 16), wired)
            # An event with umasks is an event of its own where it may stand bare.
            if group in ("-", "0"):
                want[f"{box}::{name}"] = event[1] | wired
        elif "," not in group and "/" not in group and encoding != "raw":
            want[f"{box}::{event[0]}:{name}"] = event[1] | event[2] | wired | int(code, 16) << 8
    done = subprocess.run([tach, "encode", "-j", "-o", "none", *want], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    answers = json.loads(done.stdout or "[]")
    tables += 1
    for (string, word), answer in zip(want.items(), answers):
        rows += 1
        if int(answer.get("words", ["0"])[0], 16) != word:
            bad.append(f"{string}: {answer.get('words', answer.get('error'))}, and its cells make {word:#x}")
    if len(answers) != len(want):
        bad.append(f"{path.name}: {len(answers)} answers of {len(want)}")
print(*(f"# {b}" for b in bad[:20]), f"# {rows} rows of {tables} tables", sep="\n")
bad or rows > 0 or bad.append("no rows")
print("not ok box_rows" if bad else "ok box_rows")
sys.exit(bool(bad))
END
