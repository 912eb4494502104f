# SPDX-License-Identifier: LGPL-2.1-or-later
# What must be true after a step of tests/scene.pm in which something went wrong: the tree, the
# state, and what the commands that come next lead to. All checks die with what is wrong.
package Scene;
use strict;
use warnings;

our ($fs, $tree, $state);

# What each step leads to when nothing is in its way.
sub reference {
	my ($step) = @_;
	my %r = (ways => []);
	restore(load($step->{image}));
	$r{before} = files();
	$r{manifest} = get("$state/manifest") // '';
	$r{exit} = scrub(line(@{ $step->{line} }));
	$r{after} = files();
	restore(load($step->{image}));
	$r{parity_damaged} = { map { $_ => 1 } parity_damaged() };
	for my $turn (0 .. $#{ $step->{next} }) {
		restore(load($step->{image}));
		scrub(line(@{ $step->{line} }));
		my @exits = go_on($step, $turn);
		my ($known) = timeless(known('manifest'));
		push @{ $r{ways} }, { exit => $exits[-1], files => files(), known => $known,
			verify => scrub('verify', $tree), passes => passes() };
	}
	return \%r;
}

# How many passes the history knows; dies if it is not sound.
sub passes {
	my $exit = scrub('status', '--json', '--history', $tree);
	die "history: exit $exit: ", said() if $exit & ~4;
	return scalar(() = said() =~ /"event":"pass"/g);
}

# The files whose parity is not what state refers to.
sub parity_damaged {
	scrub('verify', $tree);
	return said() =~ m{: (\S+): parity of}g;
}

sub check_parity {
	my ($r) = @_;
	my @lost = grep { !$r->{parity_damaged}{$_} } parity_damaged();
	die "parity was lost: @lost\n" if @lost;
}

# Whether content is made of units of the one and of the other.
sub mixed {
	my ($is, $one, $other) = map { $_->[1] } @_;
	for (my $at = 0; $at < length $is; $at += 4096) {
		my ($i, $a, $b) = map { $at < length ? substr($_, $at, 4096) : '' } $is, $one, $other;
		next if $i eq $a || $i eq $b;
		# Zeros are where a file has grown and nothing was written yet.
		return 0 if $i =~ /[^\0]/ && !begins($a, $i) && !begins($b, $i);
	}
	return 1;
}

sub begins {
	my ($long, $short) = @_;
	return substr($long, 0, length $short) eq $short;
}

# Throws what is wrong with the tree; $between: files may be half-repaired.
sub check_tree {
	my ($r, $between) = @_;
	my $files = files();
	my @names = sort keys %{ { %$files, %{ $r->{before} } } };
	for my $name (@names) {
		my ($is, $before, $after) = map { $_->{$name} } $files, $r->{before}, $r->{after};
		die "$name: appeared\n" if !$before;
		die "$name: is gone\n" if !$is;
		next if grep { $is->[0] eq $_->[0] && $is->[1] eq $_->[1] } $before, $after;
		die "$name: neither as before nor as after: $is->[0], not $before->[0]\n"
			if !$between || $before->[1] eq $after->[1] && $is->[1] ne $after->[1];
		die "$name: other bytes\n" if !mixed($is, $before, $after);
	}
}

sub check_state {
	my ($r) = @_;
	my $manifest = get("$state/manifest");
	my $exit = scrub('list', $tree);
	if (!defined $manifest) {
		die "the manifest is gone\n" if $r->{manifest} ne '';
		die "list: exit $exit\n" if $exit != 8;
		return;
	}
	known('manifest') if $manifest ne $r->{manifest};
	known('manifest.1') if -e "$state/manifest.1";
	die "list: exit $exit: ", said() if $exit & ~4;
	$exit = scrub('status', $tree);
	die "status: exit $exit: ", said() if $exit & ~12;
}

# A monitor finds all of them, whenever it looks; but $trouble may have left out those of the target.
sub whole_metrics {
	my ($trouble) = @_;
	my $metrics = get("$fs/metrics") // return;
	return if $metrics =~ /^bitscrub_damaged_files\{.*kind="changed"\} \d+\n\z/m;
	die "metrics are cut short\n"
		if !$trouble || $metrics !~ /^bitscrub_pass_damaged_parity_extents\{.*\} \d+\n\z/m;
}

# $forgets: what was to be read of the history could not be.
sub check_end {
	my ($way, $forgets, @exits) = @_;
	for (@exits) {
		die "afterwards: exits @exits\n" if $_ & ~15;
	}
	die "afterwards: exits @exits, not $way->{exit}\n" if ($exits[-1] | 1) != ($way->{exit} | 1);
	my $files = files();
	for my $name (sort keys %$files) {
		my ($is, $want) = ($files->{$name}, $way->{files}{$name});
		die "afterwards: $name: $is->[0], not $want->[0]\n" if $is->[0] ne $want->[0];
		die "afterwards: $name: other content\n" if $is->[1] ne $want->[1];
	}
	my ($known, @segments) = timeless(known('manifest'));
	die "afterwards other records:\n", differing($known, $way->{known}) if $known ne $way->{known};
	# The step itself may be missing.
	my $passes = passes();
	die "afterwards $passes passes, not $way->{passes}\n"
		if $passes != $way->{passes} && $passes != $way->{passes} - 1 && !$forgets;
	my %may = map { $_ => 1 } @segments, qw(manifest manifest.1 history parity/ undo/);
	my @stray = grep { !$may{$_} && !m{^undo/\d{8}$} } state_names();
	push @stray, glob("$ENV{TMPDIR}/*"),
		grep { !m{/(?:t|lost\+found|metrics)$} } glob("$fs/*");
	push @stray, elsewhere();
	whole_metrics();
	die "afterwards stray: @stray\n" if @stray;
	# Data and parity, both read again.
	my $exit = scrub('verify', $tree);
	die "afterwards verify: exit $exit, not $way->{verify}: ", said()
		if $exit != $way->{verify} || said() =~ /parity of/;
}

sub differing {
	my (@is) = split /\n/, $_[0];
	my (@want) = split /\n/, $_[1];
	for my $i (0 .. $#is) {
		next if $is[$i] eq ($want[$i] // '');
		return "$is[$i]\nnot $want[$i]\n";
	}
	return "less\n";
}

1;
