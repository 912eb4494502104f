#!/usr/bin/env perl
# SPDX-License-Identifier: LGPL-2.1-or-later
# The rules of the code base that a program can check: floors, heads of files, headers, symbols, and
# that table of verbs, help, manual and completion say the same.
use strict;
use warnings;
use File::Find;

my $top = $ENV{top_srcdir} // '..';
my $build = $ENV{top_builddir} // '..';
my $scrub = $ENV{SCRUB} // "$build/src/scrub";
my $cc = $ENV{CC} // 'cc';
my $tests = 0;

# One TAP line; what is wrong is told behind it.
sub rule {
	my ($name, @wrong) = @_;
	printf "%sok %d - %s\n", @wrong ? 'not ' : '', ++$tests, $name;
	print "# $_\n" for @wrong;
}

sub slurp {
	my ($file) = @_;
	open my $h, '<', "$top/$file" or die "$file: $!\n";
	local $/;
	return <$h>;
}

sub slurp_built {
	my ($file) = @_;
	open my $h, '<', "$build/$file" or die "$file: $!\n";
	local $/;
	return <$h>;
}

# Names of all files below the folders, relative to the top, that match.
sub files {
	my ($match, @folders) = @_;
	my @found;
	find({ no_chdir => 1, wanted => sub {
		push @found, substr $_, length("$top/") if -f && /$match/;
	} }, map { "$top/$_" } @folders);
	return sort @found;
}

# "a only here" for what is in one list and not in the other.
sub differ {
	my ($here, $a, $there, $b) = @_;
	my %a = map { $_ => 1 } @$a;
	my %b = map { $_ => 1 } @$b;
	return ((map { "$_: in $here, not in $there" } grep { !$b{$_} } sort keys %a),
		(map { "$_: in $there, not in $here" } grep { !$a{$_} } sort keys %b));
}

sub includes {
	my ($file) = @_;
	return slurp($file) =~ /^#\s*include\s*(["<][^">]+)[">]/mg;
}

