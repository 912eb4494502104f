#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Mails from cron, as they are read by somebody who has other things to do: word for word.

load helper
load pass
load medium

teardown() {
	medium_teardown
}

# The mail that cron would send of a command: both outputs in their order, and what moves fixed.
# mail STATUS ARGUMENT...
mail() {
	local want=$1 got=0
	shift
	"$SCRUB" "$@" >mail.raw 2>&1 || got=$?
	sed -E "s|$SCRUB|/usr/bin/scrub|g; s|$W|/tmp|g; s/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(:[0-9]{2})?/DATE/; s/process [0-9]+/process PID/" \
		mail.raw >mail.got
	[ "$got" = "$want" ] || { echo "exit $got, not $want"; cat mail.got; return 1; }
	cat >mail.want
	diff mail.want mail.got
}

# rotten N: fs with files f01 to fN, each with one flipped bit underneath.
rotten() {
	local i places=()
	make_fs ext4 64
	for i in $(seq -w 1 "$1"); do data "1$i" 200000 >"fs/f$i"; done
	settle
	expect 0 run -q fs
	for i in fs/f*; do places+=("$(place "$i" 100000)"); done
	unmount_fs fs
	for i in "${places[@]}"; do flip fs.img "$i" 6; done
	mount_fs fs
}

@test "nothing is wrong: no mail, from any pass" {
	mkdir t
	echo a >t/a
	echo c >t/c
	mail 0 run --quiet t </dev/null
	mail 0 run --quiet t </dev/null
	echo b >t/b
	rm t/a
	mail 0 run --quiet --existing t </dev/null
	mail 0 verify --quiet t </dev/null
	mail 0 status --quiet t </dev/null
}

@test "new damage: verdict, where, what to type; then a line a file, and that none is new" {
	rotten 2
	bytes=()
	for i in 1 2; do
		bytes+=("$(perl -e 'open F, shift; seek F, 100000, 0; read F, $c, 1; printf "0x%02x -> 0x%02x", ord($c) ^ 64, ord $c' fs/f$i)")
	done
	mail 4 run --quiet --existing fs <<-END
		fs: DAMAGE: 2 blocks in 2 files
		fs: f1: rot in block 6: 16384 bytes at offset 98304; 1 bit flipped at byte 100000 (${bytes[0]}); repairable
		fs: f2: rot in block 6: 16384 bytes at offset 98304; 1 bit flipped at byte 100000 (${bytes[1]}); repairable
		Next: /usr/bin/scrub repair fs
		      then restore what is left from a backup; or, if the present content is right:
		      /usr/bin/scrub accept fs PATH...
	END
	mail 4 run --quiet --existing fs <<-END
		fs: DAMAGE: 2 blocks in 2 files, none of it new
		fs: f1: rot, still damaged since DATE
		fs: f2: rot, still damaged since DATE
		Next: /usr/bin/scrub repair fs
		      then restore what is left from a backup; or, if the present content is right:
		      /usr/bin/scrub accept fs PATH...
	END
	# What is told is true, and helps.
	bash -c "$(sed -n 's/^Next: //p' mail.raw)" >/dev/null || true
	mail 0 run --quiet --existing fs </dev/null
}

@test "very much damage: 20 lines, and where the rest is" {
	rotten 23
	cp fs/.bitscrub/manifest before
	expect 4 run -q fs
	[ "${#lines[@]}" = 25 ]
	[ "${lines[0]}" = "fs: DAMAGE: 23 blocks in 23 files" ]
	[[ ${lines[20]} == "fs: f"[0-9][0-9]": rot in block 6: "* ]]
	[ "${lines[21]}" = "and 3 more: $SCRUB list --damaged fs" ]
	[ "${lines[22]}" = "Next: $SCRUB repair fs" ]
	expect 4 run -q fs
	[ "${#lines[@]}" = 25 ]
	[ "${lines[0]}" = "fs: DAMAGE: 23 blocks in 23 files, none of it new" ]
	[[ ${lines[20]} == "fs: f"[0-9][0-9]": rot, still damaged since "* ]]
	[ "${lines[21]}" = "and 3 more: $SCRUB list --damaged fs" ]
	[ "$("$SCRUB" list --damaged fs | wc -l)" = 23 ]
	# verify keeps no list, so it tells all.
	expect 4 verify -q -m before fs
	[ "$(grep -c ': rot in block 6' <<<"$output")" = 23 ]
	hasnt more:
}

@test "altered: who looks decides" {
	mkdir t
	echo content >t/a
	expect 0 run -q t
	edit_quietly t/a 0
	mail 4 run --quiet --existing t <<-END
		t: DAMAGE: 1 block in 1 file
		t: a: altered in block 0: 8 bytes at offset 0, under an unchanged modification time; 1 bit flipped at byte 0 (0x63 -> 0x62); repairable
		Next: /usr/bin/scrub list --damaged t
		      then, where the present content is right:
		      /usr/bin/scrub accept t PATH...
		      and where the recorded one is:
		      /usr/bin/scrub repair --force t PATH...
	END
}

@test "repaired on the way: what, and from where; nothing to type" {
	rotten 1
	b=$(perl -e 'open F, shift; seek F, 100000, 0; read F, $c, 1; printf "0x%02x -> 0x%02x", ord($c) ^ 64, ord $c' fs/f1)
	mail 1 run --quiet --existing --repair fs <<-END
		fs: repaired; no damage is open
		fs: f1: rot in block 6: 16384 bytes at offset 98304; 1 bit flipped at byte 100000 ($b); repairable
		fs: f1: repaired from parity: block 6, 16384 bytes at offset 98304
	END
	mail 0 run --quiet --existing --repair fs </dev/null
}

