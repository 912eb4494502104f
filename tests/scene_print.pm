# SPDX-License-Identifier: LGPL-2.1-or-later
# What a step of tests/scene.pm has left behind, in few bytes, so that what follows from it need be
# found out only once.
#
# A command can know of what was done before it only what is on the file system: no process is
# left, and nothing else is kept. So if two cases of a step leave the same there, they go on in
# the same way, whatever went wrong in each. "The same" is all that scrub reads or could:
# - of each file of the tree: name, kind, bytes, size, blocks (holes), owner, mode, links, inode
# number, mtime, ctime;
# - of the state: names, kinds, owners, modes, which names are one inode, and bytes; the times of
# undo entries;
# - of what lies on a device (tests/scene_device.pm): bytes, as read from the device;
# - names, kinds and sizes in the directory of metrics, that of temporary files and
# /var/lib/bitscrub.
#
# What differs by the clock alone is made equal: a time that is not older than the step (in a
# stamp, a record, a ctime) is NOW, or in a record that names a file of the tree, where it is to
# the nanosecond the mtime or ctime of that file, this: whether it is of what the file is now. But
# for that, all lie within the second that the step takes, the commands that follow come at once,
# and scrub makes a difference only between what lies two seconds back and what does not; so the
# order of such times doesn't matter. A step that took longer is not compared at all. With them go
# the CRCs of records that have them, after they were found right, and how long a pass took, which
# is only told to people.
#
# Left out: inode numbers and times of the state's other files and of directories, which scrub
# does not look at, or compares with what it finds in the same moment; the place of blocks on the
# disk; what is in the page cache, which is what is on the disk, for damage is put there before it
# is mounted.
package Scene;
use strict;
use warnings;
use Compress::Raw::Zlib ();
use Digest::MD5 ();
use File::Basename ();
use Time::HiRes ();

our ($dir, $fs, $tree, $state);

my $SECOND = 1_000_000_000;

# The times from just before $began until now, for a clock that ticks slowly may be behind; with
# the files that have them.
sub span {
	my ($began) = @_;
	my ($first, $last) = map { int $_ * 1000 } $began * 1e6 - 5e5, Time::HiRes::time() * 1e6 + 5e5;
	return { first => $first, last => $last, of => {} };
}

# Whether a step that began then has its times within a second.
sub brief {
	my ($began) = @_;
	return Time::HiRes::time() - $began < 1;
}

# A name for a time that is one of these, in $context, which may name the file; else nothing.
sub now_name {
	my ($ns, $span, $context) = @_;
	return if $ns < $span->{first} || $ns > $span->{last};
	my $of = $span->{of}{$ns} // {};
	return join ' ', 'NOW', map { $of->{$_} } grep { index($context, $_) >= 0 } sort keys %$of;
}

# That a file of the tree has this mtime and this ctime.
sub have_times {
	my ($span, $path, @times) = @_;
	$path =~ s{^\Q$tree\E/}{};
	$span->{of}{ nanoseconds($times[$_]) }{$path} .= (qw(mtime ctime))[$_] for 0, 1;
}

# "1500000000.5000000000", as find prints it, in nanoseconds.
sub nanoseconds {
	my ($s, $ns) = $_[0] =~ /^(-?\d+)\.(\d{9})/ or die "no time: $_[0]\n";
	return $s * $SECOND + $ns;
}

sub moment {
	my ($text, $span) = @_;
	return now_name(nanoseconds($text), $span, '') // $text;
}

# Times in bytes: 64 bits, little-endian, anywhere.
sub without_times {
	my ($bytes, $span, $context) = @_;
	my ($low, $high) = map { quotemeta substr pack('Q<', $_), 5 } @$span{qw(first last)};
	while ($bytes =~ /(?:$low|$high)/g) {
		my $at = $-[0] - 5;
		my $name = $at < 0 ? undef : now_name(unpack('Q<', substr $bytes, $at, 8), $span, $context);
		next if !defined $name;
		substr($bytes, $at, 8) = substr Digest::MD5::md5($name), 0, 8;
		pos($bytes) = $at + 8;
	}
	return $bytes;
}

