#!/usr/bin/env bash
# --batch of tach encode, dispatch and derived eval: each line gets one line of answer, whatever its content and end,
# so answers and questions stay in step; a malformed line is reported with its number.
set -u
cd "$(dirname "$0")/../../.."
tach=${B:-build}/tach
failed=0
out=$(mktemp -d) || exit 1
trap 'rm -r "$out"' EXIT
# NAME STATUS EXPECTED COMMAND...: the expected answers to the lines on standard input, and the expected complaints
batch() {
	local name=$1 status=$2 expected=$3 rc; shift 3
	"$tach" "$@" >"$out/answers" 2>"$out/complaints"; rc=$?
	sed 's/^/! /' "$out/complaints" >>"$out/answers"
	if [ $rc = "$status" ] && [ "$(tr '\t' '|' <"$out/answers")" = "$expected" ]; then
		echo "ok batch_$name"
	else
		echo "# status $rc, expected $status"
		diff <(echo "$expected") <(tr '\t' '|' <"$out/answers") | sed 's/^/# /'
		echo "not ok batch_$name"; failed=1
	fi
}

# The type of a PMU is decimal, as in sysfs.
mkdir -p "$out/sysfs/far/format"
echo 27 >"$out/sysfs/far/type"
echo config:0-7 >"$out/sysfs/far/format/event"
printf 'far/event=0x1f/\t3\t1\n' |
	batch decimal_type 0 'far/event=0x1f/|3|1|OK|27:1f:0:0:10101:0:0:0:0:0:-1:0|far/event=0x1f/:u=0:k=1:h=0:mg=0:mh=1' encode --batch --sysfs "$out/sysfs"

skl='skl::INST_RETIRED:ANY_P:k=1:u=1:e=0:i=0:c=0:t=0:intx=0:intxcp=0'
printf '%b' 'skl::INST_RETIRED\t9\t0\r\n\nskl::INST_RETIRED\t9\nskl::INST\0_RETIRED\t9\t0\n' \
	'skl::INST_RETIRED\t9x\t0\nskl::INST_RETIRED\t9\t\nskl::INST_RETIRED\t4294967305\t0\n' \
	'skl::INST_RETIRED\t-1\t0\nskl::INST_RETIRED\t9\t4294967296\nskl::INST_RETIRED\t0x9\t0\tmore' |
	batch encode 2 "skl::INST_RETIRED|9|0|OK|5300c0|$skl
|||INVAL
skl::INST_RETIRED|9||INVAL
skl::INST?_RETIRED|9|0|INVAL
skl::INST_RETIRED|9x|0|INVAL
skl::INST_RETIRED|9||INVAL
skl::INST_RETIRED|4294967305|0|INVAL
skl::INST_RETIRED|-1|0|INVAL
skl::INST_RETIRED|9|4294967296|NOTSUPP
skl::INST_RETIRED|0x9|0|OK|5300c0|$skl
! tach encode: line 2: expected string TAB plm TAB os, both numbers
! tach encode: line 3: expected string TAB plm TAB os, both numbers
! tach encode: line 4: it holds a NUL byte
! tach encode: line 5: expected string TAB plm TAB os, both numbers
! tach encode: line 6: expected string TAB plm TAB os, both numbers" encode --batch

event='INST_RETIRED:ANY_P;0'
printf '%b' "nhm\t8\t0\t-\t$event\t-\r\n\nnhm\t8\t0\tx\t$event\t-\nnhm\t8\t0\t1,2x\t$event\t-\n" \
	"nhm\t8\t0\t-\t$event\tc0=1,z\nnhm\t8\t0\t-\t$event\tnosuch=1\nnhm\t8y\t0\t-\t$event\t-\n" \
	"nosuch\t8\t0\t-\t$event\t-\nnhm\t8\t0\t-\tINST\0;0\t-\nnhm\t8\t0\t-\t#x;0\t-\n" \
	"nhm\t8\t0\t-\t#99999999999;0\t-\nnhm\t8\t0\t3,1,2\t$event\tc0=,3\tmore" |
	batch dispatch 2 "nhm|8|0|-|$event|-|OK|C|0=5100c0@186/186|0=0@c1/0|
||||||INVAL|U
nhm|8|0|x|$event|-|INVAL|Z
nhm|8|0|1,2x|$event|-|INVAL|Z
nhm|8|0|-|$event|c0=1,z|INVAL|Z
nhm|8|0|-|$event|nosuch=1|INVAL|Z
nhm|8y|0|-|$event|-|INVAL|Z
nosuch|8|0|-|$event|-|FIND_NOTFOUND
nhm|8|0|-|INST?;0|-|INVAL|U
nhm|8|0|-|#x;0|-|INVAL|Z
nhm|8|0|-|#99999999999;0|-|INVAL|Z
nhm|8|0|3,1,2|$event|c0=,3|OK|C|0=35100c0@186/186|0=0@c1/0|
! tach dispatch: line 2: expected tag, dfl_plm, flags, unavail, events and mod_in with TABs between
! tach dispatch: line 3: 'x' is not understood
! tach dispatch: line 4: '2x' is not understood
! tach dispatch: line 5: 'z' is not understood
! tach dispatch: line 6: 'nosuch' is not understood
! tach dispatch: line 7: '8y' is not understood
! tach dispatch: line 8: libpfm-3 has no PMU 'nosuch'
! tach dispatch: line 9: it holds a NUL byte
! tach dispatch: line 10: 'x' is not understood" dispatch --batch

printf '%b' 'ADD\t\t1,2\r\n\nPS\t\t1\nADD\t\t1,x,3\nADD\t\t1,9223372036854775808\n' \
	' derived_add \t\t 1, 2 ,3\tmore\nSUB\t\t\nINFIX\tN0\0+1\t1\nINFIX\tN0+\t1' |
	batch derived 1 "3|-
error: type TAB formula TAB v0,v1,... expected
error: 'PS' needs 2 values, not 1
error: value 2, 'x', is no whole number of 63 bits
error: value 2, '9223372036854775808', is no whole number of 63 bits
6|-
error: 'SUB' needs 1 value, not 0
error: a NUL byte in the line
error in column 4: an operand expected before the end" derived eval --batch
# A line of a million bytes, and an empty input.
{ head -c 1000000 /dev/zero | tr '\0' x; printf '\t9\t0\n'; } | "$tach" encode --batch | tail -c 14 >"$out/long"
if [ "$(cat "$out/long")" = $'x\t9\t0\tTOOMANY' ]; then echo "ok batch_long"; else echo "not ok batch_long"; failed=1; fi
batch empty 0 '' encode --batch </dev/null
exit $failed
