#!/usr/bin/env bash
# tools/need with simulated apt and dpkg: it does not request installed packages, waits for a lock, updates lists once
# if they lack a package, and reports packages that it cannot install; without root it prints one command to run.
set -u
cd "$(dirname "$0")/../.."
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
script() { printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
# shellcheck disable=SC2016
{
	script dpkg-query 'for p; do :; done; grep -qx "$p" "$WORK/installed" && echo "install ok installed"'
	script sleep 'echo "$*" >>"$WORK/slept"'
	script id 'echo "$USER_ID"'
	script apt-cache 'for p; do :; done; grep -qx "$p" "$WORK/known"'
	# Each call consumes one line of scripted answers; a call without a line succeeds. Requests are recorded.
	script apt-get '
echo "$*" >>"$WORK/asked"
case $* in *update*) cp "$WORK/lists" "$WORK/known";; esac
answer=$(head -n 1 "$WORK/answers"); sed -i 1d "$WORK/answers"
[ -z "$answer" ] || { echo "$answer" >&2; exit 100; }'
}
failed=0
case_() { # NAME USER_ID STATUS CALLS PATTERN-of-output PACKAGE...; answers come as standard input
	local name=$1 user=$2 status=$3 calls=$4 pattern=$5 got bad=0
	shift 5
	cat >"$work/answers"; : >"$work/asked"; : >"$work/slept"
	WORK=$work USER_ID=$user PATH=$work/bin:$PATH tools/need "$@" >"$work/out" 2>&1; got=$?
	[ $got = "$status" ] || { bad=1; echo "# status $got"; }
	[ "$(wc -l <"$work/asked")" = "$calls" ] || { bad=1; echo "# apt was called $(wc -l <"$work/asked") times:"; sed 's/^/#    /' "$work/asked"; }
	if [ -n "$pattern" ]; then grep -qE -- "$pattern" "$work/out"; else [ ! -s "$work/out" ]; fi || { bad=1; sed 's/^/# said: /' "$work/out"; }
	if [ $bad = 0 ]; then echo "ok need $name"; else echo "not ok need $name"; failed=1; fi
}
: >"$work/lists"
printf '%s\n' gcc make >"$work/installed"
case_ "nothing is missing" 0 0 0 '' gcc make </dev/null
case_ "nor without root" 1000 0 0 '' gcc </dev/null
case_ "without root one line to run" 1000 1 0 '^    sudo apt-get install -y --no-install-recommends swig lld$' gcc swig make lld </dev/null
case_ "with root" 0 0 1 'installing Debian packages: swig$' gcc swig </dev/null
grep -q ' install .* swig$' "$work/asked" && ! grep -q gcc "$work/asked" || { echo "not ok need asks for what is missing"; failed=1; }
locked='E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1 (unattended-upgr)'
case_ "a lock is waited for" 0 0 4 'waiting for another program' swig <<<"$locked
E: Unable to lock directory /var/lib/apt/lists/
$locked"
[ "$(wc -l <"$work/slept")" = 3 ] || { echo "not ok need waits between"; failed=1; }
case_ "old lists" 0 0 3 "installing" swig <<<'E: Unable to locate package swig'
case_ "what cannot be had" 0 1 3 'could not install: swig' swig < <(echo 'E: 404'; echo; echo 'E: Unable to locate package swig')

# Packages that some releases name differently or do not have.
release() { : >"$work/known"; printf '%s\n' "$@" >"$work/lists"; [ -n "${FRESH:-}" ] || cp "$work/lists" "$work/known"; }
release swig glib64 glib65
case_ "the first name that the release has" 0 0 1 'installing Debian packages: glib64 swig$' glib/glib64/glib65 swig/ gone/ </dev/null
case_ "another name is installed" 0 0 0 '' glib/gcc gone/ </dev/null
case_ "no name is known" 0 0 1 'installing Debian packages: old$' old/new </dev/null
FRESH=1 release glib64 swig
case_ "lists that were empty" 0 0 3 'installing Debian packages: glib$' glib/glib64 swig/ gone/ <<<'E: Unable to locate package glib'
grep -q ' install .* glib64 swig$' "$work/asked" || { echo "not ok need asks anew after lists came"; failed=1; }

# Plain make reports what is missing before it compiles, and installs nothing, even as root.
# shellcheck disable=SC2016
script cc 'case " $* " in
*" -E "*) case $(cat) in *"<$LACKS>"*) exit 1;; esac; exit;;
*" -c "*) echo "$*" >>"$WORK/compiled";;
esac
exec gcc "$@"'
mv "$work/bin/cc" "$work/cc"
plain() { # NAME USER_ID CC LACKS PATTERN...
	local name=$1 user=$2 cc=$3 lacks=$4 bad=0 pattern
	shift 4
	: >"$work/asked"; rm -f "$work/compiled"
	! LACKS=$lacks WORK=$work USER_ID=$user PATH=$work/bin:$PATH make -s B="$work/build" CC="$cc" install DESTDIR="$work/root" >"$work/out" 2>&1 || { bad=1; echo "# it was built"; }
	[ ! -s "$work/asked" ] || { bad=1; echo "# apt was called"; }
	[ ! -e "$work/compiled" ] || { bad=1; head -n 3 "$work/compiled" | sed 's/^/# compiled: /'; }
	for pattern; do grep -qE -- "$pattern" "$work/out" || { bad=1; echo "# does not say $pattern"; }; done
	[ $bad = 0 ] || head -n 12 "$work/out" | sed 's/^/# /'
	if [ $bad = 0 ]; then echo "ok need $name"; else echo "not ok need $name"; failed=1; fi
}
plain "make without liburcu" 1000 "$work/cc" urcu/rculist.h '^ +urcu/rculist\.h, of liburcu$' '^ +sudo apt-get install -y --no-install-recommends liburcu-dev$'
plain "root's make without liburcu" 0 "$work/cc" urcu/rculist.h '^ +apt-get install -y --no-install-recommends liburcu-dev$'
plain "make without the kernel's headers" 1000 "$work/cc" linux/perf_event.h 'apt-get install -y --no-install-recommends linux-libc-dev$'
plain "make without a C library" 1000 "$work/cc" stdio.h 'apt-get install -y --no-install-recommends libc6-dev$'
plain "make without a compiler" 1000 nocc - 'nocc, the C compiler' 'apt-get install -y --no-install-recommends gcc$'
exit $failed
