# SPDX-License-Identifier: LGPL-2.1-or-later
# What the files about kills, full disks, locks and scale share. Load it after helper.
# shellcheck shell=bash

teardown() {
	local pid
	for pid in "${PIDS[@]}"; do
		kill -CONT "$pid" 2>/dev/null
		kill -KILL "$pid" 2>/dev/null
	done
	PIDS=()
	helper_teardown
}
PIDS=()

# strace; a sanitizer can't look for leaks in a process that is traced.
traced() {
	ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" strace "$@"
}

sanitized() {
	nm "$SCRUB" 2>/dev/null | grep -q '__[at]san_init'
}

# measured ARGUMENT...: the command succeeds, and its peak memory is in $peak (KiB).
measured() {
	/usr/bin/time -o peak -f %M "$SCRUB" "$@" >out 2>err || { cat out err; return 1; }
	peak=$(tail -n 1 peak)
	output=$(tail -n 1 out)
	echo "$*: $peak KiB"
}

need_strace() {
	need strace
	strace -qq -o /dev/null -e trace=none -e inject=getpid:retval=1 true 2>/dev/null ||
		skip "needs strace that can trace and inject"
}

# tree DIR FILES [SEED]: so many small files, a hundred in a directory, with old times.
tree() {
	perl -e '
		my ($dir, $n, $seed) = @ARGV;
		srand($seed);
		mkdir $dir;
		for my $i (0 .. $n - 1) {
			my $d = sprintf "%s/d%03d", $dir, $i / 100;
			mkdir $d unless $i % 100;
			my $f = sprintf "%s/f%05d", $d, $i;
			open my $h, ">", $f or die "$f: $!";
			print $h pack "V*", map { rand 2**32 } 0 .. rand 1000;
			close $h or die "$f: $!";
			utime 1.5e9 + $i, 1.5e9 + $i, $f;
		}' "$1" "$2" "${3:-1}"
}

# uncached FILE: none of it is in the page cache, so that it is read by system calls.
uncached() {
	sync "$1"
	dd if="$1" iflag=nocache count=0 status=none
}

# large FILE MIB [SEED]: that many MiB, no two of its blocks of 64 KiB equal, with an old time.
large() {
	perl -e '
		my ($f, $mib, $seed) = @ARGV;
		srand($seed);
		my $s = pack "V*", map { rand 2**32 } 1 .. 16383;
		open my $h, ">", $f or die "$f: $!";
		print $h pack("V", $_), $s for 1 .. $mib * 16;
		close $h or die "$f: $!";
		utime 1.5e9, 1.5e9, $f;' "$1" "$2" "${3:-1}"
}

# flip_quietly FILE OFFSET: one bit, and the mtime put back: altered.
flip_quietly() {
	touch -r "$1" "$W/stamp"
	flip "$1" "$2"
	touch -r "$W/stamp" "$1"
}

# records ARGUMENT...: all that list knows, but for when it was read; one file a line.
records() {
	{ "$SCRUB" list --json "$@" 2>/dev/null || true; } |
		jq -c 'select(.event == "list") | del(.target, .recorded, .checked, .damaged_since)'
}

# dumped STATE: what a reader that shares no code finds in it, but for when and where it was written.
dumped() {
	"$BATS_TEST_DIRNAME/../contrib/bitscrub-manifest-dump" "$1/manifest" >"$W/dump" ||
		{ echo "$1: unsound"; return 1; }
	sed -E '/^(container|header|trailer)/d; /^  (target|identity|ages|segment|device)/d
		s/ (recorded|checked|skipped-since|first|last|segment|offset)=[0-9]*//g
		s/^(extent .*) flags=[0-9a-fx]*/\1/' "$W/dump"
}

# same_records STATE STATE TREE: both states know the same of it, also to other readers.
same_records() {
	local s
	for s in "$1" "$2"; do
		records --state="$s" "$3" >"$W/records.${s##*/}"
		"$SCRUB" export --format=sfv --state="$s" "$3" >"$W/sfv.${s##*/}" 2>/dev/null || true
		dumped "$s" >"$W/dump.${s##*/}"
	done
	[ -s "$W/records.${1##*/}" ] || { echo "no records in $1"; return 1; }
	for s in records sfv dump; do
		diff "$W/$s.${1##*/}" "$W/$s.${2##*/}" | head -n 20
		cmp "$W/$s.${1##*/}" "$W/$s.${2##*/}"
	done
}

