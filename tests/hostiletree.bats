#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Root checks and repairs a tree while its owner, and a helper who can make devices, swap what is in
# it: nothing that was never in it is opened or written, nothing hangs, nobody's state is believed.
# HOSTILE_SECONDS is how long each of it takes (4).

load helper
load robust

# Files as play expects them, in tree and (others) in outside.
prepare() {
	need_root
	need setpriv
	need python3
	local d f
	for d in d0 d1 d2 d3; do
		mkdir -p "tree/$d" "outside/$d"
		for f in 0 1 2 3 4 5 6 7 8 9; do
			data "$f" 9000 >"tree/$d/f$f"
			data "1$f" 9000 >"outside/$d/f$f"
		done
	done
	mkdir tree.away
	chmod 755 . "$BATS_RUN_TMPDIR"
	chown -R 65534 tree tree.away
	touch -d 2020-01-01 tree/d?/f?
	# Whoever owns the files can set any mtime, but not ctime: let that decide nothing here.
	expect 0 init --state=state tree
	expect 0 config --state=state tree ctime=ignore inode=ignore
	settle_all
	expect 0 run -q --state=state tree
	expect 0 run -q --state=state tree
	cp state/manifest tree.forged
	chmod 644 tree.forged
	GOOD=$(cat tree/d?/f? | cksum)
	OUT=$(cd outside && stat -c '%n %s %.Y %.Z' d? d?/f? && cat d?/f? | cksum)
}
settle_all() { sleep 2.1; }

play() {
	# Where the tests are may be closed to others.
	install -m 755 "$BATS_TEST_DIRNAME/hostile-play" play
	setpriv --reuid 65534 --regid 65534 --clear-groups perl play "$W/tree" "$W/outside" 1 3>&- &
	PLAYERS=($!)
	perl play "$W/tree" "$W/outside" 2 3>&- &
	PLAYERS+=($!)
	# shellcheck disable=SC2046 # a list of names without spaces
	"$BATS_TEST_DIRNAME/hostile-watch" $(find "$W/outside") >watched 3>&- &
	WATCHER=$!
	PIDS+=("${PLAYERS[@]}" "$WATCHER")
	until_true 10 grep -q watching watched
}

play_ends() {
	kill -TERM "${PLAYERS[@]}"
	wait "${PLAYERS[@]}" || true
	kill -TERM "$WATCHER"
	wait "$WATCHER" || true
	[ "$(cat watched)" = watching ] || { sort watched | uniq -c | head -n 20; return 1; }
	[ "$(cd outside && stat -c '%n %s %.Y %.Z' d? d?/f? && cat d?/f? | cksum)" = "$OUT" ]
	[ "$(ls -d tree/d?/f? | wc -l)" -eq 40 ]
}

# again COMMAND...: for some seconds; each time it ends by itself, with a status that it may have.
again() {
	local end=$((SECONDS + ${HOSTILE_SECONDS:-4})) r times=0
	until [ $SECONDS -gt $end ]; do
		r=0
		timeout -k 1 20 "$SCRUB" "$@" >>out 2>>err || r=$?
		[ "$r" -lt 16 ] || { echo "scrub $*: exit $r"; tail -n 5 out err; return 1; }
		times=$((times + 1))
	done
	[ "$times" -gt 2 ] || { echo "only $times"; return 1; }
}

@test "run and verify, while the owner of the tree swaps what is in it" {
	prepare
	play
	again run -q --state=state --allow-missing tree
	again verify -q --state=state tree
	play_ends
	# Nothing was taken for damage that is none, and all of it is known again.
	expect 0 run -q --state=state tree
	expect 0 verify --json --state=state tree
	[ "$(summary ok)" -eq 40 ]
	[ "$(cat tree/d?/f? | cksum)" = "$GOOD" ]
}

@test "repair, while the owner of the tree swaps what is in it" {
	prepare
	rounds=0
	until [ "$rounds" -eq 3 ]; do
		for f in tree/d?/f[13579]; do
			when=$(times_of "$f")
			flip "$f" 5000 $((RANDOM % 8))
			touch -d "@$when" "$f"
		done
		expect 4 run -q --state=state tree
		play
		HOSTILE_SECONDS=2 again repair -q --force --state=state tree
		HOSTILE_SECONDS=1 again run -q --repair --state=state --allow-missing tree
		play_ends
		"$SCRUB" repair -q --force --state=state tree >out 2>err || true
		expect 0 run -q --state=state tree
		[ "$(cat tree/d?/f? | cksum)" = "$GOOD" ]
		rounds=$((rounds + 1))
	done
}
times_of() { stat -c %.Y "$1"; }

@test "a state that the owner of the tree made is not believed" {
	private_root
	prepare
	# What it says of the files is wrong.
	for f in tree/d?/f?; do
		flip "$f" 100
		touch -d 2020-01-01 "$f"
	done
	mkdir tree/.bitscrub
	cp tree.forged tree/.bitscrub/manifest
	chmod 700 tree/.bitscrub
	chown -R 65534 tree/.bitscrub
	for verb in run repair "run --repair" verify list status; do
		# shellcheck disable=SC2086 # words
		run --separate-stderr "$SCRUB" $verb tree
		[ "$status" -eq 8 ] || { echo "$verb: exit $status"; show; return 1; }
		hasnt rot
		hasnt altered
		says .bitscrub
	done
	[ ! -e "$ROOT" ] || [ -z "$(ls -A "$ROOT")" ]
	# Nor is it in the way of one of root's own.
	mv tree/.bitscrub forged
	expect 0 run -q tree
	mv forged tree/.bitscrub
	expect 0 run --json tree
	[ "$(summary ok)" -eq 40 ]
	expect 0 repair tree
}
