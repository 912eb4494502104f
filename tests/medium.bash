# SPDX-License-Identifier: LGPL-2.1-or-later
# A disk that can fail: fs.img served by nbdkit through FUSE to a loop device. Load it after helper,
# and call medium_teardown from teardown.
# shellcheck shell=bash

# map_files DIR >places: where the extents of its files are, "PATH LOGICAL PHYSICAL LENGTH".
map_files() {
	(
		cd "$1" || return 1
		find . -path ./.bitscrub -prune -o -type f -printf '%P\n' | sort | while read -r i; do
			filefrag -b1 -v "$i" | perl -ne 'BEGIN { $f = shift }
				/^\s*\d+:\s*(\d+)\.\.\s*\d+:\s*(\d+)\.\.\s*\d+:\s*(\d+):/ and
				print "$f $1 $2 $3\n"' "$i"
		done
	)
}

# at PATH OFFSET: where it is in the image, by the file places.
at() {
	awk -v f="$1" -v o="$2" '$1 == f && $2 <= o && o < $2 + $4 { print $3 + o - $2; n = 1 }
		END { exit !n }' places
}

need_medium() {
	need_loop
	need nbdkit nbdfuse
	[ -c /dev/fuse ] || skip "needs FUSE"
	nbdkit --filter=ddrescue null --dump-plugin >/dev/null 2>&1 || skip "needs nbdkit's ddrescue filter"
}

# bad_sectors OFFSET...: from now on the sectors of 512 bytes with these bytes of fs.img are bad.
bad_sectors() {
	perl -e '
		my ($size, %bad) = (shift); $bad{int($_ / 512)} = 1 for @ARGV;
		my $at = 0; print "0x0 +\n";
		for (sort { $a <=> $b } keys %bad) {
			printf "0x%x 0x%x +\n", $at, $_ * 512 - $at if $_ * 512 > $at;
			printf "0x%x 0x200 -\n", $_ * 512; $at = $_ * 512 + 512;
		}
		printf "0x%x 0x%x +\n", $at, $size - $at;' "$(stat -c %s fs.img)" "$@" >map
}

# serve [MILLISECONDS]: fs.img with its bad sectors, and so slow, as disk/nbd, a file of FUSE.
serve() {
	local i
	mkdir -p disk
	nbdfuse disk --socket-activation nbdkit --filter=delay --filter=ddrescue file fs.img \
		rdelay="${1:-0}ms" ddrescue-mapfile=map >served 2>&1 3>&- &
	SERVER=$!
	MOUNTS+=("$W/disk")
	for ((i = 0; i < 200; i++)); do
		[ ! -e disk/nbd ] || return 0
		sleep 0.05
	done
	cat served
	return 1
}

# mount_served [OPTIONS]: what serve serves, at fs. The loop device goes with the mount.
mount_served() {
	local dev status
	dev=$(losetup -r -f --show --direct-io=on disk/nbd) || return 1
	mount -o "ro,noload${1:+,$1}" "$dev" fs
	status=$?
	losetup -d "$dev"
	MOUNTS+=("$W/fs")
	return "$status"
}

# unserve: the disk is taken out in an orderly way.
unserve() {
	umount fs && umount disk && wait "$SERVER"
	SERVER=
}

# kill_server: the disk is gone, with the file system still mounted.
kill_server() {
	local kids
	kids=$(pgrep -P "$SERVER" || :)
	# shellcheck disable=SC2086 # a list of numbers
	kill -9 "$SERVER" $kids
	wait "$SERVER" 2>/dev/null || :
	SERVER=
}

medium_teardown() {
	[ -z "$SERVER" ] || kill_server
	helper_teardown
}
