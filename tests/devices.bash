# SPDX-License-Identifier: LGPL-2.1-or-later
# Block devices for tests: loop devices over images, let go of whatever happens. Load it after helper
# and pass, and call devices_teardown from teardown.
# shellcheck shell=bash

LOOPS=()

# attach IMAGE [LOSETUP-OPTION...]: a loop device over it: $DEV. Its name is of no use afterwards.
attach() {
	local image=$1
	shift
	DEV=$(losetup -f --show "$@" "$image") || return 1
	LOOPS+=("$DEV")
}

# detach: the device that was attached last, and waits until it is gone.
detach() {
	local dev=${LOOPS[-1]}
	unset 'LOOPS[-1]'
	partx -d "$dev" 2>/dev/null || :
	losetup -d "$dev"
	for _ in {1..300}; do
		losetup "$dev" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	echo "$dev is still in use"
	return 1
}

devices_teardown() {
	helper_teardown
	local i
	for ((i = ${#LOOPS[@]} - 1; i >= 0; i--)); do
		partx -d "${LOOPS[i]}" 2>/dev/null || :
		losetup -d "${LOOPS[i]}" 2>/dev/null || :
	done
	LOOPS=()
}

# partition_of N: the device of partition N of $DEV; makes the node where nobody else does.
partition_of() {
	local sys=/sys/class/block/${DEV##*/} node=${DEV}p$1 major minor
	# Where the kernel reads no tables, partx does.
	[ -e "$sys/${DEV##*/}p$1/dev" ] || partx -a "$DEV" || return 1
	IFS=: read -r major minor <"$sys/${DEV##*/}p$1/dev" || return 1
	[ -b "$node" ] || mknod "$node" b "$major" "$minor" || return 1
	echo "$node"
}

# mount_device DEVICE DIR [OPTIONS]
mount_device() {
	mkdir -p "$2"
	mount -o "${3:-defaults}" "$1" "$2" || return 1
	MOUNTS+=("$W/$2")
}

uuid() {
	cat /proc/sys/kernel/random/uuid
}

# poke FILE OFFSET TEXT: these bytes there, in place.
poke() {
	printf %s "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# at_sector FILE SECTOR: the map's status there ("+", "-", "*", "?"), by ddrescue's mapfile @FILE.
at_sector() {
	perl -ne 'BEGIN { $o = 512 * shift }
		print "$3\n" if /^(0x\S+)\s+(0x\S+)\s+(\S)$/ && hex $1 <= $o && $o < hex($1) + hex $2' \
		"$2" "$1"
}

# find_text IMAGE TEXT: where it is first, in bytes.
find_text() {
	perl -e '
		my ($f, $t) = @ARGV; my ($at, $buf) = (0, "");
		open my $h, "<", $f or die "$f: $!";
		while (read $h, my $more, 1 << 22) {
			$buf .= $more;
			my $i = index $buf, $t;
			if ($i >= 0) { print $at + $i, "\n"; exit 0 }
			my $drop = length($buf) - length($t);
			if ($drop > 0) { $at += $drop; $buf = substr $buf, $drop }
		}
		exit 1' "$1" "$2"
}

# fs_device TYPE: a new file system on disk.img, attached, with files at mnt (unmounted again): a is
# 300000 bytes, and has MARKER-A from byte 200000 on.
fs_device() {
	need_loop
	need "mkfs.$1"
	local size=48M
	[ "$1" != xfs ] || size=320M
	[ "$1" != btrfs ] || size=128M
	rm -f disk.img
	truncate -s "$size" disk.img
	"mkfs.$1" -q disk.img >/dev/null 2>&1
	attach disk.img
	mount_device "$DEV" mnt
	mkdir -p mnt/dir
	data 5 300000 >mnt/dir/a
	poke mnt/dir/a 200000 MARKER-A
	data 6 50000 >mnt/b
	sync
	umount mnt
}

# write_fs: somebody mounts $DEV and writes.
write_fs() {
	mount_device "$DEV" mnt
	date +%N >>mnt/written
	sync
	umount mnt
}