# Records one behind the other: of each that is sound its type and what it says, of the rest bytes.
sub records {
	my ($bytes, $span) = @_;
	my ($at, $entry, $out) = (0, undef, '');
	while (length($bytes) - $at >= 12) {
		my ($type, $zero, $n) = unpack 'a a3 V', substr $bytes, $at, 8;
		last if $zero ne "\0\0\0" || length($bytes) - $at < 12 + $n;
		my $record = substr $bytes, $at, 8 + $n;
		last if unpack('V', substr $bytes, $at + 8 + $n, 4) != Compress::Raw::Zlib::crc32($record);
		# How long a pass took; and of an entry of the undo log, what is before its first state.
		substr($record, 8 + 16, 8) = 'duration' if $type eq 'P';
		if ($type eq 'S') {
			$entry //= Compress::Raw::Zlib::crc32(substr $bytes, 0, $at);
			substr($record, 8 + 4, 4) = 'same' if unpack('V', substr $record, 12, 4) == $entry;
		}
		# An entry of the undo log is about one file.
		$out .= without_times($record, $span, $type =~ /[NRS]/ ? $bytes : $record);
		$at += 12 + $n;
	}
	return $out . 'REST' . without_times(substr($bytes, $at), $span, '');
}

# A manifest, after a reader that shares no code has found it sound.
sub manifest_print {
	my ($name, $r, $span) = @_;
	return 'as before' if get("$state/$name") eq $r->{manifest};
	my $text = known($name);
	my $disk = disk();
	$text =~ s/\Q$disk\E/DISK/g if defined $disk;
	$text =~ s/^(container .*) writing=\S+$/$1/m;
	$text =~ s/ (?:pass-duration|crc)=\S+//g;
	my @parts = split /^(?=file |link )/m, $text;
	for my $part (@parts) {
		my $context = $part;
		$part =~ s/=(\d{16,})\b/'=' . (now_name($1, $span, $context) \/\/ $1)/ge;
	}
	return join '', @parts;
}

sub content_print {
	my ($path, $r, $span) = @_;
	return manifest_print(File::Basename::basename($path), $r, $span)
		if $path =~ m{^\Q$state\E/manifest(?:\.1)?$};
	return records(get($path), $span)
		if $path =~ m{^\Q$state\E/(?:journal|history|undo/\d+)$};
	return get(written_to($path));
}

# All files, with what is to be compared of each. Dies if a manifest is unsound.
sub print_of {
	my ($r, $began) = @_;
	my ($span, %first, @all) = span($began);
	my @files = map { [split /\t/] } found();
	for my $f (grep { $_->[1] eq 'f' && $_->[0] !~ m{^\Q$state\E/} } @files) {
		have_times($span, @$f[0, 8, 9]);
	}
	for (@files) {
		my ($path, $kind, $owner, $mode, $ino, $links, $blocks, $size, @times) = @$_;
		my @what = ($path, $kind, $owner, $mode);
		$what[0] =~ s/^\Q$ENV{TMPDIR}\E/temporary/;
		# Written for a monitor, whole or not there: that is looked at each time.
		$what[0] =~ s/(metrics\.bitscrub-)\w{6}$/$1XXXXXX/;
		if ($path eq "$tree/disk") {
			push @what, $size, Digest::MD5::md5_hex(content_print($path, $r, $span));
		} elsif ($kind eq 'f' && $path =~ m{^\Q$tree\E/}) {
			my $own = $path =~ m{^\Q$state\E/};
			push @what, $links, $first{$ino} //= $path;
			push @what, $size, $blocks, $ino if !$own;
			push @what, map { moment($_, $span) } @times
				if !$own || $path =~ m{/undo/};
			push @what, Digest::MD5::md5_hex(content_print($path, $r, $span));
		} elsif ($kind eq 'f' && $path !~ m{^\Q$fs\E/metrics}) {
			push @what, $size;
		}
		push @all, join "\t", @what;
	}
	return join "\n", @all, elsewhere();
}

# All there is, by name: a line each.
sub found {
	open my $list, '-|', 'find', $fs, $ENV{TMPDIR}, '-printf',
		'%p\t%y\t%u:%g\t%m\t%i\t%n\t%b\t%s\t%T@\t%C@\n' or die "find: $!\n";
	my @lines = sort <$list>;
	close $list or die "find: $?\n";
	chomp @lines;
	return @lines;
}

# What there is of it where the state is kept of what is not trusted.
sub elsewhere {
	my $name = File::Basename::basename($dir);
	return glob "/var/lib/bitscrub/*$name*";
}

# ---- what was found out ----------------------------------------------------------------------

# Prints after which all went well are files, which all workers see.
sub was_right {
	my ($print) = @_;
	return -e "$dir/right/" . Digest::MD5::md5_hex($print);
}

sub now_right {
	my ($print) = @_;
	open my $h, '>', "$dir/right/" . Digest::MD5::md5_hex($print) or die "right: $!\n";
	close $h or die "right: $!\n";
}

1;
