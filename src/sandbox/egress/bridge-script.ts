/**
 * Joins a fence's own loopback with sockets in files, inside the fence. Perl, because it is on every Debian and Ubuntu image, where socat
 * and Node may be missing; one process for all connections, because each would count against `sandbox.processes`.
 *
 * Arguments: folder of the sockets, then items. `listen ADDRESS PORT NAME`: connections to that port go to the socket NAME. `lend
 * NAME`: keeps connections to the socket NAME open and idle; a line `PORT` on one asks for a connection to that port of the fence's
 * loopback. Says `ready` to the socket `control` once it listens, then gives way and goes on in the background.
 */
export const BRIDGE_SCRIPT = String.raw`
use strict; use Socket; use Fcntl;
my $dir = shift; my (%listen, @lend, %conn); my $idle = 0;
my ($most, $buffer, $spare) = (400, 65536, 4);
sub fail { print STDERR "belay bridge: $_[0]: $!\n"; exit 1 }
sub quiet { my $f = fcntl($_[0], F_GETFL, 0); fcntl($_[0], F_SETFL, $f | O_NONBLOCK) }
sub unix { socket(my $s, PF_UNIX, SOCK_STREAM, 0) or return; connect($s, pack_sockaddr_un("$dir/$_[0]")) or return; $s }
sub address { $_[0] =~ /:/ ? (PF_INET6, pack_sockaddr_in6($_[1], Socket::inet_pton(AF_INET6, $_[0]))) : (PF_INET, pack_sockaddr_in($_[1], inet_aton($_[0]))) }
while (defined(my $kind = shift)) {
  if ($kind eq "lend") { push @lend, shift; next }
  my ($host, $port, $name) = splice @ARGV, 0, 3;
  my ($family, $at) = address($host, $port);
  socket(my $s, $family, SOCK_STREAM, 0) or fail("$host:$port");
  setsockopt($s, SOL_SOCKET, SO_REUSEADDR, 1);
  bind($s, $at) && listen($s, 128) or fail("$host:$port");
  quiet($s); $listen{fileno $s} = [$s, $name];
}
my $control = unix("control") or fail("control");
defined(my $pid = fork) or fail("fork");
if ($pid) { syswrite $control, "ready"; exit 0 }
close $control; $SIG{PIPE} = $SIG{HUP} = "IGNORE";
open(STDIN, "<", "/dev/null"); open(STDOUT, ">", "/dev/null"); open(STDERR, ">", "/dev/null");
sub add { my ($h) = @_; quiet($h); $conn{fileno $h} = { h => $h, out => "", end => 0, shut => 0 } }
sub join2 { my ($x, $y) = @_; ($x->{peer}, $y->{peer}) = (fileno $y->{h}, fileno $x->{h}) }
sub drop { my $c = delete $conn{$_[0]} or return; $idle-- if $c->{lent}; my $p = $c->{peer}; close $c->{h}; drop($p) if defined $p }
sub lend { while ($idle < $spare && keys(%conn) < $most) { for (@lend) { my $s = unix($_) or return; my $c = add($s); $c->{lent} = 1; $idle++ } } }
sub borrow {
  my ($c, $port) = @_; my @hosts = ("127.0.0.1", "::1");
  for my $host (@hosts) {
    my ($family, $at) = address($host, $port);
    socket(my $s, $family, SOCK_STREAM, 0) or next;
    connect($s, $at) or next;
    join2($c, add($s)); return 1;
  }
  return;
}
while (1) {
  lend() if @lend;
  my ($r, $w) = ("", "");
  if (keys(%conn) < $most) { vec($r, $_, 1) = 1 for keys %listen }
  for my $n (keys %conn) {
    my $c = $conn{$n}; my $p = defined $c->{peer} ? $conn{$c->{peer}} : undef;
    vec($r, $n, 1) = 1 if !$c->{end} && (!$p || length $p->{out} < $buffer);
    vec($w, $n, 1) = 1 if length $c->{out};
  }
  select($r, $w, undef, @lend ? 1 : undef) > 0 or next;
  for my $n (keys %listen) {
    next unless vec($r, $n, 1); my ($l, $name) = @{$listen{$n}};
    accept(my $in, $l) or next; my $out = unix($name) or next; join2(add($in), add($out));
  }
  for my $n (keys %conn) {
    my $c = $conn{$n} or next; my $p = defined $c->{peer} ? $conn{$c->{peer}} : undef;
    if (vec($w, $n, 1) && length $c->{out}) {
      my $done = syswrite($c->{h}, $c->{out});
      if (defined $done) { substr($c->{out}, 0, $done) = "" } elsif (!$!{EAGAIN}) { drop($n); next }
    }
    if (vec($r, $n, 1) && !$c->{end}) {
      my $got = sysread($c->{h}, my $bytes, $buffer);
      if (!defined $got) { next if $!{EAGAIN}; drop($n); next }
      if ($c->{lent}) {
        if ($got == 0) { drop($n); next }
        if ($bytes !~ /^(\d+)\n(.*)/s) { drop($n); next }
        $c->{lent} = 0; $idle--; my ($port, $rest) = ($1, $2);
        if (!borrow($c, $port)) { drop($n); next }
        $p = $conn{$c->{peer}}; $p->{out} = $rest; next;
      }
      if ($got == 0) { $c->{end} = 1 } elsif ($p) { $p->{out} .= $bytes }
    }
  }
  for my $n (keys %conn) {
    my $c = $conn{$n} or next; my $p = defined $c->{peer} ? $conn{$c->{peer}} : undef; next unless $p;
    if ($p->{end} && !length $c->{out} && !$c->{shut}) { shutdown($c->{h}, 1); $c->{shut} = 1 }
    drop($n) if $c->{shut} && $p->{shut};
  }
}
`;
