#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# However many requests are in flight, and whatever the parity: the memory of a pass has a limit.

load helper
load robust

# Files of one extent each, about as long as one can be, more of them than threads that may have all
# the memory they like; and small ones.
setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir tree
	data 1 33000000 >tree/f0
	for i in {1..23}; do cp tree/f0 "tree/f$i"; done
	for i in {1..400}; do data "$i" $((i * 150)) >"tree/s$i"; done
	"$SCRUB" run -q --state=p16 tree
	"$SCRUB" run -q --state=none --no-parity tree
}

# below MIB ARGUMENT...: what scrub needs at most. With a sanitizer memory says nothing.
below() {
	local limit=$1
	shift
	[ -x /usr/bin/time ] || skip "needs GNU time"
	measured "$@"
	sanitized || [ "$peak" -lt $((limit * 1024)) ]
}

@test "64 MiB are enough for any number of requests in flight" {
	cd "$BATS_FILE_TMPDIR"
	for n in 16 17 40 256; do
		below 64 verify -q --reads-in-flight=$n --state=p16 tree
		below 64 verify -q --reads-in-flight=$n --state=none tree
		rm -rf new
		below 64 run -q --reads-in-flight=$n --state=new tree
	done
	below 64 verify -q -j100 --state=p16 tree
	below 64 verify -q -j4 --cached --reads-in-flight=40 --state=p16 tree
}

@test "and for the longest columns" {
	cd "$BATS_FILE_TMPDIR"
	below 64 run -q --parity=2 --state=two tree
	below 64 verify -q --state=two tree
	below 64 verify -q --reads-in-flight=256 --state=two tree
}
