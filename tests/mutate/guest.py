"""Mutants in a test guest (tests/guest): what its programs notice there, and the unit tests of the file's room, which run in it as
well. To boot takes seconds, so many mutants share a guest: each program is asked of all that are left, those that have noticed
most first."""
import json
import pathlib
import re
import shlex
import subprocess

from reach import includes

TOGETHER = 24  # mutants that share a guest: their programs lie in its memory twice
SILENT = 10  # seconds of a processor without a word: a loop without end
READS = 2000  # that each adversary watches
COMPILERS = {"x86": "", "arm64": "aarch64-linux-gnu-gcc", "riscv64": "riscv64-linux-gnu-gcc"}


def run(*words, **more):
    return subprocess.run([str(w) for w in words], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, errors="replace", **more)


class Guest:
    """tests/guest/NAME.sh, one that runs tests/guest/suite and nothing else."""
    def __init__(self, top, build, name):
        script = top / f"tests/guest/{name}.sh"
        text = script.read_text() if script.exists() else ""
        if "exec tests/guest/suite " not in text:
            raise SystemExit(f"mutate: there is no guest {name} that runs programs alone: see tests/guest/*.sh")
        words = shlex.split(text.partition("exec tests/guest/suite ")[2].replace("\\\n", " "))
        self.patterns, self.options = words[1:words.index("--")], words[words.index("--") + 1:]
        self.top, self.name, self.arch = top, name, self.options[0]
        self.build = build if self.arch == "x86" else build / self.arch
        self.kept = build / "mutate" / name
        if not (self.build / "libtach.a").exists():
            raise SystemExit(f"mutate: make guest-{self.arch} first")
        # Uses the current build: a mutant is linked with the other objects.
        if run("make", "-s", *self.compiler(), f"B={self.build}", self.build / "libtach.a", cwd=top).returncode:
            raise SystemExit(f"mutate: the library does not build for {self.arch}")

    def compiler(self):
        return [f"CC={COMPILERS[self.arch]}"] if COMPILERS[self.arch] else []

    def commands(self, target, source):
        """How make makes it: of an object the compiler's, of a program the linker's as well."""
        said = run("make", "--no-print-directory", "-n", "-o", self.build / "libtach.a", "-W", source, *self.compiler(), f"B={self.build}",
                   self.build / target, cwd=self.top, stdout=subprocess.PIPE).stdout
        for line in said.splitlines():
            if f" -c -o {self.build / target}" in line:
                line = re.sub(r" -MMD -MP( -MT \S+)?| -g\b", "", line.partition(";")[2])
                return [shlex.split(part) for part in line.split(" && ")]
        raise SystemExit(f"mutate: make does not say how {target} is made")

    def runs(self, program):
        """The suite does."""
        def named(patterns):
            return any(pathlib.PurePath(program.stem).match(p) for p in patterns)
        wanted = [p for p in self.patterns if p[0] != "!"]
        return (not wanted or named(wanted)) and not named([p[1:] for p in self.patterns if p[0] == "!"])

    def boot(self, programs):
        """{program: its cases that failed, and "" if it did not end as tests do}; of a guest that does not come to its end, without
        those that were still to be run."""
        said = run(self.top / "tests/guest/boot", *self.options, "-l", SILENT, "-e", f"ADVERSARY_READS={READS}", *programs,
                   cwd=self.top, stdout=subprocess.PIPE).stdout
        failed, name = {}, None
        for line in said.splitlines():
            if line.startswith("@@ run "):
                name = line[7:]
                failed[name] = {""}
            elif name and line.startswith("not ok "):
                failed[name].add(line[7:].partition(" (")[0])
            elif name and line.startswith("@@ exit "):
                if line[8:] in ("0", "77") or line[8:] == "1" and len(failed[name]) > 1:
                    failed[name].discard("")
                name = None
        return failed


