#!/usr/bin/env bash
# Python reads the recipes for Spack and Conan with stub modules: the recipes compile, have this version, and their
# commands install the library. Debian packages neither Spack nor Conan.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
command -v python3 >/dev/null || { echo "skip recipes: python3 is not installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
export PYTHONDONTWRITEBYTECODE=1
version=$(awk '/define TACH_VERSION_/ { v = v dot $3; dot = "." } END { print v }' include/tach/base.h)
mkdir -p "$work/modules/spack" "$work/modules/conan/tools"
touch "$work/modules/spack/__init__.py" "$work/modules/conan/tools/__init__.py"
cat >"$work/modules/spack/package.py" <<'END'
import pathlib, subprocess
said = {"version": [], "depends_on": []}
def version(v, **_): said["version"].append(v)
def depends_on(what, **_): said["depends_on"].append(what)
def license(_): pass
def requires(*_, **__): pass
def run_after(_): return lambda f: f
def make(*a): subprocess.run(["make", "-s", "B=" + said["B"], *a], check=True)
class Prefix(str):
    def __getattr__(self, name): return Prefix(self + "/" + name)
class Executable:
    def __init__(self, path): self.path = path
    def __call__(self, *a): subprocess.run([self.path, *a], check=True)
class MakefilePackage: pass
END
printf 'class ConanFile: pass\n' >"$work/modules/conan/__init__.py"
printf 'class ConanInvalidConfiguration(Exception): pass\n' >"$work/modules/conan/errors.py"
cat >"$work/modules/conan/tools/files.py" <<'END'
import pathlib, shutil
def load(_, path): return open(path).read()
def copy(_, pattern, src, dst):
    found = list(pathlib.Path(src).glob(pattern))
    assert found, pattern
    pathlib.Path(dst).mkdir(parents=True, exist_ok=True)
    for f in found:
        if f.is_file(): shutil.copy(f, dst)
END
cat >"$work/ask_spack.py" <<'END'
import importlib.util, sys
spec = importlib.util.spec_from_file_location("recipe", "packaging/spack/package.py")
recipe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recipe)
build, prefix, version = sys.argv[1:]
import spack.package as p
p.said["B"] = build
assert p.said["version"][0] == version, p.said
assert recipe.Tach.url.endswith(f"/tach-{version}.tar.xz"), recipe.Tach.url
assert "liburcu" in p.said["depends_on"]
tach = recipe.Tach()
tach.prefix = p.Prefix(prefix)
tach.install(None, tach.prefix)
tach.check_install()
END
cat >"$work/ask_conan.py" <<'END'
import importlib.util, os, subprocess, sys, types
spec = importlib.util.spec_from_file_location("conanfile", "packaging/conan/conanfile.py")
recipe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recipe)
build, prefix, version = sys.argv[1:]
tach = recipe.Tach()
tach.recipe_folder, tach.package_folder, tach.source_folder = os.path.abspath("packaging/conan"), prefix, "."
tach.export_sources_folder = prefix + "/sources"
tach.run = lambda c: subprocess.run(c.replace("make", f"make -s B={build}", 1), shell=True, check=True)
tach.cpp_info = types.SimpleNamespace()
tach.set_version()
assert tach.version == version, tach.version
tach.export_sources()
tach.package()
tach.package_info()
assert os.path.exists(prefix + "/licenses/LICENSE")
tach.settings = types.SimpleNamespace(os="Windows")
try:
    tach.validate()
    sys.exit("Windows is taken")
except recipe.ConanInvalidConfiguration:
    pass
END
for tool in spack conan; do
	if PYTHONPATH=$work/modules python3 "$work/ask_$tool.py" "$B" "$work/$tool" "$version" >"$work/said" 2>&1 &&
		[ -e "$work/$tool/lib/libtach.so" ] && [ -e "$work/$tool/include/tach.h" ] && [ -x "$work/$tool/bin/tach" ]; then
		echo "ok recipe $tool"
	else
		tail -n 5 "$work/said" | sed 's/^/# /'
		echo "not ok recipe $tool"
		failed=1
	fi
done
exit $failed
