#!/usr/bin/env bash
# TACH_OUTPUT: whatever fails while the report is written at the end of a program, the program's status and data do
# not change, and the file contains a complete report, the new or the old one.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$PWD/$B/tach
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
program=$work/program
gcc -O1 -Iinclude -o "$program" tests/unit/startup/output/program.c -L"$B" -ltach -Wl,-rpath,"$PWD/$B" || exit 1

. tests/cases output
old() { TACH_OUTPUT=$1 "$program"; cp "$1" "$1.old"; }
is_old() { cmp -s "$1" "$1.old" || no "the older report is not what it was"; }
is_whole() { "$tach" report "$1" >"$work/table" 2>"$work/err" || { no "$1 is no report: $(head -1 "$work/err")"; return 1; }; }
clean() { # nothing is left beside the reports
	local left
	left=$(find "${1:-$work}" -name '.*.json.*')
	[ -z "$left" ] || no "left behind: $left"
}

mkfifo "$work/closed"
exec 8<>"$work/closed" 9>"$work/closed" 8<&-
TACH_OUTPUT=- "$program" 2>&9 || no "status $? at a closed pipe"
exec 9>&-
result closed_pipe

mkfifo "$work/fifo.json"
TACH_OUTPUT=$work/fifo.json "$program" || no "status $? at a FIFO without a reader"
result fifo_without_reader
exec 9<>"$work/fifo.json"
TACH_OUTPUT=$work/fifo.json "$program" || no "status $?"
head -c 9 <&9 | grep -q tach || no "nothing came through the FIFO"
TACH_OUTPUT=- "$program" full 2>"$work/fifo.json" || no "status $? at a pipe that is full"
exec 9<&-
result pipe_that_nobody_empties

old "$work/limit.json"
(ulimit -c 0; ulimit -f 0; TACH_OUTPUT=$work/limit.json exec "$program") &
wait $!; status=$?
[ $status = 0 ] || no "status $status beyond RLIMIT_FSIZE"
is_old "$work/limit.json"; clean
result file_size_limit

TACH_OUTPUT=- "$program" reopen "$work/data" 2>/dev/null
[ $? = 7 ] || no "status"
[ "$(cat "$work/data")" = data ] || no "the report is in the program's data"
TACH_OUTPUT=- "$program" 2>&- || no "status"
result another_file_in_place_of_standard_error

TACH_OUTPUT=/dev/stdout "$program" print >"$work/data"
grep -qx data "$work/data" || no "the program's output is gone"
grep -q '^work' "$work/data" || no "no report with it"
exec 8>"$work/stream"; echo before >&8
TACH_OUTPUT=/dev/fd/8 "$program"; exec 8>&-
[ "$(head -1 "$work/stream")" = before ] && grep -q '^work' "$work/stream" || no "descriptor 8"
result names_of_descriptors

# The program is killed at each system call of its end, including the write and the rename.
old "$work/kill.json"
kills=0
if strace -o /dev/null true 2>/dev/null; then
	for call in openat write close rename renameat2 fchmod fchown ftruncate munmap; do
		for n in $(seq 100); do
			{ TACH_OUTPUT=$work/kill.json strace -o /dev/null -e trace=$call \
				-e inject=$call:signal=KILL:when="$n" "$program"; } 2>/dev/null
			status=$?
			is_whole "$work/kill.json" || break 2
			[ $status = 137 ] || break
			kills=$((kills + 1))
		done
	done
	[ "$kills" -ge 10 ] || no "only $kills kills"
	find "$work" -name '.kill.json.*' -delete
	result killed
else
	skip killed "strace cannot trace here"
fi

for _ in $(seq 25); do
	for _ in 1 2 3 4; do TACH_OUTPUT=$work/four.json "$program" & done
	wait
	is_whole "$work/four.json" || break
done
clean
result four_writers

