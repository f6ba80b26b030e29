# lib.sh, sourced by each journey after `set -u`: the installed product, a terminal, a fresh Python environment.
#
# Sourcing it installs the product, goes to the top of the tree, and sets:
#   $product   the prefix where the product is installed; its bin comes first in PATH, pkg-config finds it
#   $work      a folder that only this journey uses, removed at its end
#   $python    Debian's Python
#   $rc        0 until a check fails; end the journey with `exit $rc`
# No TACH_ variable is set. Every check is one case:
#   check NAME COMMAND...    passes if COMMAND exits with 0; its output stays in $work/out
#   refuse NAME COMMAND...   passes if COMMAND exits with another status
# shellcheck shell=bash
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
B=${B:-build} # as make knows it: another spelling of the same folder would build everything anew
top=$PWD
. tests/own_folder
for variable in ${!TACH_@}; do [ "$variable" = TACH_CACHE ] || unset "$variable"; done
unset PYTHONPATH LD_LIBRARY_PATH CMAKE_PREFIX_PATH DESTDIR MAKEFLAGS variable
python=/usr/bin/python3 rc=0
product=$(realpath -m "$B/journeys")/usr

# ---- checks ----
verdict() { # NAME STATUS
	if [ "$2" = 0 ]; then echo "ok $1"; return; fi
	tail -n 30 "$work/out" | sed 's/^/# /'
	echo "not ok $1"
	rc=1
}
check() { local name=$1; shift; "$@" >"$work/out" 2>&1; verdict "$name" $?; }
refuse() { local name=$1; shift; ! "$@" >"$work/out" 2>&1; verdict "$name" $?; }
says() { grep -qE -e "$1" "${2:-$work/out}" || { echo "# nothing matches: $1" >>"$work/out"; return 1; }; } # PATTERN [FILE]
# Ends the journey if a program is missing: need PROGRAM...
need() {
	local p
	for p; do command -v "$p" >/dev/null || { echo "$p is not installed"; exit 77; }; done
}

# ---- the installed product: one installation in each run of the tests ----
install_product() {
	local lock
	mkdir -p "${product%/usr}"
	exec {lock}>"${product%/usr}/lock"
	flock "$lock"
	if [ -z "${TEST_RUN:-}" ] || [ "$(cat "${product%/usr}/run" 2>/dev/null)" != "$TEST_RUN" ]; then
		rm -rf "$product"
		make -s install B="$B" PREFIX="$product" >"$work/out" 2>&1 || { verdict install 1; exit 1; }
		echo "${TEST_RUN:-}" >"${product%/usr}/run"
	fi
	exec {lock}>&-
}
install_product
export PATH=$product/bin:$PATH PKG_CONFIG_PATH=$product/lib/pkgconfig MANPATH=$product/share/man
build() { # PROGRAM SOURCE [FLAGS...]: compiles a program as a user does
	local program=$1 cc=cc
	shift
	case $1 in *.cc|*.cpp) cc=c++;; esac
	# shellcheck disable=SC2046
	$cc -O1 -g -o "$program" "$@" $(pkg-config --cflags --libs tach)
}

# ---- a terminal ----
# terminal 80x24 COMMAND...; wait_screen PATTERN; type_keys q; screen; resize 200x50; close_terminal
multiplexer() { tmux -S "$work/tmux" -f "$work/tmux.conf" "$@"; }
terminal() {
	local size=$1
	shift
	need tmux
	printf 'set -g %s\n' 'status off' 'remain-on-exit on' 'default-terminal screen-256color' 'escape-time 0' >"$work/tmux.conf"
	multiplexer new-session -d -x "${size%x*}" -y "${size#*x}" "$@"
}
type_keys() { multiplexer send-keys "$@"; } # as tmux names them: q, Up, Space, Enter, C-c
screen() { multiplexer capture-pane -p; }
screen_colours() { multiplexer capture-pane -pe; }
resize() { multiplexer resize-window -x "${1%x*}" -y "${1#*x}"; }
is_closed() { [ "$(multiplexer display -p '#{pane_dead}')" = 1 ]; } # the command has ended; its last screen stays
# The screen changes only when the program gets processor time. The helper gives up after 600 checks, 0.1 s apart.
wait_until() { # COMMAND...
	local i
	for ((i = 0; i < 600; i++)); do "$@" && return; sleep 0.1; done
	return 1
}
screen_has() { screen | grep -qE -e "$1"; }
wait_screen() { wait_until screen_has "$1" && return; screen; echo "the screen never showed: $1"; return 1; }
wait_closed() { wait_until is_closed && return; screen; echo "the command never ended"; return 1; }
close_terminal() { [ ! -S "$work/tmux" ] || multiplexer kill-server 2>/dev/null || :; }
trap 'close_terminal; rm -rf "$work"' EXIT

# ---- Python ----
# A separate environment with Debian's pip (FOLDER/bin/python -m pip) and build backend: no package index is used.
fresh_venv() { "$python" -m venv --system-site-packages --without-pip "$1" && export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1; } # FOLDER
