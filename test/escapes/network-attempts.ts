import { type Attempt, rootSaid, rootSaidWhere, said, unshown } from './attempt.ts';

const perl = (code: string): string => `perl -MSocket -e '${code}'`;

/** PORT: a service on the host's loopback (TCP and UDP); SOCKET, ABSTRACT: unix sockets that stand for Docker's, an agent's, a bus's. */
export const NETWORK_ATTEMPTS: readonly Attempt[] = [
  said(
    's-path',
    'reach a socket outside (Docker, ssh-agent)',
    perl('socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, sockaddr_un($ENV{SOCKET})) and print "breached\\n"'),
  ),
  said(
    's-procpath',
    "reach a socket outside through belay's root",
    perl(
      'socket(my $s, AF_UNIX, SOCK_STREAM, 0); chdir("/proc/$ENV{HARNESS}/root") and connect($s, sockaddr_un("" . substr $ENV{SOCKET}, 1)) and print "breached\\n"',
    ),
  ),
  said(
    's-symlink',
    'reach a socket outside through a link',
    `ln -s "$SOCKET" socket-link; ${perl('socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, sockaddr_un("socket-link")) and print "breached\\n"')}`,
  ),
  // Node pads such a name to its full length: only Node finds it again.
  said(
    's-abstract',
    'reach an abstract socket (a bus)',
    `node -e "require('net').connect('\\0' + process.env.ABSTRACT).on('connect',()=>{console.log('breached');process.exit()}).on('error',()=>process.exit())"`,
  ),
  said('n-loop', "reach a service on the host's loopback", '(exec 3<>"/dev/tcp/127.0.0.1/$PORT") && echo breached'),
  said('n-any', 'reach it by the address of every interface', '(exec 3<>"/dev/tcp/0.0.0.0/$PORT") && echo breached'),
  said(
    'n-mapped',
    'reach it by IPv6',
    `node -e "require('net').connect(process.env.PORT,'::ffff:127.0.0.1').on('connect',()=>{console.log('breached');process.exit()}).on('error',()=>process.exit())"`,
  ),
  said(
    'n-dns',
    'send a datagram out (names as a channel)',
    perl(
      'socket(my $s, AF_INET, SOCK_DGRAM, 0) or exit; send($s, "secret.example", 0, sockaddr_in($ENV{UDP_PORT}, inet_aton("127.0.0.1"))) or exit; vec(my $r, fileno $s, 1) = 1; select($r, undef, undef, 3) > 0 and recv($s, my $b, 9, 0) // exit; print "breached\\n" if $b eq "got it"',
    ),
  ),
  said(
    'n-listen',
    'be reached from the host',
    perl(
      'socket(my $s, AF_INET, SOCK_STREAM, 0) or exit; bind($s, sockaddr_in(0, INADDR_ANY)) && listen($s, 1) or exit; open(my $f, "<", "/proc/$ENV{HARNESS}/net/tcp") or exit; my $p = sprintf ":%04X ", (sockaddr_in(getsockname $s))[0]; while (<$f>) { print "breached\\n" if index($_, $p) >= 0 }',
    ),
  ),
  rootSaid('n-raw', 'open a raw socket', perl('socket(my $s, AF_INET, SOCK_RAW, 1) and print "breached\\n"')),
  rootSaid('n-packet', 'listen to the wire', perl('socket(my $s, 17, SOCK_RAW, 768) and print "breached\\n"')),
  rootSaidWhere(
    'n-vsock',
    "reach the virtual machine's host",
    perl('socket(my $s, 40, SOCK_STREAM, 0) and print "breached\\n"'),
    ['/dev/vsock'],
  ),
  unshown(
    'n-alg',
    "reach the kernel's ciphers",
    perl('socket(my $s, 38, SOCK_SEQPACKET, 0) and print "breached\\n"'),
    'not every kernel has such sockets',
  ),
  unshown(
    'n-meta',
    "reach the cloud's metadata service",
    'timeout 3 bash -c "exec 3<>/dev/tcp/169.254.169.254/80" && echo breached',
    'only there on a cloud machine; that connections go out without a fence is shown by those to the loopback',
  ),
  unshown(
    'n-out',
    'reach the internet',
    'timeout 3 bash -c "exec 3<>/dev/tcp/192.0.2.1/80" && echo breached',
    'no test leaves the machine (the address is one for documentation); that connections go out without a fence is shown by those to the loopback',
  ),
];
