import { readFileSync } from 'node:fs';
import { codeOf } from '../../errors.ts';

const LISTENING = '0A';

/** TCP ports that something listens on in the network namespace of this process; none once it is gone. */
export function listeningPorts(pid: number): number[] {
  const ports = ['tcp', 'tcp6'].flatMap((table) => portsIn(`/proc/${pid}/net/${table}`));
  return [...new Set(ports)].sort((a, b) => a - b);
}

/** Lines of `proc_pid_net(5)`: number, local address:port in hexadecimal, remote one, state. */
function portsIn(file: string): number[] {
  let text: string;
  try {
    text = readFileSync(file, 'latin1');
  } catch (error) {
    // The process is gone, or the kernel has no IPv6.
    if (codeOf(error) !== null) return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    return state === LISTENING ? [Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16)] : [];
  });
}
