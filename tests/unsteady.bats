#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Trees that change while a pass is under way, and trees of which a part can't be looked at.

load helper
load robust

# midway: a pass that is stopped after some files of d000 and before those of d001.
midway() {
	need_strace
	start_slow openat2 10000 run -j1 --reads-in-flight=1 --json --verbose --state=s tree
	until_true 20 size_above s/journal 3000
	kill -STOP "$pid"
	[ "$(stat -c %s s/journal)" -lt 20000 ]
}

go_on() {
	kill -CONT "$pid"
	finish "$1" 30 "$tracer"
}

verdict() {
	jq -r --arg p "$1" 'select(.event == "file" and .path == $p) | .verdict' <<<"$output"
}

@test "files that vanish, come, grow and shrink before they are read, in a first pass" {
	tree tree 200
	midway
	rm tree/d001/f00150
	rm -r tree/d001/f00151 && mkdir tree/d001/f00151
	mv tree/d001/f00152 tree/d001/zzz
	echo more >>tree/d001/f00153
	: >tree/d001/f00154
	echo late >tree/d001/late
	go_on 0
	[ "$(summary new)" -eq 197 ]
	[ "$(summary skipped)" -eq 3 ]
	[ "$(summary complete)" = false ]
	[ "$(verdict d001/f00150)" = skipped ]
	[ "$(verdict d001/f00153)" = new ]
	expect 0 run --json --state=s tree
	[ "$(summary ok)" -eq 197 ]
	[ "$(summary new)" -eq 2 ]
	[ "$(summary complete)" = true ]
	expect 0 verify -q --state=s tree
}

@test "the same in a later pass: records stay until the next one" {
	tree tree 200
	expect 0 run -q --state=s tree
	midway
	rm tree/d001/f00150
	mv tree/d001/f00152 tree/d001/zzz
	echo more >>tree/d001/f00153
	: >tree/d001/f00154
	go_on 0
	[ "$(summary skipped)" -eq 2 ]
	[ "$(summary changed)" -eq 2 ]
	[ "$(summary rot)$(summary altered)$(summary removed)" = 000 ]
	expect 0 list --state=s tree
	has "d001/f00150"
	expect 0 run --json --state=s tree
	[ "$(summary removed)" -eq 1 ]
	[ "$(summary moved)" -eq 1 ]
	[ "$(summary ok)" -eq 198 ]
	expect 0 verify -q --state=s tree
}

