#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Files that are renamed while something is the matter with them: no record is lost on the way.

load helper
load robust

@test "known damage of a file of one block goes with its new name" {
	mkdir tree elsewhere
	echo content >tree/z
	echo other >tree/k
	touch -d 2020-01-01 tree/z
	expect 0 run -q --state=s tree
	flip_quietly tree/z 3
	expect 4 run -q --state=s tree
	mv tree/z tree/a
	expect 4 run --json --verbose --state=s tree
	json 'select(.event == "damage") | .path, .block, .known' "a 0 true"
	json 'select(.event == "file" and .path == "a") | .from' z
	[ "$(summary removed) $(summary new)" = "0 0" ]
	# Also where the inode has another name out of sight.
	ln tree/a elsewhere/link
	expect 4 run -q --state=s tree
	mv tree/a tree/m
	expect 4 run --json --state=s tree
	[ "$(summary removed) $(summary new) $(summary files_damaged)" = "0 0 1" ]
	flip_quietly tree/m 3
	expect 0 run --json --state=s tree
	expect 0 verify -q --state=s tree
}

@test "a renamed file that can't be read keeps its record" {
	need_strace
	mkdir tree
	echo content >tree/z
	large tree/large 1
	expect 0 run -q --state=s tree
	records --state=s tree | jq -r .crc32 | sort >before
	mv tree/z tree/a
	r=0
	traced -f -qq -o trace -P "$W/tree/a" -e trace=pread64,preadv2 \
		-e inject=pread64,preadv2:error=EIO \
		"$SCRUB" run -j1 --reads-in-flight=1 --json --state=s tree >out 2>err || r=$?
	grep -q INJECTED trace
	[ "$r" -eq 4 ] || { echo "exit $r"; cat out err; return 1; }
	output=$(cat out)
	[ "$(summary unreadable) $(summary removed) $(summary new)" = "1 0 0" ]
	records --state=s tree | jq -r .crc32 | sort | cmp - before
	expect 0 run -q --state=s tree
	expect 0 list --state=s tree
	[ "$output" = $'a\nlarge' ]
}

@test "names that are exchanged, rotated, and moved between directories" {
	mkdir -p tree/x tree/y
	for n in 1 2 3 4; do
		large "tree/x/f$n" 1 $n
		touch -d "2020-01-0$n" "tree/x/f$n"
	done
	expect 0 run -q --state=s tree
	mv tree/x/f1 tree/x/t && mv tree/x/f2 tree/x/f1 && mv tree/x/t tree/x/f2
	expect 0 run --json --state=s tree
	[ "$(summary rot)$(summary altered)$(summary unreadable)" = 000 ]
	[ "$(summary files)" -eq 4 ]
	mv tree/x/f3 tree/y/f3
	mv tree/x tree/y/x
	expect 0 run --json --state=s tree
	[ "$(summary moved)" -eq 4 ]
	mv tree/y tree/Y
	expect 0 run --json --state=s tree
	[ "$(summary moved)" -eq 4 ]
	expect 0 verify -q --state=s tree
}
