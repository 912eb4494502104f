#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Many files: memory that does not grow with them, and answers that don't take long. SCALE_FILES says
# how many (a million in CI); a thousand in a directory.

load helper
load robust

FILES=${SCALE_FILES:-60000}

# many: a tmpfs with inodes enough at $W/fs, and that many tiny files in fs/tree.
many() {
	need_root
	# On a tmpfs each of them takes a page.
	if [ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -lt $((FILES * 6)) ]; then
		FILES=60000
	fi
	mkdir fs
	mount -t tmpfs -o "size=6g,nr_inodes=$((FILES + 100000)),mode=0755" tmpfs fs ||
		skip "needs to mount a tmpfs"
	MOUNTS+=("$W/fs")
	perl -e '
		mkdir "fs/tree";
		for my $i (0 .. $ARGV[0] - 1) {
			my $d = sprintf "fs/tree/%04d", $i / 1000;
			mkdir $d unless $i % 1000;
			open my $h, ">", sprintf "%s/%03d", $d, $i % 1000 or die;
			print $h "$i\n";
		}' "$FILES"
}

@test "first and later passes stay below 64 MiB, list lists all, status reads little" {
	[ -x /usr/bin/time ] || skip "needs GNU time"
	many
	limit=65536
	if sanitized; then limit=100000000; fi
	measured run --json --no-parity --state=fs/s fs/tree
	[ "$(summary new)" -eq "$FILES" ]
	[ "$peak" -lt $limit ]
	measured run --json --state=fs/s fs/tree
	[ "$(summary ok)" -eq "$FILES" ]
	[ "$peak" -lt $limit ]
	measured verify --json --state=fs/s fs/tree
	[ "$(summary ok)" -eq "$FILES" ]
	[ "$peak" -lt $limit ]
	measured list --state=fs/s fs/tree
	[ "$(wc -l <out)" -eq "$FILES" ]
	[ "$peak" -lt $limit ]

	begin=${EPOCHREALTIME/[.,]/}
	expect 0 status --json --state=fs/s fs/tree
	took=$((${EPOCHREALTIME/[.,]/} - begin))
	echo "status: $took us"
	[ "$took" -lt 2000000 ] || sanitized
	json 'select(.event == "status") | .files' "$FILES"
	need_strace
	traced -f -qq -o trace -e trace=read,pread64,mmap "$SCRUB" status --state=fs/s fs/tree >/dev/null
	total=$(sed -n 's/.*pread64(.* = \([0-9]*\)$/\1/p' trace | awk '{ n += $1 } END { print n + 0 }')
	echo "status: $total bytes"
	[ "$total" -gt 1000 ]
	[ "$total" -lt 4194304 ]

	# A third of the directories under another name: moved, each of them.
	third=$((FILES / 3000))
	(cd fs/tree && for d in $(find . -mindepth 1 -maxdepth 1 | sort | head -n $third); do
		mv "$d" "$d-moved"
	done)
	measured run --json --state=fs/s fs/tree
	[ "$(summary moved)" -eq $((third * 1000)) ]
	[ "$(summary ok)" -eq $((FILES - third * 1000)) ]
	[ "$peak" -lt $limit ]
}
