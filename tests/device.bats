#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Block devices: identity, sizes, use, damage, repair.

load helper
load pass
load devices

teardown() {
	devices_teardown
}

# disk BYTES [LOSETUP-OPTION...]: disk.img with seeded data, attached.
disk() {
	need_loop
	data 1 "$1" >disk.img
	attach disk.img "${@:2}"
}

@test "a device is recorded, checked, and its rot found, at any size" {
	local size
	for size in 512 1536 65536 $((20 * 1048576 + 512)) $((70 * 1048576 + 1536)); do
		rm -rf st
		disk "$size"
		expect 0 run --json --state=st "$DEV"
		tally "new=1"
		summary bytes "$size"
		summary bytes_from_medium "$size"
		expect 0 run --json --state=st "$DEV"
		tally "ok=1"
		flip "$DEV" $((size - 1))
		expect 4 run --json --state=st "$DEV"
		tally "rot=1 blocks_damaged=1 files_damaged=1"
		json 'select(.event == "damage") | .differ_first' $((size - 1))
		expect 4 verify --json --state=st "$DEV"
		expect 1 repair --json --state=st "$DEV"
		cmp disk.img <(data 1 "$size")
		expect 0 run --json --state=st "$DEV"
		tally "ok=1"
		expect 4 repair --undo --state=st "$DEV"
		run ! cmp -s disk.img <(data 1 "$size")
		detach
	done
}

@test "sectors of 4096 bytes" {
	disk $((18 * 1048576 + 4096)) -b 4096
	expect 0 run --json --state=st "$DEV"
	json 'select(.event == "summary") | .device.logical' 4096
	flip disk.img 5000000
	flip disk.img $((18 * 1048576 + 4000))
	losetup --direct-io=on "$DEV" 2>/dev/null || :
	echo 3 >/proc/sys/vm/drop_caches 2>/dev/null || :
	expect 4 run --json --state=st "$DEV"
	tally "rot=1 blocks_damaged=2 files_damaged=1"
	expect 1 repair --state=st "$DEV"
	cmp disk.img <(data 1 $((18 * 1048576 + 4096)))
}

@test "a loop device needs --state, and is told the file behind it" {
	disk 65536
	expect 8 run "$DEV"
	says "--state"
	says "$W/disk.img"
	[ ! -e disk.img.bitscrub ]
	expect 8 status "$DEV"
	says "--state"
}

@test "a symbolic link to a device, and the device by another name, are the same" {
	disk 65536
	ln -s "$DEV" link
	expect 0 run -q --state=st link
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
}

@test "UUID=, LABEL= and PARTUUID=" {
	need_loop
	need mkfs.ext4 sfdisk
	local p part fs
	part=$(uuid)
	fs=$(uuid)
	truncate -s 24M disk.img
	printf 'label: gpt\nstart=2048, uuid=%s\n' "$part" | sfdisk -q disk.img
	attach disk.img -P
	p=$(partition_of 1)
	mkfs.ext4 -q -L "t${DEV##*/}$$" -U "$fs" "$p"
	sync
	expect 0 run -q --state=st "UUID=$fs"
	expect 0 run --json --state=st "LABEL=t${DEV##*/}$$"
	tally "ok=1"
	expect 0 run --json --state=st "PARTUUID=$part"
	tally "ok=1"
	json 'select(.event == "summary") | .device.partuuid, .device.uuid, .device.type' "$part $fs ext4"
	expect 8 run --state=st "UUID=$(uuid)"
	says "no device has it"
	# The state of bitscrub.conf is that of the device by whatever name; of a directory it is not.
	mkdir dir
	echo x >dir/x
	for name in "UUID=$fs" "LABEL=t${DEV##*/}$$" "PARTUUID=$part" "$p"; do
		printf '[%s]\nstate = %s\n' "$name" "$W/st" >c.conf
		for other in "UUID=$fs" "LABEL=t${DEV##*/}$$" "PARTUUID=$part" "$p"; do
			expect 0 status --json --config=c.conf "$other"
			json 'select(.event == "status") | .state' "$W/st"
		done
		expect 0 run -q --config=c.conf dir
		[ -e dir/.bitscrub ]
		rm -r dir/.bitscrub
	done
	# Its state has a place of its own.
	expect 0 run -q "$p"
	[ -e "/var/lib/bitscrub/partuuid-$part/manifest" ]
	rm -rf "/var/lib/bitscrub/partuuid-$part"
}

