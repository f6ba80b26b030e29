#!/usr/bin/env bash
# This tests the tests: each defect planted in a copy of the reader's code must make the fake page's tests fail, and
# the unchanged copy must pass.
set -u
cd "$(dirname "$0")/../.."
. tests/check/kept include core/reader tests/unit/reader tests/check.h "${B:-build}/libtach.a"
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# NAME | PROGRAM | FILE | sed script
defects() { cat <<'LIST'
no lock check                 | fakepage        | include/tach/page.h | /int tach__sum(struct/,/^}/s/return TACH_WORD(TACH_PAGE_OPERAND(way.page, lock)) == seen;/return 1;/
no lock check, signed         | fakepage_signed | include/tach/page.h | /int tach__sum(struct/,/^}/s/return TACH_WORD(TACH_PAGE_OPERAND(way.page, lock)) == seen;/return 1;/
no lock check at the end      | fakepage        | include/tach/page.h | /int tach__sum_since(/,/^}/s/return TACH_WORD(TACH_PAGE_OPERAND(way.page, lock)) == seen;/return 1;/
lock not kept by begin        | fakepage        | include/tach/page.h | s/mark->lock = lock;/mark->lock = 2;/
no sign extension             | fakepage_signed | include/tach/page.h | s/TACH__CAST(int64_t, raw << shift) >> shift/raw << shift >> shift/
no sign extension in a read   | fakepage        | include/tach/page.h | s/tach__sum(tach__way(reader, i), TACH__WHOLE,/tach__sum(tach__way(reader, i), 0,/
width ignored                 | fakepage_signed | include/tach/page.h | s/unsigned shift = (64 - width) & 63;/unsigned shift = width \& 0;/
offset forgotten              | fakepage        | include/tach/page.h | s/TACH_ADD(value, TACH_PAGE_OPERAND(way.page, offset));//
offset forgotten, signed      | fakepage_signed | include/tach/page.h | s/TACH_ADD(value, TACH_PAGE_OPERAND(way.page, offset));//
offset before the lock        | fakepage        | include/tach/page.h | /^TACH__INLINE int tach__sum(struct/,/^}/{s/tach__word seen = /int64_t early = TACH_PAGE_OPERAND(way.page, offset); tach__word seen = /;s/TACH_ADD(value, TACH_PAGE_OPERAND(way.page, offset));/TACH_ADD(value, early);/}
index cached                  | fakepage        | include/tach/page.h | /^#if TACH_ARCH_FAST/i static const void *cached_page[64]; static uint32_t cached_index[64]; static inline uint32_t cached(const struct perf_event_mmap_page *p) { unsigned k = (unsigned)((uintptr_t)p >> 12) % 64; if (cached_page[k] != p || !cached_index[k]) { cached_page[k] = p; cached_index[k] = TACH_PAGE_LOAD(p, index); } return cached_index[k]; }\n
index not less one            | fakepage        | include/tach/page.h | s/TACH_COUNTER(way, number, value/TACH_COUNTER(way, number + 1, value/
index 0 taken for a counter   | fakepage        | include/tach/page.h | s/if (TACH_UNLIKELY(TACH_NUMBER(TACH_PAGE_LOAD(way.page, index), number)))/if (TACH_NUMBER(TACH_PAGE_LOAD(way.page, index), number) \&\& 0)/
difference not modulo width   | fakepage        | include/tach/page.h | s/TACH_MODULAR ? sum & reader->mask : sum;/sum;/
every member in one place     | fakepage        | include/tach/page.h | s/&value\[i\], &lock/value, \&lock/
slow exit without retry       | fakepage        | core/reader/slow.c | s/if (\*lock & 1 \&\& /if (1 \&\& /
two ways not told             | fakepage        | core/reader/slow.c | s/by_pages ? TACH_FLAG_MIXED : /by_pages ? 0 : /
system calls masked           | fakepage        | core/reader/slow.c | s/count - mark->value\[g->member\[i\]\];/(count - mark->value[g->member[i]]) \& 0xffffff;/
long regions modulo 2^width   | fakepage        | core/reader/slow.c | s/updates >= 4 \&\& /0 \&\& /
named regions modulo 2^width  | fakepage        | core/reader/slow.c | s/if (beyond)/if (0)/
named regions never set back  | fakepage        | core/reader/slow.c | s/flags |= set_back(delta\[i\], now\[i\]);//
the same, signed              | fakepage_signed | core/reader/slow.c | s/flags |= set_back(delta\[i\], mark.*/;/
a loss noted before its lock  | fakepage        | core/reader/lag.c  | /^uint32_t tach__note_lag/,/^}/{/__atomic_store_n(&r->lag/d;s/^\(.*\)__atomic_store_n(&r->grown_lock/\1__atomic_store_n(\&r->lag, (lag \& grown) | (known \& ~grown), __ATOMIC_RELAXED); TACH_HANDLER_STEP();__atomic_store_n(\&r->grown_lock/}
a loss read after its lock    | fakepage        | core/reader/lag.c  | s/(known & ~grown)/(r->lag \& ~grown)/
starving not noticed          | fakepage        | core/reader/lag.c  | s/lag > known ? UINT64_MAX : 0/0/
only the last look counts     | fakepage        | core/reader/lag.c  | s/(int32_t)(at - since) > 0/at == lock/
recovery hidden               | fakepage        | core/reader/lag.c  | s/r->grown_lock = TACH_PAGE_LOAD.*/;/
off unseen at begin           | fakepage        | core/reader/slow.c | s/mark->flags |= tach__turned_off/tach__turned_off/
off unseen at the end         | fakepage        | core/reader/slow.c | s/ tach__turned_off(g, &now);/ 0;/
what begin saw forgotten      | fakepage        | core/reader/slow.c | s/mark->flags & TACH_FLAG_INCOMPLETE/0/
set back, counter extended    | fakepage        | core/reader/slow.c | s/ | (uint32_t)(count >> 63)//
set back                      | fakepage        | core/reader/slow.c | s/(difference > count) | //
end not extended by sign      | fakepage        | core/reader/slow.c | s/read_pages(r, n, 1, delta/read_pages(r, n, 0, delta/
flags of a fast begin trusted | fakepage        | core/reader/slow.c | s/!(mark->lock & 1) || //
LIST
}

# Inline code is compiled as functions here, which takes a quarter of the time.
clean=$work/clean
mkdir -p "$clean/core"
cp -r include "$clean/include"
cp -r core/reader "$clean/core"
sed -i '/^#define TACH_.*INLINE.*\\$/{N;s/\\\n//}
	s/^\(#define TACH_\{1,2\}INLINE\)[[:blank:]].*/\1 static __attribute__((noinline, unused))/
	s/^\(#define TACH_API_INLINE\)[[:blank:]].*/\1 __attribute__((noinline))/' "$clean/include/tach/base.h"
if grep -q '^#define TACH_[A-Z_]*INLINE.*always_inline' "$clean/include/tach/base.h"; then
	echo "not ok defects (include/tach/base.h has other inline functions)"
	exit 1
fi

# The library has the API's functions too: the program's own definitions come first.
build() { # FOLDER PROGRAM
	${CC:-gcc} -std=c11 -O0 -w -I"$1/include" -I"$1" -I. -D_GNU_SOURCE -DTACH_BUILD -o "$1/program" \
		"tests/unit/reader/$2.c" "$B/libtach.a" -lpthread -Wl,-S,-z,muldefs 2>"$1/log" || { sed 's/^/# /' "$1/log"; return 1; }
}
whole() { # FOLDER PROGRAM
	cp -r "$clean" "$1"
	build "$1" "$2" && "$1/program" >"$1/out" && return
	tail -n 5 "$1/out"
	echo "not ok defects none ($2)"
}
planted() { # FOLDER NAME PROGRAM FILE SCRIPT
	cp -r "$clean" "$1"
	sed -i -e "$5" "$1/$4"
	[ "$2" != "index cached" ] || sed -i 's/TACH_NUMBER(TACH_PAGE_LOAD(way.page, index), number)/TACH_NUMBER(cached(way.page), number)/' "$1/$4"
	if cmp -s "$4" "$1/$4"; then echo "not ok defect: $2 (the code it changes is not there)"
	elif ! build "$1" "$3"; then echo "not ok defect: $2 (does not compile)"
	elif (ulimit -t 20; exec "$1/program") >/dev/null 2>&1; then echo "not ok defect: $2 (nothing noticed it)"
	else echo "ok defect: $2"; fi
	rm -rf "$1"
}

# Runs one per processor at a time; prints results in the order of the list.
n=100 room=$(nproc)
start() { # COMMAND ARGUMENT...
	[ "$(jobs -rp | wc -l)" -lt "$room" ] || wait -n
	n=$((n + 1))
	"$1" "$work/$n" "${@:2}" >"$work/$n.said" &
}
for program in fakepage fakepage_signed; do start whole $program; done
while IFS='|' read -r name program file script; do
	start planted "$(echo $name)" "$(echo $program)" "$(echo $file)" "${script# }"
done < <(defects)
wait
cat "$work"/*.said
! grep -q '^not ok' "$work"/*.said
