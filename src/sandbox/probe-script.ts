import { type Bounds, fileKibOf } from './bounds.ts';

/**
 * What the probe runs inside: one line of facts about the fence, by shell built-ins alone, so that a probe costs no more than a command.
 * `CANARY` is a file outside that anyone may write if only it can be reached.
 */
export const PROBE_SCRIPT = `
while read -r name value rest; do
  case $name in Seccomp:) seccomp=$value ;; NoNewPrivs:) nnp=$value ;; CapEff:) caps=$value ;; esac
done < /proc/self/status
links=0; while read -r line; do case $line in lo:*) ;; *:*) links=$((links + 1)) ;; esac; done < /proc/net/dev
wrote=
for file in "$CANARY" /usr/.belay-canary /etc/.belay-canary /.belay-canary /dev/.belay-canary; do (: > "$file") 2>/dev/null && wrote="$wrote $file"; done
[ -w /proc/sys/kernel/core_pattern ] && wrote="$wrote /proc/sys"
outside=no; [ -e "$CANARY" ] && outside=yes
bridge=none
if [ -n "$PROXY_PORT" ]; then
  exec 9<>"/dev/tcp/127.0.0.1/$PROXY_PORT" && printf 'GET http://belay.invalid/ HTTP/1.1\\r\\nHost: belay.invalid\\r\\n\\r\\n' >&9 && read -r _ bridge _ <&9
fi
printf 'seccomp=%s nnp=%s caps=%s links=%s outside=%s processes=%s fileKib=%s cores=%s bridge=%s wrote=%s\\n' "$seccomp" "$nnp" "$caps" "$links" "$outside" "$(ulimit -u)" "$(ulimit -f)" "$(ulimit -c)" "$bridge" "$wrote"
`;

/** What of the fence does not hold, in words; null when all does. */
export function judgeProbe(output: string, promised: Bounds, wantsBridge = false): string | null {
  const facts =
    /^seccomp=(\S*) nnp=(\S*) caps=(\S*) links=(\S*) outside=(\S*) processes=(\S*) fileKib=(\S*) cores=(\S*) bridge=(\S*) wrote=(.*)$/m.exec(
      output,
    );
  if (facts === null) return `the probe's answer is not one: ${JSON.stringify(output.slice(0, 200))}`;
  const [, seccomp, nnp, caps, links, outside, processes, fileKib, cores, bridge, wrote] = facts;
  if (wrote !== '') return `a command could write to${wrote}`;
  if (outside !== 'no') return 'a command could see files outside';
  if (seccomp !== '2') return 'the system call filter is not in force';
  if (nnp !== '1') return 'a command could gain privileges';
  if (!/^0+$/.test(caps ?? '')) return `a command kept capabilities (${caps})`;
  if (links !== '0') return 'a command could see the network';
  if (!(Number(processes) <= promised.processes)) return `the number of processes is not bounded (${processes})`;
  if (!(Number(fileKib) <= fileKibOf(promised.fileSizeBytes))) return `the size of files is not bounded (${fileKib})`;
  if (cores !== '0') return `a command could write core dumps (${cores})`;
  if (wantsBridge && bridge !== '403') return `the way to the proxy does not work (${bridge})`;
  return null;
}

/** The same where there are no namespaces: what is outside can be looked up, but not opened, signalled or spoken to. */
export const LANDLOCK_PROBE_SCRIPT = `
while read -r name value rest; do
  case $name in Seccomp:) seccomp=$value ;; NoNewPrivs:) nnp=$value ;; CapEff:) caps=$value ;; esac
done < /proc/self/status
wrote=
for file in "$CANARY" /usr/.belay-canary /etc/.belay-canary /tmp/.belay-canary /dev/.belay-canary; do (: > "$file") 2>/dev/null && wrote="$wrote $file"; done
(exec 3<>/proc/sys/kernel/core_pattern) 2>/dev/null && wrote="$wrote /proc/sys"
read=no; (exec 3<"$CANARY") 2>/dev/null && read=yes
net=no; (exec 3<>/dev/udp/127.0.0.1/9) 2>/dev/null && net=yes
environ=no; (exec 3<"/proc/$PPID/environ") 2>/dev/null && environ=yes
signal=no; kill -0 "$PPID" 2>/dev/null && signal=yes
printf 'seccomp=%s nnp=%s caps=%s read=%s net=%s environ=%s signal=%s fileKib=%s cores=%s wrote=%s\\n' "$seccomp" "$nnp" "$caps" "$read" "$net" "$environ" "$signal" "$(ulimit -f)" "$(ulimit -c)" "$wrote"
`;

/** What of the fence does not hold, in words; null when all does. */
export function judgeLandlockProbe(
  output: string,
  promised: { bounds: Bounds; scopesSignals: boolean },
): string | null {
  const facts =
    /^seccomp=(\S*) nnp=(\S*) caps=(\S*) read=(\S*) net=(\S*) environ=(\S*) signal=(\S*) fileKib=(\S*) cores=(\S*) wrote=(.*)$/m.exec(
      output,
    );
  if (facts === null) return `the probe's answer is not one: ${JSON.stringify(output.slice(0, 200))}`;
  const [, seccomp, nnp, caps, read, net, environ, signal, fileKib, cores, wrote] = facts;
  if (wrote !== '') return `a command could write to${wrote}`;
  if (read !== 'no') return 'a command could read files outside';
  if (seccomp !== '2') return 'the system call filter is not in force';
  if (nnp !== '1') return 'a command could gain privileges';
  if (!/^0+$/.test(caps ?? '')) return `a command kept capabilities (${caps})`;
  if (net !== 'no') return 'a command could open a socket';
  if (environ !== 'no') return 'a command could read the environment of processes outside';
  if (signal !== 'no' && promised.scopesSignals) return 'a command could signal processes outside';
  if (!(Number(fileKib) <= fileKibOf(promised.bounds.fileSizeBytes)))
    return `the size of files is not bounded (${fileKib})`;
  if (cores !== '0') return `a command could write core dumps (${cores})`;
  return null;
}

/** For macOS, whose shell and /proc are others: what a command can open outside. */
export const SEATBELT_PROBE_SCRIPT = `
wrote=
for file in "$CANARY" /tmp/.belay-canary /usr/local/.belay-canary; do (: > "$file") 2>/dev/null && wrote="$wrote $file"; done
read=no; (exec 3<"$CANARY") 2>/dev/null && read=yes
net=no; (exec 3<>/dev/udp/127.0.0.1/9) 2>/dev/null && net=yes
printf 'read=%s net=%s wrote=%s\\n' "$read" "$net" "$wrote"
`;

/** What of the fence does not hold, in words; null when all does. */
export function judgeSeatbeltProbe(output: string): string | null {
  const facts = /^read=(\S*) net=(\S*) wrote=(.*)$/m.exec(output);
  if (facts === null) return `the probe's answer is not one: ${JSON.stringify(output.slice(0, 200))}`;
  const [, read, net, wrote] = facts;
  if (wrote !== '') return `a command could write to${wrote}`;
  if (read !== 'no') return 'a command could read files outside';
  return net === 'no' ? null : 'a command could open a socket';
}
