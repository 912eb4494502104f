#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Errors of single system calls that once were taken for something else.

load helper
load pass

setup() {
	W=$BATS_TEST_TMPDIR
	cd "$W" || return 1
	need_root
	need strace
	need jq
	mkdir t
	data 1 20000 >t/a
	data 2 5000 >t/b
	touch -d 2020-01-01 t/?
}

# numbers CALL REGEX ARGUMENT...: which of the calls of an undisturbed command are about that, "1 4 ...".
numbers() {
	local call=$1 regex=$2
	shift 2
	strace -f -y -qq -o trace -e trace="$call" "$SCRUB" "$@" >/dev/null 2>&1 || true
	regex=$regex perl -ne '
		/^(\d+) +\w+\(/ or next;
		$first //= $1;
		next if $1 != $first;
		$n++;
		print "$n\n" if /$ENV{regex}/' trace
}

# failing CALL ERROR N ARGUMENT...: the command, whose Nth such call fails: $injected is that one.
failing() {
	local call=$1 error=$2 n=$3
	shift 3
	run --separate-stderr strace -f -y -qq -o trace -e trace="$call" \
		-e "inject=$call:error=$error:when=$n" "$SCRUB" "$@"
	injected=$(grep INJECTED trace || true)
}

identity() {
	"$BATS_TEST_DIRNAME/../contrib/bitscrub-manifest-dump" t/.bitscrub/manifest | grep '^  identity'
}

@test "a list of mounts that can't be read gives no file system another name" {
	settle
	expect 0 run -q -j1 t
	name=$(identity)
	times=0
	for fault in openat:EMFILE read:EIO read:ENOMEM; do
		for n in $(numbers "${fault%:*}" mountinfo run -q -j1 t); do
			data 3 "10$n" >t/c
			failing "${fault%:*}" "${fault#*:}" "$n" run -q -j1 t
			# There is a bit more to do than in the undisturbed run.
			[[ $injected == *mountinfo* ]] || continue
			[ "$status" -eq 8 ] && [ -n "$stderr" ] || { echo "$fault $n: $status"; show; return 1; }
			[ "$(identity)" = "$name" ]
			times=$((times + 1))
		done
	done
	[ "$times" -ge 3 ] || { echo "$times"; return 1; }
	# Nobody thinks that this is another disk.
	expect 0 run -q t
	expect 0 run --json t
	tally "ok=3"
}

@test "out of memory is said, whichever call says so" {
	settle
	expect 0 run -q -j1 t
	times=0
	for call in openat openat2 getdents64 newfstatat pread64 fcntl; do
		for n in $(numbers $call "$W/t" run -q -j1 t); do
			failing $call ENOMEM "$n" run -q -j1 t
			[ -n "$injected" ] || continue
			[ "$status" -eq 0 ] || { [ "$status" -lt 16 ] && [ -n "$stderr" ]; } ||
				{ echo "$call $n: $status"; show; return 1; }
			[ "$status" -eq 0 ] || times=$((times + 1))
		done
	done
	[ "$times" -gt 20 ] || { echo "$times"; return 1; }
	expect 0 run -q t
}

@test "a call that is interrupted is no stop by the user" {
	settle
	expect 0 run -q -j1 t
	times=0
	for call in openat openat2 pread64 write fsync fdatasync; do
		for n in $(numbers $call "$W/t" run -q -j1 t); do
			failing $call EINTR "$n" run -q -j1 t
			[ $((status & 32)) -eq 0 ] || { echo "$call $n: $status"; show; return 1; }
			saysnt stopped
			[ -z "$injected" ] || times=$((times + 1))
		done
	done
	[ "$times" -gt 20 ] || { echo "$times"; return 1; }
}

@test "a repair that was cut short stays one, if nobody can say now which file system it is on" {
	settle
	expect 0 run -q t
	first=$(numbers read mountinfo run -q -j1 t | head -n 1)
	GOOD=$(cksum <t/a)
	settle
	edit_quietly t/a 9000
	expect 4 run -q t
	run strace -f -qq -o trace -e trace=utimensat -e inject=utimensat:signal=KILL:when=1 \
		"$SCRUB" repair -q --force t a
	[ "$status" -eq 137 ]
	away=0
	for ((n = first; n < first + 50; n++)); do
		failing read EIO "$n" run -q -j1 t
		saysnt "left as it is"
		[[ $injected == *mountinfo* ]] || [ "$status" -ge 8 ] || break
		if [[ $injected == *mountinfo* ]]; then
			[ "$status" -eq 8 ] || { show; return 1; }
			away=$((away + 1))
		fi
	done
	[ "$away" -gt 0 ]
	expect 0 run -q t
	[ "$(cksum <t/a)" = "$GOOD" ]
	[ "$(stat -c %Y t/a)" -eq "$(date -d 2020-01-01 +%s)" ]
}

@test "metrics that lack what is known of the target are trouble" {
	settle
	expect 0 run -q -j1 t
	times=0
	last=$(numbers openat '"manifest"' run -q -j1 --metrics=m.prom t | tail -n 1)
	# What there is to do may differ by some files from that run.
	for ((n = last - 8; n < last + 8; n++)); do
		failing openat EMFILE "$n" run -q -j1 --metrics=m.prom t
		[[ $injected == *'"manifest"'* ]] || continue
		[ "$status" -eq 8 ] && [ -n "$stderr" ] || { echo "$n: $status"; show; return 1; }
		[[ $stderr == *"--metrics: cannot read what is known of t: "* ]] || continue
		grep '^bitscrub_pass_complete{target="t",verb="run"} 1$' m.prom
		run ! grep '^bitscrub_files' m.prom
		times=$((times + 1))
	done
	[ "$times" -gt 0 ]
	expect 0 run -q --metrics=m.prom t
	grep '^bitscrub_files{target="t",verb="run"} 2$' m.prom
}