@test "missing in a copy" {
	mkdir t copy
	echo a >t/a
	echo b >t/b
	expect 0 run -q t
	cp t/a copy
	mail 4 verify --quiet -m t/.bitscrub/manifest copy <<-END
		copy: DAMAGE: 1 file
		copy: b: missing
		Next: restore what is named above from a good copy, then: /usr/bin/scrub verify -m t/.bitscrub/manifest copy
	END
}

@test "a disk that is not mounted" {
	need_root
	make_fs ext4 16
	echo a >fs/a
	expect 0 run -q fs
	unmount_fs fs
	mail 8 run --quiet --existing fs <<-END
		scrub: fs: there is no manifest for this target: is the disk mounted? ('run' without --existing makes one)
	END
	mail 8 run --quiet fs <<-END
		scrub: fs: there is no manifest and nothing to record: is the disk mounted? ('init' makes an empty manifest)
	END
}

@test "everything gone" {
	mkdir t
	echo a >t/a
	echo b >t/b
	expect 0 run -q t
	rm t/a t/b
	mail 8 run --quiet --existing t <<-END
		scrub: t: all 2 of 2 recorded files are gone: nothing was read or changed; if this is right, use --allow-missing
	END
}

@test "trouble: a directory and a file that can't be read" {
	need_root
	need setpriv
	mkdir t t/d
	echo a >t/a
	echo b >t/d/b
	echo c >t/c
	expect 0 run -q t
	chmod 0 t/a t/d
	# root without its capabilities is a user like others.
	printf '#!/bin/sh\nexec setpriv --bounding-set=-all --inh-caps=-all %s "$@"\n' "$SCRUB" >scrub
	chmod +x scrub
	SCRUB=$W/scrub
	mail 8 run --quiet --existing t <<-END
		scrub: t: d: cannot list the directory: Permission denied
		scrub: t: a: cannot open the file: Permission denied
	END
}

@test "another pass is at work" {
	mkdir t
	echo a >t/a
	expect 0 run -q t
	flock t/.bitscrub sleep 5 &
	pid=$!
	sleep 0.5
	mail 8 run --quiet --existing t <<-END
		scrub: t: /tmp/t/.bitscrub is in use by process PID (flock, running since DATE): try again when it is done, or wait with --wait
	END
	wait $pid
}

@test "stopped, as by a shutdown" {
	need_root
	need strace
	mkdir t
	data 1 3000000 >t/big
	expect 0 run -q t
	reads=pread64,preadv,preadv2,mmap,io_uring_enter
	cat >slow <<-END
		#!/bin/sh
		ASAN_OPTIONS=detect_leaks=0 exec $(type -P strace) -f -qq -o /dev/null -P $W/t/big -e trace=$reads \
			-e inject=$reads:delay_enter=1500000 $SCRUB "\$@"
	END
	chmod +x slow
	SCRUB=$W/slow
	(
		for _ in {1..200}; do
			[ -z "$(find /proc/[0-9]*/fd -lname "$W/t/big" 2>/dev/null)" ] || break
			sleep 0.05
		done
		sleep 0.2
		pkill -TERM -P "$(pgrep -o -f "strace.*$W/t/big")"
	) &
	mail 32 run --quiet --existing -j1 "$W/t" <<-END
		scrub: stopping; what was done is kept
	END
	wait
}

# A disk that errs once: while the file lie exists, the next request that covers byte $1 gets one bit
# of it wrong, and the lie is over.
serve_liar() {
	local i
	mkdir -p disk
	cat >pread <<-END
		dd if=$W/fs.img iflag=skip_bytes,count_bytes skip=\$4 count=\$3 bs=1M status=none >$W/part.\$\$
		if [ -e $W/lie ] && [ \$4 -le $1 ] && [ $1 -lt \$((\$4 + \$3)) ]; then
			rm $W/lie
			perl -e 'open F, "+<", shift; seek F, \$ARGV[0], 0; read F, \$c, 1; seek F, \$ARGV[0], 0; print F chr(ord(\$c) ^ 16)' $W/part.\$\$ \$(($1 - \$4))
		fi
		cat $W/part.\$\$
		rm $W/part.\$\$
	END
	nbdfuse disk --socket-activation nbdkit eval get_size="echo $(stat -c %s fs.img)" \
		pread=". $W/pread" >served 2>&1 3>&- &
	SERVER=$!
	MOUNTS+=("$W/disk")
	for ((i = 0; i < 200; i++)); do
		[ ! -e disk/nbd ] || return 0
		sleep 0.05
	done
	cat served
	return 1
}

@test "a disk that errs once: no damage, but somebody has to look at the cables" {
	need_medium
	make_fs ext4 16
	data 1 200000 >fs/f
	settle
	expect 0 run -q --state state fs
	at=$(place fs/f 100000)
	unmount_fs fs
	serve_liar "$at"
	mount_served
	mail 0 run --quiet --existing --state state fs </dev/null
	touch lie
	mail 8 run --quiet --existing --state state fs <<-END
		scrub: warning: fs: f: read wrong at first and right at the second try, at byte 98304: check memory, cable and controller
	END
	[ ! -e lie ]
	mail 0 run --quiet --existing --state state fs </dev/null
	expect 0 status --history --state state fs
	[ "$(grep -c '1 transient' <<<"$output")" -eq 1 ]
}
