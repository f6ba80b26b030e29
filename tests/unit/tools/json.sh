#!/usr/bin/env bash
# Every writer of JSON, with names that could break the syntax. Python reads it and finds the same characters, with
# U+FFFD for invalid UTF-8.
set -u
cd "$(dirname "$0")/../../.." || exit 1
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2046
gcc -O1 -D_GNU_SOURCE -Iinclude -I. $(ldd "$B/libtach.so" | grep -o 'lib[at]san' | sed 's/lib\(.\)san.*/-fsanitize=\1/; s/=a$/=address,undefined/; s/=t$/=thread/') \
	-o "$work/writer" tests/unit/tools/json/writer.c "$B/libtach.a" -lurcu-bp -lm -lpthread -ldl || exit 1
cat >"$work/check.py" <<'P'
import codecs, json, os, subprocess, sys
tach, work = sys.argv[1], sys.argv[2].encode()
os.environ["TACH_ENABLE"] = "1"
codecs.register_error("each", lambda e: ("\ufffd", e.start + 1))
hostile = [b'plain', b'"', b'\\', b'a"b\\"c\\', b'</script><!--', b"'=1+1", b'"}], "x": [{',
           b'tab\tline\nreturn\rbell\x07escape\x1b[31m delete\x7f', b'\xc2\x85\xe2\x80\xa8\xe2\x80\xae\xd8\x9c next',
           b'\xff\xfe broken \xc3', b'\xed\xa0\x80 \xc0\x80 \xf4\x90\x80\x80 \xe2\x80', 'é語😀'.encode(), b'%s%n%d', b'x' * 5000 + b'"',
           b'\\u0041\\n']

def run(*command, env=None):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environb, **(env or {})})
    text = p.stdout.decode()  # all of it is UTF-8
    shown = [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u2028\u202e\u061c")]
    if shown or "</script" in text:
        raise ValueError("as it is: %r" % shown)
    try:
        # Python would silently keep one of two equal keys in an object.
        def once(pairs):
            if len(dict(pairs)) != len(pairs):
                raise ValueError("a key twice: %r" % [k for k, v in pairs])
            return dict(pairs)
        return json.loads(text, object_pairs_hook=once)
    except ValueError as e:
        raise ValueError("%s in %r %r" % (e, text[:400], p.stderr[:200]))

def saved(name):
    """A report with that region."""
    path = work + b"/saved%d.json" % hostile.index(name)
    if not os.path.exists(path):
        with open(path, "wb") as f:
            subprocess.run([work + b"/writer", b"region", name], stdout=f, check=True)
    return path

def items(name, want):
    for got in run(work + b"/writer", b"items", name):
        if want != "plain":
            assert got[want] == want, got
        assert got["values"] == [0.1, -1.7976931348623157e308, None, None, 2**64 - 1, -2**31, "0x" + 16 * "f", True, False, None], got
        assert got["empty"] == {} and list(got) == [want, "values", "deep", "empty"], got
        deep = got["deep"]
        for level in range(25):
            deep = deep[0]["in"]
        assert deep == [], deep

def region(name, want):
    assert [r["name"] for r in run(b"cat", saved(name))["regions"]] == [want]

def report(name, want):
    assert run(tach, b"report", b"--format", b"json", saved(name))["regions"][0]["name"] == want

def diff(name, want):
    got = run(tach, b"diff", b"--allow", b"cannot-tell", b"--format", b"json", saved(name), saved(name))
    assert {l["region"] for l in got["comparisons"]} == {want} and got["worse"] == 0, got

def bench(name, want):
    got = run(work + b"/writer", b"bench", name)
    assert (got["name"], got["unit"]) == (want, want), got

def encode(name, want):
    got = run(tach, b"encode", b"-j", b"skx::INST_RETIRED:ANY_P", name)
    assert got[0]["words"] == ["0x5100c0"] and got[1]["event"] == want and got[1]["error"] < 0, got

def listed(name, want):
    """The file and the description of a user's derived event, where a file's name and a cell of it can be this."""
    if any(c in name for c in b"\n/:,") or len(name) > 200:
        return
    cell = b"plain" if any(c in name for c in b"'\"") else name
    path = work + b"/" + name + b".derived"
    with open(path, "wb") as f:
        f.write(b"EVENT,mine,NOT_DERIVED,INST_RETIRED:ANY_P,SDESC," + cell + b" end\n")
    got = run(tach, b"list", b"-j", b"mine", env={b"TACH_PMU": b"skl", b"TACH_DERIVED": path})
    assert got["pmus"][0]["derived"][0]["description"] == cell.decode(errors="each") + " end", got
    assert got["pmus"][0]["derived"][0]["file"] == path.decode(errors="each"), got

def doctor(name, want):
    """Settings of a machine that says of itself what it likes."""
    root = work + b"/root"
    os.makedirs(root + b"/proc/sys/kernel", exist_ok=True)
    os.makedirs(root + b"/sys/devices/system/clocksource/clocksource0", exist_ok=True)
    with open(root + b"/proc/cpuinfo", "wb") as f:
        f.write(b"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: " + name[:40].replace(b"\n", b" ") + b"\nflags\t\t: " + name[:40].replace(b"\n", b" ") + b"\n\n")
    for at in (b"/proc/sys/kernel/perf_event_paranoid", b"/sys/devices/system/clocksource/clocksource0/current_clocksource"):
        with open(root + at, "wb") as f:
            f.write(name[:40] + b"\n")
    got = run(tach, b"doctor", b"--json", b"--root", root)
    assert got["schema"] == "tach-doctor-1" and all(set(f) == {"check", "severity", "cause", "text", "cure"} for f in got["findings"]), got

def dispatch(name, want):
    """Event names reach it only where they are events; what can be odd is how they are written."""
    got = run(tach, b"dispatch", b"-p", b"skx", b"-j", b"INST_RETIRED:ANY_P:c=1", b"inst_retired.any_p")
    assert got["schema"] == "tach-dispatch-1" and {r.get("event") for r in got["pmds"][:2]} == {"INST_RETIRED:ANY_P:c=1", "inst_retired.any_p"}, got
    montecito = run(tach, b"dispatch", b"-p", b"pfm3:montecito", b"-j", b"IA64_INST_RETIRED", b"--code", b"0x10000-0x1fff0")
    assert montecito["code_ranges"][0]["start"] == "0x10000" and montecito["code_registers"], montecito

def outside(name, want):
    """tach run makes a report of its own for what it counts from outside, and reads it."""
    subprocess.run([tach, b"run", b"--outside", b"-e", b"page-faults", b"-o", work + b"/outside.json", b"--", b"true"],
                   stderr=subprocess.DEVNULL, check=True)
    got = run(b"cat", work + b"/outside.json")
    assert got["regions"][0]["name"] == "(whole program)" and got["regions"][0]["inclusive"]["page-faults"]["value"] >= 0, got

def holds(writer, name):
    try:
        writer(name, name.decode(errors="each"))
        return True
    except Exception as e:
        print("# %s %r: %s" % (writer.__name__, name[:60], str(e)[:600]))
        return False

failed = 0
for writer, names in [(w, hostile) for w in (items, region, report, diff, bench, encode, listed, doctor)] + [
        (w, hostile[:1]) for w in (dispatch, outside)]:
    good = all([holds(writer, name) for name in names])
    print(("ok" if good else "not ok") + " json_" + writer.__name__)
    failed |= not good
sys.exit(failed)
P
python3 "$work/check.py" "$B/tach" "$work"
