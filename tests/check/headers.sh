#!/usr/bin/env bash
# headers.sh [COMPILER...]: the public headers compile without a warning in every dialect of C and C++, and with the
# options of style guides and other projects: first each header alone, then the macros in a program. Without
# arguments: with gcc, clang, g++ and clang++. (Headers of tach/arch are included by tach/arch.h only, which chooses
# one.)
set -u
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || . tests/check/kept include
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

cat >"$work/use.c" <<'SOURCE'
#include FIRST
#include <tach.h>
int use(struct tach_reader *reader, struct tach_mark *mark, uint64_t *value);
int use(struct tach_reader *reader, struct tach_mark *mark, uint64_t *value)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_set_options set = TACH_SET_OPTIONS_INIT;
	struct tach_formula_options formula = TACH_FORMULA_OPTIONS_INIT;
	struct tach_region_mark region = TACH_REGION_MARK_INIT;
	static struct tach_site site = TACH_SITE_INIT("site", 0, __func__);
	uint32_t flags;

	TACH_START(outer);
	TACH_START_FENCED(inner);
	TACH_STOP(inner);
	TACH_STOP(outer);
	{
		TACH_SCOPE(scope);
		TACH_SCOPE_FENCED(fenced);
		tach_region_begin(&site, &region);
		tach_region_end(&region);
	}
	tach_reader_begin_n(reader, mark, 4);
	flags = tach_reader_end_n(reader, mark, value, 4);
	tach_reader_begin_fenced(reader, mark);
	flags |= tach_reader_end_fenced(reader, mark, value);
	flags |= tach_reader_read_n(reader, value, 4) | tach_reader_read_one(reader, 0, value) | tach_reader_read(reader, value);
	return (int)flags + (int)err.size + (int)set.size + (int)formula.size + (int)tach_clock();
}
SOURCE
# Some projects also ban C-style casts.
sed 's/(int)\([a-z_.]*\(()\)*\)/static_cast<int>(\1)/g' "$work/use.c" >"$work/use.cc"
cat >>"$work/use.cc" <<'SOURCE'
#include <tach.hpp>
int guarded(tach_error &err);
int guarded(tach_error &err)
{
	TACH_GUARD(guard);
	TACH_GUARD_FENCED(other);
	tach::set set("cycles", nullptr, 0, err), another("cycles"), moved(std::move(set));
	tach::reader reader(moved, err), thrower(another);
	uint64_t delta[1];

	return set || !reader ? err.code : static_cast<int>(reader.measure(delta, [] {}));
}
SOURCE
for f in c cc; do
	cat >>"$work/use.$f" <<'SOURCE'
#ifdef WITH_BENCH
TACH_BENCH(empty) { TACH_CLOBBER(); }
TACH_BENCH_ARGS(fill, 64, 4096) { TACH_KEEP(tach_arg); }
TACH_BENCH_SETUP(fill) { (void)tach_arg; }
TACH_BENCH_TEARDOWN(fill) { (void)tach_arg; }
TACH_BENCH_UNITS(fill, "byte", tach_arg);
#endif
SOURCE
done

both='-Wall -Wextra -Wpedantic -Wundef -Wshadow -Wconversion -Wsign-conversion -Wcast-align -Wcast-qual -Wpointer-arith -Wredundant-decls -Wwrite-strings -Wformat=2'
c_only='-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition'
cc_only='-Wold-style-cast -Wzero-as-null-pointer-constant -Weffc++ -Wnon-virtual-dtor -Woverloaded-virtual'

