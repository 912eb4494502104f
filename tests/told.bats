#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# Who is told besides the terminal: Prometheus by a file, syslog, and a command.

load helper
load pass
load alone

setup() {
	two_targets a
	data 1 200000 >b/z
	"$SCRUB" run -q a b
}

# metric NAME TARGET WANT: the value in m.prom.
metric() {
	local got
	got=$(n="bitscrub_$1{target=\"$2\",$4" perl -ne 'print "$1\n" if /^\Q$ENV{n}\E[^}]*} (.*)/' m.prom | paste -sd ' ')
	[ "$got" = "$3" ] || { echo "$1 of $2: $got, not $3"; cat m.prom; return 1; }
}

# Strict about what the format allows, where promtool isn't there too.
check_metrics() {
	perl -ne '
		if (/^# HELP (\w+) \S.*\.$/) { die "$1 twice" if $help{$1}++; $now = $1 }
		elsif (/^# TYPE (\w+) gauge$/) { die "TYPE $1" if $1 ne $now }
		elsif (/^(bitscrub_\w+)\{(\w+="(?:[^"\\\n]|\\[\\"n])*"(?:,\w+="\w+")*)\} (\d+(?:\.\d+)?(?:e[-+]\d+)?)$/) {
			die "$1 below $now" if $1 ne $now; die "$1 $2 twice" if $seen{"$1 $2"}++ }
		else { die "line $.: $_" }
		END { die "empty" unless %seen }' m.prom
	if command -v promtool >/dev/null; then promtool check metrics <m.prom; fi
}

@test "--metrics: counts of each target, clean, for everybody to read" {
	(umask 077; expect 0 run -q --metrics=m.prom a b)
	check_metrics
	[ "$(stat -c %a m.prom)" = 644 ]
	[ "$(ls -d m.prom*)" = m.prom ]
	for t in a b; do
		metric pass_exit_status $t 0
		metric pass_complete $t 1
		metric pass_trouble $t 0
		metric pass_damaged_parity_extents $t 0
		metric damaged_blocks $t 0
		metric never_checked_bytes $t 0
	done
	metric files a 2
	metric bytes a 8
	metric bytes b 200000
	metric checked_bytes b 200000
	metric pass_read_bytes b 200000
	metric damaged_files a "0 0 0 0 0"
	now=$(date +%s)
	for name in pass_timestamp last_complete_pass_timestamp oldest_check_timestamp; do
		then=$(sed -n "s/^bitscrub_${name}_seconds{target=\"a\",verb=\"run\"} //p" m.prom)
		[ $((now - ${then%.*})) -lt 60 ]
	done
	# No name of a file in it.
	run ! grep -w 'x\|y\|z' m.prom
}

@test "--metrics: open damage by its kind, from verify too" {
	edit_quietly a/x 0
	edit_quietly b/z 100000
	expect 4 run -q --metrics=m.prom a b
	check_metrics
	metric pass_exit_status a 4
	metric damaged_blocks b 1
	metric damaged_files a 1 'verb="run",kind="altered"'
	metric damaged_files a 0 'verb="run",kind="rot"'
	# What was known before still is.
	expect 4 run -q --metrics=m.prom a
	metric damaged_files a 1 'verb="run",kind="altered"'
	run ! grep -q '"b"' m.prom
	rm b/z
	expect 4 verify -q --metrics=m.prom b
	check_metrics
	metric damaged_files b 1 'verb="verify",kind="missing"'
}

@test "--metrics: a target that could not be looked at claims nothing" {
	expect 8 run -q --metrics=m.prom --existing a gone
	check_metrics
	metric pass_exit_status gone 8
	metric pass_trouble gone 1
	metric pass_complete gone 0
	for name in damaged_files damaged_blocks files last_complete_pass_timestamp_seconds; do
		metric $name gone ""
	done
	metric files a 2
}

@test "--metrics: any name, and one that is given twice" {
	odd=$'q"u\\o\nte\xff'
	mkdir "$odd"
	cp a/x "$odd"
	expect 0 run -q --metrics=m.prom "$odd" a a
	check_metrics
	grep -F 'bitscrub_files{target="q\"u\\o\nte'$'\xef\xbf\xbd''",verb="run"} 1' m.prom
	[ "$(grep -c 'bitscrub_files{target="a"' m.prom)" = 1 ]
}

@test "--metrics: half of them, because the disk was full for a moment, take nobody's place" {
	need_root
	need strace
	long=$(printf 'a%.0s' {1..200})
	mv a "$long"
	expect 0 run -q --metrics=m.prom "$long"
	# More than is written in one go.
	[ "$(stat -c %s m.prom)" -gt 5000 ]
	cp m.prom before
	run --separate-stderr strace -f -qq -o trace -e trace=write -e inject=write:error=ENOSPC:when=1 \
		"$SCRUB" verify -q --metrics=m.prom "$long"
	grep -q 'write([0-9]*, "# HELP.*(INJECTED)' trace
	[ "$status" = 8 ] || { show; false; }
	says "--metrics: cannot write m.prom"
	cmp m.prom before
	[ "$(echo m.prom*)" = m.prom ]
}

@test "--metrics: that it can't be written is said before anything is read" {
	expect 8 run -q --metrics=none/m.prom a
	says "--metrics: cannot write none/m.prom: No such file or directory"
	mkdir m.prom
	before=$(stat -c %Y.%i a/.bitscrub/manifest)
	expect 8 run --metrics=m.prom a
	says "--metrics: cannot write m.prom: it is there and no regular file"
	[ -z "$output" ]
	[ "$(stat -c %Y.%i a/.bitscrub/manifest)" = "$before" ]
}

@test "--metrics: the old file stays until the new one is whole" {
	echo old >m.prom
	need_root
	mkdir small
	mount -t tmpfs -o size=8k,mode=755 none small
	MOUNTS+=("$W/small")
	echo old >small/m.prom
	dd if=/dev/zero of=small/fill bs=4k count=1 status=none
	expect 8 run -q --metrics=small/m.prom a
	says "--metrics: cannot write small/m.prom: No space left on device"
	[ "$(cat small/m.prom)" = old ]
	[ "$(ls small | paste -sd ' ')" = "fill m.prom" ]
}

@test "--metrics: what a killed pass left is removed by the next one, and nothing else" {
	need_root
	need strace flock
	run strace -f -qq -o trace -e trace=rename -e inject=rename:signal=KILL "$SCRUB" run -q --metrics=m.prom a
	[ "$status" = 137 ]
	[ ! -e m.prom ]
	left=$(echo m.prom.bitscrub-??????)
	[ -s "$left" ]
	# Of another FILE; of another user; no plain file; in use by a process that lives.
	touch n.prom.bitscrub-abcdef m.prom.bitscrub-abcde m.prom.bitscrub-abcdefg m.prom.abcdef m.prom.bitscrub-others
	chown 65534 m.prom.bitscrub-others
	mkdir m.prom.bitscrub-folder
	ln -s "$left" m.prom.bitscrub-symlnk
	echo mine >mine
	ln mine m.prom.bitscrub-linked
	mkfifo m.prom.bitscrub-a_fifo
	echo live >m.prom.bitscrub-living
	exec {held}<m.prom.bitscrub-living
	flock "$held"
	find . -maxdepth 1 -name '*.prom*' ! -name "$left" | sort >before
	expect 0 run -q --metrics=./m.prom a
	find . -maxdepth 1 -name '*.prom*' ! -name m.prom | sort >after
	grep -q linked after
	diff before after
	check_metrics
	# By its name in another directory, and once nobody holds it any more.
	exec {held}<&-
	cd a
	expect 0 verify -q --metrics=../m.prom .
	cd ..
	[ ! -e m.prom.bitscrub-living ]
	[ -e m.prom.bitscrub-linked ]
}

@test "--metrics: one pass doesn't take away what another is just writing" {
	need_root
	need strace
	# Written, and waiting for its name; and not even locked yet.
	for call in rename flock; do
		strace -f -qq -o trace -e trace=$call "$SCRUB" run -q --metrics=m.prom a
		last=$(grep -c "$call(" trace)
		rm m.prom
		strace -f -qq -o trace -e trace=$call -e "inject=$call:delay_enter=3s:when=$last" \
			"$SCRUB" run -q --metrics=m.prom a &
		pid=$!
		# There twice: not the one that only shows that it can be made.
		before=
		for _ in {1..100}; do
			now=$(compgen -G 'm.prom.bitscrub-*' || :)
			[ -z "$now" ] || [ "$now" != "$before" ] || break
			before=$now
			sleep 0.05
		done
		[ -n "$now" ]
		expect 0 run -q --metrics=m.prom b
		metric pass_exit_status b 0
		wait $pid
		check_metrics
		metric pass_exit_status a 0
		[ "$(echo m.prom*)" = m.prom ]
	done
}

# logged COMMAND...: runs it where /dev/log is a socket of ours; what was sent is in log.txt.
logged() {
	python3 - "$W/sock" >log.txt <<-'END' &
		import socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind(sys.argv[1])
		s.settimeout(20)
		while True:
		    d = s.recv(65536)
		    if d == b"end":
		        break
		    print(d.decode(errors="backslashreplace").rstrip("\0"), flush=True)
	END
	local pid=$!
	while [ ! -S sock ]; do sleep 0.05; done
	cat >inside <<-'END'
		set -e
		sock=$1; shift
		mkdir newdev
		mount -t tmpfs none newdev
		for f in null zero urandom; do : >newdev/$f; mount --bind /dev/$f newdev/$f; done
		ln -s "$sock" newdev/log
		mount --move newdev /dev
		exec "$@"
	END
	status=0
	alone sh inside "$W/sock" "$@" >out.txt 2>err.txt || status=$?
	python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect(sys.argv[1]); s.send(b"end")' "$W/sock"
	wait $pid
	rm -f sock
	rmdir newdev
	# Priority and message: what is between is the clock, the name, and the process.
	sed -E 's/^(<[0-9]+>).* scrub\[[0-9]+\]: /\1/' log.txt >lines
}

@test "--syslog: damage err, trouble warning, the end info; names quoted" {
	need_root
	need unshare python3
	logged "$SCRUB" run -q --syslog a
	[ "$status" = 0 ] || { cat err.txt; false; }
	[ "$(cat lines)" = "<30>a: run: sound; files 2, damaged files 0, damaged blocks 0, troubles 0, exit status 0" ]
	[ ! -s out.txt ]
	mv b/z $'b/z\n<24>z'
	expect 0 run -q b
	edit_quietly $'b/z\n<24>z' 100000
	logged "$SCRUB" run -q --syslog b gone
	[ "$status" = 12 ]
	[ "$(wc -l <lines)" = 4 ]
	sed -n 1p lines | grep -Ex "<27>b: 'z'\\\$'.n''<24>z': altered: [0-9]+ bytes at offset [0-9]+"
	[ "$(sed -n 2p lines)" = "<27>b: run: DAMAGE; files 1, damaged files 1, damaged blocks 1, troubles 0, exit status 4" ]
	[ "$(sed -n 3p lines)" = "<28>gone: cannot find the target: No such file or directory" ]
	[ "$(sed -n 4p lines)" = "<28>gone: run: trouble; files 0, damaged files 0, damaged blocks 0, troubles 1, exit status 8" ]
}

@test "--syslog: a flood is cut" {
	need_root
	need unshare python3
	mkdir many
	for i in $(seq 1 130); do echo $i >many/$i; done
	expect 0 run -q many
	rm many/*
	echo >many/new
	logged "$SCRUB" verify -q --syslog many
	[ "$(grep -c '^<27>many: [0-9]*: missing$' lines)" = 100 ]
	tail -n 1 lines | grep -F "exit status 4; 30 more lines about damage left out"
}

@test "--on-damage: not without a reason" {
	expect 0 run -q --on-damage='touch ran' a b
	[ ! -e ran ]
	expect 0 verify -q --on-damage='touch ran' a
	[ ! -e ran ]
}

@test "--on-damage: once a target, new damage, JSON on its input, the environment" {
	need jq
	edit_quietly a/x 0
	edit_quietly b/z 100000
	expect 4 run -q --on-damage='cat >"$SCRUB_TARGET.json"; echo "$SCRUB_TARGET $SCRUB_EXIT" >>ran; echo talk' a b
	[ "$(cat ran)" = "$(printf 'a 4\nb 4')" ]
	# What it prints is talk: ours is data.
	hasnt talk
	says talk
	output=$(cat b.json)
	json .event "summary damage"
	json 'select(.event == "summary") | "\(.verb) \(.target) \(.exit) \(.files_damaged)"' "run b 4 1"
	json 'select(.event == "damage") | "\(.path) \(.kind)"' "z altered"
	# Known damage is no news.
	rm ran
	expect 4 run -q --on-damage='touch ran' a b
	[ ! -e ran ]
	# But more of it is.
	edit_quietly b/z 10
	expect 4 run -q --on-damage='echo "$SCRUB_TARGET" >>ran' a b
	[ "$(cat ran)" = b ]
}

@test "--on-damage: what was found and repaired at once is none" {
	need_root
	make_fs ext4 32
	data 3 200000 >fs/one
	settle
	expect 0 run -q fs
	rot one 100000
	expect 1 run -q --repair --on-damage="touch $W/ran" fs
	[ ! -e ran ]
}

@test "--on-damage: also where who started us ignores the end of children" {
	edit a/x 0
	edit_quietly b/z 100000
	run perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$SCRUB" run -q --on-damage='echo "$SCRUB_EXIT" >ran' b
	[ "$status" -eq 4 ]
	[ "$(cat ran)" = 4 ]
	run perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$SCRUB" verify -q --on-damage='exit 3' a
	[ "$status" -eq 12 ]
	[[ $output == *"the command ended with exit status 3"* ]]
}

@test "--on-damage: trouble is a reason too" {
	expect 8 run -q --existing --on-damage='echo "$SCRUB_TARGET $SCRUB_EXIT" >>ran' a gone
	[ "$(cat ran)" = "gone 8" ]
}

@test "--on-damage: its failure is trouble, and the next target is done" {
	need jq
	edit_quietly a/x 0
	expect 12 run --json --on-damage='exit 3' a b
	json 'select(.event == "summary") | "\(.target) \(.exit) \(.trouble)"' "a 12 1 b 0 0"
	json 'select(.event == "trouble") | .message' "--on-damage: the command ended with exit status 3"
	# The summary is the last.
	[ "$(jq -r 'select(.target == "a") | .event' <<<"$output" | tail -n 1)" = summary ]
	echo 1 >a/w
	edit_quietly a/y 0
	expect 12 run -q --on-damage='kill -9 $$' a
	says "--on-damage: the command was ended by signal 9"
	rm -r a b/.bitscrub
	expect 8 run -q --existing --on-damage='/nonexistent/command' b
	says "--on-damage: the command ended with exit status 127"
}

@test "--on-damage: one that reads nothing kills nobody" {
	edit_quietly a/x 0
	edit_quietly b/z 0
	expect 4 run -q --on-damage='exec <&-; exit 0' a b
}

@test "--on-damage: signals are as they were, and nothing of ours is open in it" {
	edit_quietly a/x 0
	expect 4 run -q --on-damage='grep "^Sig[BI]" /proc/self/status >sig; ls -l /proc/$$/fd >fds' a
	run ! grep -E '^SigBlk:.*[^0:[:space:]]' sig
	perl -ne 'exit 1 if /^SigIgn:\s*([0-9a-f]+)/ && hex($1) & 1 << 12' sig
	# Of the target, its state and what has no name only its input, as 0.
	[ "$(grep -c "$W/a\|bitscrub\|deleted\|socket\|anon_inode" fds)" = 1 ]
	grep -q ' 0 -> /memfd:on-damage' fds
}

@test "--on-damage: a command that hangs holds no lock, and a stop ends it" {
	edit_quietly a/x 0
	"$SCRUB" run -q --on-damage='touch hangs; sleep 600; touch late' a >out 2>err 3>&- &
	pid=$!
	for _ in {1..200}; do [ ! -e hangs ] || break; sleep 0.05; done
	[ -e hangs ]
	expect 4 run -q a
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ "$status" = 12 ]
	grep -q -- '--on-damage: the command was ended by signal 15' err
	[ ! -e late ]
}

@test "--on-damage: in bitscrub.conf, each target its own" {
	edit_quietly a/x 0
	edit_quietly b/z 0
	cat >c.conf <<-END
		[defaults]
		on-damage = echo default >>$W/ran
		[$W/a]
		[$W/b]
		on-damage = echo own >>$W/ran
	END
	expect 4 run -q --all --config=c.conf
	[ "$(paste -sd ' ' ran)" = "default own" ]
}
