#!/usr/bin/perl
# Any game, over `croupier play GAME --json`. The idea: the shortest move keeps the most cards for later.
use strict;
use warnings;

$| = 1;    # an answer goes out at once
while (my $line = <STDIN>) {
    next unless $line =~ /"event": "turn"/;
    my ($legal) = $line =~ /"legal": \[(.*?)\]/;    # texts of moves hold no quotes and no brackets
    my @moves = $legal =~ /"([^"]*)"/g;
    my ($shortest) = sort { length $a <=> length $b } @moves;
    print "$shortest\n";
}
