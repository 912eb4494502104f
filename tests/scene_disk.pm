# SPDX-License-Identifier: LGPL-2.1-or-later
# What a command writes, and what of that may be on the disk when the power is cut.
#
# The model: what is written to a file, its size and its times, may each be lost until that file is
# synced, in any combination; of what is written whole sectors of 512 or 4096 bytes may be lost.
# Names are made, moved and removed in order in each directory, and the last ones may be lost until
# the directory is synced; there is no order between directories, and a name does not bring the content
# of its file with it. A tree file whose times were lost can't be made here: the kernel sets ctime.
package Scene::Disk;
use strict;
use warnings;

my $CALLS = 'open,openat,openat2,close,write,pwrite64,writev,pwritev,lseek,fsync,fdatasync,syncfs,rename,' .
	'renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,rmdir,truncate,ftruncate,' .
	'fallocate,utimensat,copy_file_range,sendfile,symlinkat';

# ---- recording -------------------------------------------------------------------------------

# Runs scrub with these arguments, and stops it by SIGTERM at $stop ("CALL:N") if there is one; the
# tree is left as the command leaves it.
sub record {
	my ($class, $stop, @arguments) = @_;
	my @command = ($Scene::scrub, @arguments);
	if ($stop) {
		my ($call, $n) = split /:/, $stop;
		# That call takes longer than the command may.
		unshift @command, '-e', "inject=$call:delay_enter=3s:when=$n", 'timeout',
			'--preserve-status', '-s', 'TERM', '1';
	}
	my $self = bless { inode => {}, name => {}, fd => {}, position => {}, events => [],
		segment => {}, half => {} }, $class;
	$self->begin();
	my $exit = Scene::system_quiet('strace', '-f', '-y', '-xx', '-s', 1 << 24, '-qq', '-o',
		"$Scene::dir/disk.$$", '-e', "trace=$CALLS", @command);
	die "exit $exit, not stopped at $stop: ", Scene::said() if $stop && !($exit & 32);
	open my $trace, '<', "$Scene::dir/disk.$$" or die "trace: $!\n";
	while (defined(my $line = <$trace>)) {
		$self->parse($line);
	}
	close $trace;
	unlink "$Scene::dir/disk.$$";
	$self->find_points();
	return $self;
}

