#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Passes that are killed or stopped: the next one goes on from there and ends right.

load helper
load robust

# Seconds that a command takes.
seconds() {
	local from=${EPOCHREALTIME/[.,]/}
	"$@" >/dev/null 2>&1
	LC_ALL=C awk "BEGIN { print (${EPOCHREALTIME/[.,]/} - $from) / 1e6 }"
}

# part_of SECONDS: a seeded random part of it.
part_of() {
	LC_ALL=C awk "BEGIN { printf \"%.4f\", 0.001 + $1 * $((RANDOM % 1000)) / 1000 }"
}

# killed SECONDS ARGUMENT...: SIGKILL after that time; counts.
killed() {
	local t=$1 r=0
	shift
	start "$@"
	sleep "$t"
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" || r=$?
	if [ "$r" -eq 137 ]; then
		kills=$((kills + 1))
	fi
}

# surely_killed UNDO ARGUMENT...: the same at a random part of $t, again after UNDO and sooner if the
# command was faster than that.
surely_killed() {
	local undo=$1 before=$kills
	shift
	while killed "$(part_of "$t")" "$@"; [ "$kills" -eq "$before" ]; do
		$undo
		t=$(LC_ALL=C awk "BEGIN { print $t * 0.8 }")
	done
}

# What is left by a kill must be usable as it is: what is recorded, is recorded rightly.
sound_as_it_is() {
	if [ -e "$1/manifest" ]; then
		run --separate-stderr "$SCRUB" verify -q --state="$1" tree
		[ "$status" -eq "${2:-0}" ] || { echo "verify: $status"; show; return 1; }
		run --separate-stderr "$SCRUB" status -q --state="$1" tree
		[ "$status" -eq 0 ] || [ "$status" -eq "${2:-0}" ]
	fi
	[ -z "$(find "$1" -type f -not -name manifest -not -name manifest.1 -not -name journal \
		-not -name history -not -name '*.tmp' -not -path "$1/parity/0*")" ]
}

@test "a first pass, killed at ten random moments, is gone on with and ends right" {
	RANDOM=1 kills=0
	tree tree 1500
	large tree/large 80
	large tree/larger 130 2
	t=$(seconds "$SCRUB" run --state=ref tree)
	[ -e ref/manifest ]
	for round in 1 2 3 4 5 6 7 8 9 10; do
		surely_killed "rm -rf s$round" run --state="s$round" tree
		[ ! -d "s$round" ] || sound_as_it_is "s$round"
		expect 0 run --json --state="s$round" tree
		[ "$(summary files)" = 1502 ]
		same_records ref "s$round" tree
		tidy "s$round"
		rm -r "s$round"
	done
	[ "$kills" -eq 10 ]
}

# edit SEED: all kinds of change.
edit() {
	perl -e '
		my $seed = shift;
		my @f = sort glob "tree/d*/*";
		srand($seed);
		sub pick { splice @f, rand @f, 1 }
		for (1 .. 20) {
			my ($gone, $moved, $linked, $touched, $edited) = map { pick() } 1 .. 5;
			unlink $gone or die;
			rename $moved, "$moved-$seed" or die;
			link $linked, "$linked-link$seed" or die;
			utime 1.6e9 + $seed, 1.6e9 + $seed, $touched;
			open my $h, ">>", $edited or die;
			print $h "edited $seed";
			close $h or die;
			open $h, ">", "tree/d000/new$seed-$_" or die;
			print $h "new $_" x 1000;
			close $h or die;
		}
		rename "tree/large" . ($seed - 1), "tree/large$seed" or die;' "$1"
}

again() {
	rm -r "$1"
	cp -a ref "$1"
}

@test "later passes, killed at ten random moments, are gone on with and end right" {
	RANDOM=2 kills=0
	tree tree 1000
	large tree/large0 100
	large tree/edited 70
	flip tree/d003/f00345 1
	t=$(seconds "$SCRUB" run --state=ref tree)
	flip_quietly tree/d003/f00345 1
	for round in 1 2 3 4 5 6 7 8 9 10; do
		edit "$round"
		printf edited | dd of=tree/edited bs=1 seek=$((round * 6000000)) conv=notrunc status=none
		cp -a ref "s$round"
		surely_killed "again s$round" run --state="s$round" tree
		sound_as_it_is "s$round" 4 || sound_as_it_is "s$round" 8 || sound_as_it_is "s$round" 12
		expect 4 run --json --state="s$round" tree
		[ "$(jq -r 'select(.event == "damage") | .path' <<<"$output")" = d003/f00345 ]
		expect 4 run -q --state=ref tree
		same_records ref "s$round" tree
		tidy "s$round"
		rm -r "s$round"
	done
	[ "$kills" -eq 10 ]
}

