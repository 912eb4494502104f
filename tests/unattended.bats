#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# What is shipped for the night: cron, systemd, and that it does what it says where it is installed.

load helper
load pass
load alone

make_quietly() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "${top_builddir:?}" "$@"
}

# installed [MAKE-ARGUMENT...]: below $W/p, really, so that the paths in the examples are there.
installed() {
	make_quietly install prefix="$W/p" "$@" >make.log 2>&1 || { cat make.log; return 1; }
	E=$W/p/share/doc/bitscrub/examples
}

setup() {
	W=$BATS_TEST_TMPDIR
	cd "$W" || return 1
	[ -n "$top_builddir" ] || skip "needs a build directory in top_builddir"
	export top_builddir
}

# Every command line of ours in a file: absolute, a verb, then a long option, --existing among them.
well_behaved() {
	local found
	found=$(grep -o "$W/p/bin/[a-z]* .*" "$1")
	[ -n "$found" ]
	while read -r program verb option rest; do
		[ -x "$program" ]
		[ "$verb" = run ]
		[[ $option == --?* ]]
		[[ " $option $rest " == *" --existing "* ]]
	done <<<"$found"
}

@test "the examples call the installed command, with --existing and a long option first" {
	installed
	[ "$(ls "$E" | paste -sd ' ')" = "bitscrub bitscrub-weekly bitscrub.conf scrub-failed@.service scrub@.service scrub@.timer" ]
	well_behaved "$E/bitscrub"
	well_behaved "$E/scrub@.service"
	grep -qx "scrub=$W/p/bin/scrub" "$E/bitscrub-weekly"
	grep -q '^"$scrub" run --existing --nice --quiet' "$E/bitscrub-weekly"
	grep -qx "conf=$W/p/etc/bitscrub.conf" "$E/bitscrub-weekly"
	[ -z "$(grep -rho "@[a-z]*@" "$E" | grep -v "^@srv@$")" ]
	[ ! -e "$W/p/etc" ]
}

@test "under another name they call that, and make uninstall takes all away" {
	installed transform='s&^&bit&' program_transform_name='s&^&bit&'
	[ "$(ls "$E" | paste -sd ' ')" = "bitscrub bitscrub-failed@.service bitscrub-weekly bitscrub.conf bitscrub@.service bitscrub@.timer" ]
	grep -qx "ExecStart=$W/p/bin/bitscrub run --existing --nice --quiet -- %f" "$E/bitscrub@.service"
	grep -qx 'OnFailure=bitscrub-failed@%n.service' "$E/bitscrub@.service"
	grep -q "root  $W/p/bin/bitscrub run --existing" "$E/bitscrub"
	make_quietly uninstall prefix="$W/p" transform='s&^&bit&' program_transform_name='s&^&bit&'
	[ -z "$(find p ! -type d | grep -v '\.5$')" ]
}

@test "units go where configure was told" {
	installed systemdsystemunitdir="$W/units"
	[ "$(ls units | paste -sd ' ')" = "scrub-failed@.service scrub@.service scrub@.timer" ]
	[ "$(ls "$E" | paste -sd ' ')" = "bitscrub bitscrub-weekly bitscrub.conf" ]
}

# The line of a crontab, as cron would run it.
cron_line() {
	sed -n 's/^[0-9].*  root  //p' "$E/bitscrub"
}

@test "cron.d: silent if all is well, else a mail that says what" {
	installed
	grep -qx '30 2 \* \* 0  root  .*' "$E/bitscrub"
	need_root
	mkdir t
	echo one >t/a
	expect 0 run -q t
	printf '[%s]\n' "$W/t" >c.conf
	# For the test the command is told which file to read; the rest is as shipped.
	line="$(cron_line) --config=$W/c.conf"
	run -0 --separate-stderr sh -c "$line"
	[ -z "$output$stderr" ]
	edit_quietly t/a 0
	run -4 --separate-stderr sh -c "$line"
	has "$W/t: a: altered"
	rm -r t/.bitscrub
	run -8 --separate-stderr sh -c "$line"
	[ ! -e t/.bitscrub ]
	[ -n "$stderr" ]
}

@test "cron.weekly: a name run-parts takes, silent where nothing is set up, and its status" {
	installed
	mkdir weekly
	cp "$E/bitscrub-weekly" weekly/bitscrub
	if command -v run-parts >/dev/null; then
		[ "$(run-parts --test weekly)" = weekly/bitscrub ]
	fi
	run -0 --separate-stderr weekly/bitscrub
	[ -z "$output$stderr" ]
	mkdir -p t
	echo one >t/a
	expect 0 run -q t
	printf '[%s]\n' "$W/t" >c.conf
	sed "s|^conf=.*|conf=$W/c.conf|; s| --all$|& --config=$W/c.conf|" "$E/bitscrub-weekly" >script
	run -0 --separate-stderr sh script
	[ -z "$output$stderr" ]
	edit_quietly t/a 0
	run -4 --separate-stderr sh script
	has "a: altered"
}

