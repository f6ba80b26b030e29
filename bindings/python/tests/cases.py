# SPDX-License-Identifier: MIT
"""cases.py: tests the package with the clock and page faults; prints one line per case for tests/run."""
import asyncio
import functools
import gc
import json
import mmap
import os
import sys
import tempfile
import threading
import time
import traceback

import tach

PAGE = mmap.PAGESIZE


def raises(kind, function):
    try:
        function()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


def regions(name):
    return next((r for r in tach.report()["regions"] if r["name"] == name), None)


def on_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def touch(pages):
    """Causes that number of page faults."""
    with mmap.mmap(-1, pages * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(15)  # MADV_NOHUGEPAGE
        for i in range(pages):
            memory[i * PAGE] = 1


def off_until_configured():
    with tach.region("off") as r:
        pass
    assert not tach.enabled() and r.instructions is None and "TACH_ENABLE" in r.why, r.why
    tach.configure("")
    with tach.region("on") as r:
        pass
    assert tach.enabled() and r.time is not None and r.time >= 0 and r.why == "" and r.name == "on"
    tach.disable()
    with tach.region("on") as r:
        pass
    assert r.time is None and r.why
    assert regions("on")["calls"] == 1 and regions("off") is None


def counts():
    try:
        tach.configure("faults=page-faults", "double = 2 * faults; none = faults / 0")
    except tach.Error as error:
        return f"no event opens: {error}"
    touch(8)
    with tach.region("counted") as r:
        touch(8)
    assert 8 <= r.faults < 100 and r.faults == r["faults"] == r.values["faults"] and r["double"] == 2 * r.faults, r.values
    assert r.raw["faults"] >= r.faults and "syscall" in r.provenance and tach.Flag(r.flags) & tach.Flag.SYSCALL
    assert set(r.cost) == {"time", "faults"} and r.cost == tach.cost() and r.cost["time"]["entry"] > 0
    assert r.time < r.raw["time"]
    assert r.none != r.none
    raises(AttributeError, lambda: r.instructions)
    assert "faults" in raises(KeyError, lambda: r["nosuch"])
    return None


def what_cannot_be_counted_is_told():
    """Needs a group with more members than any PMU has counters."""
    events = ",".join(f"a{i}=instructions" for i in range(15))
    said = raises(tach.Error, lambda: tach.configure(events, required=True))
    tach.configure(events)
    with tach.region("missing") as r:
        pass
    assert r.a1 is None and r["a2"] is None and r.instructions is None and r.why == said == tach.missing(), (r.why, said)
    assert r.time is not None
    tach.configure("")
    with tach.region("missing") as r:
        pass
    assert r.why == ""
    raises(AttributeError, lambda: r.instructions)


def its_own_cost_goes_out():
    tach.configure("")
    with tach.region("outer") as outer:
        for _ in range(50):
            with tach.region("inner"):
                pass
    assert outer.raw["time"] - outer.time >= 49 * tach.cost()["time"]["inside"]
    assert regions(tach.CALIBRATION)["calls"] >= 64


def exceptions_pass():
    with raising("x") as r:
        raises(ValueError, lambda: entered(r))
    assert r.why == "" and regions("x")["calls"] == 1


def raising(name):
    tach.configure("")
    return Holder(name)


class Holder:
    def __init__(self, name):
        self.region = tach.region(name)

    def __enter__(self):
        return self.region

    def __exit__(self, *_):
        return False


def entered(r):
    with r:
        raise ValueError("inside")


def entries_are_one_by_one():
    tach.configure("")
    r = tach.region("again")
    for _ in range(3):
        with r:
            raises(RuntimeError, r.__enter__)
    raises(RuntimeError, lambda: r.__exit__(None, None, None))
    assert regions("again")["calls"] == 3


def decorator():
    tach.configure("")

    @tach.region("factorial")
    def factorial(n, *, one=1):
        """Its own."""
        return one if n == 0 else n * factorial(n - 1, one=one)

    assert factorial(10, one=1) == 3628800 and factorial.__doc__ == "Its own."
    found = regions("factorial")
    assert found["calls"] == 11 and found["outermost"] == 1, found

    async def coroutine():
        pass

    def generator():
        yield

    assert "pieces" in raises(TypeError, lambda: tach.region("x")(coroutine))
    assert "pieces" in raises(TypeError, lambda: tach.region("x")(generator))
    assert "pieces" in raises(TypeError, lambda: tach.region("x")(functools.partial(functools.partial(coroutine))))

    class Callable:
        async def __call__(self):
            pass

    assert "pieces" in raises(TypeError, lambda: tach.region("x")(Callable()))
    assert tach.region("partial")(functools.partial(factorial, 3))() == 6 and regions("partial")["calls"] == 1


def numbers_out_of_range_are_refused():
    for wrong in ({"sparse": 2**32 + 2}, {"warmup": -1}, {"sparse": -2**70}, {"warmup": 2**32}):
        raises(OverflowError, lambda: tach.configure("", **wrong))
    raises(TypeError, lambda: tach.configure("", sparse="2"))
    tach.configure("", sparse=2**32 - 1)


def labels_do_not_hide_attributes():
    try:
        tach.configure("why=page-faults,values=minor-faults", "name = why / values")
    except tach.Error as error:
        return f"no event opens: {error}"
    with tach.region("labels") as r:
        touch(8)
    assert r.name == "labels" and r.why == "" and set(r.values) == {"time", "why", "values", "name"}, r.values
    assert 8 <= r["why"] < 100 and r["values"] == r.values["values"] and r["name"] == r.values["name"]
    return None


def another_thread_is_refused():
    tach.configure("")

    def generator():
        with tach.region("generator") as r:
            yield r

    it = generator()
    r = next(it)
    on_thread(lambda: list(it))
    assert r.time is None and "another thread" in r.why, r.why
    with tach.region("after") as r:
        pass
    assert r.why == "" and tach.report()["refused"] >= 1
    assert regions("generator")["calls"] == 0 and regions("generator")["lost"] == 1


def tasks_out_of_turn_are_flagged():
    tach.configure("")

    async def task(name):
        with tach.region(name) as r:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        return r

    async def both():
        return await asyncio.gather(task("first"), task("second"))

    for r in asyncio.run(both()):
        assert r.time is None and "out of turn" in r.why, r.why
    with tach.region("in turn") as r:
        pass
    assert r.why == ""


def dropped_while_open():
    tach.configure("")
    r = tach.region("dropped")
    r.__enter__()
    del r
    box = [tach.region("dropped")]
    box[0].__enter__()
    on_thread(box.clear)
    with tach.region("next") as r:
        pass
    assert r.why == "" and regions("dropped")["calls"] == 0 and regions("dropped")["lost"] == 2, regions("dropped")


def fork():
    tach.configure("")
    with tach.region("forked") as r:
        child = os.fork()
    if child == 0:
        good = r.time is None and r.why
        with tach.region("in the child") as r:
            pass
        os._exit(0 if good and r.why == "" and regions("in the child")["calls"] == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0 and r.why == ""


def threads():
    tach.configure("")

    def work():
        for _ in range(500):
            with tach.region("threads") as r:
                pass
            assert r.why == "", r.why

    all_of_them = [threading.Thread(target=work) for _ in range(4)]
    for t in all_of_them:
        t.start()
    for t in all_of_them:
        t.join()
    found = regions("threads")
    assert found["calls"] == 2000 and found["threads"] == 4, found


def sets_and_readers():
    try:
        s = tach.Set("faults=page-faults", "double = 2 * faults")
        reader = tach.Reader(s)
    except tach.Error as error:
        return f"no event opens: {error}"
    assert s.names == ("faults",) and s.metrics == ("double",) and s.kinds == ("software",) and len(s) == 1
    assert s.missing == "" and "page" in s.qualified[0].lower()
    with reader:
        raises(tach.Error, reader.end)
        before = reader.read()
        reader.begin()
        touch(5)
        found = reader.end()
        assert 5 <= found.faults < 100 and found["double"] == 2 * found.faults and found.time > 0, found
        assert "syscall" in found.provenance and "lost" not in found.provenance, found.provenance
        assert reader.read()[0] - before[0] >= 5 and reader.set is s
        on_thread(lambda: raises(tach.Error, reader.begin))
        child = os.fork()
        if child == 0:
            raises(tach.Error, reader.begin)
            del reader
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        reader.begin()
        assert reader.end().faults < 5
    assert "closed" in raises(tach.Error, reader.begin)
    return None


def descriptors_are_given_back():
    """Another thread frees readers before and after their own thread has ended."""
    try:
        s = tach.Set("page-faults")
        tach.Reader(s)
    except tach.Error as error:
        return f"no event opens: {error}"
    before = len(os.listdir("/proc/self/fd"))
    box = []
    on_thread(lambda: box.append(tach.Reader(s)))
    while len(os.listdir("/proc/self/task")) > 1:  # join returns before the kernel has removed the thread
        time.sleep(0.001)
    assert len(os.listdir("/proc/self/fd")) == before + 1
    box.clear()
    assert len(os.listdir("/proc/self/fd")) == before
    opened, dropped = threading.Event(), threading.Event()

    def opener():
        box.append(tach.Reader(s))
        opened.set()
        dropped.wait()

    thread = threading.Thread(target=opener)
    thread.start()
    opened.wait()
    box.clear()
    dropped.set()
    thread.join()
    while len(os.listdir("/proc/self/task")) > 1:
        time.sleep(0.001)
    assert len(os.listdir("/proc/self/fd")) == before
    return None


def snapshots():
    tach.configure("")
    with tach.region("one"):
        pass
    older = tach.Snapshot.take()
    for _ in range(2):
        with tach.region("one"):
            pass
    newer = tach.Snapshot.take()

    def calls(snapshot):
        return next(r["calls"] for r in snapshot.report()["regions"] if r["name"] == "one")

    assert calls(older) == 1 and calls(newer) == 3 and calls(newer.since(older)) == 2
    assert calls(tach.Snapshot.merge([older, newer])) == 4
    assert calls(tach.Snapshot.load(newer.text("json"))) == 3
    assert calls(tach.Snapshot.take(os.getpid())) == 3
    assert "one" in newer.text() and newer.text("html").startswith("<!doctype html>") and "# TYPE" in newer.text("prometheus")
    with tempfile.TemporaryDirectory() as folder:
        newer.write(folder + "/report.json")
        with open(folder + "/report.json", encoding="utf-8") as file:
            assert json.load(file) == newer.report()
        raises(tach.Error, lambda: newer.write(folder + "/no/folder"))


def what_is_wrong_is_told():
    raises(TypeError, lambda: tach.region(1))
    raises(ValueError, lambda: tach.region("a\0b"))
    raises(UnicodeEncodeError, lambda: tach.region("\ud800"))
    raises(ValueError, lambda: tach.Snapshot.take().text("nosuch"))
    raises(TypeError, lambda: tach.Snapshot.merge([1]))
    raises(TypeError, lambda: tach.Counts())
    raises(tach.Error, lambda: tach.Set("nosuch"))
    raises(tach.Error, lambda: tach.configure("nosuch"))
    try:
        tach.Snapshot.load('{"tach": 1,')
    except tach.Error as error:
        assert error.line == 1 and error.column > 0 and error.code < 0
    with tach.region("\u00e4 \"hostile\" <name>\n") as r:
        pass
    assert regions(r.name) is not None


def subinterpreters_are_refused():
    import _xxsubinterpreters as interpreters
    other = interpreters.create()
    said = raises(interpreters.RunFailedError, lambda: interpreters.run_string(other, "import tach"))
    assert "main interpreter" in said, said


def imported_again():
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith("tach")}
    import tach as again
    assert again.Error is tach.Error
    with again.region("again imported"):
        pass
    sys.modules.update(kept)


def nothing_leaks():
    tach.configure("")

    def once():
        with tach.region("leak") as r:
            pass
        r.values, r.raw, r.cost, r.provenance, r.why, r["time"], repr(r)
        raises(AttributeError, lambda: r.nosuch)
        raises(tach.Error, lambda: tach.Set("nosuch"))
        s = tach.Set("page-faults", "x = 2 * page-faults")
        s.names, s.kinds, s.qualified, s.metrics, s.missing
        snapshot = tach.Snapshot.take()
        snapshot.text(), snapshot.report(), snapshot.since(snapshot), tach.Snapshot.merge([snapshot, snapshot])
        try:
            with tach.Reader(s) as reader:
                reader.begin()
                counted = reader.end()
                counted.x, counted.values, reader.read(), reader.missing
        except tach.Error:
            pass

    grown = []
    for _ in range(4):
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(200):
            once()
        gc.collect()
        grown.append(sys.getallocatedblocks() - before)
    assert min(grown) < 200, grown  # a leak of one block in each call would give 200


CASES = (off_until_configured, counts, what_cannot_be_counted_is_told, its_own_cost_goes_out, exceptions_pass, entries_are_one_by_one, decorator,
         numbers_out_of_range_are_refused, labels_do_not_hide_attributes,
         another_thread_is_refused, tasks_out_of_turn_are_flagged, dropped_while_open, fork, threads, sets_and_readers,
         descriptors_are_given_back, snapshots, what_is_wrong_is_told, subinterpreters_are_refused, imported_again,
         nothing_leaks)
failed = False
for case in CASES:
    try:
        skipped = case()
        print(f"skip python {case.__name__}: {skipped}" if skipped else f"ok python {case.__name__}", flush=True)
    except Exception:
        failed = True
        print("".join("# " + line + "\n" for line in traceback.format_exc().splitlines()), end="")
        print(f"not ok python {case.__name__}", flush=True)
sys.exit(failed)