# stopped SIGNAL: a slow pass over many files gets it in the middle.
stopped() {
	need_strace
	tree tree 400
	large tree/large 80
	start_slow openat2 10000 run -j1 --reads-in-flight=1 --state=s tree
	until_true 20 size_above s/journal 20000
	kill "-$1" "$pid"
	finish 32 2 "$tracer"
	has "tree: stopped; what was done is kept"
	[ -s s/journal ]

	# What it got to is there for everybody who reads.
	expect 0 status --json --state=s tree
	left=$(jq .journal_records <<<"$output" | head -n 1)
	[ "$left" -gt 50 ]
	[ "$left" -lt 390 ]
	expect 0 status --state=s tree
	has "a pass was stopped"
	expect 0 list --state=s tree
	[ "$(wc -l <<<"$output")" -eq "$left" ]
	expect 0 export --format=sfv --state=s tree
	[ "$(grep -vc '^;' <<<"$output")" -eq "$left" ]
	expect 0 verify --json --state=s tree
	[ "$(summary ok)" -eq "$left" ]
	[ -s s/journal ]

	# And need not be recorded once more.
	expect 0 run --json --state=s tree
	[ "$(summary new)" -eq $((401 - left)) ]
	[ "$(summary ok)" -eq "$left" ]
	[ ! -e s/journal ]
	expect 0 run -q --state=ref tree
	same_records ref s tree
}

@test "SIGINT stops a pass within two seconds, and what was done is kept" {
	stopped INT
}

@test "SIGTERM does the same" {
	stopped TERM
}

@test "SIGHUP does the same" {
	stopped HUP
}

@test "a file of many extents that was stopped in the middle is gone on with" {
	need_strace
	mkdir tree
	large tree/large 200
	uncached tree/large
	start_slow pread64 30000 run -j1 --reads-in-flight=1 --json --state=s tree
	until_true 20 size_above s/journal 3000
	kill -INT "$pid"
	finish 32 2 "$tracer"
	expect 0 list --json --state=s tree
	json 'select(.path) | .unrecorded' true
	expect 8 export --format=sfv --state=s tree
	hasnt large
	says "large: left out"
	expect 0 run -q --state=s tree
	expect 0 run -q --state=ref tree
	same_records ref s tree
}

@test "a pass that is stopped while it plans changes nothing" {
	need_strace
	tree tree 2000
	expect 0 run -q --state=s tree
	cp -a s before
	start_slow newfstatat 2000 run -j1 --reads-in-flight=1 --state=s tree
	sleep 0.7
	kill -INT "$pid"
	finish 32 2 "$tracer"
	[ ! -e s/journal ]
	cmp s/manifest before/manifest
	expect 0 run --json --state=s tree
	[ "$(summary ok)" -eq 2000 ]
}

still() {
	local was
	was=$(stat -c %s "$1")
	sleep 0.3
	[ "$(stat -c %s "$1")" -eq "$was" ]
}

@test "a pass that is stopped while it publishes is gone on with, and reads nothing twice" {
	need_strace
	tree tree 3000
	# Two seconds between the last record and the new manifest.
	SLOW_PATH=$W/s/journal start_slow fdatasync 2000000 run -j2 --state=s tree
	until_true 20 size_above s/journal 600000
	until_true 20 still s/journal
	kill -INT "$pid"
	finish 32 4 "$tracer"
	says "stopp"
	[ -s s/journal ]
	expect 0 run --json --state=s tree
	[ "$(summary new)" -eq 0 ]
	[ "$(summary ok)" -eq 3000 ]
}

@test "a second SIGINT ends the program at once, and the next pass goes on" {
	need_strace
	tree tree 300
	start_slow openat2 10000 run -j1 --reads-in-flight=1 --state=s tree
	until_true 20 size_above s/journal 20000
	kill -STOP "$pid"
	kill -INT "$pid"
	kill -CONT "$pid"
	kill -INT "$pid" 2>/dev/null || true
	r=0
	wait "$tracer" || r=$?
	[ "$r" -eq 32 ] || [ "$r" -eq 130 ]
	expect 0 run -q --state=s tree
	expect 0 run -q --state=ref tree
	same_records ref s tree
}

# A pass over the tree that is killed with one of the two parts of a large file in the journal.
killed_within_large() {
	r=0
	traced -f -qq -o trace -P "$W/s/journal" -e trace=write -e inject=write:signal=KILL:when=3 \
		"$SCRUB" run -j1 --reads-in-flight=1 --state=s tree >out 2>err || r=$?
	[ "$r" -eq 137 ]
	expect 0 status --json --state=s tree
	[ "$(jq .journal_records <<<"$output" | head -n 1)" = 1 ]
}

@test "a move that was seen by a killed pass: what it did not come to is no new content" {
	need_strace
	mkdir tree
	large tree/large 80
	expect 0 run -q --state=s tree
	mv tree/large tree/moved
	flip_quietly tree/moved 78000000
	killed_within_large
	expect 4 run --json --state=s tree
	[ "$(jq -r 'select(.event == "damage") | .path, .block' <<<"$output" | paste -sd ' ')" = "moved 1190" ]
	[ "$(summary removed)" -eq 0 ]
	# And once more, moved again in between.
	flip tree/moved 78000000
	touch -d @1500000000 tree/moved
	expect 0 run -q --state=s tree
	mv tree/moved tree/a
	flip_quietly tree/a 78000000
	killed_within_large
	mv tree/a tree/b
	expect 4 run --json --state=s tree
	[ "$(jq -r 'select(.event == "damage") | .path' <<<"$output")" = b ]
}

@test "a hard link that sorts first, seen by a killed pass, does not hide the record" {
	need_strace
	mkdir tree
	large tree/large 80
	expect 0 run -q --state=s tree
	ln tree/large tree/first
	flip_quietly tree/large 78000000
	killed_within_large
	expect 4 run --json --state=s tree
	[ "$(jq -r 'select(.event == "damage") | .path, .block' <<<"$output" | paste -sd ' ')" = "first 1190" ]
}
