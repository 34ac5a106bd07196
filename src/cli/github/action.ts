// What the composite action runs (action.yml), beside the command line that it drives.
import { fileURLToPath } from 'node:url';
import { describeFailure } from '../print.ts';
import { runAction } from './run-action.ts';
import { renderWorkflowCommand } from './workflow-command.ts';

try {
  process.exitCode = await runAction(process, fileURLToPath(new URL('./cli.js', import.meta.url)));
} catch (error) {
  process.stdout.write(renderWorkflowCommand('error', { title: 'belay: internal_error' }, describeFailure(error)));
  process.exitCode = 1;
}
