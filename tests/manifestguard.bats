#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# A manifest that is damaged itself: repaired and said, or refused; never half used, never a fresh start.

load helper
load robust

# A recorded tree, its manifest in good, and what list says of it in listed.
prepare() {
	tree tree 40
	flip_quietly tree/d000/f00007 3
	expect 0 run -q --state=s tree
	flip_quietly tree/d000/f00007 3
	expect 4 run -q --state=s tree
	cp s/manifest good
	"$SCRUB" list --json --state=s tree | jq -c 'select(.event == "list")' >listed || true
	[ "$(wc -l <listed)" -eq 40 ]
}

# flip_each SAMPLE SEED COMMAND: flips bytes of the manifest in turn: all of the first 128 of each 4 KiB
# and a seeded sample of the others. The command must exit with 12 (trouble; the known damage), say
# so, and print what it prints of a sound one.
flip_each() {
	perl -e '
		use strict;
		my ($sample, $seed, @cmd) = @ARGV;
		open my $h, "<:raw", "good" or die;
		my $good = do { local $/; <$h> };
		my $n = length $good;
		srand $seed;
		my %at = map { $_ => 1 } map { int rand $n } 1 .. $sample;
		$at{$_} = 1 for grep { $_ % 4096 < ($sample > 500 ? 128 : 2) } 0 .. $n - 1;
		sub put {
			open my $o, ">:raw", "s/manifest" or die "s/manifest: $!";
			print $o $_[0];
			close $o or die;
		}
		sub get {
			my $out = `@cmd 2>err`;
			my $exit = $? >> 8;
			open my $e, "<", "err" or die;
			my $said = join("", $out, <$e>) =~ /the manifest itself is damaged, at byte/;
			$out =~ s/"state_free":\d+//;
			$out =~ s/^.*"event":"(?:summary|damage|trouble)".*\n//mg;
			return ($exit, $out, $said);
		}
		my ($was, $want) = get();
		$was == 4 or die "@cmd: exit $was of a sound manifest";
		my $wrong = 0;
		for my $i (sort { $a <=> $b } keys %at) {
			my $bad = $good;
			substr($bad, $i, 1) ^= chr(1 << int rand 8) if $i % 3;
			substr($bad, $i, 1) = chr(ord(substr $bad, $i, 1) ^ 0xff) unless $i % 3;
			put($bad);
			my ($exit, $out, $said) = get();
			next if $exit == 12 && $out eq $want && $said;
			printf "byte %d of %d: exit %d, %s content, %s\n", $i, $n, $exit,
				$out eq $want ? "same" : "other", $said ? "said" : "not said";
			exit 1 if ++$wrong > 10;
		}
		put($good);
		printf "%d bytes of %d\n", scalar keys %at, $n;
		exit($wrong > 0);' "$@"
}

@test "list repairs any flipped byte in memory, says so, and lists the same" {
	prepare
	flip_each 1500 1 "'$SCRUB' list --json --state=s tree"
	"$SCRUB" list --json --state=s tree >/dev/null || [ $? -eq 4 ]
	cmp s/manifest good
}

@test "so do status, export and verify" {
	prepare
	flip_each 100 2 "'$SCRUB' status --json --state=s tree"
	flip_each 100 3 "'$SCRUB' export --format=sfv --state=s tree"
	flip_each 60 4 "'$SCRUB' verify -j1 --reads-in-flight=1 --json --verbose --state=s tree"
}

@test "what was repaired is reported with its place, and read-only verbs leave the file alone" {
	prepare
	flip s/manifest 5000
	cp s/manifest bad
	for verb in verify status list; do
		expect 12 $verb --json --state=s tree
		[ "$(jq -r 'select(.event == "damage" and .kind == "manifest") | .offset' <<<"$output")" = 4096 ]
		expect 12 $verb -q --state=s tree
		says "tree: the manifest itself is damaged, at byte 4096"
		cmp s/manifest bad
	done
	cp -a s ref
	cp good ref/manifest
	"$SCRUB" export --format=sfv --state=ref tree >sfv || true
	expect 12 export --format=sfv --state=s tree
	[ "$output" = "$(cat sfv)" ]
	says "the manifest itself is damaged"
	cmp s/manifest bad
}

@test "the same for a manifest of several groups that is read on the way" {
	mkdir tree
	large tree/large 150
	expect 0 run -q --block-size=512 --state=s tree
	[ "$(stat -c %s s/manifest)" -gt 2000000 ]
	cp s/manifest good
	"$SCRUB" export --format=sfv --state=s tree >sfv
	# The second group begins at 1122304.
	for at in 1122304 1200000 2100000; do
		cp good s/manifest
		flip s/manifest $at
		expect 8 list --state=s tree
		[ "$output" = large ]
		says "the manifest itself is damaged, at byte $((at / 4096 * 4096))"
		expect 8 verify --json --state=s tree
		[ "$(summary ok)" -eq 1 ]
		[ "$(jq -r 'select(.kind == "manifest") | .offset' <<<"$output")" = $((at / 4096 * 4096)) ]
		expect 8 export --format=sfv --state=s tree
		[ "$output" = "$(cat sfv)" ]
		expect 1 run --json --state=s tree
		[ "$(summary ok)" -eq 1 ]
		[ "$(summary repaired)" -eq 1 ]
		expect 0 verify -q --state=s tree
	done
	# A group that can't be repaired: nothing behind it is believed, and nothing published.
	cp good s/manifest
	dd if=/dev/zero of=s/manifest bs=4096 seek=290 count=40 conv=notrunc status=none
	cp -a s before
	for verb in list verify run "export --format=sfv"; do
		# shellcheck disable=SC2086 # words
		expect 8 $verb --state=s tree
		says "manifest"
		hasnt "No damage"
		cmp before/manifest s/manifest
	done
}

