#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs that rename, pack, map and overwrite their files, with passes between: no damage.

load helper
load pass

# fine [WANT]: a pass finds no damage, and of other verdicts these if they are given.
fine() {
	expect 0 run --json --verbose fs
	damage ""
	[ -z "$1" ] || tally "$1"
}

repository() {
	git -C fs/repo -c user.name=n -c user.email=e@example.org "$@" >/dev/null 2>&1
}

# versions TYPE MIB: git writes, packs and switches, and keeps or sets whatever times it likes.
versions() {
	local i
	need git
	export HOME=$W GIT_CONFIG_NOSYSTEM=1
	make_fs "$1" "$2"
	mkdir fs/repo
	repository init
	for i in 1 2 3 4; do
		data "$i" 20000 >"fs/repo/$i"
		echo "version $i" >fs/repo/text
		repository add .
		repository commit -m "$i"
		fine
	done
	repository checkout HEAD~2
	fine
	repository checkout -b other
	echo other >fs/repo/text
	repository commit -am other
	repository checkout master || repository checkout main
	fine
	repository repack -ad
	repository gc --prune=now
	fine
	repository reset --hard HEAD~3
	fine
	repository stash
	repository clean -fdx
	fine
	fine "ok=$(find fs/repo -type f | wc -l)"
}

@test "git on ext4" {
	versions ext4 32
}

@test "git on xfs" {
	versions xfs 300
}

# database TYPE MIB MODE: a connection stays open over passes, with its log and shared memory mapped.
database() {
	local i reply
	need sqlite3
	make_fs "$1" "$2"
	mkfifo sql.in sql.out
	sqlite3 fs/db <sql.in >sql.out 2>&1 3>&- &
	pid=$!
	exec {in}>sql.in {out}<sql.out
	sql() {
		printf '%s\n.print over\n' "$1" >&"$in"
		while read -r -t 20 reply <&"$out" && [ "$reply" != over ]; do :; done
		[ "$reply" = over ]
	}
	sql "PRAGMA journal_mode=$3; PRAGMA mmap_size=268435456; PRAGMA synchronous=OFF;
		CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB);"
	for i in 1 2 3 4 5 6; do
		sql "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 200)
			INSERT INTO t(b) SELECT randomblob(500) FROM c;
			UPDATE t SET b = randomblob(400) WHERE a % 7 = $i;"
		fine
		sql "DELETE FROM t WHERE a % 11 = $i;"
		[ "$i" != 4 ] || sql "PRAGMA wal_checkpoint(TRUNCATE); VACUUM;"
		[ "$i" != 5 ] || settle
		fine
	done
	exec {in}>&- {out}<&-
	wait $pid
	fine
	fine "ok=$(find fs -maxdepth 1 -type f | wc -l)"
}

@test "sqlite with a write-ahead log, on ext4" {
	database ext4 32 WAL
}

@test "sqlite with a write-ahead log, on xfs" {
	database xfs 300 WAL
}

@test "sqlite with a rollback journal, on ext4" {
	database ext4 32 PERSIST
}
