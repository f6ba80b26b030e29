#!/usr/bin/env bash
# The Python package as a user installs it: by pip in a fresh environment, from a wheel, from a source archive. The
# package works in another folder and in its own, and a type checker finds its types.
set -u
. "$(dirname "$0")/lib.sh"
need mypy pkg-config
cp -r bindings/python "$work/source" # pip builds in the source folder
cd "$work" || exit

# The recipe's commands, unchanged except for this journey's folders.
recipe=$(sed -n 's/^    \(python3 -m venv .*\)/\1/p; s/^    \(.*pip install --no-build-isolation .*\)/\1/p' "$top/docs/recipes/python.md" |
	sed "s|~/venv|'$work/venv'|g; s|bindings/python|'$work/source'|; s|^python3|$python|")
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1
check recipe bash -ec "$recipe"

program='import tach, pathlib
with tach.region("visit") as r: sum(range(1000))
print(tach.Counts.__name__, pathlib.Path(tach.__file__).parent)
print(r.time > 0, tach.version())
print(tach.Snapshot.take().text())'
uses() { # ENVIRONMENT: the installed package is imported, and measures
	TACH_ENABLE=1 TACH_EVENTS='' "$1/bin/python" -c "$program" && says "^Counts $1/lib/" && says '^True [0-9.]+$' && says '^visit +1 '
}
check used_elsewhere uses "$work/venv"
printf 'def visit(n):\n    return sum(range(n))\nfor i in range(3):\n    visit(i)\nraise SystemExit(3)\n' >script.py
functions() { # every function of a script, which ends as it does alone
	TACH_EVENTS='' "$work/venv/bin/python" -m tach script.py
	[ $? = 3 ] && says '^visit +3 '
}
check functions functions
cd source || exit
check used_in_its_source uses "$work/venv"
cd "$work" || exit
check versions_agree bash -c "[ \"\$(venv/bin/python -c 'import importlib.metadata as m; print(m.version(\"tach\"))')\" = \"\$(pkg-config --modversion tach)\" ]"

printf 'import tach\nwith tach.region("typed") as r:\n    pass\nreveal_type(r.why)\nr.nosuch_method(1)(2)\ntach.configure(sparse="two")\n' >typed.py
types() {
	! mypy --strict --python-executable "$work/venv/bin/python" typed.py && says 'Revealed type is "builtins.str"' &&
		says 'incompatible type "str"' && ! grep -E 'missing library stubs|import-untyped|py\.typed' "$work/out"
}
check types types

for kind in sdist wheel; do
	fresh_venv "$work/$kind"
	if [ $kind = sdist ]; then
		check sdist bash -ec "cd source && $python -c 'import setuptools.build_meta as b; print(b.build_sdist(\"$work/dist\"))'"
		archive=$work/dist/tach-*.tar.gz
	else
		check wheel "$work/venv/bin/python" -m pip wheel --no-build-isolation -w "$work/dist" "$work/source"
		archive=$work/dist/tach-*-cp310-abi3-linux_*.whl
	fi
	# shellcheck disable=SC2086
	check "${kind}_installs" "$work/$kind/bin/python" -m pip install --no-build-isolation $archive
	check "${kind}_is_used" uses "$work/$kind"
done

# Without the library the error message says what to install.
fresh_venv "$work/alone"
without_the_library() {
	! env PKG_CONFIG_PATH= "$work/alone/bin/python" -m pip install --no-build-isolation "$work/source" &&
		says 'Install it first \(make install\), or set PKG_CONFIG_PATH'
}
check without_the_library without_the_library
exit $rc
