# SPDX-License-Identifier: LGPL-2.1-or-later
# A block device in the scene of tests/scene.pm: where there is a file "disk" in the tree, commands are
# given a loop device over it, with the state that the tree would have.
package Scene;
use strict;
use warnings;

our ($tree, $state, @steps);

my $UNIT = 4096;
my $COLUMN = 20480;
my ($handle, $path);

# The loop device, which is attached when it is first asked for; nothing if there is no disk.
sub disk {
	return $path if defined $path;
	return if !-e "$tree/disk";
	chomp($path = `losetup --show -f $tree/disk`);
	open $handle, '+<', $path or die "$path: $!\n";
	# It is in use, by this handle: it will go with it.
	command('losetup', '-d', $path);
	return $path;
}

sub detach_disk {
	return if !defined $path;
	close $handle;
	undef $path;
}

# What was written to it is in the file below it then, for whoever looks there.
sub sync_disk {
	$handle->sync if defined $path;
}

# What a command is to be given.
sub target {
	return disk() ? ("--state=$state", disk()) : $tree;
}

# A file of the tree, or the disk: what is written goes through the device.
sub written_to {
	my ($file) = @_;
	return $file eq "$tree/disk" ? disk() : $file;
}

# The file of the tree that a path of a system call is about.
sub seen_as {
	my ($file) = @_;
	return defined $path && $file eq $path ? "$tree/disk" : $file;
}

# The images that steps of the device begin with.
sub images_of_disk {
	my %image;
	make_file_system();
	mounted();
	mkdir $tree;
	put('disk', bytes(15 * $COLUMN + 5 * 512), 1.5e9);
	$image{disk} = image();
	mounted();
	expect(0, 'run', $tree);
	# In several columns and places, across a border of blocks and of columns, one bit, and the end.
	rot(['disk', 10000, 3000], ['disk', 3 * $COLUMN - 600, 1000], ['disk', 100000, 1, "\x10"],
		['disk', 8 * $COLUMN + $UNIT, 512], ['disk', 15 * $COLUMN + 1600, 960]);
	$image{'disk-rotten'} = image();
	mounted();
	expect(4, 'run', $tree);
	$image{'disk-damaged'} = image();
	mounted();
	expect(1, 'repair', $tree);
	$image{'disk-repaired'} = image();
	# The first one is of the undo log; two get to the device.
	restore($image{'disk-damaged'});
	cut_short('pwrite64', 4, 'repair', target());
	$image{'disk-half-repaired'} = image();
	restore($image{'disk-damaged'});
	# All of it is written, and not yet synced.
	cut_short('fsync', 5, 'repair', target());
	$image{'disk-unsynced'} = image();
	restore($image{'disk-repaired'});
	cut_short('pwrite64', 4, 'repair', '--undo', target());
	$image{'disk-half-undone'} = image();
	return %image;
}

my @run = ('run', '-j1', '--reads-in-flight=1');

push @steps, map { { name => $_->[0], image => $_->[1], line => $_->[2], next => $_->[3] } } (
	['device-first', 'disk', [@run], [[]]],
	['device-run', 'disk-rotten', [@run], [[]]],
	['device-repair', 'disk-damaged', ['repair'], [[['repair']], [[@run], ['repair']]]],
	['device-undo', 'disk-repaired', ['repair', '--undo'],
		[[['repair', '--undo']], [[@run], ['repair', '--undo']]]],
	['device-complete', 'disk-half-repaired', [@run], [[[@run], ['repair']]]],
	['device-complete-repair', 'disk-unsynced', ['repair'], [[['repair']]]],
	['device-complete-undo', 'disk-half-undone', [@run], [[[@run], ['repair', '--undo']]]],
);

1;
