#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Excludes as a user writes them: on the first command line and with config, what they cover, and what
# becomes of files that are excluded later or taken in again.

load helper
load pass

populate() {
	mkdir -p t/src/lib/tmp t/src/tmp t/tmp "t/odd [x]" t/cache.d
	local f
	for f in a.o b.c src/a.o src/b.c src/lib/a.o src/lib/c.c src/lib/tmp/x src/tmp/y tmp/z \
		"odd [x]/f" cache.d/q .hidden 'star*' '!bang' '#hash' ' space'; do
		echo "$f" >"t/$f"
	done
}
ALL='!bang #hash .hidden a.o b.c cache.d/q odd:[x]/f src/a.o src/b.c src/lib/a.o src/lib/c.c src/lib/tmp/x src/tmp/y star* tmp/z'

# recorded: the paths of the manifest in one line, sorted by bytes.
recorded() {
	"$SCRUB" list --json t | jq -r 'select(.event == "list") | .path' | sort | paste -sd '|'
}

# leaves_out WANT PATTERN...: a first pass with these patterns leaves out these files, joined by '|'.
leaves_out() {
	local want=$1 args=() p
	shift
	for p; do args+=("--exclude=$p"); done
	rm -rf t/.bitscrub
	expect 0 run -q "${args[@]}" t
	[ -z "$stderr" ]
	recorded | tr '|' '\n' >in
	(cd t && find . -name .bitscrub -prune -o -type f -printf '%P\n') | sort | comm -23 - in |
		paste -sd '|' >out
	[ "$(<out)" = "$want" ] || { echo "$*: left out $(<out), not $want"; return 1; }
}

@test "what patterns cover: names, anchors, stars, directories, quoting" {
	populate
	leaves_out "" "nothing"
	# A name alone: wherever it is, file or directory.
	leaves_out "a.o|src/a.o|src/lib/a.o" "a.o"
	leaves_out "a.o|src/a.o|src/lib/a.o" "*.o"
	leaves_out "src/lib/tmp/x|src/tmp/y|tmp/z" "tmp"
	# A slash behind: directories only. In front or within: anchored at the target.
	leaves_out "src/lib/tmp/x|src/tmp/y|tmp/z" "tmp/"
	leaves_out "" "a.o/"
	leaves_out "a.o" "/a.o"
	leaves_out "tmp/z" "/tmp"
	leaves_out "tmp/z" "/tmp/"
	leaves_out "src/tmp/y" "src/tmp"
	leaves_out "" "lib/tmp"
	leaves_out "src/a.o" "src/*.o"
	leaves_out "src/a.o|src/b.c|src/lib/a.o|src/lib/c.c|src/lib/tmp/x|src/tmp/y" "src"
	# Two stars cross directories.
	leaves_out "src/lib/tmp/x" "**/lib/tmp"
	leaves_out "src/a.o|src/lib/a.o" "src/**/*.o"
	leaves_out "src/lib/a.o|src/lib/c.c|src/lib/tmp/x" "src/lib/**"
	leaves_out "a.o|src/a.o|src/lib/a.o" "**/*.o"
	# Dots, brackets, backslashes.
	leaves_out ".hidden" ".*"
	leaves_out "cache.d/q" "cache.?"
	leaves_out "b.c|src/b.c" "[ab].c"
	leaves_out "star*" 'star\*'
	leaves_out "odd [x]/f" 'odd \[x]'
	leaves_out "!bang" '\!bang'
	leaves_out "#hash" "#hash"
	leaves_out " space" " space"
	# Several.
	leaves_out ".hidden|a.o|src/a.o|src/lib/a.o|tmp/z" "*.o" "/tmp" ".hidden"
}

@test "negation is a clear no, as are patterns that could never match" {
	mkdir t
	echo x >t/x
	for p in '!keep' '[a' 'a//b' './a' 'a/../b' '/'; do
		expect 16 run --exclude="$p" t
		says "pattern"
		[ ! -e t/.bitscrub ]
	done
	# An empty one, as of a variable that is not set, takes none of the others back.
	expect 16 run --exclude='*.o' --exclude= t
	says "exclude: there is nothing to add"
	[ ! -e t/.bitscrub ]
	expect 0 init -q t
	expect 16 config t 'exclude=!keep'
	says "!keep"
	expect 0 config t
	hasnt keep
}

@test "--exclude is for a first pass; later it is an error that names config" {
	populate
	expect 0 run -q --exclude='*.o' t
	cp t/.bitscrub/manifest before
	expect 16 run --exclude='*.c' t
	says "config"
	cmp before t/.bitscrub/manifest
	expect 0 config t
	has "exclude=*.o"
	hasnt "*.c"
	# init takes them too.
	rm -r t/.bitscrub
	expect 0 init -q --exclude='*.o' --exclude=/tmp/ t
	expect 0 run --json t
	tally "new=12"
}

@test "excluded later, with open damage, and included again" {
	populate
	mkdir t/big
	data 1 200000 >t/big/a
	data 2 200000 >t/big/b
	settle
	expect 0 run -q t
	expect 0 config -q t ctime=ignore
	edit_quietly t/big/a 100000
	expect 4 run -q t
	# A new pattern changes nothing before the next pass.
	expect 4 config -q t 'exclude+=*.o' exclude+=big/
	expect 4 list --damaged t
	expect 0 run --json --verbose t
	tally "ok=13 excluded=5"
	verdict big/a excluded
	verdict src/lib/a.o excluded
	json 'select(.event == "trouble") | "\(.path) \(.warning)"' "big/a true"
	json 'select(.event == "summary") | .removed' 0
	expect 0 run --json t
	tally "ok=13"
	json 'select(.event == "trouble") | .path' ""
	expect 0 verify --json t
	tally "ok=13"
	# Taken in again: nothing is known of it any more, so its present content is new.
	expect 0 config -q t 'exclude=*.o'
	expect 0 run --json --verbose t
	tally "ok=13 new=2"
	verdict big/a new
	verdict big/b new
	expect 0 config -q t exclude=
	expect 0 run --json t
	tally "ok=15 new=3"
}

@test "a directory that is excluded is not even listed" {
	need_root
	need setpriv strace
	populate
	strace -f -e trace=openat,openat2 -o trace "$SCRUB" run -q --exclude=/src t || skip "needs ptrace"
	run grep -c '"src"' trace
	[ "$output" = 0 ] || { grep '"src"' trace; return 1; }
	grep -q '"tmp"' trace
}

@test "frozen takes the same patterns" {
	populate
	settle
	expect 0 init -q t
	expect 0 config -q t 'frozen=/src/**' frozen+=.hidden
	expect 0 run -q t
	for f in a.o src/a.o src/lib/c.c .hidden; do
		echo changed >"t/$f"
		touch -d 2021-01-01 "t/$f"
	done
	rm t/src/tmp/y t/tmp/z
	expect 4 run --json --verbose t
	verdict a.o changed
	verdict src/a.o altered
	verdict src/lib/c.c altered
	verdict .hidden altered
	verdict src/tmp/y missing
	verdict tmp/z removed
}
