import { parseHost } from '../../policy/index.ts';

/** Inside; every fence has a loopback of its own. Below the ports that the kernel gives out, and not one that servers use. */
export const PROXY_PORT = 17_128;

/**
 * Java programs read no proxy from the environment: these two take options for the Java that they start. The last one is what Maven 3.9
 * wants before it looks at the others. Hosts to ask directly are left at Java's default, the own loopback: they are written with `|`,
 * which older start scripts of Gradle take for a pipe.
 */
const JAVA_OPTIONS = [
  ...['http', 'https'].flatMap((scheme) => [`-D${scheme}.proxyHost=127.0.0.1`, `-D${scheme}.proxyPort=${PROXY_PORT}`]),
  '-Daether.connector.http.useSystemProperties=true',
].join(' ');

const OWN_MACHINE = ['localhost', '127.0.0.1', '::1'];

/**
 * What makes programs use the proxy. The fence's own loopback is not asked for through it, unless the list names that spelling of it:
 * then the host's is meant. `services` are names that lead to the fence's loopback.
 */
export function proxyVariables(allow: readonly string[], services: readonly string[]): Record<string, string> {
  const proxy = `http://127.0.0.1:${PROXY_PORT}`;
  const listed = new Set(allow.map((entry) => parseHost(entry.replace(/:\d+$/, ''))?.text));
  const direct = [...OWN_MACHINE.filter((name) => !listed.has(name)), ...services].join(',');
  return {
    ...both('http_proxy', proxy),
    ...both('https_proxy', proxy),
    ...both('all_proxy', proxy),
    ...both('no_proxy', direct),
    npm_config_proxy: proxy,
    npm_config_https_proxy: proxy,
    npm_config_noproxy: direct,
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
    NODE_USE_ENV_PROXY: '1',
    MAVEN_OPTS: JAVA_OPTIONS,
    GRADLE_OPTS: JAVA_OPTIONS,
  };
}

/** The environment of a command with what its network adds: options for Java come before the command's own, which win there. */
export function withProxyVariables(
  own: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  const joined = ['MAVEN_OPTS', 'GRADLE_OPTS']
    .filter((name) => added[name] !== undefined && own[name] !== undefined)
    .map((name) => [name, `${added[name]} ${own[name]}`] as const);
  return { ...own, ...added, ...Object.fromEntries(joined) };
}

function both(name: string, value: string): Record<string, string> {
  return { [name]: value, [name.toUpperCase()]: value };
}
