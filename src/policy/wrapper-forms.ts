import type { WrapperForm } from './wrapper-options.ts';

/** Programs that do nothing but run another one. */
export const FORMS: Readonly<Record<string, WrapperForm>> = {
  env: {
    values: 'u unset C chdir S split-string',
    flags: 'i ignore-environment 0 null v debug',
    assignments: true,
    dashIsOption: true,
  },
  nohup: {},
  // After a redirection bash takes it for a word of its own in some places, and for the name of a program in others.
  '!': {},
  setsid: { flags: 'c ctty f fork w wait' },
  time: { values: 'f format o output', flags: 'a append p portability v verbose q quiet', idle: 'version help V' },
  timeout: { values: 's signal k kill-after', flags: 'foreground preserve-status v verbose f p', operands: 1 },
  nice: { values: 'n adjustment' },
  ionice: { values: 'c class n classdata', flags: 't ignore', idle: 'p pid P pgid u uid' },
  chrt: {
    values: 'T D P sched-runtime sched-deadline sched-period',
    flags: 'b d f i o r R v batch deadline fifo idle other rr',
    operands: 1,
    idle: 'p pid m max',
  },
  taskset: { flags: 'a c all-tasks cpu-list', operands: 1, idle: 'p pid' },
  stdbuf: { values: 'i o e input output error' },
  unbuffer: { flags: 'p' },
  exec: { values: 'a', flags: 'c l' },
  command: { flags: 'p', idle: 'v V' },
  builtin: {},
  watch: {
    values: 'n interval',
    flags: 'b beep c color d differences e errexit g chgexit p precise t no-title w x exec',
  },
  flock: {
    values: 'w wait timeout E conflict-exit-code',
    flags: 's shared x e exclusive n nb nonblock u unlock F o close v verbose',
    operands: 1,
  },
  strace: { values: 'e o p s u E a O S I P X', flags: 'f ff c C v q t tt T x y' },
  ltrace: { values: 'e o p s u a l n', flags: 'f c C S t T' },
  catchsegv: {},
  'dbus-run-session': { values: 'config-file dbus-daemon' },
  'xvfb-run': {
    values: 'n server-num e error-file f auth-file p xauth-protocol s server-args w wait',
    flags: 'a auto-servernum l listen-tcp',
  },
  caffeinate: { values: 't w', flags: 'd i m s u' },
  busybox: {},
  toybox: {},
  doas: { values: 'u C', flags: 'n s L' },
  sudo: {
    values: 'u user g group h host p prompt r role t type C close-from D chdir R chroot T command-timeout U other-user',
    flags:
      'A askpass b background E preserve-env H set-home i login k K n non-interactive P preserve-groups S stdin s shell',
    assignments: true,
    idle: 'l list v validate V version e edit',
  },
  chroot: { values: 'groups userspec', flags: 'skip-chdir', operands: 1 },
  unshare: {
    values: 'S setuid G setgid R root w wd',
    flags: 'f m u i n p r U C T mount uts ipc net pid user fork map-root-user',
  },
  nsenter: { values: 't target S setuid G setgid', flags: 'a m u i n p U C T F all mount uts ipc net pid user' },
  setpriv: { values: 'reuid regid ruid euid groups', flags: 'clear-groups keep-groups init-groups no-new-privs' },
  runuser: { values: 'u user g group G supp-group' },
  'systemd-run': {
    values: 'u unit p property description slice uid gid nice E setenv H host M machine working-directory',
    flags: 'user system scope t pty P pipe q quiet wait collect no-block r remain-after-exit same-dir d S shell G',
  },
  fakeroot: { values: 'l lib f faked i s b', flags: 'u unknown-is-real' },
  faketime: { values: 'p', flags: 'f m', operands: 1 },
  firejail: {},
  'ssh-agent': { values: 'a t', flags: 'c s d D', idle: 'k' },
  proxychains: { values: 'f', flags: 'q' },
  proxychains4: { values: 'f', flags: 'q' },
  torsocks: { values: 'u user p pass a address P port', flags: 'i isolate d debug q quiet' },
  torify: {},
  setarch: { flags: 'R v B F I L S T X Z 3', operands: 1 },
  linux32: {},
  linux64: {},
  numactl: { values: 'i interleave p preferred m membind N cpunodebind C physcpubind', flags: 'l localalloc b a all' },
  prlimit: { flags: 'noheadings raw', idle: 'p pid' },
};

/** Of `FORMS`, these change who or where the command is: a default of ask or deny is for them too. */
export const PRIVILEGED = new Set(['sudo', 'doas', 'chroot', 'unshare', 'nsenter', 'setpriv', 'runuser']);

/** Tools whose named subcommand runs the words after it. */
export const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  poetry: ['run'],
  uv: ['run'],
  pdm: ['run'],
  rye: ['run'],
  hatch: ['run'],
  pipenv: ['run'],
  conda: ['run'],
  bundle: ['exec'],
  pnpm: ['exec', 'dlx'],
  yarn: ['exec', 'run'],
  npm: ['exec', 'x'],
  mise: ['exec', 'x'],
};
export const BARE_RUNNERS = new Set(['npx', 'bunx', 'cross-env', 'dotenv']);
