# SPDX-License-Identifier: LGPL-2.1-or-later
# What tests/faults and tests/powercut share: a small tree in which everything happens, at each step
# of its life, on a file system that can be put back in milliseconds, inodes and ctimes included.
#
# The file system is an image in memory on a loop device of our own. An "image" below is its whole
# content while it was not mounted. tests/scene_device.pm puts a block device in place of the tree.
# start() enters a mount namespace, so that whatever happens to this program, nothing stays mounted,
# and the device goes with its last user.
package Scene;
use strict;
use warnings;
use Cwd ();
use File::Basename ();
use File::Temp ();
use IO::Handle;
use POSIX ();

our $top = $ENV{top_srcdir} // Cwd::abs_path(File::Basename::dirname($0)) . '/..';
our $scrub = Cwd::abs_path($ENV{SCRUB} // ($ENV{top_builddir} // '.') . '/src/scrub');
our $dump = "$top/contrib/bitscrub-manifest-dump";

my $own = $$;
my $SIZE = 8 << 20;
my $BLKFLSBUF = 0x1261;
my $UNIT = 4096;

our ($dir, $fs, $tree, $state);
my ($device, $device_path, $backing, $mounted);

# A sanitizer ends the program where it gets no memory.
sub sanitized {
	return `nm $scrub 2>/dev/null` =~ /__asan_init/;
}

# ---- the file system -------------------------------------------------------------------------

# Why it can't be done here; or nothing.
sub lacking {
	return 'needs root' if $> != 0;
	for my $program (qw(strace losetup mkfs.ext4 filefrag unshare mount umount)) {
		my @places = (split(/:/, $ENV{PATH}), '/sbin', '/usr/sbin');
		return "needs $program" if !grep { -x "$_/$program" } @places;
	}
	return 'needs loop devices' if system('losetup -f >/dev/null 2>&1') != 0;
	return 'needs strace that can trace and inject'
		if system('strace -f --seccomp-bpf -qq -o /dev/null -e trace=getpid ' .
			'-e inject=getpid:retval=1 true 2>/dev/null') != 0;
	return 'needs mount namespaces' if system('unshare -m true 2>/dev/null') != 0;
	return;
}

# Goes on in a mount namespace of its own, with the same arguments. Its copies of what other tests have
# mounted go first: they would keep loop devices busy that those tests let go of meanwhile.
sub enter_namespace {
	return if ($ENV{SCENE_NAMESPACE} // 0) == $$;
	exec 'unshare', '-m', '--propagation', 'private', 'sh', '-c',
		'findmnt -rno TARGET,SOURCE | sed -n "s,\(.*\) /dev/loop.*,\1,p" |
			while read -r target; do umount -l "$target" 2>/dev/null; done
		SCENE_NAMESPACE=$$ exec "$@"', 'sh', $^X, $0, @_;
	die "unshare: $!\n";
}

sub command {
	system(@_) == 0 or die "@_: failed\n";
}

# A file system to work in, and where it is mounted: the same path for each, so that images fit all.
sub start {
	my ($where) = @_;
	$ENV{PATH} .= ':/sbin:/usr/sbin';
	$ENV{LC_ALL} = 'C.UTF-8';
	$ENV{TZ} = 'UTC';
	$ENV{ASAN_OPTIONS} = 'detect_leaks=0' . ($ENV{ASAN_OPTIONS} ? ":$ENV{ASAN_OPTIONS}" : '');
	my $memory = -w '/dev/shm' ? '/dev/shm' : undef;
	$dir = $where // File::Temp::tempdir('scene.XXXXXX', DIR => $memory // '/tmp', CLEANUP => 1);
	$fs = "$dir/fs";
	($tree, $state) = ("$fs/t", "$fs/t/.bitscrub");
	die "no scrub to test: set SCRUB\n" if !defined $scrub || !-x $scrub;
	mkdir $fs;
	mkdir "$dir/tmp.$$" or die "$dir: $!\n";
	$ENV{TMPDIR} = "$dir/tmp.$$";
	my $file = "$dir/backing.$$";
	open $backing, '+>', $file or die "$file: $!\n";
	truncate $backing, $SIZE or die "$file: $!\n";
	chomp($device_path = `losetup --show -f $file`);
	open $device, '+<', $device_path or die "$device_path: $!\n";
	# It is in use, by this handle: it will go with it.
	command('losetup', '-d', $device_path);
	unlink $file;
}

sub make_file_system {
	command('mkfs.ext4', '-q', '-b', $UNIT, '-O', '^has_journal', $device_path);
}

# The numbers of mount(2) and umount2(2), which save two programs a case where they are known.
my ($MOUNT, $UMOUNT) = @{ { x86_64 => [165, 166], aarch64 => [40, 39] }->{ (POSIX::uname())[4] } // [] };

sub mounted {
	return if $mounted;
	my ($from, $to, $type) = ($device_path, $fs, 'ext4');
	if ($MOUNT) {
		syscall($MOUNT, $from, $to, $type, 0, 0) == 0 or die "mount $fs: $!\n";
	} else {
		command('mount', '-t', $type, $from, $to);
	}
	$mounted = 1;
}

sub unmount {
	my $from = $fs;
	return $UMOUNT ? syscall($UMOUNT, $from, 0) == 0 : !system "umount $fs 2>/dev/null";
}

sub unmounted {
	return if !$mounted;
	detach_disk();
	for my $attempt (1 .. 200) {
		last if unmount();
		die "$fs: can't be unmounted\n" if $attempt == 200;
		select undef, undef, undef, 0.01;
	}
	$mounted = 0;
}

# The image as it is; and to make it that again.
sub image {
	my $image;
	unmounted();
	fsync_device();
	sysseek $backing, 0, 0;
	sysread($backing, $image, $SIZE) == $SIZE or die "cannot read the image: $!\n";
	return $image;
}

sub fsync_device {
	$device->sync;
	ioctl $device, $BLKFLSBUF, 0 or die "BLKFLSBUF: $!\n";
}

# One that was saved is what load() gives, and copied in pieces: what is small forks fast.
sub restore {
	my $saved = ref $_[0];
	unmounted();
	fsync_device();
	sysseek $backing, 0, 0;
	if ($saved) {
		copy_saved($_[0]);
	} else {
		syswrite($backing, $_[0]) == $SIZE or die "cannot write the image: $!\n";
	}
	mounted();
}

sub copy_saved {
	my ($from) = @_;
	my $piece;
	sysseek $from, 0, 0;
	for (my $at = 0; $at < $SIZE; $at += length $piece) {
		sysread $from, $piece, 1 << 18 or die "cannot read the image: $!\n";
		syswrite($backing, $piece) == length $piece or die "cannot write the image: $!\n";
	}
}

# Images for other processes that work in the same place.
sub save {
	my ($images) = @_;
	for my $name (keys %$images) {
		open my $h, '>', "$dir/image.$name" or die "$name: $!\n";
		print $h $images->{$name};
		close $h or die "$name: $!\n";
	}
}

my %loaded;

sub load {
	my ($name) = @_;
	if (!$loaded{$name}) {
		open my $h, '<', "$dir/image.$name" or die "$name: $!\n";
		$loaded{$name} = $h;
	}
	return $loaded{$name};
}

# ---- the tree --------------------------------------------------------------------------------

my $seed;

sub bytes {
	my ($n) = @_;
	srand(++$seed);
	return join '', map { chr int rand 256 } 1 .. $n;
}

sub put {
	my ($name, $content, $when) = @_;
	open my $h, '>', "$tree/$name" or die "$name: $!\n";
	print $h $content;
	close $h or die "$name: $!\n";
	utime $when, $when, "$tree/$name" if $when;
}

sub get {
	my ($file) = @_;
	open my $h, '<', $file or return;
	local $/;
	return scalar <$h>;
}

# Files are named for what will happen to them.
sub plant {
	make_file_system();
	mounted();
	mkdir $tree;
	mkdir "$tree/$_" for qw(d d/deeper);
	$seed = 0;
	put($_->[0], bytes($_->[1]), 1.5e9 + $_->[1]) for
		['d/kept', 5000], ['d/deeper/kept', 70000], ['d/edited', 9000], ['d/grown', 12288],
		['d/gone', 4500], ['d/moved', 8192], ['d/rotten', 90000], ['d/small', 100],
		['d/bit', 20000], ['d/burst', 40000], ['d/lost', 50000], ['d/altered', 16384],
		['d/carried', 30000], ['d/short', 14000], ['d/long', 14001], ['d/parity', 24000],
		['d/linked', 6000], ['d/frozen', 3000], ['d/touched', 3001];
	put('d/empty', '', 1.5e9);
	put('d/hole', bytes(4096), 0);
	open my $h, '+<', "$tree/d/hole" or die;
	truncate $h, 60000;
	close $h;
	utime 1.5e9, 1.5e9, "$tree/d/hole";
	link "$tree/d/linked", "$tree/d/deeper/link" or die;
}

# Where the bytes of a file are in the image: [first, last, first in the image]...
sub places {
	my ($file) = @_;
	return map { /^\s*\d+:\s*(\d+)\.\.\s*(\d+):\s*(\d+)\.\./ ? [$1, $2, $3] : () }
		`filefrag -b1 -v $file`;
}

# Damage in the image underneath: [file, offset, bytes, mask]...; no time moves.
sub rot {
	my @places;
	for (@_) {
		my ($name, $offset, $length, $mask) = @$_;
		for my $p (places($name =~ m{^/} ? $name : "$tree/$name")) {
			push @places, map { [$p->[2] + $_ - $p->[0], $mask // "\x5a"] }
				grep { $_ >= $p->[0] && $_ <= $p->[1] } $offset .. $offset + $length - 1;
		}
	}
	my $image = image();
	substr($image, $_->[0], 1) ^= $_->[1] for @places;
	restore($image);
}

sub quietly {
	my ($name, $edit) = @_;
	my @was = stat "$tree/$name";
	open my $h, '+<', "$tree/$name" or die;
	$edit->($h);
	close $h or die;
	utime $was[9], $was[9], "$tree/$name";
}

sub overwrite {
	my ($offset, $text) = @_;
	return sub {
		seek $_[0], $offset, 0;
		print { $_[0] } $text;
	};
}

# What happens between two passes.
sub edit {
	put('d/edited', bytes(9000), 1.6e9);
	put('d/grown', get("$tree/d/grown") . bytes(5000), 1.6e9);
	put('d/new', bytes(18000), 1.6e9);
	put('new', bytes(33), 1.6e9);
	unlink "$tree/d/gone";
	rename "$tree/d/moved", "$tree/moved";
	utime 1.6e9, 1.6e9, "$tree/d/touched";
	quietly('d/altered', overwrite(5000, 'other'));
	quietly('d/short', sub { truncate $_[0], 13000 });
	quietly('d/long', sub { seek $_[0], 0, 2; print { $_[0] } 'more' });
	open my $h, '+<', "$tree/d/carried" or die;
	overwrite(100, 'edited')->($h);
	close $h;
	utime 1.6e9, 1.6e9, "$tree/d/carried";
}

sub settle {
	select undef, undef, undef, 2.1;
}

# scrub VERB TREE ...: its exit status.
sub scrub {
	return system_quiet($scrub, map { $_ eq $tree ? target() : $_ } @_);
}

# The exit status of a program; more than 128 for a signal. What it says is said().
sub system_quiet {
	my $pid = fork // die "fork: $!\n";
	if (!$pid) {
		quiet();
		exec @_ or POSIX::_exit(127);
	}
	waitpid $pid, 0;
	my $status = $?;
	sync_disk();
	return $status & 127 ? 128 + ($status & 127) : $status >> 8;
}

sub quiet {
	open STDIN, '<', '/dev/null';
	open STDOUT, '>', "$dir/out.$ENV{SCENE_NAMESPACE}";
	open STDERR, '>', "$dir/err.$ENV{SCENE_NAMESPACE}";
}

sub err {
	return "$dir/err.$ENV{SCENE_NAMESPACE}";
}

sub said {
	return get("$dir/out.$ENV{SCENE_NAMESPACE}") . get("$dir/err.$ENV{SCENE_NAMESPACE}");
}

sub expect {
	my ($want, @arguments) = @_;
	my $got = scrub(@arguments);
	die said(), "scrub @arguments: exit $got, not $want\n" if $got != $want;
}

# One thing after the other, so that a step makes the same calls each time.
my @one = ('-j1', '--reads-in-flight=1');
my @run = ('run', @one);

# A command killed at a system call.
sub cut_short {
	my ($call, $n, @arguments) = @_;
	my $exit = system_quiet('strace', '-f', '-qq', '-o', '/dev/null', '-e', "trace=$call",
		'-e', "inject=$call:signal=KILL:when=$n", $scrub, @arguments);
	die "@arguments: not killed at $call $n, exit $exit\n" if $exit != 137;
}

# The images that steps begin with. Takes five seconds.
sub images {
	my %image = images_of_life();
	restore($image{edited});
	cut_short('fdatasync', 12, @run, $tree);
	$image{stopped} = image();
	restore($image{damaged});
	cut_short('utimensat', 2, 'repair', $tree);
	$image{'half-repaired'} = image();
	restore($image{repaired});
	cut_short('utimensat', 2, 'repair', '--undo', $tree);
	$image{'half-undone'} = image();
	restore($image{recorded});
	# So much that the next pass gives up a segment, and copies what is left of it.
	put("d/$_", bytes(20000), 1.6e9) for qw(deeper/kept edited grown gone rotten bit burst lost hole
		carried short long parity);
	settle();
	expect(0, @run, $tree);
	$image{renewed} = image();
	%image = (%image, images_of_disk());
	# What is cut short again is, as a rule, long after the first time.
	settle();
	return \%image;
}

sub images_of_life {
	my %image;
	plant();
	$image{planted} = image();
	mounted();
	settle();
	expect(0, @run, $tree);
	$image{recorded} = image();
	mounted();
	rot(['d/carried', 20000, 3]);
	expect(4, @run, $tree);
	edit();
	known('manifest') =~ m{^file "d/kept"(?:.*\n){3}  parity segment=1 .* offset=(\d+)}m or die;
	my $parity = $1;
	rot(['d/rotten', 10000, 5000], ['d/small', 50, 1], ['d/bit', 7777, 1, "\x10"],
		['d/burst', 4000, 3000], ['d/lost', 100, 8000], ['d/lost', 20000, 9000],
		["$state/parity/00000001", $parity + 10, 10]);
	settle();
	$image{edited} = image();
	mounted();
	expect(5, @run, $tree);
	$image{damaged} = image();
	mounted();
	expect(5, 'repair', '--force', $tree, map { "d/$_" }
		qw(altered short long rotten small bit burst));
	$image{repaired} = image();
	return %image;
}

# ---- the steps -------------------------------------------------------------------------------

my @forced = ('@', 'd/altered', 'd/short', 'd/long');

# A part of a pass, told to a monitor.
my @limited = (@run, '--max-bytes=100K', '--metrics=%');

# Name, image it begins with, the command, and what comes after it: each list of commands in turn,
# and then a pass. Whatever happens to the command, that must lead to the same end.
# With "CALL:N" it is for tests/powercut alone, and stopped there by a signal.
our @steps = map { { name => $_->[0], image => $_->[1], line => $_->[2], next => $_->[3],
	stop => $_->[4] } } (
	['init', 'planted', ['init'], [[]]],
	['first', 'planted', [@run], [[]]],
	['run', 'edited', [@run], [[]]],
	['renew', 'renewed', [@run], [[]]],
	['stop', 'edited', [@run], [[]], 'openat2:12'],
	['limited', 'edited', [@limited], [[[@limited]]]],
	['run-repair', 'edited', [@run, '--repair'],
		[[[@run, '--repair']], [[@run], ['repair']]]],
	['repair', 'damaged', ['repair'], [[['repair']], [[@run], ['repair']]]],
	['force', 'damaged', ['repair', '--force', @forced],
		[[['repair', '--force', @forced]], [[@run], ['repair', '--force', @forced]]]],
	['undo', 'repaired', ['repair', '--undo'],
		[[['repair', '--undo']], [[@run], ['repair', '--undo']]]],
	['purge', 'repaired', ['repair', '--undo', '--purge'], [[['repair', '--undo', '--purge']]]],
	['resume', 'stopped', [@run], [[]]],
	['complete', 'half-repaired', [@run], [[[@run], ['repair']]]],
	['complete-repair', 'half-repaired', ['repair'], [[['repair']]]],
	['complete-undo', 'half-undone', [@run], [[[@run], ['repair', '--undo']]]],
	['accept', 'damaged', ['accept', @one, '@', '.'], [[['accept', @one, '@', '.']]]],
	['config', 'damaged', ['config', '@', 'stale-after=60'], [[['config', '@', 'stale-after=60']]]],
);

# The arguments of a command: the tree (or device) is where @ is, or last; metrics where % is.
sub line {
	my @words = @_;
	push @words, '@' unless grep { $_ eq '@' } @words;
	return map { $_ eq '@' ? target() : s{%}{$fs/metrics}r } @words;
}

# What comes after a step, in the way number $turn: the exit status of each command.
sub go_on {
	my ($step, $turn) = @_;
	my @ways = @{ $step->{next} };
	return map { scrub(line(@$_)) } @{ $ways[$turn % @ways] }, [@run];
}

# ---- what there is ---------------------------------------------------------------------------

# Of each file of the tree: "mtime mode size" and its bytes.
sub files {
	my %files;
	open my $list, '-|', 'find', $tree, '-path', $state, '-prune', '-o', '-type', 'f', '-printf',
		'%P\t%T@ %m %s\n' or die "find: $!\n";
	while (defined(my $line = <$list>)) {
		chomp $line;
		my ($name, $meta) = split /\t/, $line;
		# A device has no mtime: that of the file below it is nobody's business.
		$meta =~ s/^\S+ // if $name eq 'disk';
		$files{$name} = [$meta, get(written_to("$tree/$name"))];
	}
	close $list or die "find: $?\n";
	return \%files;
}

# Names in the state, with parity and undo; those of directories end in '/'.
sub state_names {
	my @names;
	for my $sub ('', 'parity/', 'undo/') {
		opendir my $d, "$state/$sub" or next;
		push @names, map { -d "$state/$sub$_" ? "$sub$_/" : "$sub$_" } grep { !/^\.\.?$/ } readdir $d;
	}
	return sort @names;
}

# What a reader that shares no code finds in the manifest, but for when and where that is. Dies if
# it is not sound.
my %dumped;

sub known {
	my ($name) = @_;
	my $content = get("$state/$name");
	die "no $name\n" if !defined $content;
	%dumped = () if keys %dumped > 100;
	return $dumped{$content} //= dumped($name);
}

# The reader is a program of its own; a copy of this process becomes it faster than a new one.
sub dumped {
	my ($name) = @_;
	my $pid = open my $out, '-|' // die "fork: $!\n";
	if (!$pid) {
		open STDERR, '>&', \*STDOUT;
		($0, @ARGV) = ($dump, "$state/$name");
		do $dump;
		POSIX::_exit(1);
	}
	my $text = do { local $/; <$out> };
	close $out;
	die "$name is unsound: ", $text =~ /^(?!  |file|extent|header)(.*)/m, "\n" if $? != 0;
	return $text;
}

sub timeless {
	my ($text) = @_;
	my @segments = $text =~ /^  segment number=(\d+)/mg;
	$text =~ s/^(container|header|trailer|  (target|identity|ages|segment|device)) .*\n//mg;
	$text =~ s/ (recorded|checked|skipped-since|first|last|segment|offset|ctime)=-?[0-9]+//g;
	$text =~ s/^((?:extent|file) .*) flags=\S+/$1/mg;
	# These depend on ctime: of a file that was written again, it is another one.
	$text =~ s/^(  damage .*) kind=(?:rot|altered) /$1 kind=content /mg;
	$text =~ s/^  stamp .*\n//mg;
	return ($text, map { sprintf 'parity/%08u', $_ } @segments);
}

END {
	if ($$ == $own) {
		my $status = $?;
		unmounted();
		$? = $status;
	}
}

require scene_device;

1;
