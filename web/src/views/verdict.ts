// The verdict in one sentence, as the text report says it.
import { figureNumber, findTable } from '../data/document.ts';
import { duration } from '../format.ts';
import { type Scope, section } from '../scope.ts';
import { breakdownOfFigures, idleParts, meanBreakdown } from './breakdown.ts';

const whole = (ratio: number): string => (ratio > 0 && ratio < 0.005 ? '<1\u202f%' : `${Math.round(100 * ratio)}\u202f%`);

export function verdictOf(scope: Scope): string {
  const said = scope.page.findings.sections.find((one) => one.key === 'verdict')?.summary;
  if (said) return said;
  const steps = findTable(section(scope, 'steps', 'inferred_steps'));
  const mean = steps ? meanBreakdown(steps) : undefined;
  const shown = mean ?? breakdownOfFigures(section(scope, 'all'));
  if (!shown) return scope.page.findings.ranks.length === 0 ? 'Nothing in this capture could be analysed.' : 'No device activity was recorded: only what the host did is shown.';
  const [compute, communication, memory, idle] = shown.parts as [typeof shown.parts[0], typeof shown.parts[0], typeof shown.parts[0], typeof shown.parts[0]];
  const parts = [`${whole(compute.value / shown.span)} compute`];
  if (communication.value > 0) parts.push(`${whole(communication.value / shown.span)} exposed communication`);
  if (memory.value / shown.span >= 0.005) parts.push(`${whole(memory.value / shown.span)} exposed copies`);
  const causes = idleParts(section(scope, 'idle_by_cause')).sort((a, b) => b.value - a.value);
  parts.push(`${whole(idle.value / shown.span)} idle${causes[0] && causes[0].value > 0 && idle.value / shown.span >= 0.02 ? `, mostly ${causes[0].title.toLowerCase()}` : ''}`);
  const mfu = figureNumber(section(scope, 'mfu'), 'mfu');
  return `${mean ? 'Step' : 'Capture'} ${duration(shown.span)}: ${parts.join(', ')}${mfu !== null ? `; MFU ${whole(mfu)}` : ''}.`;
}
