#!/usr/bin/env bash
# tests/vectors/presets-differ.tsv lists the presets whose value differs from PAPI's file, with the reason. Its
# descriptions of our presets match the presets.
set -u
cd "$(dirname "$0")/../../.." || exit 1
command -v python3 >/dev/null || { echo "skip differ: python3 is not installed"; exit 77; }
python3 - <<'END'
import csv, pathlib, sys

ours, cpus, last = {}, [], ""
for path in sorted(pathlib.Path("arch").glob("*/presets/*.derived")):
    for line in path.read_text().splitlines():
        cell = next(csv.reader([line]), [])
        if cell[:1] == ["CPU"]:
            cpus = [*(cpus if last == "CPU" else []), cell[1]]
        elif cell[:1] == ["PRESET"]:
            end = min(cell.index(w) if w in cell else len(cell) for w in ("NOTE", "UNIT"))
            formula = 4 if cell[2] in ("DERIVED_INFIX", "DERIVED_POSTFIX") else 3
            text = "  ".join([cell[2], *("   ".join([*cell[3:formula], ", ".join(cell[formula:end])]),)])
            ours.update({(cpu, cell[1]): text for cpu in cpus})
        last = cell[0] if cell and not cell[0].startswith("#") else last
bad, n, why = [], 0, None
for line in pathlib.Path("tests/vectors/presets-differ.tsv").read_text().splitlines():
    if line.startswith("# "):
        why = line
    elif not line:
        why = None
    else:
        preset, text, papi, tables = line.split("\t")
        for table in tables.split():
            n += 1
            if ours.get((table, preset)) != text or text == papi or not why:
                bad.append(f"{table} {preset}: {ours.get((table, preset))}, not {text}")
print(*(f"# {b}" for b in bad[:20]), f"# {n} differences", "not ok differ" if bad else "ok differ", sep="\n")
sys.exit(bool(bad))
END
