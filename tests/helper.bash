# SPDX-License-Identifier: LGPL-2.1-or-later
# What the bats files share: the command, seeded data, file systems on loop devices that are always
# taken down again. Load it, and call helper_teardown from a teardown of your own if you have one.
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

SCRUB=${SCRUB:-$BATS_TEST_DIRNAME/../src/scrub}
export LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR

# A sanitizer can't look for leaks in a process that is traced.
strace() {
	ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" command strace "$@"
}

setup() {
	W=$BATS_TEST_TMPDIR
	cd "$W" || return 1
}

teardown() {
	helper_teardown
}

# two_targets [DIR], in a setup of one's own: a and b as by everybody's umask, with a/x and DIR/y (b/y).
two_targets() {
	W=$BATS_TEST_TMPDIR
	cd "$W" || return 1
	umask 022
	mkdir a b
	echo one >a/x
	echo two >"${1:-b}/y"
}

# Unmounts and detaches whatever a test of ours left, in reverse order, also after a failure.
helper_teardown() {
	local i
	cd / || return 1
	for ((i = ${#MOUNTS[@]} - 1; i >= 0; i--)); do
		umount "${MOUNTS[i]}" 2>/dev/null || umount -l "${MOUNTS[i]}" 2>/dev/null || :
	done
	MOUNTS=()
	return 0
}
MOUNTS=()

# expect STATUS ARGUMENT...: runs the command; its stdout is in $output, stderr in $stderr.
expect() {
	local want=$1
	shift
	run --separate-stderr "$SCRUB" "$@"
	if [ "$status" -ne "$want" ]; then
		echo "scrub $*: exit $status, not $want"
		show
		return 1
	fi
}

show() {
	printf -- '--- stdout\n%s\n--- stderr\n%s\n' "$output" "$stderr"
}

# has TEXT: stdout contains it; hasnt: it doesn't. says, saysnt: the same for stderr.
has() { [[ $output == *"$1"* ]] || { echo "stdout lacks: $1"; show; return 1; }; }
hasnt() { [[ $output != *"$1"* ]] || { echo "stdout has: $1"; show; return 1; }; }
says() { [[ $stderr == *"$1"* ]] || { echo "stderr lacks: $1"; show; return 1; }; }
saysnt() { [[ $stderr != *"$1"* ]] || { echo "stderr has: $1"; show; return 1; }; }

# json FILTER WANT: what jq makes of the JSON Lines in $output, all lines joined by spaces.
json() {
	local got
	got=$(jq -r "$1" <<<"$output" | paste -sd ' ')
	[ "$got" = "$2" ] || { echo "jq $1: $got, not $2"; show; return 1; }
}

# data SEED BYTES: that many bytes on stdout, the same for the same seed, none of them compressible.
data() {
	perl -e '
		my ($x, $n) = (2654435761 * ($ARGV[0] + 1) & 0xffffffff | 1, $ARGV[1]);
		binmode STDOUT;
		while ($n > 0) {
			my @w;
			for (1 .. 4096) {
				$x ^= $x << 13 & 0xffffffff; $x ^= $x >> 17; $x ^= $x << 5 & 0xffffffff;
				push @w, $x;
			}
			my $s = pack("V*", @w);
			print $n < length $s ? substr($s, 0, $n) : $s;
			$n -= length $s;
		}' "$1" "$2"
}

# flip FILE OFFSET [BIT]: flips one bit of a file, in place, with whatever times that gives.
flip() {
	perl -e '
		my ($f, $o, $b) = @ARGV;
		open my $h, "+<", $f or die "$f: $!";
		seek $h, $o, 0; read $h, my $c, 1; die "$f: no byte $o" if length $c != 1;
		seek $h, $o, 0; print $h chr(ord($c) ^ 1 << $b); close $h or die "$f: $!";' \
		"$1" "$2" "${3:-0}"
}

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

# need PROGRAM...
need() {
	local p
	for p; do
		type -P "$p" >/dev/null || skip "needs $p"
	done
}

need_loop() {
	need_root
	need losetup
	losetup -f >/dev/null 2>&1 || skip "needs loop devices"
}

# make_fs TYPE MIB [NAME]: a new file system in $W/NAME.img, mounted at $W/NAME (default: fs).
make_fs() {
	local name=${3:-fs}
	need_loop
	need "mkfs.$1"
	truncate -s "$2M" "$W/$name.img"
	mkfs."$1" -q "$W/$name.img"
	mkdir -p "$W/$name"
	mount_fs "$name"
}

# mount_fs NAME [OPTIONS], unmount_fs NAME: in between the image can be damaged.
mount_fs() {
	# The loop device goes with the mount: tests run in parallel, and a device that was let go of
	# may be another one's a moment later.
	mount -o "loop,${2:-defaults}" "$W/$1.img" "$W/$1" || return 1
	MOUNTS+=("$W/$1")
}

unmount_fs() {
	umount "$W/$1" || return 1
	# Whoever looks at the loop device keeps it alive, and what it has cached: the next mount would
	# take it again and not see what happened to the image.
	for _ in {1..300}; do
		[ -n "$(losetup -nj "$W/$1.img")" ] || return 0
		sleep 0.1
	done
	echo "$1.img is still in use"
	return 1
}

# place FILE OFFSET: where this byte is in the image of its file system (ext4, xfs), by FIEMAP.
place() {
	sync "$1"
	filefrag -b1 -v "$1" | perl -ne '
		BEGIN { $o = shift } next unless /^\s*\d+:\s*(\d+)\.\.\s*(\d+):\s*(\d+)\.\./;
		if ($o >= $1 && $o <= $2) { print $3 + $o - $1, "\n"; $found = 1; last }
		END { exit !$found }' "$2"
}