sub floors {
	my %floor = map { reverse split } grep { /^\d/ } split /\n/, slurp('lib/FLOORS');
	my @wrong;
	for my $file (files(qr/\.[ch]$/, 'lib')) {
		my ($folder) = $file =~ m{^lib/(\w+)/} or next;
		push @wrong, "$folder/ has no floor in lib/FLOORS" unless defined $floor{$folder};
		for my $name (grep { s/^"// } includes($file)) {
			# Public headers lie beside the folders. Who implements them includes them.
			next if -f "$top/lib/$name" && ($floor{$folder} // 0) > $floor{kernels};
			my ($other) = $name =~ m{^(\w+)/};
			push @wrong, "$file includes $name: write it with its folder" if !defined $other;
			next if !defined $other || $other eq $folder;
			push @wrong, "$file includes $name, which is not on a lower floor"
				unless ($floor{$other} // 99) < ($floor{$folder} // -1);
		}
	}
	rule('a file of lib includes its own folder and lower floors only', @wrong);
}

sub front_end {
	my @wrong;
	for my $file (files(qr/\.[ch]$/, 'src')) {
		for my $name (includes($file)) {
			push @wrong, "$file includes $name\"" if $name =~ s/^"// && !-f "$top/src/$name";
			push @wrong, "$file includes $name>" if $name =~ m{^<.*/} && -f "$top/lib/" . substr($name, 1);
		}
	}
	rule('src includes the public headers and nothing else of lib', @wrong);
}

sub printing {
	my @wrong;
	for my $file (files(qr/\.c$/, 'lib')) {
		my $text = slurp($file);
		$text =~ s{/\*.*?\*/}{}gs;
		push @wrong, "$file: $1" while $text =~ /\b((?:v?f?printf|f?puts|putchar|perror)\s*\([^\n]*)/g;
	}
	rule('only src prints', @wrong);
}

sub heads {
	my @wrong;
	for my $file (files(qr/\.(?:[chS]|def|t|bats|bash|[58])$/, qw(lib src tests man contrib))) {
		my @head = (split /\n/, slurp($file))[0 .. 2];
		my ($line) = grep { ($head[$_] // '') =~ /SPDX-License-Identifier: LGPL-2\.1-or-later/ } 0, 1;
		if (!defined $line) {
			push @wrong, "$file: no SPDX line";
		} elsif (($head[$line + 1] // '') !~ m{^(?:/\*|#|\.\\") \S}) {
			push @wrong, "$file: no sentence below the SPDX line";
		}
	}
	rule('each file begins with its licence and says what it is', @wrong);
}

# A template, or a part of one, is no header: it is included with what it works on defined.
sub headers {
	my @wrong;
	for my $file (files(qr/\.h$/, qw(lib src))) {
		next if slurp($file) =~ m{^/\* (?:Template|.*(?:on top of|operations of) \w+\.h)}m;
		open my $h, '|-', "$cc -std=gnu11 -Wall -Wno-unused -Werror -fsyntax-only -I'$build' -I'$top/lib'"
			. " -I'$top/src' -x c - >layout.$$ 2>&1" or die "$cc: $!\n";
		print $h "#include <config.h>\n#include \"$file\"\n" =~ s{"(?:lib|src)/}{"}r;
		close $h and next;
		open my $err, '<', "layout.$$";
		my ($why) = grep { /error/ } <$err>;
		next if ($why // '') =~ /fatal error: arm_/; # for another processor
		push @wrong, "$file: " . ($why // 'does not compile') =~ s/\n//r;
	}
	unlink "layout.$$";
	rule('each header compiles by itself', @wrong);
}

sub symbols {
	my @names = map { (split)[2] // () } grep { /^[0-9a-f]+ [A-TV-Z] / }
		qx(nm -g --defined-only '$build/lib/libbitscrub.a' 2>/dev/null);
	my @wrong = grep { !/^(?:scr_|_|\.)/ } @names;
	rule('what the library defines begins with scr_', @names ? @wrong : 'nm found nothing');
}

sub built {
	my $rules = join '', map { slurp($_) } 'Makefile.am', files(qr/\.mk$/, qw(lib src tests));
	rule('each source file is built',
		grep { index($rules, $_) < 0 && index($rules, s{^tests/(\w+)\.c$}{tests/$1.test}r) < 0 }
		files(qr/\.c$/, qw(lib src tests)));
}

# automake names log and result of a test after it without its suffix.
sub test_names {
	my %names;
	push @{ $names{s/\.\w+$//r} }, $_ for files(qr/\.(?:c|bats|t)$/, 'tests');
	rule('no two tests have one log', map { join ' and ', @$_ } grep { @$_ > 1 } values %names);
}

my @verbs = slurp('src/commands.def') =~ /^COMMAND\((\w+),/mg;
my $manual = slurp('man/scrub.8');
my $completion = slurp_built('contrib/completion/scrub.bash');

sub verbs {
	my ($synopsis, $sections) = $manual =~ /^\.Sh SYNOPSIS\n(.*?)^\.Sh .*?^\.Sh VERBS\n(.*?)^\.Sh /ms;
	my ($offered) = $completion =~ /^_scrub_verbs="(.*?)"/ms;
	rule('each verb has its file', grep { !-f "$top/src/cmd_$_.c" } @verbs);
	rule('the synopsis has each verb',
		differ('the table', \@verbs, 'the synopsis', [$synopsis =~ /^\.Cm (\w+)/mg]));
	rule('the manual explains each verb',
		differ('the table', \@verbs, 'the manual', [$sections =~ /^\.Ss (\w+)/mg]));
	rule('the completion offers each verb',
		differ('the table', \@verbs, 'the completion', [split ' ', $offered]));
}

# Options of a verb: by --help, by the list in parentheses in the manual, by the completion.
sub options {
	my ($section) = $manual =~ /^\.Sh OPTIONS\n(.*?)^\.Sh /ms;
	my %manual;
	for my $item (split /^\.It /m, $section) {
		my ($name) = $item =~ /^.*?Fl -([a-z-]+)/ or next;
		my ($takers) = $item =~ /^\(([a-z, ]+)\)$/m;
		push @{ $manual{$_} }, "--$name" for split /, /, $takers // 'nobody';
	}
	for my $verb (@verbs) {
		my @help = qx('$scrub' $verb --help) =~ /./ ? grep { defined }
			map { /^  (?:-\w, |    )(--[a-z-]+)/ ? $1 : undef } qx('$scrub' $verb --help) : ();
		my ($offered) = $completion =~ /^\t(?:\w+ \| )*\Q$verb\E\) echo (.*?);;/ms;
		my @offered = ($offered // '') =~ /--[a-z-]+/g;
		rule("options of $verb: manual", @help ? differ('--help', \@help, 'the manual', $manual{$verb} // [])
			: "$scrub $verb --help shows none");
		rule("options of $verb: completion", differ('--help', \@help, 'the completion', \@offered));
	}
	rule('the manual invents no verb that takes an option',
		differ('the manual', [keys %manual], 'the table', \@verbs));
}

sub settings {
	my ($section) = $manual =~ /^\.Sh SETTINGS\n(.*?)^\.Sh /ms;
	my ($offered) = $completion =~ /^_scrub_settings="(.*?)"/ms;
	rule('settings: manual and completion', differ('the manual', [$section =~ /^\.It Cm ([a-z-]+)/mg],
		'the completion', [$offered =~ /[a-z-]+/g]));
}

sub json {
	my ($section) = $manual =~ /^\.Sh JSON\n(.*?)^\.Sh /ms;
	my %told = map { $_ => 1 } $section =~ /\b[a-z0-9_]+\b/g;
	my $source = slurp('src/report_json.c');
	my @keys = $source =~ /(?:put_\w+|json_object_set_new)\(o, "(\w+)"/g;
	push @keys, $source =~ /start\("(\w+)"/g;
	rule('JSON: the manual has each field', @keys > 60 ? grep { $_ ne 'event' && !$told{$_} } @keys : 'keys not found');
}

# Sizes are a matter of taste: told, not enforced.
sub sizes {
	for my $file (files(qr/\.[ch]$/, qw(lib src))) {
		my $lines = () = slurp($file) =~ /\n/g;
		print "# $file has $lines lines\n" if $lines > 600;
	}
}

floors();
front_end();
printing();
heads();
headers();
symbols();
built();
test_names();
verbs();
options();
settings();
json();
sizes();
print "1..$tests\n";
