#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Trees that are hard to walk: names, depths, sizes, and things that are no files.

load helper
load robust

@test "sizes around blocks, columns and extents" {
	mkdir tree
	for n in 0 1 2 511 512 513 4095 4096 4097 65535 65536 65537 131071 131072 131073 1048575 \
		1048576 1048577 16777215 16777216 16777217 33554431 33554432 33554433; do
		head -c "$n" /dev/zero | tr '\0' 'x' >"tree/$n"
	done
	expect 0 run --json --state=s tree
	[ "$(summary new)" -eq 24 ]
	expect 0 run --json --state=s tree
	[ "$(summary ok)" -eq 24 ]
	expect 0 list --json --state=s tree
	# A column of at least 4 KiB that is less than a block is the block.
	json 'select(.path | IN("0", "1048577", "65536", "65537")) | .blocks' "0 17 16 9"
	need rhash
	"$SCRUB" export --format=sfv --state=s tree >sfv
	(cd tree && rhash --check ../sfv >../rhash.out) || { cat rhash.out; false; }
	[ "$(grep -c '^[0-9].* OK' rhash.out)" -eq 24 ] || { cat rhash.out; false; }
}

@test "names with newline, quote, escape, tab, invalid UTF-8 and of 255 bytes" {
	mkdir tree
	n255=$(printf 'n%.0s' {1..255})
	names=($'new\nline' "quo'te" 'double"quote' $'esc\e[31mape' $'tab\there' $'bell\a' $'bad\xff\xfeutf8'
		$'cut\xc3' ' leading' 'trailing ' '-rf' '--help' '*' \$\(id\) \`id\` 'back\slash' '...'
		'~' '#' $'\r' "$n255" $'\xe2\x80\xaeright-to-left' 'ümläut' '.hidden')
	for name in "${names[@]}"; do
		echo "$name" >"tree/$name"
		mkdir "tree/dir-${name:0:250}"
		echo "$name" >"tree/dir-${name:0:250}/$name"
	done
	count=$((2 * ${#names[@]}))
	expect 0 run --json --verbose --state=s tree
	[ "$(summary new)" -eq "$count" ]
	jq -e . <<<"$output" >/dev/null
	expect 0 run --verbose --state=s tree
	# Nothing but line feeds controls the terminal, and each file is one line.
	[ "$(tr -d '\n' <<<"$output" | LC_ALL=C grep -ac '[[:cntrl:]]')" -eq 0 ]
	[ "$(grep -c ': ok$' <<<"$output")" -eq "$count" ]
	# A shell takes the names of list back to the same bytes.
	expect 0 list --state=s tree
	[ "$(wc -l <<<"$output")" -eq "$count" ]
	while read -r line; do
		eval "name=$line"
		[ -f "tree/$name" ] || { echo "no such file: $line"; return 1; }
	done <<<"$output"
	# Damage in one of them, and acceptance by name.
	flip_quietly $'tree/new\nline' 1
	expect 4 run --state=s tree
	has "tree: 'new'\$'\\n''line': altered in block 0"
	expect 0 accept --state=s tree $'new\nline'
	expect 0 run -q --state=s tree
	expect 0 verify -q --state=s tree -- --help -rf $'bad\xff\xfeutf8'
}

# descend DIR NAME LEVELS: makes that many nested directories below DIR, a file in the last one.
descend() {
	perl -e '
		my ($dir, $name, $n) = @ARGV;
		chdir $dir or die;
		for (1 .. $n) { mkdir $name or die "$_: $!"; chdir $name or die "$_: $!"; }
		open my $h, ">", "deepest" or die; print $h "deep\n"; close $h or die;' "$@"
}

# inside DIR NAME LEVELS COMMAND...: runs it in the deepest one.
inside() {
	perl -e '
		my ($dir, $name, $n, @cmd) = @ARGV;
		chdir $dir or die;
		for (1 .. $n) { chdir $name or die "$_: $!"; }
		exec @cmd or die;' "$@"
}

@test "a path beyond 4096 bytes" {
	mkdir tree
	name=$(printf 'd%.0s' {1..200})
	descend tree "$name" 40
	echo more >tree/other
	expect 0 run --json --state=s tree
	[ "$(summary new)" -eq 2 ]
	expect 0 list --state=s tree
	[ "$(head -n 1 <<<"$output" | wc -c)" -eq $((40 * 201 + 8)) ]
	expect 0 run --json --state=s tree
	[ "$(summary ok)" -eq 2 ]
	inside tree "$name" 40 sh -c 'touch -r deepest ../ref; printf DEEP | dd of=deepest conv=notrunc status=none; touch -r ../ref deepest; rm ../ref'
	expect 4 run --json --state=s tree
	[ "$(summary altered)" -eq 1 ]
	path=$(jq -r 'select(.event == "damage") | .path' <<<"$output")
	[ "${#path}" -eq $((40 * 201 + 7)) ]
	# Too long for a command line to open, not for a command.
	expect 0 accept --state=s tree "$path"
	expect 0 verify -q --state=s tree "$path"
	inside tree "$name" 40 rm deepest
	expect 0 run --json --state=s tree
	[ "$(summary removed)" -eq 1 ]
}

@test "a tree of 1500 levels with few descriptors" {
	mkdir tree
	descend tree d 1500
	echo x >tree/z
	limited() { (ulimit -n 64; ulimit -s 1024; "$SCRUB" "$@"); }
	limited run --state=s tree >out
	grep "2 files" out
	limited run --json --state=s tree >out
	output=$(cat out)
	[ "$(summary ok)" -eq 2 ]
	limited verify -q --state=s tree
}

@test "symlinks are never followed: loops, dangling ones, and ones that lead out" {
	mkdir tree outside
	echo secret >outside/secret
	echo data >tree/data
	ln -s . tree/loop
	ln -s loop2b tree/loop2a
	ln -s loop2a tree/loop2b
	ln -s nowhere tree/dangling
	ln -s ../outside tree/out
	ln -s ../outside/secret tree/outfile
	ln -s / tree/root
	expect 0 run --json --state=s tree
	[ "$(summary new)" -eq 1 ]
	expect 0 list --state=s tree
	[ "$output" = data ]
	# A directory that becomes a symlink hides what is recorded below it.
	mkdir tree/sub
	echo more >tree/sub/secret
	expect 0 run -q --state=s tree
	rm -r tree/sub
	ln -s ../outside tree/sub
	expect 0 run --json --state=s tree
	[ "$(summary removed)" -eq 1 ]
	[ "$(summary ok)" -eq 1 ]
}

@test "a FIFO, a socket and device nodes are never opened" {
	need_root
	need_strace
	mkdir tree
	echo data >tree/data
	mkfifo tree/fifo
	mknod tree/null c 1 3 || skip "needs device nodes"
	mknod tree/tape c 9 0
	mknod tree/loop b 7 63
	perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, sockaddr_un("tree/socket")) or die'
	ASAN_OPTIONS=detect_leaks=0 timeout 20 strace -f -qq -o trace -e trace=%file,openat2 \
		"$SCRUB" run -q --state=s tree
	grep -q '"data"' trace
	[ "$(grep -cE 'open.*"(.*/)?(fifo|null|tape|loop|socket)"' trace)" -eq 0 ]
	timeout 20 "$SCRUB" run -q --state=s tree
	expect 0 list --state=s tree
	[ "$output" = data ]
	# A recorded file whose place one of them takes is gone, and not opened either.
	echo x >tree/other
	expect 0 run -q --state=s tree
	rm tree/data
	mkfifo tree/data
	ASAN_OPTIONS=detect_leaks=0 timeout 20 strace -f -qq -o trace -e trace=%file,openat2 \
		"$SCRUB" run --json --state=s tree >out
	[ "$(grep -E 'open.*"data"' trace | grep -vc O_PATH)" -eq 0 ]
	output=$(cat out)
	[ "$(summary removed)" -eq 1 ]
	r=0
	timeout 20 "$SCRUB" verify --json --state=s tree >out || r=$?
	[ "$r" -eq 0 ]
}

@test "verify does not hang at a FIFO in the place of a recorded file" {
	mkdir tree
	echo data >tree/data
	expect 0 run -q --state=s tree
	rm tree/data
	mkfifo tree/data
	r=0
	timeout 20 "$SCRUB" verify --json --state=s tree >out || r=$?
	[ "$r" -eq 4 ]
	output=$(cat out)
	[ "$(summary missing)" -eq 1 ]
}

@test "twenty thousand names in one directory, in any order" {
	mkdir tree
	perl -e 'for (1 .. 20000) { open my $h, ">", sprintf("tree/%x", $_ * 2654435761 % 2**32) or die; print $h $_ }'
	expect 0 run --json --state=s tree
	[ "$(summary new)" -eq 20000 ]
	expect 0 list --state=s tree
	LC_ALL=C sort -c <<<"$output"
	[ "$(wc -l <<<"$output")" -eq 20000 ]
	expect 0 run --json --state=s tree
	[ "$(summary ok)" -eq 20000 ]
}

@test "the order is that of the walk, and each path is recorded once" {
	mkdir -p tree/a tree/a.b tree/a-b tree/ab tree/a/b
	for f in a/z a/b/c a.b/x a-b/x ab/x a0 a.b.c Z; do
		echo "$f" >"tree/$f"
	done
	expect 0 run -q --state=s tree
	expect 0 list --state=s tree
	[ "$(paste -sd ' ' <<<"$output")" = "Z a/b/c a/z a-b/x a.b/x a.b.c a0 ab/x" ]
	expect 0 run --json --state=s tree
	[ "$(summary ok)" -eq 8 ]
}

@test "a 5 GiB file that is one hole takes no time, and data in it is found" {
	mkdir tree
	truncate -s 5G tree/hole
	[ "$(stat -c %b tree/hole)" -lt 100 ] || skip "needs sparse files"
	begin=$SECONDS
	expect 0 run --json --state=s tree
	[ "$(summary bytes_read)" -lt 1048576 ]
	expect 0 list --json --state=s tree
	json 'select(.path) | .size, .blocks, .unrecorded' "5368709120 81920 false"
	touch -r tree/hole stamp
	printf x | dd of=tree/hole bs=1 seek=4000000000 conv=notrunc status=none
	touch -r stamp tree/hole
	expect 4 run --json --state=s tree
	json 'select(.event == "damage") | .kind, .block, .offset, .length' "altered 61035 3999989760 65536"
	[ $((SECONDS - begin)) -le 20 ]
}
