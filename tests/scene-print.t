#!/usr/bin/env perl
# SPDX-License-Identifier: LGPL-2.1-or-later
# tests/faults takes what was left behind for the same only where it is: a step done again leaves
# the same, whenever that is, and each thing that a command could notice makes a difference.
use strict;
use warnings;
use File::Basename ();
use lib File::Basename::dirname(__FILE__);
use scene;
use scene_check;
use scene_print;

my $lacking = Scene::lacking();
print("1..0 # SKIP $lacking\n"), exit if $lacking;
Scene::enter_namespace();
Scene::start();

my $n = 0;

sub ok {
	my ($true, $what) = @_;
	printf "%sok %d - %s\n", $true ? '' : 'not ', ++$n, $what;
}

# A tree with a finished repair, and one in which a byte is to be repaired.
sub begin {
	my @run = ('run', '-j1', '--reads-in-flight=1', $Scene::tree);
	Scene::plant();
	Scene::settle();
	Scene::expect(0, @run);
	Scene::rot(['d/small', 50, 1]);
	Scene::settle();
	Scene::expect(4, @run);
	Scene::expect(1, 'repair', $Scene::tree);
	Scene::rot(['d/bit', 50, 1]);
	Scene::expect(4, @run);
	Scene::settle();
	my %r = (manifest => Scene::get("$Scene::state/manifest"));
	return (Scene::image(), \%r);
}

my ($image, $r) = begin();

# A repair killed when d/bit is written, and its times are those of now.
sub step {
	Scene::restore($image);
	my $began = Time::HiRes::time();
	Scene::cut_short('utimensat', 1, 'repair', $Scene::tree);
	return ($began, Scene::print_of($r, $began));
}

my ($began, $print) = step();
my (undef, $again) = step();
ok($print eq $again, 'the same step, later');
($began, $print) = step();
my $left = Scene::image();

# In the last record of an entry, a sound state of 48 bytes: the CRC of what is before the first.
sub other_beginning {
	my ($path) = @_;
	my $entry = Scene::get($path);
	my $record = substr $entry, -60, 56;
	substr($record, 12, 4) ^= 'else';
	open my $h, '>', $path or die "$path: $!\n";
	print $h substr($entry, 0, -60), $record, pack 'V', Compress::Raw::Zlib::crc32($record);
	close $h or die "$path: $!\n";
}

my $t = $Scene::tree;
my $s = $Scene::state;
my ($undo) = grep { m{^undo/\d} } Scene::restore($left) ? Scene::state_names() : ();
my %changes = (
	'a byte of a file' => sub { Scene::rot(['d/kept', 17, 1]) },
	'a mode' => sub { chmod 0600, "$t/d/bit" },
	'an owner' => sub { chown 1, 1, "$t/d/bit" },
	'a ctime' => sub { chmod((stat "$t/d/kept")[2] & 07777, "$t/d/kept") },
	'a link' => sub { link "$t/d/bit", "$t/d/link" },
	'a file' => sub { Scene::put('more', '') },
	'a file less' => sub { unlink "$t/d/kept" },
	'room for more' =>
		sub { Scene::command('fallocate', '-n', '-o', 20480, '-l', 8192, "$t/d/bit") },
	'a name in the state' => sub { Scene::put('.bitscrub/more', '') },
	'a mode in the state' => sub { chmod 0644, "$s/manifest" },
	'manifest.1 another file' =>
		sub { Scene::command('cp', '-p', "$s/manifest", "$s/manifest.1") },
	'no undo entry' => sub { unlink "$s/$undo" },
	'the end of an undo entry' => sub { truncate "$s/$undo", (-s "$s/$undo") - 1 },
	'the CRC of an undo entry' => sub { Scene::rot(["$s/$undo", (-s "$s/$undo") - 1, 1]) },
	'an undo entry of another beginning' => sub { other_beginning("$s/undo/00000002") },
	'a byte of an undo entry' => sub { Scene::rot(["$s/$undo", 70, 1]) },
	'the age of an undo entry' => sub { utime 1.6e9, 1.6e9, "$s/$undo" },
	'a byte of parity' => sub { Scene::rot(["$s/parity/00000001", 100, 1]) },
	'a byte of the history' => sub { Scene::rot(["$s/history", 40, 1]) },
	'a setting' => sub { Scene::expect(4, 'config', $t, 'stale-after=77') },
	'a temporary file' => sub { open my $h, '>', "$ENV{TMPDIR}/x" },
);
for my $what (sort keys %changes) {
	Scene::restore($left);
	die "a restored image is another one\n" if Scene::print_of($r, $began) ne $print;
	$changes{$what}->();
	ok(Scene::print_of($r, $began) ne $print, "$what makes a difference");
	unlink "$ENV{TMPDIR}/x";
}

my @prints = map {
	Scene::restore($left);
	Scene::command('touch', '-d', "\@1500020000.00000000$_", "$t/d/bit");
	Scene::print_of($r, $began);
} 0, 1;
ok($prints[0] ne $prints[1], 'a nanosecond of an mtime makes a difference');

# Records of what the file is now, and of what it was a moment ago.
Scene::restore($image);
$began = Time::HiRes::time();
Scene::expect(1, 'repair', $t);
$print = Scene::print_of($r, $began);
select undef, undef, undef, 0.02;
chmod((stat "$t/d/bit")[2] & 07777, "$t/d/bit");
ok(Scene::print_of($r, $began) ne $print,
	'a ctime that is not that of the record makes a difference');

Scene::rot(["$s/manifest", 5000, 1]);
ok(!eval { Scene::print_of($r, $began); 1 } && $@ =~ /unsound/, 'a damaged manifest is no print');
print "1..$n\n";
