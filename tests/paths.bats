#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# A record does not depend on how the content was read, by how many threads, or which kernels.

load helper
load pass

# Small ones by the batch, every border of blocks and extents, holes, a tail that is longer.
populate() {
	local i
	mkdir -p tree/many tree/deep/er
	for ((i = 0; i < 150; i++)); do
		data $i $((i * 131)) >"tree/many/$i"
	done
	data 1000 $((16 << 20)) >tree/extent
	data 1001 $(((53 << 20) + 4097)) >tree/tail
	data 1002 $((80 << 20)) >tree/deep/er/chunks
	truncate -s 40M tree/holes
	data 1003 100000 | dd of=tree/holes bs=1M seek=20 conv=notrunc status=none
	head -c 20M /dev/zero >tree/zeros
	: >tree/empty
}

# warm, cold: what is in the cache.
warm() {
	find tree -type f -exec cat {} + >/dev/null
}

cold() {
	sync -f tree
	find tree -type f -exec dd if={} iflag=nocache count=0 status=none \;
}

# What was recorded, without times and places.
digests() {
	"$BATS_TEST_DIRNAME/../contrib/bitscrub-manifest-dump" "$1/manifest" | sed -En '
		s/^(file "[^"]*" size=[0-9]*) .*/\1/p
		s/^((extent|holes) index=[0-9]* length=[0-9]*) .*/\1/p
		/^  (checks|parity-checks|holes) /p'
}

# same NAME OPTION...: a first pass with these options records the same, and verify agrees.
same() {
	local name=$1
	shift
	expect 0 run -q --state="state-$name" "$@" tree
	digests "state-$name" >"got-$name"
	cmp wanted "got-$name"
	expect 0 verify -q --state="state-$name" "$@" tree
	rm -rf "state-$name"
}

@test "every way to read, number of threads and kernel records the same" {
	populate
	settle
	warm
	expect 0 run -q --state=first -j1 --reads-in-flight=1 --kernel=inet=serial --kernel=crc32=zlib \
		--kernel=xor=8regs --kernel=fused=separate tree
	digests first >wanted
	[ "$(grep -c '^file' wanted)" = 156 ]
	[ "$(grep -c '^  checks' wanted)" -ge 160 ]
	same warm
	same warm-one -j1
	same warm-many -j4 --reads-in-flight=32
	same warm-cycle --kernel=cycle
	same cached --cached
	same cached-three --cached -j3
	cold
	same cold
	cold
	same cold-one -j1 --reads-in-flight=1
	cold
	same cold-cycle -j2 --reads-in-flight=7 --kernel=cycle
	# Half of it in the cache.
	cold
	cat tree/tail tree/many/1* >/dev/null
	dd if=tree/deep/er/chunks bs=1M skip=10 count=20 of=/dev/null status=none
	same mixed
	cold
	dd if=tree/deep/er/chunks bs=1M skip=10 count=20 of=/dev/null status=none
	same mixed-cached --cached
}

@test "every way to read finds the same rot" {
	populate
	settle
	expect 0 run -q --state=state tree
	edit_quietly tree/many/77 1234 3
	edit_quietly tree/tail $((37 << 20)) 1
	edit_quietly tree/deep/er/chunks $((79 << 20)) 0
	edit_quietly tree/holes $((20 << 20)) 7
	warm
	expect 4 verify --json --state=state -j1 --reads-in-flight=1 --cached tree
	jq -c 'select(.event == "damage") | [.path, .kind, .offset, .length]' <<<"$output" | sort >wanted
	[ "$(wc -l <wanted)" = 4 ]
	for options in --cached "--cached -j3" "-j1 --reads-in-flight=1" "" "--reads-in-flight=40"; do
		# shellcheck disable=SC2086
		expect 4 verify --json --state=state $options tree
		jq -c 'select(.event == "damage") | [.path, .kind, .offset, .length]' <<<"$output" |
			sort >got
		cmp wanted got
	done
}

@test "reads-in-flight wants a number, and is for verbs that read" {
	expect 16 verify --reads-in-flight=0 .
	expect 16 run --reads-in-flight=many .
	expect 16 status --reads-in-flight=2 .
}

@test "small files are read in few system calls" {
	need strace
	strace -qq -o /dev/null true 2>/dev/null || skip "strace may not trace here"
	mkdir tree
	for ((i = 0; i < 200; i++)); do
		data "$i" 5000 >"tree/$i"
	done
	settle
	expect 0 run -q --state=state --no-parity tree
	warm
	strace -f -qq -c -o calls "$SCRUB" verify -q --cached -j1 --state=state tree
	calls=$(awk '$1 ~ /^[0-9]/ && $NF != "total" { n += $4 } END { print n }' calls)
	# Seven a file, and what it takes to start.
	[ "$calls" -lt $((200 * 7 + 600)) ]
}

@test "--cached: one thread more reads than computes, where there is a processor for it" {
	need strace taskset
	strace -qq -o /dev/null true 2>/dev/null || skip "strace may not trace here"
	[ "$(nproc)" -gt 1 ] || skip "there is one processor"
	local cpu one all
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	mkdir tree
	data 1 5000 >tree/a
	settle
	expect 0 run -q --state=state tree
	# clones COMMAND...: how many threads it begins.
	clones() {
		strace -f -qq -e trace=clone,clone3 -o clones "$@" || return
		grep -c 'clone3\?(' clones
	}
	one=$(clones taskset -c "$cpu" "$SCRUB" verify -q --cached -j1 --state=state tree)
	all=$(clones "$SCRUB" verify -q --cached -j1 --state=state tree)
	[ "$all" -eq $((one + 1)) ]
	all=$(clones "$SCRUB" verify -q --cached -j1 --reads-in-flight=1 --state=state tree)
	[ "$all" -eq "$one" ]
}