@test "bitscrub.conf as shipped is right, and so is all that is commented out in it" {
	installed
	expect 16 run --all --config="$E/bitscrub.conf"
	says "names no target"
	sed -E 's/^# (\[|[a-z-]+( =|$))/\1/' "$E/bitscrub.conf" >c.conf
	grep -q '^on-damage = ' c.conf
	grep -q '^repair$' c.conf
	expect 8 status --all --config=c.conf
	says "/srv/photos: "
	says "/srv/archive: "
}

@test "systemd: the units verify, and the score is what HACKING.md says" {
	need systemd-analyze
	installed
	cd "$E"
	for unit in scrub@.service scrub@.timer scrub-failed@.service; do
		run env SYSTEMD_UNIT_PATH="$E:" systemd-analyze verify --man=no "./$unit"
		[ "$status" = 0 ]
		[ -z "$output" ] || { echo "$output"; false; }
	done
	run -0 systemd-analyze security --offline=true --threshold=25 ./scrub@.service
	score=$(grep -o 'exposure level.*: [0-9.]*' <<<"$output" | grep -o '[0-9.]*$')
	# Other versions weigh things otherwise.
	[[ $(systemd-analyze --version) == "systemd 252 "* ]] || return 0
	grep -q "scores $score" "$BATS_TEST_DIRNAME/../HACKING.md" || { echo "score: $score"; false; }
}

@test "systemd: damage and trouble are failures; repaired and stopped are not" {
	installed
	statuses=" $(sed -n 's/^SuccessExitStatus=//p' "$E/scrub@.service") "
	[ "$statuses" = " 1 32 33 " ]
	grep -qx 'Persistent=true' "$E/scrub@.timer"
	grep -qx 'RandomizedDelaySec=6h' "$E/scrub@.timer"
	grep -qx 'IOSchedulingClass=idle' "$E/scrub@.service"
	grep -qx 'Nice=19' "$E/scrub@.service"
}

@test "systemd: the filter of system calls has all that a pass does" {
	need systemd-analyze strace
	installed
	systemd-analyze syscall-filter >sets
	perl -e '
		my (%in, $set);
		open my $h, "<", "sets" or die;
		while (<$h>) {
			if (/^(@[\w-]+)/) { $set = $1 }
			elsif (/^\s+([@\w-]+)$/) { push @{ $in{$set} }, $1 }
		}
		sub expand { map { /^@/ ? expand($_) : $_ } @{ $in{$_[0]} } }
		my %ok = map { $_ => 1 } expand("\@system-service"), expand("\@default");
		delete @ok{expand("\@privileged")};
		die "sets not understood" unless $ok{openat} && !$ok{mount};
		print "$_\n" for sort keys %ok;' >allowed
	grep -qx 'SystemCallFilter=@system-service' "$E/scrub@.service"
	grep -qx 'SystemCallFilter=mincore' "$E/scrub@.service"
	mkdir t
	data 1 300000 >t/a
	truncate -s 1M t/hole
	ln t/a t/link
	settle
	for round in 1 2; do
		strace -f -qq -o trace "$SCRUB" run -q t
		# cachestat(2), 451, may be missing, and is where systemd does not know it.
		sed -E 's/^[0-9]+ +//; s/\(.*//' trace | grep -xE '[a-z_0-9]+' |
			grep -vx 'cachestat\|syscall_0x1c3\|mincore' | sort -u >used
		[ "$(comm -23 used allowed | paste -sd ' ')" = "" ] || { comm -23 used allowed; false; }
	done
}

@test "systemd: a pass works with no more than the unit leaves it" {
	need_root
	need unshare setpriv
	installed
	mkdir t
	data 1 300000 >t/a
	install -m 600 -o 12345 /dev/null t/theirs
	echo private >t/theirs
	chown 12345 t/theirs
	expect 0 run -q t
	echo new >t/b
	# What ProtectSystem=strict and ReadWritePaths= make of it.
	grep -qx 'ReadWritePaths=-%f/.bitscrub -%f.bitscrub -/var/lib/bitscrub' "$E/scrub@.service"
	grep -qx 'CapabilityBoundingSet=CAP_DAC_READ_SEARCH CAP_FOWNER' "$E/scrub@.service"
	cat >inside <<-'END'
		set -e
		mount --bind "$1/.bitscrub" "$1/.bitscrub"
		findmnt -rno TARGET | sort -r | while read -r m; do
			case $m in "$1"/.bitscrub | /proc* | /sys* | /dev*) ;; *) mount -o remount,bind,ro "$m" 2>/dev/null || true ;; esac
		done
		if touch "$1/x" 2>/dev/null; then echo "the target can be written"; exit 99; fi
		target=$1; shift
		exec setpriv --bounding-set=-all,+dac_read_search,+fowner --inh-caps=-all --no-new-privs \
			"$@" run --existing --json -- "$target"
	END
	run --separate-stderr alone sh inside "$W/t" "$SCRUB"
	[ "$status" = 0 ] || { show; false; }
	tally "ok=2 new=1"
	expect 0 status --json t
	json 'select(.event == "status") | .files' 3
}