@test "another disk than the recorded one is refused, with both identities" {
	need_loop
	need sfdisk
	local i
	for i in a b; do
		truncate -s 20M $i.img
		printf 'label: gpt\nlabel-id: %s\n' "$(uuid)" | sfdisk -q $i.img
	done
	attach a.img
	expect 0 run -q --state=st "$DEV"
	cp -a st was
	attach b.img
	expect 8 run --state=st "$DEV"
	says "another device"
	for i in a b; do
		says "$(blkid -p -o value -s PTUUID $i.img)"
	done
	diff -r was st
	expect 8 verify --state=st "$DEV"
	says "another device"
	expect 8 repair --state=st "$DEV"
	diff -r was st
	# Its table differs, which --allow-moved does not hide.
	expect 4 run --json --allow-moved --state=st "$DEV"
	json 'select(.event == "damage") | .kind' "rot rot"
	# Now it is the recorded one.
	expect 4 run -q --state=st "$DEV"
}

@test "a lost tail is missing, from run too, until it is there again or accepted" {
	disk $((50 * 1048576))
	expect 0 run -q --state=st "$DEV"
	truncate -s 40M disk.img
	losetup -c "$DEV"
	expect 4 run --json --state=st "$DEV"
	tally "missing=1 files_damaged=1"
	json 'select(.event == "damage") | .kind, .offset, .length, .size_was, .size_now' \
		"missing 41943040 10485760 52428800 41943040"
	expect 4 verify -q --state=st "$DEV"
	has "missing"
	# What is left is checked.
	flip "$DEV" 100
	expect 4 run --json --state=st "$DEV"
	json 'select(.event == "damage") | .kind' "rot missing"
	expect 5 repair --state=st "$DEV"
	has "smaller"
	data 1 $((50 * 1048576)) >disk.img
	losetup -c "$DEV"
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
	truncate -s 40M disk.img
	losetup -c "$DEV"
	expect 4 run -q --state=st "$DEV"
	expect 0 accept --state=st "$DEV" .
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
	summary bytes 41943040
}

@test "a grown tail is new, and the old end is compared before it is cut anew" {
	disk $((24 * 1048576))
	expect 0 run -q --state=st "$DEV"
	data 1 $((50 * 1048576)) >disk.img
	losetup -c "$DEV"
	expect 0 run --json --state=st "$DEV"
	tally "new=1"
	summary bytes $((50 * 1048576))
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
	# Rot in the old end keeps the tail waiting.
	data 1 $((70 * 1048576)) >disk.img
	flip disk.img $((49 * 1048576))
	losetup -c "$DEV"
	expect 4 run --json --state=st "$DEV"
	tally "rot=1 blocks_damaged=1 files_damaged=1"
	says "20971520 bytes more" || has "20971520 bytes more"
	summary bytes $((50 * 1048576))
	expect 1 repair -q --state=st "$DEV"
	cmp disk.img <(data 1 $((70 * 1048576)))
	expect 0 run --json --state=st "$DEV"
	tally "new=1"
	summary bytes $((70 * 1048576))
}

@test "an empty drive is trouble, and nothing of it is missing" {
	disk $((20 * 1048576))
	expect 0 run -q --state=st "$DEV"
	cp -a st was
	truncate -s 0 disk.img
	losetup -c "$DEV"
	local verb
	for verb in run verify repair "accept"; do
		set -- "$DEV"
		[ "$verb" != accept ] || set -- "$DEV" .
		expect 8 "$verb" --state=st "$@"
		says "no medium in it"
		hasnt "missing"
	done
	diff -r was st
	for verb in run init; do
		expect 8 "$verb" --state=new "$DEV"
		says "no medium in it"
		[ ! -e new ]
	done
	expect 0 status --state=st "$DEV"
	data 1 $((20 * 1048576)) >disk.img
	losetup -c "$DEV"
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
}