mkdir "$work/small"
cat >"$work/on_full_disk" <<-END
	mount -t tmpfs -o size=64k tach "$work/small" || exit 77
	TACH_OUTPUT=$work/small/r.json $program && cp $work/small/r.json $work/full.json
	dd if=/dev/zero of=$work/small/rest bs=4k status=none 2>/dev/null
	TACH_OUTPUT=$work/small/r.json $program || exit 1
	cmp $work/small/r.json $work/full.json && [ "\$(ls -A $work/small | wc -l)" = 2 ]
END
if unshare -m true 2>/dev/null; then
	unshare -m bash "$work/on_full_disk" >"$work/err" 2>&1; status=$?
	[ $status = 0 ] || sed 's/^/# /' "$work/err"
	if [ $status = 77 ]; then skip full_disk "no tmpfs can be mounted here"
	else [ $status = 0 ] || no "status $status"; result full_disk; fi
else
	skip full_disk "a mount namespace takes root"
fi

# Children: the parent writes the file, whichever ends first; %p gives each process its own file.
regions() { is_whole "$1" && awk 'NR > 1 && NF && $2 ~ /^[0-9]+$/ { print $1 }' "$work/table" | sort | tr '\n' ' '; }
for how in fork fork_exec fork_outlives fork_outlives_exec; do
	rm -f "$work/family.json"
	# A surviving process keeps the pipe open.
	TACH_OUTPUT=$work/family.json "$program" $how | cat
	[ "$(regions "$work/family.json")" = "parent_part work " ] || no "$how: $(regions "$work/family.json")"
done
TACH_OUTPUT=$work/family.%p.json "$program" fork_exec
[ "$(cat "$work"/family.*.json | grep -c program_of_child)" = 1 ] || no "the child's report is missing"
[ "$(ls "$work"/family.*.json | wc -l)" = 2 ] || no "reports: $(ls "$work"/family.*.json)"
result children

mkdir "$work/here"
(cd "$work/here" && TACH_OUTPUT=r.json "$program" away) || no "status"
is_whole "$work/here/r.json"
result folder_of_the_start

ln -s here/r.json "$work/link.json"
chmod 640 "$work/here/r.json"
TACH_OUTPUT=$work/link.json "$program"
[ -L "$work/link.json" ] && [ "$(stat -c %a "$work/here/r.json")" = 640 ] || no "the link or the mode is gone"
is_whole "$work/link.json"
result link_and_mode

# A folder where no file can be created; a folder that does not exist.
mkdir "$work/shut"; old "$work/shut/r.json"
chmod 711 "$work"; chmod 666 "$work/shut/r.json"; chmod 555 "$work/shut"
if setpriv --reuid=65534 --clear-groups test -x "$program" 2>/dev/null; then
	# Other users may have no access to the build folder.
	install -m 755 -D "$B/libtach.so.0" "$work/library/libtach.so.0"
	TACH_OUTPUT=$work/shut/r.json LD_LIBRARY_PATH=$work/library setpriv --reuid=65534 --clear-groups "$program" fork || no "status"
	is_whole "$work/shut/r.json"
	grep -q parent_part "$work/shut/r.json" || no "it was not written in place"
	result shut_folder
else
	skip shut_folder "no other user can be had here"
fi
TACH_OUTPUT=$work/none/r.json "$program" || no "status"
result no_folder

# At the end of the program, the library neither waits for the clock nor opens an event for it.
if strace -o /dev/null true 2>/dev/null; then
	TACH_OUTPUT=$work/time.json strace -o "$work/trace" "$program"
	grep SW_DUMMY "$work/trace" && no "an event for the clock"
	awk -F'tv_nsec=' '/nanosleep/ && ($0 !~ /tv_sec=0/ || $2 + 0 > 200000)' "$work/trace" | grep . && no "a sleep of more than 200 us"
	grep -c rt_sigprocmask "$work/trace" | awk '{ exit $1 > 1000 }' || no "system calls"
	grep -q fsync "$work/trace" && no "it waits for the disk"
	result time
else
	skip time "strace cannot trace here"
fi
exit $failed
