import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;

/** A certificate for localhost, signed by itself. */
export function makeCertificate(dir: string): { key: Buffer; cert: Buffer; certFile: string } {
  const [keyFile, certFile] = [path.join(dir, 'key.pem'), path.join(dir, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,DNS:one.example,DNS:two.example'];
  const files = ['-keyout', keyFile, '-out', certFile];
  const form = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  execFileSync('openssl', [...form, ...files, ...subject], { stdio: 'ignore' });
  return { key: readFileSync(keyFile), cert: readFileSync(certFile), certFile };
}