@test "a limited pass needs room for its part of the parity only" {
	need_loop
	truncate -s 4G disk.img
	attach disk.img
	mkdir state
	mount -t tmpfs -o size=64M none state
	MOUNTS+=("$W/state")
	expect 8 run --state=state/s "$DEV"
	says "parity needs up to 256.0 MiB"
	expect 0 run --max-bytes=16M --state=state/s "$DEV"
	says "up to 5.0 MiB"
}

@test "limited passes one after the other go round" {
	disk $((80 * 1048576))
	expect 0 run -q --max-bytes=16M --state=st "$DEV"
	expect 0 status --json --state=st "$DEV"
	json 'select(.event == "status") | .bytes, .bytes_never_checked' "83886080 67108864"
	expect 0 status --state=st "$DEV"
	has "never: 64 MiB"
	expect 0 run -q --state=st "$DEV"
	expect 0 export --format=json --state=st "$DEV"
	local n=0 last
	last=$(jq -s '[.[] | select(.record == "extent") | .checked_ns] | max' <<<"$output")
	while ((++n <= 5)); do
		expect 0 run -q --max-bytes=16M --state=st "$DEV"
		expect 0 export --format=json --state=st "$DEV"
		jq -s -e --argjson n "$n" --argjson last "$last" '[.[] |
			select(.record == "extent" and .checked_ns > $last)] | length == $n' <<<"$output"
	done
}

@test "accept takes what is damaged and no more" {
	disk $((40 * 1048576))
	expect 0 run -q --state=st "$DEV"
	flip "$DEV" 100
	expect 4 run -q --state=st "$DEV"
	flip "$DEV" $((20 * 1048576))
	expect 0 accept --state=st "$DEV" .
	expect 4 run --json --state=st "$DEV"
	json 'select(.event == "damage") | .kind, .differ_first' "rot 20971520"
}

@test "repair from another device and from an image" {
	disk $((20 * 1048576))
	cp disk.img copy.img
	expect 0 run -q --no-parity --state=st "$DEV"
	local dev=$DEV
	poke "$dev" 300000 "something else stands here now"
	expect 4 run -q --state=st "$dev"
	expect 4 repair --state=st "$dev"
	expect 20 repair --state=st --from=st "$dev"
	says "neither a device nor an image"
	expect 1 repair --state=st --from=copy.img "$dev"
	cmp disk.img copy.img
	poke "$dev" 400000 "something else stands here now"
	expect 4 run -q --state=st "$dev"
	attach copy.img -r
	expect 1 repair --state=st --from="$DEV" "$dev"
	cmp disk.img copy.img
}

@test "a read-only device is checked, and not repaired" {
	disk $((20 * 1048576))
	expect 0 run -q --state=st "$DEV"
	detach
	flip disk.img 5000
	attach disk.img -r
	expect 4 run -q --state=st "$DEV"
	expect 12 repair --state=st "$DEV"
	has "read-only"
}

@test "in use: refused with reason and way out; --force-mounted records nothing over" {
	need mkfs.ext4
	need_loop
	truncate -s 40M disk.img
	mkfs.ext4 -q disk.img
	attach disk.img
	mount_device "$DEV" mnt
	data 2 1000000 >mnt/file
	sync mnt/file
	expect 8 run --state=st "$DEV"
	says "mounted"
	says "$W/mnt"
	says "umount"
	says "--force-mounted"
	[ ! -e st ]
	umount mnt
	expect 0 run -q --state=st "$DEV"
	mount_device "$DEV" mnt
	data 3 1000000 >mnt/other
	sync
	expect 8 run --state=st "$DEV"
	expect 8 verify --state=st "$DEV"
	expect 8 repair --state=st "$DEV"
	saysnt "--force-mounted"
	expect 8 accept --state=st "$DEV" .
	expect 0 run --json --force-mounted --state=st "$DEV"
	tally "skipped=1"
	json 'select(.event == "summary") | .blocks_in_use > 0, .complete' "true false"
	expect 0 run -q --force-mounted --state=st "$DEV"
	says "differences prove nothing"
	umount mnt
	# Nothing was recorded over, so now it is seen, and seen to be written.
	expect 0 run --json --state=st "$DEV"
	tally "changed=1"
	# Read-only is no obstacle.
	mount_device "$DEV" mnt ro
	expect 0 run --json --state=st "$DEV"
	tally "ok=1"
}