class Program:
    """A test that runs in the guest."""
    def __init__(self, guest, source):
        self.guest, self.name = guest, source.stem
        self.source = source.relative_to(guest.top)
        self.target = pathlib.Path("static") / self.source.with_suffix("")
        self.plain = guest.kept / self.source.with_suffix(".o")
        self.unit, self.adversary = "unit" in self.source.parts, self.name.startswith("adv_")
        self.kills = 0

    def prepare(self):
        """Whether it compiles, unchanged."""
        self.compile_, self.link_ = self.guest.commands(self.target, self.source)[:2]
        self.plain.parent.mkdir(parents=True, exist_ok=True)
        return self.compile(self.plain, "-MMD", "-MF", self.plain.with_suffix(".d")) == 0

    def compile(self, made, *first):
        words = self.compile_[:self.compile_.index("-c")]
        return run(words[0], *first, *words[1:], "-w", "-c", "-o", made, self.source, cwd=self.guest.top).returncode

    def link(self, made, *objects):
        words = self.link_
        archive = next(i for i, w in enumerate(words) if w.endswith("libtach.a"))
        return run(*words[:words.index("-o")], "-s", "-o", made, *objects, *words[archive:], cwd=self.guest.top).returncode

    def includes(self, name):
        return name in includes(self.plain.with_suffix(".d"))


class Mutant:
    def __init__(self, folder, name, text):
        self.folder, self.tree = folder, folder / "tree"
        self.source = self.tree / name
        self.source.parent.mkdir(parents=True)
        self.source.write_text(text)
        self.includes = (f"-I{self.tree / 'include'}", f"-I{self.tree}")
        self.objects, self.differs, self.by = [], False, None


