# SPDX-License-Identifier: LGPL-2.1-or-later
# Cases, "STEP:...", tried by several processes, each on a file system of its own, and told as TAP.
package Scene;
use strict;
use warnings;
use Storable ();

our (@steps, $dir);

# How many cases of a step there were of a kind, "STEP: KIND", where there is something to tell.
our %tally;

# Takes the cases given by lines on stdin. Tells what went wrong, and in the end how many there
# were: little enough that it never waits for whoever listens to others first.
sub work {
	my ($where, $try) = @_;
	my %steps = map { $_->{name} => $_ } @steps;
	my $done = 0;
	start($where);
	my $references = Storable::retrieve("$where/references");
	$| = 1;
	while (defined(my $case = <STDIN>)) {
		chomp $case;
		my ($name, @rest) = split /:/, $case;
		my $wrong = $try->($steps{$name}, $references->{$name}, $done++, @rest) // next;
		$wrong =~ s/\n/\n# /g;
		print "# $case WRONG $wrong\n";
	}
	unmounted();
	print "$done cases\n";
	print "tally $tally{$_} $_\n" for sort keys %tally;
	return 0;
}

# The cases dealt out to workers; by case, what went wrong.
sub farm {
	my ($cases) = @_;
	my $jobs = $ENV{FAULTS_JOBS} // 2;
	my (@lists, @pipes, %wrong);
	push @{ $lists[$_ % $jobs] }, join ':', @{ $cases->[$_] } for 0 .. $#$cases;
	for my $list (grep { $_ } @lists) {
		open my $h, '+>', undef or die "a list: $!\n";
		print $h "$_\n" for @$list;
		$h->flush;
		my $pid = open my $pipe, '-|' // die "fork: $!\n";
		if (!$pid) {
			seek $h, 0, 0;
			open STDIN, '<&', $h;
			exec $^X, $0, "--worker=$dir" or POSIX::_exit(127);
		}
		push @pipes, $pipe;
	}
	my $done = 0;
	$done += listen_to($_, \%wrong) for @pipes;
	die "only $done of ", scalar @$cases, " cases were tried\n" if $done != @$cases;
	return \%wrong;
}

# How many cases a worker tells about.
sub listen_to {
	my ($pipe, $wrong) = @_;
	my ($done, $told) = (0, '');
	while (defined(my $line = <$pipe>)) {
		$done = $1, next if $line =~ /^(\d+) cases$/;
		$tally{$2} += $1, next if $line =~ /^tally (\d+) (.*)/;
		$told = $1 if $line =~ /^# (\S+) WRONG /;
		$wrong->{$told} .= $line;
		print STDERR $line if $ENV{FAULTS_VERBOSE};
	}
	close $pipe or die "a worker failed\n";
	return $done;
}

# One TAP line for each step and kind of case, which is its last field.
sub report {
	my ($cases, $wrong) = @_;
	my (%count, %bad, @order);
	for (@$cases) {
		my $kind = "$_->[0]: $_->[-1]";
		push @order, $kind if !$count{$kind}++;
		push @{ $bad{$kind} }, $wrong->{join ':', @$_} if $wrong->{join ':', @$_};
	}
	my $n = 0;
	for my $kind (@order) {
		printf "%sok %d - %s: %d cases\n", $bad{$kind} ? 'not ' : '', ++$n, $kind, $count{$kind};
		print for @{ $bad{$kind} // [] };
	}
	print "# $_: $tally{$_}\n" for sort keys %tally;
	print "1..$n\n";
	return %bad ? 1 : 0;
}

# The whole of a program: its options and arguments, what lists the cases, each [STEP, ...], and
# what tries one, given its step, the reference, a running number and the rest of the case.
sub drive {
	my ($option, $given, $list, $try) = @_;
	my $lacking = lacking();
	if ($lacking) {
		print "1..0 # SKIP $lacking\n";
		return 0;
	}
	enter_namespace(@$given);
	return work($option->{worker}, $try) if $option->{worker};
	start();
	save(images());
	my $cases = $list->();
	my %used = map { $_->[0] => 1 } @$cases;
	my %references;
	for my $step (grep { $used{ $_->{name} } } @steps) {
		$references{ $step->{name} } = reference($step);
	}
	Storable::store(\%references, "$dir/references");
	mkdir "$dir/right" or die "$dir/right: $!\n";
	unmounted();
	return report($cases, farm($cases));
}

1;
