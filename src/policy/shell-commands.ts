import { type Command, forEachChild, parse, type Redirection, type SyntaxNode } from 'unbash';
import { evaluateWord, type ShellWord } from './shell-word.ts';

/** What a command reads on stdin, where the text itself says so: a here-document or here-string, a file, or something else. */
export type CommandInput = { kind: 'text'; text: string } | { kind: 'file' } | { kind: 'other' };

export interface SimpleCommand {
  words: readonly ShellWord[];
  input: CommandInput;
}

export interface ScriptCommands {
  /** Every simple command that the script could run by itself, in nested substitutions and function bodies too. */
  commands: readonly SimpleCommand[];
  /** Why the script cannot be known whole; null when it is. */
  fault: string | null;
}

const MAX_NODES = 200_000;

export function collectCommands(script: string): ScriptCommands {
  const commands: SimpleCommand[] = [];
  // An own stack: a hostile script must not overflow the call stack.
  const open: SyntaxNode[] = [parse(script)];
  let nodes = 0;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (++nodes > MAX_NODES) return { commands, fault: 'the command is too long to be judged' };
    if (node.type === 'Script' && 'errors' in node && node.errors !== undefined && node.errors.length > 0)
      return { commands, fault: `the command cannot be parsed: ${node.errors[0]?.message ?? 'syntax error'}` };
    if (node.type === 'Command' && node.name !== undefined) commands.push(simpleCommand(node));
    const children: SyntaxNode[] = [];
    forEachChild(node, (child) => children.push(child));
    for (const child of children.reverse()) open.push(child);
  }
  return { commands, fault: null };
}

function simpleCommand(command: Command): SimpleCommand {
  const words = [...(command.name === undefined ? [] : [command.name]), ...command.args].map(evaluateWord);
  return { words, input: commandInput(command.redirects) };
}

function commandInput(redirects: readonly Redirection[]): CommandInput {
  const reading = redirects.findLast(readsStdin);
  if (reading === undefined) return { kind: 'other' };
  if (reading.type === 'HereDoc')
    return reading.delimiter?.quoted === true || !/[$`\\]/.test(reading.body.text)
      ? { kind: 'text', text: reading.body.text }
      : { kind: 'other' };
  const target = reading.target === undefined ? null : evaluateWord(reading.target);
  if (reading.type === 'HereString')
    return target?.known === true ? { kind: 'text', text: target.text } : { kind: 'other' };
  return reading.operator === '<' && target?.known === true && !target.text.startsWith('/dev/')
    ? { kind: 'file' }
    : { kind: 'other' };
}

function readsStdin(redirect: Redirection): boolean {
  const descriptor = redirect.descriptor?.type === 'FileDescriptor' ? redirect.descriptor.value : redirect.descriptor;
  if (descriptor !== undefined && descriptor !== 0) return false;
  return redirect.type !== 'Redirect' || redirect.operator.startsWith('<');
}