# Before each sync that something is waiting for: young files of the tree are synced, too.
sub find_points {
	my ($self) = @_;
	my (%waiting, @points);
	for my $i (0 .. $#{ $self->{events} }) {
		my $e = $self->{events}[$i];
		if ($e->{kind} eq 'sync') {
			push @points, $i if delete $waiting{ $e->{what} };
		} else {
			$waiting{ $e->{dir} // $e->{file} } = 1;
		}
	}
	$self->{points} = [@points, scalar @{ $self->{events} }];
}

# What there is before: names in the state, by inode; the tree's files by their paths.
sub begin {
	my ($self) = @_;
	for my $name (Scene::state_names()) {
		my $path = "$Scene::state/$name";
		if ($path =~ s{/$}{}) {
			$self->{name}{$path} = 'dir';
			next;
		}
		my $ino = 'was ' . (stat $path)[1];
		$self->{name}{$path} = $ino;
		$self->{inode}{$ino} = Scene::get($path);
	}
	$self->{name}{$Scene::state} = 'dir' if -d $Scene::state;
	$self->{before} = { %{ $self->{name} } };
}

sub parse {
	my ($self, $line) = @_;
	my ($thread) = $line =~ /^(\d+)/;
	$line =~ s/^\d+\s+//;
	# Two threads at once: the call is where it ends.
	$self->{half}{$thread} = $line, return if $line =~ s/ ?<unfinished \.\.\.>\s*$//;
	$line = delete($self->{half}{$thread}) . $line if $line =~ s/^<\.\.\. \w+ resumed>//;
	return if $line !~ /^(\w+)\((.*)\)\s+= (-?\d+)(.*)$/;
	my ($call, $text, $result, $rest) = ($1, $2, $3, $4);
	# strace shows what it has no name for, whatever it is asked for.
	return if $result < 0 || $call =~ /^syscall_/;
	my @arguments = map { s/\\x(..)/chr hex $1/gre } split /, /, $text;
	$rest =~ s/\\x(..)/chr hex $1/ge;
	my $how = $self->can("saw_$call") or die "not understood: $call\n";
	$how->($self, $result, $rest, $text, @arguments);
}

# "5</path>" -> number, path; nothing if that has no name.
sub fd {
	my ($text) = @_;
	my ($n, $path) = $text =~ m{^(\w+)<(.*)>(\(deleted\))?$}s or die "no descriptor: $text\n";
	return ($n, $path);
}

sub at {
	my ($dir, $name) = @_;
	$name =~ s/^"(.*)"$/$1/s;
	return $name if $name =~ m{^/};
	return (fd($dir))[1] . "/$name";
}

sub event {
	my ($self, $kind, %more) = @_;
	push @{ $self->{events} }, { kind => $kind, %more };
}

sub folder {
	return $_[0] =~ s{/[^/]*$}{}r;
}

# Which file a descriptor is: an inode of the state, a path of the tree, or nothing that lasts.
sub file {
	my ($self, $n, $path) = @_;
	$path = Scene::seen_as($path);
	return $self->{fd}{$n} // $self->{name}{$path} //
		($path =~ m{^\Q$Scene::tree\E/} && $path !~ m{^\Q$Scene::state\E} ? $path : undef);
}

sub saw_openat {
	my ($self, $result, $rest, $text, $dir, $name, $flags) = @_;
	my ($path) = $rest =~ /^<(.*)>(?:\(deleted\))?$/s;
	$self->{fd}{$result} = undef;
	$self->{position}{$result} = 0;
	return if !defined $path || $flags =~ /O_TMPFILE/ || $path !~ m{^\Q$Scene::state\E(/|$)};
	if ($flags =~ /O_CREAT/ && !$self->{name}{$path}) {
		my $ino = 'new ' . @{ $self->{events} };
		$self->{inode}{$ino} = '';
		$self->{segment}{$ino} = 1 if $path =~ m{/parity/\d+$};
		$self->{name}{$path} = $ino;
		$self->event('name', dir => folder($path), to => $path, ino => $ino);
	}
	die "not understood: O_TRUNC\n" if $flags =~ /O_TRUNC/;
	$self->{fd}{$result} = $self->{name}{$path} if ($self->{name}{$path} // 'dir') ne 'dir';
}

# State is not opened by this one.
# The runtime of the sanitizers opens files so.
sub saw_open {
	my ($self, $result, $rest, $text, @more) = @_;
	$self->saw_openat($result, $rest, $text, 'AT_FDCWD', @more);
}

sub saw_openat2 {
	my ($self, $result) = @_;
	$self->{fd}{$result} = undef;
	$self->{position}{$result} = 0;
}

sub saw_close {
	my ($self, $result, $rest, $text, $fd) = @_;
	delete $self->{fd}{ (fd($fd))[0] };
}

sub write_at {
	my ($self, $n, $path, $offset, $bytes, $length) = @_;
	my $file = $self->file($n, $path) // return;
	$bytes =~ s/^"(.*)"$/$1/s or die "a write is not whole\n";
	$self->event('data', file => $file, offset => $offset, bytes => substr $bytes, 0, $length);
}

sub saw_write {
	my ($self, $result, $rest, $text, $fd, $bytes) = @_;
	my ($n, $path) = fd($fd);
	$self->write_at($n, $path, $self->{position}{$n} // 0, unquoted($text), $result);
	$self->{position}{$n} += $result;
}

sub saw_pwrite64 {
	my ($self, $result, $rest, $text, $fd, $bytes, $length, $offset) = @_;
	$self->write_at(fd($fd), ($text =~ /, (\d+)$/)[0], unquoted($text), $result);
}

# The bytes may have ", " in them once they are decoded.
sub unquoted {
	my ($bytes) = $_[0] =~ /, ("[^"]*")/ or die "a write is not whole\n";
	return $bytes =~ s/\\x(..)/chr hex $1/gre;
}

sub saw_lseek {
	my ($self, $result, $rest, $text, $fd) = @_;
	$self->{position}{ (fd($fd))[0] } = $result;
}

sub saw_fsync {
	my ($self, $result, $rest, $text, $fd) = @_;
	my ($n, $path) = fd($fd);
	my $what = $self->file($n, $path) // return;
	$self->event('sync', what => $what eq 'dir' ? $path : $what);
}

sub saw_fdatasync {
	goto &saw_fsync;
}

sub saw_renameat {
	my ($self, $result, $rest, $text, $from_dir, $from, $to_dir, $to) = @_;
	($from, $to) = (at($from_dir, $from), at($to_dir, $to));
	die "not understood: from one directory to another\n" if folder($from) ne folder($to);
	$self->{name}{$to} = delete $self->{name}{$from};
	$self->event('name', dir => folder($to), from => $from, to => $to);
}

sub saw_linkat {
	my ($self, $result, $rest, $text, $from_dir, $from, $to_dir, $to) = @_;
	($from, $to) = (at($from_dir, $from), at($to_dir, $to));
	$self->{name}{$to} = $self->{name}{$from};
	$self->event('name', dir => folder($to), to => $to, ino => $self->{name}{$to});
}

sub saw_unlinkat {
	my ($self, $result, $rest, $text, $dir, $name) = @_;
	my $path = at($dir, $name);
	delete $self->{name}{$path};
	$self->event('name', dir => folder($path), gone => $path);
}

# By a path of its own: metrics, which are no part of the state.
sub saw_unlink {
	my ($self, $result, $rest, $text, $name) = @_;
	die "not understood: $text\n" if $name =~ m{^"?\Q$Scene::state\E(?:/|"|$)};
}

sub saw_rename {
	goto &saw_unlink;
}

sub saw_mkdirat {
	my ($self, $result, $rest, $text, $dir, $name) = @_;
	my $path = at($dir, $name);
	$self->{name}{$path} = 'dir';
	$self->event('name', dir => folder($path), to => $path, ino => 'dir');
}

sub saw_mkdir {
	my ($self, $result, $rest, $text, $name) = @_;
	$self->saw_mkdirat($result, $rest, $text, undef, $name);
}

sub saw_ftruncate {
	my ($self, $result, $rest, $text, $fd, $size) = @_;
	my $file = $self->file(fd($fd)) // return;
	$self->event('data', file => $file, size => $size);
}

sub saw_utimensat {
	my ($self, $result, $rest, $text, $fd) = @_;
	my @times = $text =~ /(tv_sec=\d+, tv_nsec=\d+|UTIME_\w+)/g;
	my ($seconds, $ns) = $times[1] =~ /=(\d+), tv_nsec=(\d+)/ or die "not understood: $text\n";
	my $file = $self->file(fd($fd)) // return;
	$self->event('data', file => $file, mtime => sprintf '%d.%09d', $seconds, $ns);
}

# ---- what may be lost ------------------------------------------------------------------------

sub points {
	return scalar @{ $_[0]{points} };
}

# The events before a point that are surely on the disk (1), or may be lost (0); directories with
# what is not sure of them, in order.
sub pending {
	my ($self, $point) = @_;
	my $end = $self->{points}[$point];
	my (%synced, @sure, %names, @data);
	for my $i (reverse 0 .. $end - 1) {
		my $e = $self->{events}[$i];
		$synced{ $e->{what} } = 1 if $e->{kind} eq 'sync';
		$sure[$i] = $synced{ $e->{dir} // $e->{file} // '' } // 0;
		next if $sure[$i] || $e->{kind} eq 'sync';
		unshift @{ $names{ $e->{dir} } }, $i if $e->{kind} eq 'name';
		unshift @data, $i if $e->{kind} eq 'data';
	}
	return (\@sure, \%names, \@data);
}

# Whether parity may be lost: some that is not there may still have nothing that refers to it on the
# disk. What was written before a sync of another file of the state has to be there.
sub may_lose_parity {
	my ($self, $point, $there) = @_;
	my $promised = -1;
	for my $i (0 .. $self->{points}[$point] - 1) {
		my $e = $self->{events}[$i];
		$promised = $i if $e->{kind} eq 'sync' && exists $self->{inode}{ $e->{what} } &&
			!$self->{segment}{ $e->{what} };
	}
	return grep {
		my $e = $self->{events}[$_];
		my $file = $e->{file} // $e->{ino} // '';
		$self->{segment}{$file} && ($there->[$_] // '') ne 'all' && $_ > $promised;
	} 0 .. $#$there;
}

# Dies if something that has been done by the end of the command could be lost.
sub check_lasting {
	my ($self, $there) = @_;
	my ($name, $inode, $tree) = $self->outcome($#{ $self->{points} }, $there);
	my @all = map { 'all' } @{ $self->{events} };
	my ($want_name, $want_inode) = $self->outcome($#{ $self->{points} }, \@all);
	for my $path (map { "$Scene::state/$_" } qw(manifest journal)) {
		my $want = $want_name->{$path} // next;
		my $is = $name->{$path};
		die "$path is not on the disk in the end\n"
			if !defined $is || $inode->{$is} ne $want_inode->{$want};
	}
	for my $i (0 .. $#{ $self->{events} }) {
		my $e = $self->{events}[$i];
		next if $e->{kind} ne 'data' || exists $inode->{ $e->{file} } || defined $e->{mtime};
		die "$e->{file} is not on the disk in the end\n" if ($there->[$i] // '') ne 'all';
	}
}

# How many combinations there are of what is lost and what is not.
sub states {
	my ($self, $point) = @_;
	my ($sure, $names, $data) = $self->pending($point);
	my $n = 2**@$data;
	$n *= 1 + @$_ for values %$names;
	return $n;
}

# Combination @number: for each event undef (lost), or what of it is there: 'all', or a seed.
sub choose {
	my ($self, $point, $number) = @_;
	my ($sure, $names, $data) = $self->pending($point);
	my @there = map { $_ ? 'all' : undef } @$sure;
	my $all = $self->states($point);
	my $sampled = $all > 4096;
	srand $point * 65537 + $number;
	my $digit = sub {
		my ($base) = @_;
		return $base - 1 if $number == 0;
		return 0 if $number == 1;
		return int rand $base if $sampled;
		my $d = $number % $base;
		$number = int $number / $base;
		return $d;
	};
	# So that the first states of many are as different as those that are sampled.
	my $kind = $number;
	$number = 2 + ($number - 2) * 2654435761 % ($all - 2) if $kind >= 2 && !$sampled;
	for my $dir (sort keys %$names) {
		my @list = @{ $names->{$dir} };
		my $n = $kind < 2 ? ($kind == 0 ? @list : 0) : $digit->(1 + @list);
		$there[$_] = 'all' for splice @list, 0, $n;
	}
	for my $i (@$data) {
		my $n = $kind < 2 ? 1 - $kind : $digit->(2);
		$there[$i] = $n ? 'all' : undef;
		# Some of the lost ones are torn instead.
		$there[$i] = 1 + int rand 1e6 if !$n && $kind > 1 && rand() < 0.4;
	}
	return \@there;
}

# ---- putting it there ------------------------------------------------------------------------

# What of bytes is there when sectors are lost: [offset, bytes]...
sub torn {
	my ($offset, $bytes, $seed) = @_;
	my $sector = $seed % 2 ? 512 : 4096;
	my @parts;
	for (my $at = 0; $at < length $bytes;) {
		my $n = $sector - ($offset + $at) % $sector;
		push @parts, [$offset + $at, substr $bytes, $at, $n];
		$at += $n;
	}
	# The front, or any of them.
	srand $seed;
	my $front = int rand @parts + 1;
	return $seed % 3 ? @parts[0 .. $front - 1] : grep { rand() < 0.5 } @parts;
}

sub parts {
	my ($e, $there) = @_;
	return $there eq 'all' ? [$e->{offset}, $e->{bytes}] : torn($e->{offset}, $e->{bytes}, $there);
}

sub overlay {
	my ($content, $offset, $bytes) = @_;
	$$content .= "\0" x ($offset - length $$content) if length $$content < $offset;
	substr($$content, $offset, length $bytes) = $bytes;
}

sub apply {
	my ($content, $e, $there) = @_;
	if (defined $e->{bytes}) {
		overlay($content, @$_) for parts($e, $there);
	} elsif (defined $e->{size}) {
		$$content .= "\0" x ($e->{size} - length $$content) if length $$content < $e->{size};
		$$content = substr $$content, 0, $e->{size};
	}
}

# Names and inodes of the state, and what happens to the tree: [event, part]...
sub outcome {
	my ($self, $point, $there) = @_;
	my %name = %{ $self->{before} };
	my %inode = %{ $self->{inode} };
	my @tree;
	for my $i (grep { defined $there->[$_] } 0 .. $#$there) {
		my $e = $self->{events}[$i];
		if ($e->{kind} eq 'name') {
			my $ino = $e->{ino} // $name{ $e->{from} // '' };
			delete $name{ $e->{gone} // $e->{from} // '' };
			$name{ $e->{to} } = $ino if $e->{to} && defined $ino;
		} elsif ($e->{kind} eq 'data' && exists $inode{ $e->{file} }) {
			apply(\$inode{ $e->{file} }, $e, $there->[$i]);
		} elsif ($e->{kind} eq 'data') {
			push @tree, [$e, $there->[$i]];
		}
	}
	return (\%name, \%inode, \@tree);
}

sub put {
	my ($self, $point, $there) = @_;
	my ($name, $inode, $tree) = $self->outcome($point, $there);
	put_state($name, $inode);
	put_tree(@$_) for @$tree;
}

# Replaces the state directory. What is below a directory that is not there is not there.
sub put_state {
	my ($name, $inode) = @_;
	my %first;
	Scene::command('rm', '-rf', $Scene::state);
	umask 077;
	for my $path (sort keys %$name) {
		next if !-d folder($path);
		my $ino = $name->{$path};
		if ($ino eq 'dir') {
			mkdir $path or die "$path: $!\n";
		} elsif ($first{$ino}) {
			link $first{$ino}, $path or die "$path: $!\n";
		} else {
			open my $h, '>', $path or die "$path: $!\n";
			print $h $inode->{$ino};
			close $h or die "$path: $!\n";
			$first{$ino} = $path;
		}
	}
}

sub put_tree {
	my ($e, $there) = @_;
	if (defined $e->{mtime}) {
		Scene::command('touch', '-m', '-d', "\@$e->{mtime}", $e->{file});
		return;
	}
	open my $h, '+<', Scene::written_to($e->{file}) or die "$e->{file}: $!\n";
	if (defined $e->{size}) {
		truncate $h, $e->{size};
	} else {
		for my $part (parts($e, $there)) {
			seek $h, $part->[0], 0;
			print $h $part->[1];
		}
	}
	close $h or die "$e->{file}: $!\n";
}

# For people: the events up to a point and what became of them.
sub tell {
	my ($self, $point, $there) = @_;
	my @lines;
	for my $i (0 .. $#$there) {
		my $e = $self->{events}[$i];
		my $fate = $e->{kind} eq 'sync' ? '' : !defined $there->[$i] ? 'LOST' :
			$there->[$i] eq 'all' ? '' : "torn $there->[$i]";
		my %shown = map { $_ => $e->{$_} } grep { $_ ne 'bytes' && defined $e->{$_} } keys %$e;
		$shown{length} = length $e->{bytes} if defined $e->{bytes};
		push @lines, join ' ', "$i:", (map { "$_=$shown{$_}" } sort keys %shown), $fate;
	}
	return @lines;
}

1;
