// Which rank and device the views speak of, and where their sections are found.
import type { DeviceFindings, Findings, PageDocument, RankFindings, Section } from './data/document.ts';
import { findSection } from './data/document.ts';
import { visible } from './format.ts';

export interface Scope {
  page: PageDocument;
  findings: Findings;
  rank: RankFindings | undefined;
  device: DeviceFindings | undefined;
  timelineRank: number;   // index into meta.ranks
}

export interface Choice { rank: number; device: number }   // indices; device -1 = the rank has none

export function choices(page: PageDocument): Choice[] {
  return page.findings.ranks.flatMap((rank, r) => (rank.devices.length === 0 ? [{ rank: r, device: -1 }] : rank.devices.map((_, d) => ({ rank: r, device: d }))));
}

// What the page opens on: the device that the program names, else the first.
export function firstChoice(page: PageDocument): Choice | undefined {
  const named = page.meta.opens_on;
  return named ? { rank: named[0], device: named[1] } : choices(page)[0];
}

export function choiceTitle(page: PageDocument, choice: Choice): string {
  const rank = page.findings.ranks[choice.rank]!;
  const device = rank.devices[choice.device];
  return `Rank ${rank.rank}${device ? ` · GPU ${visible(device.device)}` : ''}`;
}

export function scopeOf(page: PageDocument, choice: Choice | undefined): Scope {
  const rank = choice ? page.findings.ranks[choice.rank] : undefined;
  const sameOrder = page.findings.ranks.length === page.meta.ranks.length;
  const timelineRank = choice && sameOrder ? choice.rank : Math.max(page.meta.ranks.findIndex((one) => one.rank === rank?.rank), 0);
  return { page, findings: page.findings, rank, device: choice && rank ? rank.devices[choice.device] : undefined, timelineRank };
}

// The first section of one of these keys: of the device, else of the rank, else of the run.
export function section(scope: Scope, ...keys: string[]): Section | undefined {
  for (const sections of [scope.device?.sections, scope.rank?.sections, scope.findings.sections]) {
    for (const key of keys) {
      const found = sections && findSection(sections, key);
      if (found) return found;
    }
  }
  return undefined;
}

export function allSections(scope: Scope): Section[] {
  return [...scope.findings.sections, ...(scope.rank?.sections ?? []), ...(scope.device?.sections ?? [])];
}
