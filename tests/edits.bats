#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# A corpus of what people and tools do to their files, on ext4 and xfs, with passes between:
# none of it is rot, or damage of any kind unless the design says so.

load helper
load pass
load mapped

teardown() {
	mapped_teardown
}

populate() {
	local i
	mkdir docs src pkg log vm old
	for i in 1 2 3 4 5 6; do data "$i" 30000 >"docs/$i"; done
	for i in {1..30}; do echo "line $i of a text, and some more to edit" >"src/$i.c"; done
	for i in 1 2 3; do
		data "1$i" 50000 >"pkg/$i"
		touch -d "2023-0$i-01" "pkg/$i"
	done
	data 20 40000 >log/current
	data 21 4000000 >vm/disk
	data 22 300000 >vm/mapped
	truncate -s 3M vm/sparse
	for i in 1 2 3; do data "3$i" 9000 >"old/$i"; done
}

# fine WANT: a pass finds no damage, and of other verdicts these if they are given.
fine() {
	expect 0 run --json --verbose fs
	damage ""
	[ -z "$1" ] || tally "$1"
}

by_hand() {
	cp fs/docs/1 fs/docs/copy
	cp -p fs/docs/2 fs/docs/copy2
	mv fs/docs/3 fs/docs/three
	mv fs/docs/4 fs/src/four
	sed -i 's/text/TEXT/' fs/src/1.c fs/src/2.c
	# vim's backup and rename, and emacs' too.
	cp -p fs/src/3.c fs/src/3.c~
	echo changed >>fs/src/3.c
	data 40 900 >fs/src/.4.c.tmp
	mv fs/src/.4.c.tmp fs/src/4.c
	ln fs/src/5.c fs/src/.#5.c
	echo other >fs/src/5.c.new
	mv fs/src/5.c.new fs/src/5.c
	rm fs/src/.#5.c
	touch fs/docs/5
	touch -d 2020-02-02 fs/docs/6
	chmod -R go-rwx fs/docs
	chown -R 1:1 fs/src
	truncate -s 10000 fs/docs/5
	rm fs/src/30.c
	ln fs/docs/1 fs/docs/one
}

by_programs() {
	# A backup is put back, and a tree is mirrored over another.
	tar -C fs -cf docs.tar docs
	rm fs/docs/1 fs/docs/6
	tar -C fs -xpf docs.tar
	cp -a fs/src mirror
	echo mirrored >>mirror/7.c
	rm mirror/8.c
	rsync -a --delete --exclude=lost+found mirror/ fs/src/
	touch -d 2022-05-05 mirror/9.c
	rsync -a --inplace --no-whole-file mirror/9.c fs/src/10.c
	# A package is upgraded: other files, with the times that were packed.
	mkdir new
	for i in 1 2 3; do
		data "5$i" 51000 >"new/$i"
		touch -d "2023-0$((i + 3))-01" "new/$i"
		cp -p "new/$i" "fs/pkg/$i.new"
		mv "fs/pkg/$i.new" "fs/pkg/$i"
	done
	# A downgrade goes back in time.
	touch -d 2019-01-01 new/1
	cp -p new/1 fs/pkg/.1
	mv fs/pkg/.1 fs/pkg/1
	# Rotation by links, and by copy and truncation while it is being written.
	cp -al fs/old fs/old.1
	data 60 9000 >fs/old/.2
	mv fs/old/.2 fs/old/2
	exec {log}>>fs/log/current
	cp fs/log/current fs/log/current.1
	: >fs/log/current
	echo next >&"$log"
	exec {log}>&-
}

in_place() {
	local i
	for i in {1..20}; do
		data "7$1$i" 4096 | dd of=fs/vm/disk bs=4096 seek=$((i * i * 2)) conv=notrunc status=none
		data "8$1$i" 512 | dd of=fs/vm/disk oflag=seek_bytes seek=$((i * 50000 + $1 * 512)) \
			conv=notrunc status=none
	done
	data "9$1" 65536 | dd of=fs/vm/sparse bs=65536 seek="$1" conv=notrunc status=none
	fallocate -p -o $(($1 * 131072)) -l 65536 fs/vm/disk
	store $(($1 * 1000))
	store 290000
}

corpus() {
	local i
	need rsync
	make_fs "$1" "$2"
	(cd fs && populate)
	expect 0 run -q fs
	map fs/vm/mapped
	by_hand
	fine "ok=10 new=4 changed=6 touched=27 moved=2 removed=1"
	fine "ok=49"
	by_programs
	fine "ok=31 new=4 changed=7 touched=10 removed=1"
	for i in 1 2 3 4; do
		in_place "$i"
		fine "ok=49 changed=3"
	done
	unmap
	fine "ok=52"
	# Now all of it has lain for a while, and is done once more.
	settle
	fine "ok=52"
}

@test "ext4: files by hand, by programs, in place" {
	corpus ext4 64
}

@test "xfs: files by hand, by programs, in place" {
	corpus xfs 300
}
