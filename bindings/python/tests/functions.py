# SPDX-License-Identifier: MIT
"""functions.py: `python -m tach` runs scripts as Python does, and counts the calls of their functions; a line per case."""
import json
import os
import subprocess
import sys
import tempfile
import traceback

import tach

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(tach.__file__)))
SCRIPT = '''
import os, pickle, sys, threading
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
class Shape:
    def area(self):
        def inner(): return 3
        return inner() * 2
def numbers():
    yield 1
    yield 2
def raises(k):
    if k == 0: raise KeyError("thrown")
    raises(k - 1)
def catches():
    try: raises(3)
    except KeyError: return after()
def after(): return 1
def deep(k): return 0 if k == 0 else 1 + deep(k - 1)
def on_thread(): fib(5)
def in_child(): return 0
def main():
    print(fib(10), Shape().area(), sum(numbers()), [catches() for _ in range(5)])
    pickle.loads(pickle.dumps(Shape()))
    thread = threading.Thread(target=on_thread)
    thread.start()
    thread.join()
    sys.setrecursionlimit(30000)
    thread = threading.Thread(target=lambda: print(deep(20000)))
    thread.start()
    thread.join()
    sys.stdout.flush()
    if os.fork() == 0:
        in_child()
        os._exit(0)
    os.wait()
    print(sys.argv, __name__, __file__, sys.path[0], __spec__, sys.modules["__main__"].main is main)
if __name__ == "__main__": main()
if sys.argv[1] == "raise": raises(1)
if sys.argv[1] == "interrupt": raise KeyboardInterrupt
sys.exit({"five": 5, "text": "said"}.get(sys.argv[1]))
'''


def start(folder, *words, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("TACH_")}
    return subprocess.run([sys.executable, *words], cwd=folder, env={**clean, "PYTHONPATH": PACKAGE, "TACH_EVENTS": "", **environment},
                          text=True, capture_output=True, check=False)


def runs_like_python(folder):
    for word in ("five", "text", "none", "raise", "interrupt"):
        plain = start(folder, "script.py", word)
        measured = start(folder, "-m", "tach", "script.py", word, TACH_OUTPUT="out.json")
        for what in ("returncode", "stdout", "stderr"):
            assert getattr(plain, what) == getattr(measured, what), (word, what, plain, measured)


def counts_calls(folder):
    start(folder, "-m", "tach", "script.py", "five", TACH_OUTPUT="out.json")
    with open(os.path.join(folder, "out.json"), encoding="utf-8") as file:
        regions = json.load(file)["regions"]
    calls = {r["name"]: r["calls"] for r in regions if r["file"].endswith("/script.py")}
    wanted = {"fib": 177 + 15, "Shape.area": 1, "Shape.area.<locals>.inner": 1, "numbers": 3, "raises": 20, "catches": 5, "after": 5,
              "deep": 20001, "on_thread": 1, "main": 1, "<module>": 1}
    assert {name: calls.get(name) for name in wanted} == wanted, calls
    assert "in_child" not in calls, calls
    assert all(r["lost"] == 0 for r in regions), regions
    names = [r["name"] for r in regions]
    by_name = {r["name"]: r for r in regions if r["file"].endswith("/script.py")}
    assert names[by_name["after"]["parent"]] == "catches" and by_name["after"]["line"] == 17, by_name["after"]
    assert by_name["main"]["inclusive"]["time"]["value"] >= by_name["main"]["self"]["time"]["value"] > 0
    assert next(r for r in regions if r["name"] == "python: empty function")["calls"] == 64


def reports_as_text(folder):
    done = start(folder, "-m", "tach", "script.py", "five")
    assert "\nfib " in done.stderr and done.returncode == 5, done
    chosen = start(folder, "-m", "tach", "script.py", "five", TACH_REGIONS="fib,Shape*")
    assert "\nfib " in chosen.stderr and "\ncatches" not in chosen.stderr, chosen


def refuses(folder):
    for words, said in ((["nosuch.py"], "can't open file"), (["-x"], "cannot use '-x'"), ([], "usage:"), (["script.py"], None)):
        done = start(folder, "-m", "tach", *words, **({} if said else {"TACH_EVENTS": "no_such_event"}))
        assert done.returncode == 2 or not said, done
        assert (said or "no_such_event") in done.stderr, done


with tempfile.TemporaryDirectory() as where:
    with open(os.path.join(where, "script.py"), "w", encoding="utf-8") as out:
        out.write(SCRIPT)
    failed = 0
    for case in (runs_like_python, counts_calls, reports_as_text, refuses):
        try:
            case(where)
            print("ok functions_" + case.__name__)
        except Exception:  # pylint: disable=broad-except
            traceback.print_exc(file=sys.stdout)
            print("not ok functions_" + case.__name__)
            failed = 1
sys.exit(failed)