@test "a directory that vanishes while it is walked, and one that becomes a symlink out of the tree" {
	need_strace
	tree tree 400
	mkdir elsewhere
	cp tree/d003/* elsewhere
	expect 0 run -q --state=s tree
	start_slow newfstatat 3000 run -j1 --reads-in-flight=1 --json --state=s tree
	sleep 0.4
	kill -STOP "$pid"
	rm -r tree/d002
	mv tree/d003 aside
	ln -s ../elsewhere tree/d003
	kill -CONT "$pid"
	r=0
	wait "$tracer" || r=$?
	[ "$r" -eq 0 ] || [ "$r" -eq 8 ]
	output=$(cat out)
	[ "$(jq -r 'select(.event == "damage") | .path' <<<"$output")" = "" ]
	rm tree/d003
	mv aside tree/d003
	expect 0 run --json --state=s tree
	expect 0 run --json --state=s tree
	[ "$(summary ok)" -eq 300 ]
}

@test "a file that is written all the time is skipped, silently, and never damage" {
	mkdir tree
	large tree/busy 8
	echo calm >tree/calm
	expect 0 run -q --state=s tree
	perl -e '
		open my $h, "+<", "tree/busy" or die;
		for (my $i = 0; getppid() > 1 && $i < 60000; $i++) {
			seek $h, $i % 8388608, 0; syswrite $h, pack("V", $i); select undef, undef, undef, 0.0005;
		}' 3>&- &
	PIDS+=($!)
	writer=$!
	for round in 1 2 3; do
		need_strace
		r=0
		traced -f -qq -o /dev/null -e trace=pread64 -e inject=pread64:delay_exit=3000 \
			"$SCRUB" run -j2 --json --state=s tree >out 2>err || r=$?
		output=$(cat out)
		[ "$r" -eq 0 ] || { cat out err; return 1; }
		[ "$(summary skipped)" -eq 1 ]
		[ "$(summary ok)" -eq 1 ]
		[ ! -s err ]
	done
	kill "$writer"
	wait "$writer" || true
	expect 0 run --json --state=s tree
	[ "$(summary changed)" -eq 1 ]
	expect 0 run --json --state=s tree
	[ "$(summary ok)" -eq 2 ]
}

@test "a large file that shrinks or grows while it is read is tried again" {
	need_strace
	for how in "truncate -s 70M" "truncate -s +1M"; do
		rm -rf tree s
		mkdir tree
		large tree/large 100
		uncached tree/large
		start_slow pread64 20000 run -j2 --json --state=s tree
		until_true 20 size_above s/journal 2000
		kill -STOP "$pid"
		$how tree/large
		kill -CONT "$pid"
		finish 0 30 "$tracer"
		[ "$(summary new)" -eq 1 ]
		[ "$(summary skipped)" -eq 0 ]
		[ "$(summary bytes)" -eq "$(stat -c %s tree/large)" ]
		expect 0 verify -q --state=s tree
		expect 0 run --json --state=s tree
		[ "$(summary ok)" -eq 1 ]
	done
}

@test "files and directories become each other" {
	mkdir -p tree/dir/sub
	echo a >tree/dir/a
	echo b >tree/dir/sub/b
	echo file >tree/file
	echo other >tree/other
	expect 0 run -q --state=s tree
	rm -r tree/dir tree/file
	echo now >tree/dir
	mkdir tree/file
	echo in >tree/file/in
	expect 0 run --json --verbose --state=s tree
	[ "$(verdict dir/a) $(verdict dir/sub/b) $(verdict file)" = "removed removed removed" ]
	[ "$(verdict dir) $(verdict file/in) $(verdict other)" = "new new ok" ]
	expect 0 list --state=s tree
	[ "$(paste -sd ' ' <<<"$output")" = "dir file/in other" ]
	expect 0 verify -q --state=s tree
}

@test "no permission: trouble that is named, and everything else is recorded" {
	as_nobody
	tree tree 210
	chown -R 65534 tree
	chmod 000 tree/d000/f00005
	chmod 000 tree/d001
	expect 8 run --json --state="$W/s" tree 2>/dev/null || true
	mkdir own
	chown 65534 own
	expect 8 run --json --state=own/s tree
	[ "$(summary new)" -eq 109 ]
	[ "$(summary skipped)" -eq 1 ]
	json 'select(.event == "trouble") | .path, .errno' "d001 EACCES d000/f00005 EACCES"
	expect 8 run --state=own/s tree
	says "d001: cannot list the directory: Permission denied"
	says "d000/f00005: cannot open the file: Permission denied"
	hasnt "No damage"
	chmod 755 tree/d001
	chmod 644 tree/d000/f00005
	expect 0 run --json --state=own/s tree
	[ "$(summary ok)" -eq 109 ]
	[ "$(summary new)" -eq 101 ]
}

@test "below a directory that can't be listed nothing is removed" {
	as_nobody
	tree tree 410
	chown -R 65534 tree
	expect 0 run -q tree
	records tree >before
	chmod 000 tree/d001
	chmod 300 tree/d002
	expect 8 run --json tree
	[ "$(summary ok)" -eq 210 ]
	[ "$(summary removed)" -eq 0 ]
	[ "$(summary skipped)" -eq 200 ]
	[ "$(summary complete)" = false ]
	records tree | cmp - before
	# One that can be listed and not entered.
	chmod 444 tree/d003
	expect 8 run --json tree
	[ "$(summary removed)" -eq 0 ]
	chmod 755 tree/d00[123]
	expect 0 run --json tree
	[ "$(summary ok)" -eq 410 ]
}

@test "an error of the system in the middle of a directory removes nothing" {
	need_strace
	tree tree 310
	expect 0 run -q --state=s tree
	for n in 1 2; do
		traced -f -qq -o /dev/null -P "$W/tree/d001" -e trace=getdents64 \
			-e inject="getdents64:error=ENOMEM:when=$n" \
			"$SCRUB" run -j1 --reads-in-flight=1 --json --state=s tree >out 2>err || true
		output=$(cat out)
		[ "$(summary removed)" -eq 0 ]
		traced -f -qq -o /dev/null -P "$W/tree/d001" -e trace=getdents64 \
			-e inject="getdents64:error=EIO:when=$n" \
			"$SCRUB" run -j1 --reads-in-flight=1 --json --state=s tree >out 2>err || true
		output=$(cat out)
		[ "$(summary removed)" -eq 0 ]
		# What was listed before is read all the same.
		[ "$(summary skipped)" -eq $((n == 1 ? 100 : 0)) ]
		[ "$(summary files_damaged)" -eq 1 ]
		expect 4 list --state=s tree
		[ "$(wc -l <<<"$output")" -eq 311 ]
	done
	expect 0 run --json --state=s tree
	[ "$(summary ok)" -eq 310 ]
}