@test "run repairs it on disk and exits with bit 1" {
	prepare
	records --state=s tree >before
	for at in 0 4 100 4095 4096 7000 12288 16383; do
		cp good s/manifest
		flip s/manifest $at 5
		expect 5 run --json --state=s tree
		[ "$(summary repaired)" -eq 1 ]
		[ "$(summary altered)" -eq 1 ]
		expect 4 verify -q --state=s tree
		records --state=s tree | cmp - before
	done
	# Nothing is left of it.
	expect 4 run --json --state=s tree
	[ "$(summary repaired)" -eq 0 ]
}

@test "a lost sector of 4 KiB, anywhere, is repaired" {
	prepare
	for ((at = 0; at < $(stat -c %s good); at += 4096)); do
		cp good s/manifest
		dd if=/dev/zero of=s/manifest bs=4096 seek=$((at / 4096)) count=1 conv=notrunc status=none
		run --separate-stderr "$SCRUB" list --json --state=s tree
		[ "$status" -eq 12 ] || { echo "at $at: $status"; show; return 1; }
		diff <(jq -c 'select(.event == "list")' <<<"$output") listed
	done
}

# Every verb says that it can't use it, and does nothing; the state stays as it is.
refused() {
	local verb
	cp -a s before
	for verb in run verify status list "export --format=sfv" "accept"; do
		# shellcheck disable=SC2086 # words
		set -- $verb
		if [ "$1" = accept ]; then
			expect 8 accept --state=s tree .
		else
			expect 8 "$1" "${@:2}" --state=s tree
		fi
		says "cannot use the manifest $W/s/manifest"
		[ -z "$output" ] || hasnt "d000/f00001"
		hasnt "No damage"
		diff -r s before
	done
	rm -r before
}

@test "truncated at any length, or empty: refused, and the state is left alone" {
	prepare
	size=$(stat -c %s good)
	for length in 0 1 4 100 4095 4096 4097 8192 12288 $((size - 4096)) $((size - 1)); do
		head -c "$length" good >s/manifest
		refused
		says "'run --from-previous' goes on from $W/s/manifest.1"
	done
	# Quickly, many more.
	for ((length = 37; length < size; length += 211)); do
		head -c "$length" good >s/manifest
		expect 8 status --state=s tree
	done
}

@test "garbage behind it, zeros, and other files: refused" {
	prepare
	{ cat good; echo garbage; } >s/manifest
	refused
	{ cat good; head -c 4096 /dev/zero; } >s/manifest
	refused
	cat good good >s/manifest
	refused
	head -c 16384 /dev/zero >s/manifest
	refused
	data 9 16384 >s/manifest
	refused
	cp "$SCRUB" s/manifest
	refused
}

@test "two damages at one place: refused, whichever" {
	prepare
	# Data and parity of a group of one column are the same place.
	for pair in "0 12288" "100 12388" "4100 8200"; do
		cp good s/manifest
		flip s/manifest "${pair% *}"
		flip s/manifest "${pair#* }"
		run --separate-stderr "$SCRUB" list --json --state=s tree
		[ $((status & 8)) -eq 8 ]
		if [ "$status" -eq 12 ]; then
			diff <(jq -c 'select(.event == "list")' <<<"$output") listed
		else
			[ -z "$(jq -c 'select(.event == "list")' <<<"$output")" ]
		fi
	done
}

@test "--from-previous goes on from the manifest before, and loses no file" {
	prepare
	echo new >tree/new
	head -c 5000 good >s/manifest
	refused
	expect 4 run --json --from-previous --state=s tree
	[ "$(summary files)" -eq 41 ]
	[ "$(summary altered)" -eq 1 ]
	expect 4 run --json --state=s tree
	[ "$(summary ok)" -eq 40 ]
	rm s/manifest
	refused
	expect 4 run -q --from-previous --state=s tree
	expect 4 verify -q --state=s tree
}

@test "a manifest of another target is not taken for this one's" {
	tree tree 20
	large image 2
	expect 0 run -q --state=s tree
	expect 0 run -q image
	cp image.bitscrub/manifest s/manifest
	expect 8 run --state=s tree
	says "the manifest was made for a single file"
	for verb in verify list status; do
		expect 8 $verb --state=s tree
	done
}

@test "a hostile -m FILE: a FIFO, a directory, a device" {
	tree tree 5
	mkfifo fifo
	for file in fifo tree /dev/null /dev/zero nowhere; do
		r=0
		timeout 20 "$SCRUB" list -m $file tree >out 2>err || r=$?
		[ "$r" -eq 8 ] || { echo "$file: $r"; cat err; return 1; }
		grep -q "manifest" err
		[ ! -s out ]
	done
}
