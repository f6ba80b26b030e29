"""Which functions of the library each test reaches, found once by running it with a library that notes each basic block
(reach.c). A function is known by a hash of its text, so that what was found holds though lines move; of one that has
changed, or that the compiler attributes to where it is used (a macro), only the file is asked for."""
import bisect
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import tempfile


def pieces(text):
    """Of each line, the hash of its function or what stands between two: that ends with a brace in the first column."""
    found, piece = [], []
    for line in text.splitlines() + ["}"]:
        piece.append(line)
        if line.startswith("}"):
            found += [hashlib.sha256("\n".join(piece).encode()).hexdigest()[:12]] * len(piece)
            piece = []
    return found


def includes(made):
    """What the compiler read for it, from its .d"""
    try:
        return made.read_text().replace("\\\n", " ").split()
    except OSError:
        return []


class Reach:
    def __init__(self, top, build, compiler, run_test, many):
        self.top, self.build, self.kept = top, build, build / "mutate/reach"
        self.worth = many or (self.kept / "libtach.a").exists()
        self.compiler = [w for w in compiler if w != "-g0"] + ["-g1"]
        self.run_test, self.texts, self.places, self.of, self.made = run_test, {}, {}, {}, False

    # The result contains the paths of sources, so do not use ccache: objects of another tree (tools/ccache) would
    # name its files.
    own = {name: value for name, value in os.environ.items() if name != "CCACHE_NOHASHDIR"}

    def command(self, *words):
        return subprocess.run([str(w) for w in words], cwd=self.top, env=self.own, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")

    def library(self):
        """With each source as it is now: lines of another would be taken for its."""
        archive = self.kept / "libtach.a"
        if self.made:
            return archive
        self.made = True
        if not archive.exists():
            print("mutate: which test reaches what is found out first", flush=True)
        objects = []
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("REACH_JOBS", 1))) as jobs:
            for o in sorted(self.build.glob("core/*/*.o")) + sorted(self.build.glob("arch/*/*.o")):
                source = o.relative_to(self.build).with_suffix(".c")
                made = self.kept / source.with_suffix(".o")
                made.parent.mkdir(parents=True, exist_ok=True)
                if made.exists() and made.stat().st_mtime >= (self.top / source).stat().st_mtime:
                    continue
                objects.append((source, made, jobs.submit(self.command, *self.compiler, "-fPIC", "-fsanitize-coverage=trace-pc",
                                                          "-c", "-o", made, source)))
        for source, _, job in objects:
            if job.result().returncode:
                raise SystemExit(f"mutate: {source} does not compile with -fsanitize-coverage=trace-pc")
        if not objects and archive.exists():
            return archive
        note = self.kept / "reach.o"
        self.command(self.compiler[0], "-O2", "-c", "-o", note, self.top / "tests/mutate/reach.c")
        archive.unlink(missing_ok=True)  # several members have one name
        self.command("ar", "rcs", archive, *sorted(self.kept.glob("core/*/*.o")), *sorted(self.kept.glob("arch/*/*.o")),
                     *sorted(self.build.glob("gen/*.o")))
        return archive

    def symbols(self, program):
        """(address, file's symbol, name, size) of each function, sorted; and where the program begins."""
        found, file, start = [], "", 0
        for line in self.command("readelf", "-sW", program).stdout.splitlines():
            w = line.split()
            if len(w) < 8 or not w[0].rstrip(":").isdigit():
                continue
            if w[3] == "FILE":
                file = w[7]
            elif w[3] in ("FUNC", "IFUNC") and w[6] != "UND":
                found.append((int(w[1], 16), file if w[4] == "LOCAL" else "", w[7], w[2]))
            elif w[7] == "__executable_start":
                start = int(w[1], 16)
        return sorted(found), start

    def place(self, file, line):
        path = os.path.normpath(os.path.join(self.top, file))
        name = os.path.relpath(path, self.top)
        if name.startswith(("..", "build")):
            return None
        if name not in self.texts:
            try:
                self.texts[name] = pieces(pathlib.Path(path).read_text())
            except OSError:
                self.texts[name] = []
        lines = self.texts[name]
        return (name, lines[line - 1]) if 0 < line <= len(lines) else (name, "")

    def resolve(self, program, seen):
        """The places of these offsets; those known from another test by function and offset."""
        symbols, start = self.symbols(program)
        keys, ask = {}, []
        for at in seen:
            i = bisect.bisect_right(symbols, (at + start, "\xff")) - 1
            key = (*symbols[i][1:], at + start - symbols[i][0]) if i >= 0 else None
            keys[at] = key
            if key not in self.places:
                ask.append(at)
                self.places[key] = set()
        for n in range(0, len(ask), 2000):
            some = ask[n:n + 2000]
            key = None
            for line in self.command("addr2line", "-a", "-i", "-e", program, *[hex(at + start - 1) for at in some]).stdout.splitlines():
                if line.startswith("0x"):
                    key = keys[int(line, 16) + 1 - start]
                else:
                    file, _, number = line.split(" (")[0].rpartition(":")
                    place = self.place(file, int(number)) if number.isdigit() else None
                    if place:
                        self.places[key].add(place)
        return set().union(*(self.places[k] for k in keys.values())) if keys else set()

    def measure(self, test, object):
        archive = self.library()
        with tempfile.TemporaryDirectory(prefix="tach-mutate-") as folder:
            program, notes = pathlib.Path(folder) / test.stem, pathlib.Path(folder) / "notes"
            if self.command(self.compiler[0], "-o", program, object, self.kept / "reach.o", archive, "-lm", "-lpthread", "-ldl").returncode:
                return None
            os.environ["TACH_REACH"] = str(notes)
            passed, took = self.run_test(program, 120)
            del os.environ["TACH_REACH"]
            try:
                seen = [m.start() for m in re.finditer(b"\1", notes.read_bytes())]
            except OSError:
                seen = []
            places = self.resolve(program, seen)
        if passed:  # else what fails may be the notes' own, as what they take of a stack
            object.with_suffix(".took").write_text(str(took))
        return places if passed else None

    @staticmethod
    def before(object, file):
        """Whether what the test reaches was found out before the file became what it is."""
        return object.with_suffix(".reach").stat().st_mtime < file.stat().st_mtime

    def test(self, test, object):
        """{(file, hash of a function)} that it reaches, and (file, ""); {("", "")}: it fails so."""
        if test not in self.of:
            kept = object.with_suffix(".reach")
            if not kept.exists() or kept.stat().st_mtime < test.stat().st_mtime:
                places = self.measure(test, object)
                kept.write_text("".join(f"{f}\t{h}\n" for f, h in sorted({("", "")} if places is None else places)))
            found = {tuple(line.split("\t")) for line in kept.read_text().splitlines()}
            self.of[test] = found | {(f, "") for f, _ in found}
        return self.of[test]
