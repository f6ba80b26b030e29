#!/usr/bin/env bash
# mkevents' messages about broken tables: each case changes a good table by one edit and expects one fault, at that
# line and column, and no output file.
set -u
cd "$(dirname "$0")/../../.."
mkevents=${B:-build}/mkevents
[[ $mkevents == /* ]] || mkevents=$PWD/$mkevents
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
cd "$work" || exit 1

cat >good.tsv <<'END'
@format	pmuevents/1
@pmu	base
@arch	x86
@encoding	intel
@vendor	GenuineIntel
@match	6-1-*
@perf	cpu
@gp	4	48
@fixed	f0,f1,f2	48
@privilege	k,u
@mods	k,u,e,i,c
@flags	rawumask
# a comment
E	ONE	0xc0	-	0-3,f0	*	-	-	L	-	-
E	TWO	0x10	2	0-3	*	-	pebs	LV	vn=TWO.X;sav=100	-
U	A	0x1	0	-	-	-	dfl	L	-	-
U	B	0x2	1	-	-	c=1,i=1	nc	L	-	-
U	C	0x3	0/1	-	-	-	nc	L	eq=A:B	-
E	ALIAS	0x10	-	-	*	-	-	L	eq=TWO:A:B:c=1	-
END

verdict() { # NAME WHAT-WAS-WRONG
	if [ -z "$2" ]; then echo "ok mkevents_$1"; return; fi
	printf '%s\n' "$2" | sed 's/^/# /'
	echo "not ok mkevents_$1"
	failed=1
}

# bad NAME 'LINE:COLUMN: SENTENCE' EDIT...: the edits are sed commands
bad() {
	local name=$1 want="base.tsv:$2" out rc edits=() e wrong=
	shift 2
	for e; do edits+=(-e "$e"); done
	sed "${edits[@]}" good.tsv >base.tsv
	cmp -s good.tsv base.tsv && wrong="the edit changes nothing"
	rm -f out.c
	out=$("$mkevents" -o out.c base.tsv 2>&1); rc=$?
	[ $rc = 1 ] || wrong+="exit status $rc "
	[ ! -e out.c ] || wrong+="wrote a file "
	[ "$out" = "$want
mkevents: 1 fault" ] || wrong+="wanted '$want', got: $out"
	verdict "$name" "$wrong"
}

cp good.tsv base.tsv
verdict good_table "$("$mkevents" -o out.c base.tsv 2>&1; [ -s out.c ] || echo 'no output')"

# lines and cells
bad byte_that_is_no_ascii   '14:3: byte 0xc3 is not printable ASCII' $'14s/ONE/\xc3\xb6/'
bad carriage_return         '14:32: byte 0x0d is not printable ASCII' '14s/$/\r/'
bad unknown_line            "14:1: a line begins with @, #, E or U" '14s/^E/X/'
bad too_few_cells           '14:1: 10 cells, expected 11' '14s/\t-$//'
bad too_many_cells          '14:33: more than 11 cells' '14s/$/\t-/'
bad empty_cell              '14:7: empty cell; write - for nothing' '14s/0xc0//'
bad umask_before_event      '14:1: a umask before the first event' '14s/^E/U/'
bad header_after_event      '20:1: a header line after the first event' '19a @isa\tx'
# header
bad unknown_key             "9:2: unknown header key 'fixd'" '9s/fixed/fixd/'
bad key_twice               '11:2: @privilege given twice' '10a @privilege\tk' 
bad key_missing             '1:1: no @perf in this file' '7d'
bad wrong_number_of_values  '8:2: @gp takes 2 to 2 values' '8s/\t48//'
bad other_format            '1:9: this program reads pmuevents/1 only' '1s/1$/2/'
bad unknown_arch            "3:7: unknown architecture 'vax'" '3s/x86/vax/'
bad unknown_encoding        "4:11: unknown encoding 'morse'" '4s/intel/morse/'
bad unknown_pmu_flag        "12:17: unknown PMU flag 'nosuch'" '12s/rawumask/rawumask,nosuch/'
bad unknown_level           "10:14: unknown privilege level 'x'" '10s/u$/x/'
bad unknown_modifier        "11:11: unknown modifier 'q'" '11s/,e/,q/'
bad modifier_twice          "11:17: modifier 'u' given twice" '11s/$/,u/'
bad bad_counter_width       "8:7: '480' is not a number up to 64" '8s/48/480/'
bad bad_fixed               '9:8: fixed counters are written f0,f1,...' '9s/f1,/1,/'
bad name_of_file            '2:6: @pmu other lies in a file named base.tsv' '2s/base/other/'
bad alias_of_itself         '3:8: an alias of itself' '2a @alias\tbase'
bad match_without_vendor    '5:8: @match needs a @vendor' '5d'
bad match_before_arch       '3:8: @match must follow @arch' '2a @match\t6-2-*'
bad match_of_two_parts      '6:8: a CPU of this architecture is 3 numbers: family-model-stepping' '6s/-\*//'
bad match_no_number         "6:10: 'z' is not a hexadecimal number, a..b or *" '6s/-1-/-z-/'
bad match_empty_range       "6:10: '9..1' is not a hexadecimal number, a..b or *" '6s/-1-/-9..1-/'
bad match_unknown_option    '6:14: expected core=, native= or fallback=' '6s/$/\tcolour=1/'
bad match_claimed_twice     '7:8: this CPU is claimed at base.tsv:6 too' '6a @match\t6-0..3-2'
# the same faults in tables for architectures whose CPUs are patterns
mv good.tsv x86.tsv
printf '%s\n' '@format	pmuevents/1' '@pmu	base' '@arch	riscv64' '@encoding	riscv' '@match	0x489	0x[1-9a]07	0x[78]~' \
	'@match	0x489	0x[1-9]07	0xd~' '@perf	cpu' '@privilege	k,u,h' '@mods	-' '@flags	-' 'E	ONE	0x1	-	-	*	-	-	V	-	-' >good.tsv
cp good.tsv base.tsv
verdict patterns "$("$mkevents" base.tsv 2>&1)"
bad patterns_meet           '6:8: this CPU is claimed at base.tsv:5 too' '6s/d~/80/'
bad patterns_meet_open      '6:8: this CPU is claimed at base.tsv:5 too' '6s/0xd~/0x~/'
bad pattern_in_the_middle   '6:14: ~ ends a pattern' '6s/0x.1-9.07/0x~07/'
bad pattern_cells           '6:8: a CPU of this architecture is 3 cells' '6s/\t0xd~//'
mv x86.tsv good.tsv
# events and umasks
bad event_twice             "20:3: event 'one' was given at line 14" '19a E\tone\t0x1\t-\t-\t*\t-\t-\tL\t-\t-'
bad umask_twice             "18:3: umask 'A' was given at line 16" '18s/C/A/;18s/eq=A:B/-/'
bad blank_in_name           "14:6: a name cannot hold ' '" '14s/ONE/ONE TWO/'
bad dot_in_name             "14:4: a name cannot hold '.'" '14s/ONE/O.NE/'
bad no_name                 '14:3: a name is needed' '14s/ONE/-/'
bad long_name               '14:3: a name has at most 255 bytes' "14s/ONE/$(printf 'N%.0s' {1..256})/"
bad bad_code                "14:7: '0xzz' is not a hexadecimal code up to 0xffffffff" '14s/0xc0/0xzz/'
bad code_too_large          "14:7: '0x1c0000000' is not a hexadecimal code up to 0xffffffff" '14s/0xc0/0x1c0000000/'
bad bad_number_of_groups    "14:12: '9' is not a number of groups up to 8" '14s/0xc0\t-/0xc0\t9/'
bad bad_group               "17:9: 'x' is not a group: expected g or g/r, 0 to 7" '17s/\t1\t/\tx\t/' '15s/\t2\t/\t1\t/' '18s|0/1|0|'
bad group_beyond            '17:3: group 2, but event TWO has 2' '17s/\t1\t/\t2\t/' '16s/\t0\t/\t1\t/' 
bad required_group_beyond   '18:3: needs group 5, but event TWO has 2' '18s|0/1|0/5|'
bad group_without_umask     '15:3: no umask in group 2' '15s/\t2\t/\t3\t/'
bad counter_no_number       "14:18: 'f' is not a counter: expected n, n-m or fn, 0 to 31" '14s/f0/f/'
bad counter_backwards       "14:14: '3-0' is not a counter: expected n, n-m or fn, 0 to 31" '14s/0-3/3-0/'
bad counter_twice           "14:18: counter '2' given twice" '14s/f0/2/'
bad counter_not_there       '14:14: this PMU has no such general counter' '14s/0-3/0-8/'
bad fixed_not_there         '14:14: this PMU has no such fixed counter' '14s/f0/f5/'
bad event_modifier          "14:23: unknown modifier 'zz'" '14s/\*/k,zz/'
bad required_modifier       '16:3: requires a modifier that event TWO does not take' '16s/\t-\t-\t-\tdfl/\t-\tt\t-\tdfl/'
bad wired_modifier          "17:15: unknown modifier 'z'" '17s/c=1/z=1/'
bad wired_without_value     '17:15: expected c=value' '17s/c=1/c/'
bad wired_no_number         "17:17: 'x' is not a number up to 16777215" '17s/c=1/c=x/'
bad wired_twice             "17:19: modifier 'c' given twice" '17s/i=1/c=1/'
bad unknown_event_flag      "15:22: unknown event flag 'dfl'" '15s/pebs/dfl/'
bad event_flag_twice        "15:27: event flag 'pebs' given twice" '15s/pebs/pebs,pebs/'
bad unknown_umask_flag      "16:17: unknown umask flag 'offcore'" '16s/dfl/offcore/'
bad unknown_source          "14:27: unknown source 'Q'" '14s/\tL\t/\tQ\t/'
# attributes
bad unknown_attribute       "15:30: unknown attribute 'colour'" '15s/vn=/colour=/'
bad attribute_twice         "15:39: attribute 'vn' given twice" '15s/sav=100/vn=X/'
bad attribute_no_number     "15:43: 'sav' needs a number" '15s/sav=100/sav=x/'
bad attribute_without_value "15:39: 'sav' needs a number" '15s/sav=100/sav/'
bad text_without_value      "15:30: 'vn' needs a value" '15s/vn=TWO.X/vn=/'
bad locks_no_modifier       "15:46: unknown modifier 'z'" '15s/sav=100/lock=c,z/'
bad flag_with_value         "15:42: 'la' takes no value" '15s/sav=100/la=1/'
bad alias_of_nothing        "19:29: no event 'NOSUCH' in this file" '19s/eq=TWO/eq=NOSUCH/'
bad alias_of_no_umask       "19:33: event TWO has no umask or modifier 'Q'" '19s/TWO:A/TWO:Q/'
bad alias_modifier          "19:37: event TWO has no umask or modifier 't'" '19s/c=1/t/'
bad alias_modifier_value    "19:39: 'x' is not a number" '19s/c=1/c=x/'
bad alias_ring              "19:29: alias 'ALIAS' does not end at an event" '19s/eq=TWO.*1/eq=ALIAS/'
bad umask_alias_of_nothing  "18:29: event TWO has no umask or modifier 'Q'" '18s/A:B/A:Q/'
bad umask_alias_ring        "18:27: umask 'C' stands for itself" '18s/A:B/C/'

# boxes
mv good.tsv x86.tsv
printf '%s\n' '@format	pmuevents-uncore/1' '@pmu	base' '@arch	x86' '@encoding	snbep' '@inst	base%d	0-3	-	uncore_base_%d	-' \
	'@vendor	GenuineIntel' '@match	6-1-*' '@match	6-2-*	inst=base%d' '@detect	sysfs' '@linux	imc	2	5	64	-' '@fields	event=config:0-7' '@mods	-' \
	'@osmods	cpu' '@flags	-' 'E	ONE	0x1	-	0-1	*	-	-	V	inst=2	-' >good.tsv
cp good.tsv base.tsv
verdict boxes "$("$mkevents" -o out.c base.tsv 2>&1; [ -s out.c ] || echo 'no output')"
bad inst_without_value      "15:25: 'inst' needs the number of a box" '15s/inst=2/inst/'
bad inst_of_no_number       "15:30: 'inst' needs the number of a box" '15s/inst=2/inst=abc/'
bad inst_negative           "15:30: 'inst' needs the number of a box" '15s/inst=2/inst=-1/'
bad inst_not_there          "15:30: no @inst has a box 4" '15s/inst=2/inst=4/'
bad match_of_no_inst        "8:19: no @inst is called 'bas%d'" '8s/base%d/bas%d/'
mv x86.tsv good.tsv

# several files
sed 's/base/two/; s/6-1-/6-2-/' good.tsv >two.tsv
cp good.tsv base.tsv
verdict two_files "$("$mkevents" base.tsv two.tsv 2>&1)"
mkdir -p other && cp good.tsv other/base.tsv
want="other/base.tsv:2:6: PMU base is described in base.tsv too
other/base.tsv:6:8: this CPU is claimed at base.tsv:6 too
mkevents: 2 faults"
out=$("$mkevents" base.tsv other/base.tsv 2>&1)
verdict same_pmu_twice "$([ "$out" = "$want" ] || echo "got: $out")"
sed -i 's/rawumask/archdefault/' base.tsv two.tsv
out=$("$mkevents" base.tsv two.tsv 2>&1)
verdict two_defaults "$([ "$out" = "two.tsv:12:8: base.tsv is archdefault too
mkevents: 1 fault" ] || echo "got: $out")"

# every fault of a file is reported, not only the first
sed -e '14s/0xc0/x/' -e '16s/dfl/x/' good.tsv >base.tsv
n=$("$mkevents" base.tsv 2>&1 | grep -c '^base.tsv:')
verdict all_faults "$([ "$n" = 2 ] || echo "$n faults told, 2 made")"

# the command line
"$mkevents" >/dev/null 2>&1; rc=$?
verdict no_arguments "$([ $rc = 2 ] || echo "exit status $rc")"
"$mkevents" nosuch.tsv >/dev/null 2>&1; rc=$?
verdict no_such_file "$([ $rc = 2 ] || echo "exit status $rc")"
cp good.tsv base.tsv
"$mkevents" -o nosuch/out.c base.tsv >/dev/null 2>&1; rc=$?
verdict no_such_folder "$([ $rc = 2 ] || echo "exit status $rc")"
exit $failed