# tidy STATE [FILES]: nothing is left but manifest and manifest.1 (or what is said), parity, and the
# history of passes.
tidy() {
	local found
	found=$(find "$1" -mindepth 1 ! -path "$1/parity" ! -path "$1/parity/0*" ! -path "$1/undo" \
		! -path "$1/history" \
		-printf '%P\n' | sort | paste -sd ' ')
	[ "$found" = "${2-manifest manifest.1}" ] || { echo "$1: $found"; return 1; }
}

# summary FIELD: of the JSON in $output.
summary() {
	jq -r "select(.event == \"summary\") | .$1" <<<"$output"
}

# Shells start what is in the background with SIGINT ignored, and scrub leaves that so.
attentive() {
	exec env --default-signal=INT,QUIT "$@"
}

# start ARGUMENT...: the command in the background: $pid; its talk is in $W/out and $W/err.
start() {
	attentive "$SCRUB" "$@" >"$W/out" 2>"$W/err" 3>&- &
	pid=$!
	PIDS+=("$pid")
}

# start_slow CALL MICROSECONDS ARGUMENT...: the same with each such system call delayed; only those
# on the file $SLOW_PATH, if that is set.
start_slow() {
	local call=$1 delay=$2 i
	shift 2
	ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" \
		attentive strace -f -qq -o /dev/null ${SLOW_PATH:+-P "$SLOW_PATH"} \
		-e trace="$call" -e inject="$call:delay_enter=$delay" \
		"$SCRUB" "$@" >"$W/out" 2>"$W/err" 3>&- &
	tracer=$!
	PIDS+=("$tracer")
	for ((i = 0; i < 500; i++)); do
		pid=$(pgrep -P "$tracer" -x scrub) && break
		sleep 0.02
	done
	PIDS+=("$pid")
	[ -n "$pid" ]
}

# until_true SECONDS COMMAND...: waits for it to succeed.
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -le $end ] || { echo "in vain: $*"; return 1; }
		sleep 0.05
	done
}

size_above() { [ "$(stat -c %s "$1")" -gt "$2" ]; }

# finish STATUS SECONDS [PID]: the background command ends with that status, and in that time.
finish() {
	local got=0 from=${EPOCHREALTIME/[.,]/} took
	wait "${3:-$pid}" || got=$?
	took=$((${EPOCHREALTIME/[.,]/} - from))
	output=$(cat "$W/out") stderr=$(cat "$W/err")
	[ "$got" -eq "$1" ] || { echo "exit $got, not $1"; show; return 1; }
	[ "$took" -le $(($2 * 1000000)) ] || { echo "took $took us"; return 1; }
}

# With a state root of its own: $ROOT is what lies below it. Runs in a private mount namespace.
private_root() { # without what other tests have mounted, which this would keep busy
	need_root
	need unshare
	local root
	root=$(sed -n 's/^#define SCR_STATEDIR "\(.*\)"/\1/p' "$top_builddir/config.h" 2>/dev/null)
	root=${root:-/var/lib/bitscrub}
	[ -d "${root%/*}" ] || skip "needs ${root%/*}"
	ROOT=$W/lib/${root##*/} ROOT_NAME=$root
	mkdir "$W/lib"
	cat >"$W/private" <<-EOF
		#!/bin/sh
		exec unshare -m --propagation private sh -c \
			'findmnt -rno TARGET,SOURCE | while read -r m d; do case "\$m \$d" in
				$W/*) ;; *" /dev/loop"*) umount -l "\$m" ;; esac; done
			mount --bind "\$0" ${root%/*} && exec "\$@"' "$W/lib" "$SCRUB" "\$@"
	EOF
	chmod 755 "$W/private"
	SCRUB=$W/private
	"$SCRUB" --version >/dev/null 2>&1 || skip "needs mount namespaces"
}

# The command as user 65534, and everything below $W open to him.
as_nobody() {
	need_root
	need setpriv
	cp "$SCRUB" "$W/scrub"
	chmod 755 "$W/scrub" "$W"
	chmod 711 "$BATS_RUN_TMPDIR"
	NOBODY=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	cat >"$W/nobody" <<-EOF
		#!/bin/sh
		exec ${NOBODY[*]} $W/scrub "\$@"
	EOF
	chmod 755 "$W/nobody"
	"$W/nobody" --version >/dev/null 2>&1 || skip "needs a place where user 65534 may go"
	SCRUB=$W/nobody
}