@test "what is recorded under --force-mounted is written, not rot, when it differs later" {
	need_loop
	disk $((20 * 1048576))
	mkswap -q "$DEV" 2>/dev/null || mkswap "$DEV" >/dev/null
	mkdir hold
	# Somebody holds it: no evidence, no file system.
	python3 -c '
import os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_EXCL)
open("held", "w").close()
for i in range(3000):
	if os.path.exists("release"): break
	time.sleep(0.02)' "$DEV" 3>&- &
	until [ -e held ]; do sleep 0.02; done
	expect 8 run --state=st "$DEV"
	expect 0 run -q --force-mounted --state=st "$DEV"
	touch release
	wait
	flip "$DEV" 9000000
	expect 0 run --json --state=st "$DEV"
	tally "changed=1"
}

@test "an unprivileged user is told what to do" {
	need_loop
	need setpriv
	disk 65536
	chmod 711 . "$BATS_RUN_TMPDIR" 2>/dev/null || :
	run --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups "$SCRUB" verify \
		--state=/nonexistent "$DEV"
	[ "$status" -eq 8 ] || { show; return 1; }
	says "no permission to read the device"
	says "sudo"
}

@test "a mapfile that ddrescuelog accepts, of a device and of a file, not of a directory" {
	need ddrescuelog
	disk $((20 * 1048576))
	expect 0 run -q --state=st "$DEV"
	expect 0 export --format=ddrescue --state=st "$DEV"
	printf '%s\n' "$output" >map
	ddrescuelog -q -D map
	flip "$DEV" 5000000
	expect 4 run -q --state=st "$DEV"
	expect 4 export --format=ddrescue --state=st "$DEV"
	printf '%s\n' "$output" >map
	ddrescuelog -t map >log
	run ! ddrescuelog -q -D map
	[ "$(at_sector map $((5000000 / 512)))" = "*" ]
	[ "$(at_sector map 0)" = "+" ]
	[ "$(ddrescuelog -b1 -l'*' map | wc -l)" = 65536 ]
	mkdir d
	data 1 100 >d/f
	expect 0 run -q d/f
	expect 0 export --format=ddrescue d/f
	has "0x00000000  0x00000064  +"
	# A first pass that has not come to all of it yet: nothing is wrong, and it is not finished.
	detach
	disk $((40 * 1048576))
	expect 0 run -q --max-bytes=16M --state=half "$DEV"
	expect 0 export --format=ddrescue --state=half "$DEV"
	[ "$(grep -v '#' <<<"$output" | tr -s ' ')" = "0x00000000 ? 1
0x00000000 0x01000000 +
0x01000000 0x01800000 ?" ]
	expect 0 run -q d
	expect 16 export --format=ddrescue d
	says "not for a directory"
}

@test "export --format=json has every record" {
	disk $((20 * 1048576))
	expect 0 run -q --state=st "$DEV"
	expect 0 export --format=json --state=st "$DEV"
	json '.record' "header file extent end"
	json 'select(.record == "header") | .kind' device
	json 'select(.record == "file") | .path, .size' ". 20971520"
	json 'select(.record == "extent") | (.crc32 | length), (.inet | length), .crc32[319]' \
		"320 320 $(tail -c 65536 disk.img | gzip -c | tail -c 8 | od -An -tx4 -N4 | tr -d ' ')"
	mkdir d
	data 1 70000 >d/$'a\x80"b'
	ln d/$'a\x80"b' d/link
	expect 0 run -q d
	expect 0 export --format=json d
	json '.record' "header file extent link end"
	json 'select(.record == "file") | .path_bytes' 'a%80%22b'
}

@test "status names the device" {
	disk 65536
	expect 0 run -q --state=st "$DEV"
	expect 0 status --state=st "$DEV"
	has "device       backing $W/disk.img"
	expect 0 status --json --state=st "$DEV"
	json 'select(.event == "status") | .device.size, .device.backing, .unsure_bytes' "65536 $W/disk.img 0"
}

@test "a pass that is stopped goes on where it was" {
	disk $((80 * 1048576))
	"$SCRUB" init -q --state=st "$DEV"
	env --default-signal=INT "$SCRUB" run -q -j1 --reads-in-flight=1 --rate=20M --state=st "$DEV" 3>&- &
	local pid=$! status=0 i
	for ((i = 0; i < 400; i++)); do
		[ ! -s st/journal ] || [ "$(stat -c %s st/journal)" -lt 4000 ] || break
		sleep 0.02
	done
	kill -INT "$pid"
	wait "$pid" || status=$?
	[ "$status" = 32 ]
	expect 0 run --json --state=st "$DEV"
	json 'select(.event == "summary") | .new, .bytes' "1 83886080"
	# What was recorded before is compared.
	flip "$DEV" 100
	expect 4 run -q --state=st "$DEV"
	"$BATS_TEST_DIRNAME/../contrib/bitscrub-manifest-dump" st/manifest >dump
	grep -q 'device "size=83886080"' dump
}

@test "a device that is mounted in the middle of a pass: differences prove nothing" {
	need mkfs.ext4
	need_loop
	truncate -s 80M disk.img
	mkfs.ext4 -q disk.img
	attach disk.img
	expect 0 run -q --state=st "$DEV"
	flip "$DEV" $((79 * 1048576))
	"$SCRUB" run -q -j1 --reads-in-flight=1 --rate=20M --state=st "$DEV" >out 2>err 3>&- &
	local pid=$! status=0
	sleep 0.5
	mount_device "$DEV" mnt
	wait "$pid" || status=$?
	cat out err
	[ "$status" = 8 ]
	grep -q "came into use" err
	[ ! -s out ]
	umount mnt
	# Mounting wrote it, too.
	expect 0 run --json --state=st "$DEV"
	tally "changed=1"
}

@test "through the cache, and by several threads, a device has the same checksums" {
	disk $((40 * 1048576 + 512))
	expect 0 run -q -j1 --state=st "$DEV"
	expect 0 run --json --cached --state=st "$DEV"
	tally "ok=1"
	expect 0 verify --json -j4 --reads-in-flight=4 --state=st "$DEV"
	tally "ok=1"
	cp disk.img file
	expect 0 run -q file
	expect 0 export --format=json file
	local file
	file=$(jq -c 'select(.record == "extent") | .crc32, .inet' <<<"$output")
	expect 0 export --format=json --state=st "$DEV"
	[ "$(jq -c 'select(.record == "extent") | .crc32, .inet' <<<"$output")" = "$file" ]
}

@test "a repair of a device that is killed anywhere is completed or taken back" {
	need strace
	disk $((20 * 1048576))
	expect 0 run -q --state=st "$DEV"
	poke "$DEV" 300000 zzzz
	poke "$DEV" 9000000 zzzz
	expect 4 run -q --state=st "$DEV"
	cp disk.img bad.img
	cp -a st st.bad
	local k killed=0
	for k in 1 2 3 4 5 6 7 8 9 10; do
		dd if=bad.img of="$DEV" bs=1M conv=fsync status=none
		rm -rf st
		cp -a st.bad st
		run strace -f -qq -o /dev/null -e trace=pwrite64,write,fsync,fdatasync \
			-e "inject=pwrite64,write,fsync,fdatasync:signal=KILL:when=$k" \
			"$SCRUB" repair -q --state=st "$DEV"
		[ "$status" -ne 137 ] || killed=$((killed + 1))
		run "$SCRUB" run -q --state=st "$DEV"
		run "$SCRUB" repair -q --state=st "$DEV"
		expect 0 run -q --state=st "$DEV"
		cmp disk.img <(data 1 $((20 * 1048576)))
	done
	[ "$killed" -ge 5 ]
}