# One compilation: LABEL COMPILER ARGUMENTS...; the source is standard input.
compile() {
	local label=$1
	shift
	"$@" -Werror -Iinclude - >"$work/out.$compiler" 2>&1 && return
	{ echo "# $label"; head -n 5 "$work/out.$compiler" | sed 's/^/#    /'; } >>"$work/failed.$compiler"
}
# Each header is compiled alone, in its own translation unit.
alone() { # LANGUAGE STANDARD FLAGS
	for h in include/*.h include/tach/*.h $([ "$1" = c++ ] && echo include/tach.hpp); do
		# The declaration is needed because a header of macros alone would make an empty translation unit.
		printf '#include <%s>\nextern int unit;\n' "${h#include/}" |
			compile "$h alone, $compiler -std=$2" "$compiler" -x "$1" -std="$2" $3 -fsyntax-only
	done
}
# The macros in a program: assembled, or only checked (-fsyntax-only).
used() { # LANGUAGE STANDARD FLAGS
	local source=$work/use.c
	[ "$1" = c ] || source=$work/use.cc
	compile "in use, $compiler -std=$2 $3" "$compiler" -x "$1" -std="$2" $3 -DFIRST='<tach.h>' -c -o "$work/$compiler.o" <"$source"
}

# Both dialects of x86's assembler are accepted, and give the same instructions.
dialects() { # LANGUAGE STANDARD FLAGS OPTIMISATION
	for d in att intel; do
		rm -f "$work/$compiler.o"
		used "$1" "$2" "$3 $4 -masm=$d"
		objdump -dr --no-show-raw-insn "$work/$compiler.o" 2>&1 | sed '/file format/d' >"$work/$compiler.$d"
	done
	[ -s "$work/$compiler.att" ] && cmp -s "$work/$compiler.att" "$work/$compiler.intel" ||
		echo "# $compiler $4: -masm=intel makes other instructions of the same source" >>"$work/failed.$compiler"
}

check() { # of COMPILER; whether headers were alone with another one of its language
	local compiler=$1
	local language=c standards='gnu99 c11 gnu17 c2x' flags="$both $c_only" s
	case $compiler in *++) language=c++ standards='c++11 c++14 c++17 c++20 c++2b' flags="$both $cc_only";; esac
	case $compiler in *clang*) ;; *) flags="$flags -Wcast-align=strict -Wlogical-op -Wduplicated-cond";; esac
	local first=${standards%% *} last=${standards##* }
	# Assembly is the same in every dialect of the language, so only the first and the last one assemble.
	for s in $standards; do
		case $s in "$first"|"$last") used $language $s "$flags -O2";; *) used $language $s "$flags -O2 -fsyntax-only";; esac
	done
	# A missing include fails in all dialects and compilers, so the oldest dialect is enough.
	[ -n "$2" ] || alone $language $first "$flags"
	used $language $last "$flags -O0 -DTACH_DEBUG"
	used $language $last "$flags -O1 -DTACH_DISABLE"
	compile "with tach/bench_main.h, $compiler" "$compiler" -x $language $flags -DWITH_BENCH -DFIRST='<tach/bench_main.h>' \
		-std="$last" -O2 -c -o /dev/null <"$work/use.${language/c++/cc}"
	[ $language = c ] || for s in '-fno-exceptions' '-fno-rtti' '-fno-exceptions -fno-rtti'; do used c++ c++11 "$flags -O2 -fsyntax-only $s"; done
	case $("$compiler" -dumpmachine) in x86_64*) for s in -O0 -O2; do dialects $language $first "$flags" $s; done;; esac
}

failed=0 compilers=()
for c in ${@:-gcc clang g++ clang++}; do
	if command -v "$c" >/dev/null; then compilers+=("$c"); else echo "skip headers $c: $c is not installed"; fi
done
c= cc=
for compiler in "${compilers[@]}"; do
	case $compiler in *++) check "$compiler" "$cc" & cc=1;; *) check "$compiler" "$c" & c=1;; esac
done
wait
for compiler in "${compilers[@]}"; do
	if [ ! -e "$work/failed.$compiler" ]; then echo "ok headers $compiler"; continue; fi
	cat "$work/failed.$compiler"
	echo "not ok headers $compiler"
	failed=1
done
exit $failed