class Mutants:
    """Of one file, in one guest. `verdict` says "later" of those that `settled` tells then."""
    def __init__(self, folder, file, guest, programs, kills):
        self.folder, self.guest, self.name = folder, guest, str(file.relative_to(guest.top))
        self.header, self.text, self.waiting, self.made = file.suffix == ".h", file.read_text(), [], 0
        self.original = Mutant(folder / "original", self.name, self.text)
        self.programs = self.unchanged([p for p in (Program(guest, s) for s in programs) if p.prepare()])
        for p in self.programs:
            p.kills = kills.get(p.name, 0)
        sources = [self.name]
        if self.header:
            read = sorted(guest.build.glob("core/*/*.d")) + sorted(guest.build.glob("arch/*/*.d"))
            sources = [str(d.relative_to(guest.build).with_suffix(".c")) for d in read if self.name in includes(d)]
        self.sources = {s: guest.commands(pathlib.Path(s).with_suffix(".o"), s)[0] for s in sources}
        self.plain, self.room = {}, {}

    def unchanged(self, programs):
        """Those that link and come to their end, with the cases that fail though nothing is changed: known until the library is made
        anew, or a test."""
        kept = self.guest.kept / "fails"
        sources = [self.guest.build / "libtach.a", *(self.guest.top / p.source for p in programs)]
        known = kept.exists() and kept.stat().st_mtime > max(s.stat().st_mtime for s in sources)
        failed = json.loads(kept.read_text()) if known else {}
        programs = [p for p in programs if failed.get(p.name) != [""]]
        made = {p.name: self.folder / p.name for p in programs if p.name not in failed and p.link(self.folder / p.name, p.plain) == 0}
        ask = list(made)
        while ask:
            some = ask[:TOGETHER]
            failed.update(self.guest.boot([made[n] for n in some]) or {n: {""} for n in some})
            ask = [n for n in ask if n not in failed]
        for p in programs:
            p.fails = set(failed.setdefault(p.name, {""}))
            if p.fails and p.name in made:
                print(f"mutate: {p.name} fails with nothing changed" + (f" ({', '.join(sorted(p.fails))})" if "" not in p.fails else
                                                                           " and is left out"), flush=True)
        for program in made.values():
            program.unlink()
        kept.write_text(json.dumps({name: sorted(cases) for name, cases in failed.items()}))
        return [p for p in programs if "" not in p.fails]

    def compile(self, source, mutant):
        """The object, or None."""
        made = mutant.folder / source.replace("/", "-").replace(".c", ".o")
        words = self.sources[source]
        at = mutant.source if not self.header else self.guest.top / source
        failed = run(words[0], *mutant.includes, *words[1:words.index("-c")], "-w", "-fPIC", "-c", "-o", made, at, cwd=self.guest.top).returncode
        return None if failed else made

    def change(self, mutant):
        """Compiles what of the library includes it; "broken", or "same" where the code is."""
        for source in self.sources:
            if source not in self.plain:
                self.plain[source] = self.compile(source, self.original).read_bytes()
            made = self.compile(source, mutant)
            if not made:
                return "broken"
            if made.read_bytes() == self.plain[source]:
                made.unlink()
            else:
                mutant.objects.append(made)
        return "later" if mutant.objects else "same"

    def verdict(self, text, _):
        self.made += 1
        mutant = Mutant(self.folder / str(self.made), self.name, text)
        if not self.header:
            verdict = self.change(mutant)
            including = [p for p in self.programs if p.includes(self.name)]
            if verdict == "broken" or verdict == "same" and not including:
                return verdict, "-"
        self.waiting.append(mutant)
        return "later", "-"

    def program(self, p, mutant):
        """Linked with the mutant; None: it is as before, or the mutant is no program."""
        made = mutant.folder / f"{p.name}.o"
        if p.includes(self.name):
            if p.compile(made, *mutant.includes):
                mutant.by = "the compiler"
                return None
            if not mutant.objects and made.read_bytes() == p.plain.read_bytes():
                return None
        elif mutant.objects:
            made = p.plain
        else:
            return None
        program = self.folder / f"{mutant.folder.name}-{p.name}"
        objects = [] if not self.header and p.includes(self.name) else mutant.objects
        if p.link(program, made, *objects):
            if self.links(p, objects):
                mutant.by, mutant.differs = "the linker", True
            return None
        mutant.differs = True
        return program

    def links(self, p, objects):
        """Unchanged, with these: a test that defines what another object of the library does has no room for all of them."""
        which = p.name, *(o.name for o in objects)
        if which not in self.room:
            program = self.folder / f"links-{p.name}"
            self.room[which] = p.link(program, p.plain, *(self.original.folder / o.name for o in objects)) == 0
            program.unlink(missing_ok=True)
        return self.room[which]

    def ask(self, mutants):
        """As many programs at once as share a guest; those that include the C file first, which are about it."""
        programs = sorted(self.programs, key=lambda p: (self.header or not p.includes(self.name), -p.kills, p.adversary, p.unit == self.header))
        while programs:
            left = [m for m in mutants if not m.by]
            few = max(1, TOGETHER // max(1, len(left)))
            now, programs = programs[:few], programs[few:]
            made = {}
            for m in left:
                for p in now:
                    program = self.program(p, m) if not m.by else None
                    if program:
                        made[program.name] = (m, p, program)
            left = list(made)
            while left:
                failed = self.guest.boot([made[name][2] for name in left]) or {name: {""} for name in left}
                for name, cases in failed.items():
                    m, p, _ = made[name]
                    if cases - p.fails and not m.by:
                        m.by = p.name
                        p.kills += 1
                left = [name for name in left if name not in failed and not made[name][0].by]
            for _, _, program in made.values():
                program.unlink()

    def settled(self):
        """(verdict, by whom) of those that waited, in their order."""
        for at in range(0, len(self.waiting), TOGETHER):
            some = self.waiting[at:at + TOGETHER]
            self.ask(some)
            if self.header:  # which its users include; now what the library does
                left = [m for m in some if not m.by]
                for m in left:
                    m.by = "the compiler" if self.change(m) == "broken" else None
                self.ask([m for m in left if m.objects])
            for m in some:
                yield ("broken" if m.by == "the compiler" else "killed" if m.by else "survived" if m.differs else "same"), m.by or "-"
