#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Block devices with sectors that really can't be read, and devices that go away.

load helper
load pass
load devices
load medium

teardown() {
	local dev
	for dev in "${LOOPS[@]}"; do
		losetup -d "$dev" 2>/dev/null || :
	done
	LOOPS=()
	medium_teardown
}

# attach_served: a loop device over what serve serves.
attach_served() {
	DEV=$(losetup -r -f --show --direct-io=on disk/nbd) || return 1
	LOOPS+=("$DEV")
}

# take_out: the device is detached, and the server stopped, in an orderly way.
take_out() {
	detach && umount disk && wait "$SERVER"
	SERVER=
}

# image BYTES: fs.img with seeded data, recorded in st by a sound device.
image() {
	data 1 "$1" >fs.img
	attach fs.img
	expect 0 run -q --state=st "$DEV"
	detach
}

@test "unreadable sectors: found exactly, mapped, and repaired when they can be written" {
	need_medium
	need ddrescuelog
	image $((40 * 1048576 + 512))
	cp fs.img good.img
	# Two in one block, one in another extent, the last one of the device.
	bad_sectors 1000000 1002000 20000000 $((40 * 1048576))
	flip fs.img 1200000
	serve
	attach_served
	expect 4 run --json --state=st "$DEV"
	tally "unreadable=1 blocks_damaged=4 files_damaged=1"
	json '[., inputs] | map(select(.event == "damage")) | sort_by(.offset)
		| map("\(.kind) \(.offset)+\(.length)") | join(", ")' \
		"unreadable 999936+512, unreadable 1001984+512, rot 1179648+65536, unreadable 19999744+512, unreadable 41943040+512"
	expect 4 export --format=ddrescue --state=st "$DEV"
	printf '%s\n' "$output" >map.out
	ddrescuelog -t map.out >log
	[ "$(ddrescuelog -b512 -l- map.out | paste -sd ' ')" = "1953 1957 39062 81920" ]
	[ "$(at_sector map.out $((1200000 / 512)))" = "*" ]
	[ "$(at_sector map.out 1954)" = "?" ]
	[ "$(at_sector map.out 0)" = "+" ]
	# ddrescue fetches what is missing from a good copy, and nothing else.
	if command -v ddrescue >/dev/null; then
		cp fs.img out.img
		ddrescue -q -f good.img out.img map.out
		cmp out.img good.img
	fi
	expect 12 repair --state=st "$DEV"
	take_out
	# The disk has new sectors in their place.
	for i in 1953 1957 39062 81920; do
		dd if=/dev/zero of=fs.img bs=512 seek=$i count=1 conv=notrunc status=none
	done
	attach fs.img
	expect 1 repair --state=st "$DEV"
	cmp fs.img good.img
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
	expect 0 export --format=ddrescue --state=st "$DEV"
	has "0x00000000  0x02800200  +"
}

@test "a first pass records what it can read, and maps the rest" {
	need_medium
	need ddrescuelog
	data 1 $((40 * 1048576)) >fs.img
	bad_sectors 20000000
	serve
	attach_served
	expect 4 run --json --state=st "$DEV"
	tally "unreadable=1 blocks_damaged=1 files_damaged=1"
	expect 4 export --format=ddrescue --state=st "$DEV"
	printf '%s\n' "$output" >map.out
	[ "$(ddrescuelog -b512 -l- map.out)" = 39062 ]
	[ "$(at_sector map.out 0)" = "+" ]
	[ "$(at_sector map.out 39061)" = "?" ]
	take_out
	# It reads again: then it is recorded.
	attach fs.img
	expect 0 run -q --state=st "$DEV"
	expect 0 export --format=ddrescue --state=st "$DEV"
	has "0x00000000  0x02800000  +"
}

@test "a device that goes away in the middle: exit 8, and no damage" {
	need_medium
	image $((200 * 1048576))
	bad_sectors
	serve 40
	attach_served
	"$SCRUB" run -j1 --reads-in-flight=1 --state=st "$DEV" >out 2>err 3>&- &
	local pid=$! i
	# Until it has read something: of 12 extents, four at a time, of 1.7 KB each.
	for ((i = 0; i < 200; i++)); do
		[ ! -s st/journal ] || [ "$(stat -c %s st/journal)" -lt 4000 ] || break
		sleep 0.05
	done
	kill_server
	local status=0
	wait "$pid" || status=$?
	cat out err
	[ "$status" = 8 ]
	grep -q "does not answer any more" err
	run ! grep -q unreadable out
	expect 0 status --state=st "$DEV" || [ "$status" = 8 ]
	hasnt OPEN
	losetup -d "$DEV"
	unset 'LOOPS[-1]'
	umount -l disk 2>/dev/null || :
	attach fs.img
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
}

@test "a device that is gone from the start: exit 8, and nothing is known of it" {
	need_medium
	image $((20 * 1048576))
	bad_sectors
	serve
	attach_served
	kill_server
	expect 8 run --state=st "$DEV"
	hasnt unreadable
	losetup -d "$DEV"
	unset 'LOOPS[-1]'
	umount -l disk 2>/dev/null || :
	attach fs.img
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
}
