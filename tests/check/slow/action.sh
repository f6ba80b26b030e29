#!/usr/bin/env bash
# action.yml and tools/ci: a small runner reads each step of the action, and runs it with GitHub's variables and
# files. A slower commit fails, a faster one passes, the main branch is recorded, and a missing baseline is an error.
set -u
cd "$(dirname "$0")/../../.." || exit 1
B=${B:-build}
top=$PWD # B stays as make knows it
. tests/emulator action
tools/need python3-yaml >/dev/null 2>&1 || { echo "skip action: python3-yaml cannot be installed"; exit 77; }
. tests/own_folder
. tests/cases action
export B TACH_COMMAND=$top/$B/tach
for variable in ${!GITHUB_@}; do unset "$variable"; done

# steps.py ID INPUT=VALUE... prints the script and the variables of a step, with the inputs in place.
cat >"$work/steps.py" <<'PYTHON'
import re, sys, shlex, yaml
action = yaml.safe_load(open(sys.argv[1]))
assert set(action) <= {"name", "description", "author", "branding", "inputs", "outputs", "runs"} and action["runs"]["using"] == "composite"
inputs = {name: str(i.get("default", "")) for name, i in action["inputs"].items()}
given = dict(word.split("=", 1) for word in sys.argv[3:])
how = given.pop("HOW")
assert set(given) <= set(inputs), given
assert all(name in given for name, i in action["inputs"].items() if i.get("required"))
inputs.update(given)
def value(text):
    return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", lambda m: how if m.group(1) == "steps.prepare.outputs.how" else inputs[re.fullmatch(r"inputs\.([a-z-]+)", m.group(1)).group(1)], text)
for step in action["runs"]["steps"]:
    assert ("uses" in step) != ("run" in step) and ("run" not in step or step["shell"] == "bash"), step
    if step.get("id") == sys.argv[2]:
        print("".join("export %s=%s\n" % (k, shlex.quote(value(v))) for k, v in step["env"].items()) + step["run"])
PYTHON
step() { # ID INPUT=VALUE...; in the folder of the repository
	/usr/bin/python3 "$work/steps.py" "$top/action.yml" "$1" HOW="${how:-emulate}" "${@:2}" >"$work/step" || return 9
	GITHUB_ACTION_PATH=$top GITHUB_STEP_SUMMARY=$work/summary GITHUB_OUTPUT=$work/outputs GITHUB_REPOSITORY=o/r bash --noprofile --norc -eo pipefail "$work/step"
}
: >"$work/out"

step prepare command=x count=emulate >"$work/out" 2>&1 || no "prepare ended with status $?"
says '^counting: emulate$' "$work/out"; says '^how=emulate$' "$work/outputs"
step prepare command=x count=odd >"$work/out" 2>"$work/err" && no 'an odd way to count'
says "auto, counters or emulate, not 'odd'"
result prepare

# The published schemas of actions and workflows, checked by a validator from npm.
validator=$(tools/cache action-validator-0.6.0)/node_modules/.bin/action-validator
[ -x "$validator" ] || npm install --silent --no-fund --no-audit --prefix "${validator%/node_modules/*}" @action-validator/core@0.6.0 @action-validator/cli@0.6.0 >"$work/out" 2>&1
if [ -x "$validator" ]; then
	for file in action.yml .github/workflows/*.yml; do "$validator" "$file" >"$work/out" 2>&1 || no "$file does not fit the schema"; done
	sed 's/using: composite/using: compost/' action.yml >"$work/action.yml"
	"$validator" "$work/action.yml" >"$work/out" 2>&1 && no 'a wrong action fits the schema'
	result schema
else
	skip schema 'action-validator cannot be installed'
fi

# A repository with a program and a recorded main branch.
git() { command git -c user.name=a -c user.email=a@b -c init.defaultBranch=main "$@"; }
mkdir "$work/r" && cd "$work/r" || exit 1; git init -q .
program() { # TURNS
	printf '#include <tach.h>\nint main(void)\n{\n\tTACH_START(work);\n\tfor (volatile int i = 0; i < %s; i++)\n\t\t;\n\tTACH_STOP(work);\n\treturn 0;\n}\n' "$1" >work.c
}
printf 'work: work.c\n\tcc -O1 -I%s/include -o $@ $< %s/libtach.a -lpthread -lm -ldl\n' "$top" "$top/$B" >Makefile
commit() { program "$1"; make -s && git add work.c Makefile && GIT_COMMITTER_DATE="2026-01-01T00:00:0${2}Z" git commit --allow-empty -qm "Take $1 turns" || no "no commit of $1"; }
runs() { ends "$1" step gate command='./work "with blanks"' runs=1 "${@:2}"; } # STATUS INPUT=VALUE...

commit 1000 1
runs 0 history=h.jsonl record=true
says 'h.jsonl: added' "$work/out"; [ -s tach-gate/history.html ] || no 'no page'
grep -q 'href="https://github.com/o/r/commit/' tach-gate/history.html && no 'one run has no change'
commit 1000 2; : >"$work/summary"
runs 0 history=h.jsonl; says '^### tach gate: passed' "$work/summary"; says 'emulated, processor max' "$work/summary"
commit 2000 3; : >"$work/summary"
runs 1 history=h.jsonl; says '^### tach gate: worse' "$work/summary"; says '^\| work \| instructions \| .* \*\*worse\*\* \|$' "$work/summary"
says '<failure message="worse' tach-gate/gate.xml; says '"status": 1' tach-gate/gate.json
is lines "$(wc -l <h.jsonl)" 1
runs 0 history=h.jsonl fail-if='instructions > +200%'
result slower

: >"$work/summary"
runs 1 base=HEAD~1; says 'worse' "$work/summary"
git worktree list | grep -qc base && no 'a tree is left'
commit 500 4; : >"$work/summary"
runs 0 base=HEAD~1; says '\*?better\*?' "$work/summary"
runs 2 base=absent; says 'git knows no commit absent'
runs 2 base=HEAD~1 build=false; says 'HEAD~1 does not build with: false'
result base

# On GitLab, Jenkins and a laptop only the script is used.
"$TACH_COMMAND" gate --emulate --runs 1 --save base.tsv -- ./work >"$work/out" 2>"$work/err" || no 'no baseline'
ends 0 "$top/tools/ci/gate" --emulate --runs 1 --baseline base.tsv --output reports -- ./work; says 'no change' "$work/out"; [ -s reports/gate.xml ] || no 'no JUnit'
ends 3 "$top/tools/ci/gate" --emulate --baseline absent.tsv -- ./work; says 'absent.tsv: there is no baseline yet'
ends 2 "$top/tools/ci/gate" --emulate -- ./work; says 'one of --base, --against, --baseline and --history'
ends 2 "$top/tools/ci/gate" --odd; says 'no option is --odd'
sed -i '1s/emulated.*/counted elsewhere/' base.tsv
ends 2 "$top/tools/ci/gate" --emulate --runs 1 --baseline base.tsv -- ./work; says 'cannot be compared'
result script
cd "$top"
exit $failed
