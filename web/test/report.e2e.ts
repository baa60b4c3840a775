// Real reports, made by the built program, opened in Chromium: figures against --format json of the same input, then everything a reader does.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type Browser, type BrowserContext, type Page, chromium } from 'playwright-core';
import type { Unit } from '../src/data/document.ts';
import { format } from '../src/format.ts';

const root = resolve('..');
const program = process.env['STEPSCOPE'] ?? join(root, 'build/src/stepscope');
const browserPath = process.env['STEPSCOPE_CHROMIUM'] ?? '/usr/bin/chromium';
const example = join(root, 'examples/gpt_training_step.generated.json.gz');
const traces = process.env['STEPSCOPE_TRACES'] ?? join(root, '../shared/traces');
const screenshots = resolve('screenshots');
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

const missing = !existsSync(program) ? `${program} is not built` : !existsSync(browserPath) ? `${browserPath} is not installed` : false;
const noTraces = missing || (!existsSync(traces) ? `${traces} is not here` : false);

type Json = Record<string, unknown>;
const folder = mkdtempSync(join(tmpdir(), 'stepscope-report-'));
const said: string[] = [];   // by the page: errors, and requests that leave it
let browser: Browser;
let context: BrowserContext;

function report(input: string, name: string, ...options: string[]): string {
  const path = join(folder, `${name}.html`);
  execFileSync(program, ['analyze', input, '--quiet', '-o', path, ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  return path;
}
function analysis(input: string): { ranks: (Json & { rank: number; devices: Json[] })[] } {
  return JSON.parse(execFileSync(program, ['analyze', input, '--quiet', '--format', 'json'], { maxBuffer: 1 << 30 }).toString());
}
function embedded(html: string, id: string): Buffer {
  const text = new RegExp(`id="${id}"[^>]*>([^<]*)<`).exec(html)?.[1];
  assert.ok(text, `${id} is in the page`);
  return gunzipSync(Buffer.from(text, 'base64'));
}
async function open(path: string, scheme: 'light' | 'dark' = 'light', view = ''): Promise<Page> {
  const page = await context.newPage();
  await page.emulateMedia({ colorScheme: scheme });
  page.on('console', (message) => { if (message.type() === 'error' || message.type() === 'warning') said.push(`console: ${message.text()}`); });
  page.on('pageerror', (error) => said.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => { said.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  page.on('request', (request) => { if (!/^(file|data|blob):/.test(request.url())) said.push(`request: ${request.url()}`); });
  await page.goto(`file://${path}${view ? `#${view}` : ''}`);
  await page.waitForSelector('html[data-ready=timeline], html[data-ready=failed]');
  assert.equal(await page.getAttribute('html', 'data-ready'), 'timeline');
  return page;
}
async function show(page: Page, view: string): Promise<void> {
  await page.click(`.names a[data-view="${view}"]`);
  await page.waitForSelector(`#view-${view}:not([hidden])`);
}
// The page answers a key in its own time.
async function becomes(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + 10_000; !(await holds());) {
    assert.ok(Date.now() < end, what);
    await new Promise((done) => { setTimeout(done, 20); });
  }
}
async function sight(page: Page): Promise<{ from: number; to: number }> {
  await page.waitForTimeout(60);   // a frame
  return page.$eval('.stage canvas', (canvas) => ({ from: Number((canvas as HTMLCanvasElement).dataset['from']), to: Number((canvas as HTMLCanvasElement).dataset['to']) }));
}
const plain = (text: string): string => text.replaceAll('\u202f', ' ').replace(/\s+/g, ' ').trim();
const shown = (value: unknown, unit: Unit): string => plain(format(value as number, unit));
// The cells of a table's row as they are read, by column key.
async function rowOf(page: Page, section: string, table: number, row: number): Promise<Record<string, string>> {
  const cells = await page.$eval(`[data-section="${section}"] .table >> nth=${table}`, (element, index) => {
    const keys = [...element.querySelectorAll('thead button')].map((button) => (button as HTMLElement).dataset['column']!);
    const units = [...element.querySelectorAll('thead button')].map((button) => /, (\S+)$/.exec((button.textContent ?? '').replace(/[↑↓]$/, ''))?.[1] ?? '');
    const values = [...(element.querySelectorAll('tbody tr')[index as number]?.querySelectorAll('td') ?? [])].map((cell) => (cell.querySelector('.cell') ?? cell).textContent ?? '');
    return keys.map((key, i) => [key, units[i] ? `${values[i]} ${units[i]}` : values[i]] as [string, string]);
  }, row);
  return Object.fromEntries(cells.map(([key, text]) => [key, plain(text)]));
}
// A number as read back from the page: "12.3 ms" -> 12.3e6. Enough for a comparison within what the digits say.
function readBack(text: string): { value: number; resolution: number } {
  const [, digits, unit] = /^([−-]?[\d,.]+) ?(\S*)$/.exec(text) ?? [];
  assert.ok(digits !== undefined, `"${text}" is a number`);
  const factor = { s: 1e9, ms: 1e6, µs: 1e3, ns: 1, '%': 0.01, '': 1 }[unit ?? ''];
  assert.ok(factor !== undefined, `the unit of "${text}" is known`);
  const decimals = digits.split('.')[1]?.length ?? 0;
  return { value: Number(digits.replaceAll(',', '').replace('−', '-')) * factor, resolution: factor * 10 ** -decimals };
}
function agrees(text: string | undefined, expected: unknown, what: string): void {
  assert.equal(typeof expected, 'number', `${what} is in the JSON`);
  const { value, resolution } = readBack(text ?? '');
  assert.ok(Math.abs(value - (expected as number)) <= resolution * 0.5001, `${what}: the page says ${text}, the JSON ${String(expected)}`);
}

describe('the HTML report in Chromium', { skip: missing }, () => {
  let path = '';
  before(async () => {
    mkdirSync(screenshots, { recursive: true });
    browser = await chromium.launch({ executablePath: browserPath, args: flags });
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    path = report(example, 'example');
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('is one file within its size', () => {
    const html = readFileSync(path, 'utf8');
    const raw = gunzipSync(readFileSync(example)).length;
    const data = [...html.matchAll(/type="application\/octet-stream">([^<]*)</g)].reduce((sum, match) => sum + match[1]!.length, 0);
    assert.ok(data <= Math.max(200_000, raw / 50), `${data} bytes of data for ${raw} bytes of trace`);
    assert.ok(html.length - data <= 1_500_000);
    assert.ok(!/<(script|link|img|iframe)[^>]+(src|href)="(?!data:)/.test(html), 'nothing is loaded');
    assert.match(html, /Content-Security-Policy" content="default-src 'none'/);
  });

  test('says the figures of the JSON', async () => {
    const page = await open(path);
    const json = analysis(example);
    const device = json.ranks[0]!.devices[0]!;
    const all = device['all'] as Record<string, number>;
    // Overview: the first five changes, in the order of the JSON.
    const ranked = (json as unknown as { advice: { ranked: { title: string }[] } }).advice.ranked;
    const shownFirst = await page.$$eval('[data-panel="advice"] tbody tr', (rows) => rows.map((row) => row.textContent ?? ''));
    assert.equal(shownFirst.length, Math.min(5, ranked.length));
    shownFirst.forEach((text, i) => assert.ok(plain(text).includes(plain(ranked[i]!.title)), `row ${i + 1} of the advice is "${text}", not "${ranked[i]!.title}"`));
    // Overview: the whole capture's breakdown, in the last legend of the panel.
    const legend = async (part: string): Promise<string> => plain((await page.locator(`[data-panel="breakdown"] .legend >> nth=-1`).locator(`[data-part="${part}"]`).textContent()) ?? '');
    for (const key of ['compute_ns', 'exposed_communication_ns', 'exposed_memory_ns', 'idle_ns']) {
      const text = await legend(key);
      assert.ok(text.endsWith(shown(all[key], 'nanoseconds')), `${key}: "${text}" ends in ${shown(all[key], 'nanoseconds')}`);
      assert.ok(text.includes(shown(all[key]! / all['span_ns']!, 'ratio')), `${key}: "${text}" has its share`);
    }
    await show(page, 'kernels');
    const kernels = device['kernels'] as Record<string, number>[];
    for (let row = 0; row < 3; row++) {
      const cells = await rowOf(page, 'kernels', 0, row);
      assert.equal(cells['count'], shown(kernels[row]!['count'], 'count'));
      assert.equal(cells['share'], shown(kernels[row]!['share'], 'ratio'));
      agrees(cells['total_ns'], kernels[row]!['total_ns'], `total of kernel ${row}`);
      agrees(cells['median_ns'], kernels[row]!['median_ns'], `median of kernel ${row}`);
    }
    await show(page, 'idle');
    const idle = device['idle_by_cause'] as Record<string, number>;
    for (const key of ['host_ns', 'launch_ns', 'scheduling_ns']) {
      const text = plain((await page.locator(`[data-section="idle_by_cause"] [data-part="${key}"]`).textContent()) ?? '');
      assert.ok(text.endsWith(shown(idle[key], 'nanoseconds')), `${key}: "${text}"`);
    }
    await show(page, 'steps');
    const steps = device['steps'] as Record<string, number>[];
    assert.equal(await page.locator('[data-section="steps"] .chart g.step').count(), steps.length);
    for (let row = 0; row < steps.length; row++) {
      const cells = await rowOf(page, 'steps', 0, row);
      assert.equal(cells['step'], String(steps[row]!['step']));
      agrees(cells['step_time_ns'], steps[row]!['step_time_ns'], 'step time');
      agrees(cells['compute_ns'], steps[row]!['compute_ns'], 'compute of a step');
    }
    await show(page, 'operators');
    const operators = json.ranks[0]!['operators'] as Record<string, number>;
    for (const [key, unit] of [['device_total_ns', 'nanoseconds'], ['cpu_ns', 'nanoseconds'], ['calls', 'count']] as const) {
      assert.equal(plain((await page.textContent(`[data-section="operators"] [data-figure="${key}"]`)) ?? ''), shown(operators[key], unit));
    }
    await page.close();
  });

  test('says the verdict of the text report first', async () => {
    const text = execFileSync(program, ['analyze', example, '--quiet']).toString();
    const page = await open(path);
    const verdict = plain((await page.textContent('.verdict h1')) ?? '');
    assert.match(verdict, /^Step \d/);
    assert.ok(plain(text).includes(verdict), `the text report says "${verdict}" too`);
    const box = await page.locator('.verdict h1').boundingBox();
    assert.ok(box && box.y < 160, 'the verdict is at the top');
    await page.close();
  });

  test('timeline: wheel, drag, click, keys', async () => {
    const page = await open(path, 'light', 'timeline');
    const canvas = page.locator('.stage canvas');
    const box = (await canvas.boundingBox())!;
    const whole = await sight(page);
    await page.mouse.move(box.x + 700, box.y + 118);
    for (let i = 0; i < 6; i++) await page.mouse.wheel(0, -200);
    const zoomed = await sight(page);
    assert.ok(zoomed.to - zoomed.from < (whole.to - whole.from) / 5, 'the wheel zooms');
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 118, { steps: 4 });
    await page.mouse.up();
    const moved = await sight(page);
    assert.ok(moved.from > zoomed.from && Math.abs(moved.to - moved.from - (zoomed.to - zoomed.from)) < 1, 'a drag moves');
    // The compute stream is the second lane of the device: click where it is busy.
    let name = '';
    for (let x = 260; x < 1000 && name === ''; x += 7) {
      await page.mouse.click(box.x + x, box.y + 118);
      name = (await page.locator('.facts .name').count()) > 0 ? ((await page.textContent('.facts .name')) ?? '') : '';
    }
    assert.notEqual(name, '', 'a click selects a slice');
    const facts = plain((await page.textContent('.facts')) ?? '');
    for (const fact of ['Kind', 'Start', 'Duration', 'Where', 'Step', 'Launched by', 'Launch delay', 'Operator']) assert.ok(facts.includes(fact), `${fact} in "${facts}"`);
    await page.mouse.move(box.x + 620, box.y + 118);
    await page.waitForSelector('.tip', { state: 'visible' });
    await page.keyboard.press('f');
    const near = await sight(page);
    assert.ok(near.to - near.from < moved.to - moved.from);
    await page.keyboard.press('0');
    const fitted = await sight(page);
    assert.ok(Math.abs(fitted.to - fitted.from - (whole.to - whole.from)) < 2, '0 shows everything');
    for (const [key, smaller] of [['w', true], ['s', false], ['+', true], ['-', false]] as const) {
      const begin = await sight(page);
      await page.keyboard.press(key);
      const end = await sight(page);
      assert.equal(end.to - end.from < begin.to - begin.from, smaller, key);
    }
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    for (const [key, right] of [['d', true], ['a', false], ['ArrowRight', true], ['ArrowLeft', false]] as const) {
      const begin = await sight(page);
      await page.keyboard.press(key);
      assert.equal((await sight(page)).from > begin.from, right, key);
    }
    await page.keyboard.press('e');
    const step = await sight(page);
    assert.ok(step.to - step.from < (whole.to - whole.from) / 3, 'E goes to a step');
    await page.close();
  });

  test('timeline: the critical path, with button and key, in both themes', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const page = await open(path, scheme, 'timeline');
      const drawn = async (): Promise<number> => {
        await page.waitForTimeout(60);   // a frame
        return page.$eval('.stage canvas', (canvas) => Number((canvas as HTMLCanvasElement).dataset['path']));
      };
      const button = page.getByRole('button', { name: 'Show the critical path' });
      assert.equal(await button.getAttribute('aria-pressed'), 'true', 'on at first');
      assert.ok(await drawn() > 3, 'a path over several rows');
      await page.focus('.stage canvas');
      await page.keyboard.press('p');
      assert.equal(await button.getAttribute('aria-pressed'), 'false');
      assert.equal(await drawn(), 0);
      await button.press('Enter');
      assert.equal(await button.getAttribute('aria-pressed'), 'true');
      assert.ok(await drawn() > 3);
      await page.close();
    }
  });

  test('timeline: search by name', async () => {
    const page = await open(path, 'light', 'timeline');
    const json = analysis(example);
    const collectives = (json.ranks[0]!.devices[0]!['kernels'] as { name: string; count: number }[]).filter((kernel) => /^ncclDevKernel/.test(kernel.name));
    await page.keyboard.press('/');
    await page.keyboard.type('/^ncclDevKernel/');
    const total = collectives.reduce((sum, kernel) => sum + kernel.count, 0);
    await page.waitForFunction((expected) => document.querySelector('.tools .count')?.textContent === expected, `${format(total, 'count')} matches`);
    await page.keyboard.press('Enter');
    assert.match((await page.textContent('.tools .count')) ?? '', /^1 of /);
    assert.match((await page.textContent('.facts .name')) ?? '', /^ncclDevKernel/);
    await page.keyboard.press('Enter');
    assert.match((await page.textContent('.tools .count')) ?? '', /^2 of /);
    await page.fill('.tools input', 'no such slice');
    await page.waitForFunction(() => document.querySelector('.tools .count')?.textContent === 'no match');
    await page.close();
  });

  test('kernel table: sort, filter, copy as CSV', async () => {
    const page = await open(path, 'light', 'kernels');
    const names = (): Promise<string[]> => page.$$eval('[data-section="kernels"] .table tbody tr', (rows) => rows.map((row) => row.querySelector('.cell')?.textContent ?? ''));
    const before = await names();
    const kernels = analysis(example).ranks[0]!.devices[0]!['kernels'] as { short_name: string; name: string; count: number; total_ns: number }[];
    await page.click('[data-section="kernels"] th button[data-column="count"]');
    assert.equal(await page.getAttribute('[data-section="kernels"] th:has(button[data-column="count"])', 'aria-sort'), 'descending');
    const counts = await page.$$eval('[data-section="kernels"] .table >> nth=0 >> tbody tr', (rows) => rows.map((row) => Number(row.querySelectorAll('td')[2]?.textContent?.replaceAll(',', ''))));
    assert.deepEqual(counts, [...counts].sort((a, b) => b - a));
    assert.equal(counts[0], Math.max(...kernels.map((kernel) => kernel.count)));
    await page.click('[data-section="kernels"] th button[data-column="count"]');
    await page.click('[data-section="kernels"] th button[data-column="count"]');
    assert.deepEqual(await names(), before, 'the third click gives the first order back');
    await page.fill('[data-section="kernels"] input', 'flash_');
    const expected = kernels.filter((kernel) => kernel.name.includes('flash_') || kernel.short_name.includes('flash_'));
    await page.waitForFunction((count) => document.querySelector('[data-section="kernels"] .count')?.textContent?.startsWith(`${count} of`), expected.length);
    await page.click('[data-section="kernels"] .table-tools button:text("Copy CSV")');
    await page.waitForSelector('[data-section="kernels"] .table-tools button:text("Copied")');
    const csv = await page.evaluate(() => navigator.clipboard.readText());
    const lines = csv.trim().split(/\r?\n/);
    assert.equal(lines.length, expected.length + 1);
    assert.match(lines[0]!, /^name,short_name,class,/);
    assert.ok(csv.includes(String(expected[0]!.total_ns)), 'the CSV has whole nanoseconds');
    await page.close();
  });

  test('keyboard alone: views, tables, help, theme', async () => {
    const page = await open(path);
    await page.keyboard.press('Tab');
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
    const seen: string[] = [];
    for (let i = 0; i < 8; i++) {
      seen.push(await focused());
      await page.keyboard.press('Tab');
    }
    assert.ok(seen.includes('Overview') && seen.includes('Timeline'), `Tab reaches the views: ${seen.join(', ')}`);
    await page.keyboard.press(']');
    await page.waitForSelector('#view-timeline:not([hidden])');
    await page.keyboard.press('.');
    await page.waitForSelector('.facts .name');
    const first = await page.textContent('.facts');
    await page.keyboard.press('.');
    await becomes(async () => (await page.textContent('.facts')) !== first, 'the next slice');
    await page.keyboard.press('l');
    await page.keyboard.press('u');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.facts .name', { state: 'detached' });
    await page.keyboard.press('3');
    await page.waitForSelector('#view-steps:not([hidden])');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'detached' });  // Chromium closes it in its own time
    assert.equal(await page.getAttribute('html', 'data-theme'), 'light');
    await page.keyboard.press('t');
    await page.waitForSelector('html[data-theme=dark]');
    await page.click('#theme');
    await page.waitForSelector('html[data-theme=light]');
    await page.keyboard.press('5');
    await page.waitForSelector('#view-kernels:not([hidden])');
    await page.keyboard.press('/');
    await page.keyboard.type('gemm');
    await becomes(async () => (await page.inputValue('[data-section="kernels"] input >> nth=0')) === 'gemm', 'what is typed filters the kernels');
    await page.close();
  });

  test('every control has a name and every view a heading', async () => {
    const page = await open(path);
    for (const view of await page.$$eval('.names a', (links) => links.map((link) => (link as HTMLElement).dataset['view']!))) {
      await show(page, view);
      const nameless = await page.$$eval(`#view-${view} :is(button, input, select, canvas)`, (controls) => controls.filter((control) =>
        (control as HTMLElement).tabIndex >= 0 && !(control.getAttribute('aria-label') || control.textContent?.trim() || control.getAttribute('title'))).map((control) => control.outerHTML.slice(0, 120)));
      assert.deepEqual(nameless, [], view);
      if (view !== 'timeline') assert.ok((await page.locator(`#view-${view} :is(h1, h2)`).count()) > 0, view);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${view} is ${wide} pixels too wide`);
    }
    await page.close();
  });

  test('prints every view', async () => {
    const page = await open(path);
    const pdf = await page.pdf({ format: 'A4', printBackground: true });
    writeFileSync(join(screenshots, 'example.pdf'), pdf);
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    const pages = pdf.toString('latin1').match(/\/Type\s*\/Page[^s]/g)?.length ?? 0;
    assert.ok(pages >= 4 && pages < 60, `${pages} pages`);
    await page.close();
  });

  test('names that would break a page are only names', async () => {
    const evil = '</script><img src=x onerror=alert(1)>"\'`&amp;\u202egpj.exe\u2066';
    const events = [
      { ph: 'X', cat: 'cpu_op', name: 'aten::mm', pid: 1, tid: 1, ts: 0, dur: 50 },
      { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: 10, dur: 5, args: { correlation: 7 } },
      { ph: 'X', cat: 'kernel', name: evil, pid: 0, tid: 7, ts: 30, dur: 20, args: { device: 0, stream: 7, correlation: 7, grid: [1, 2, 3], 'HOST SECRET': 'hunter2' } },
      { ph: 'X', cat: 'python_function', name: '/home/alice/confidential/train.py(3): main', pid: 1, tid: 1, ts: 0, dur: 60 },
    ];
    const input = join(folder, 'alice-is-not-here.json');
    const text = Buffer.from(JSON.stringify({ traceEvents: [...events, { ph: 'X', cat: 'kernel', name: 'BAD_BYTES', pid: 0, tid: 7, ts: 60, dur: 20, args: { device: 0, stream: 7 } }] }));
    const at = text.indexOf('BAD_BYTES');
    text[at + 3] = 0xff;
    writeFileSync(input, text);
    const hostile = report(input, 'hostile');
    const html = readFileSync(hostile, 'utf8');
    const data = embedded(html, 'stepscope-document').toString();
    for (const secret of ['/home', 'confidential', 'hunter2', 'HOST SECRET']) assert.ok(!data.includes(secret), `${secret} is not in the report`);
    assert.ok(data.includes('train.py(3): main'));
    const page = await open(hostile, 'light', 'kernels');
    await page.click('[data-section="kernels"] button:text("All columns")');
    const names = await page.$$eval('[data-section="kernels"] .table tbody tr .cell', (cells) => cells.map((cell) => cell.textContent ?? ''));
    assert.ok(names.some((name) => name.startsWith('</script><img src=x onerror=alert(1)>') && name.includes('·gpj.exe·')), names.join(' | '));
    assert.ok(names.some((name) => name.includes('BAD\ufffdBYTES')), names.join(' | '));
    await show(page, 'timeline');
    await page.fill('.tools input', 'onerror');
    await page.waitForFunction(() => document.querySelector('.tools .count')?.textContent === '1 match');
    assert.equal(await page.locator('img').count(), 0);
    await page.close();
  });

  test('screenshots in both themes', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const page = await open(path, scheme);
      for (const view of await page.$$eval('.names a', (links) => links.map((link) => (link as HTMLElement).dataset['view']!))) {
        await show(page, view);
        await page.waitForTimeout(80);
        await page.screenshot({ path: join(screenshots, `example-${scheme}-${view}.png`) });
      }
      await page.close();
    }
    assert.ok(statSync(join(screenshots, 'example-dark-timeline.png')).size > 10_000);
  });

  test('several ranks: switch, all ranks', { skip: noTraces }, async () => {
    const input = join(traces, 'param_dlrm_8rank');
    const page = await open(report(input, 'ranks'));
    const json = analysis(input);
    assert.equal(await page.locator('.device-row').count(), json.ranks.length);
    const opened = await page.$eval('.topbar select', (select) => (select as HTMLSelectElement).selectedOptions[0]!.textContent);
    const slowest = execFileSync(program, ['analyze', input, '--quiet']).toString().match(/Below: rank (\d+), the one with the slowest step/)![1];
    assert.ok(opened!.startsWith(`Rank ${slowest} `), `the page opens on "${opened}", the terminal on rank ${slowest}`);
    await page.selectOption('.topbar select', { index: 3 });
    await show(page, 'kernels');
    const kernel = (json.ranks[3]!.devices[0]!['kernels'] as Record<string, number>[])[0]!;
    const cells = await rowOf(page, 'kernels', 0, 0);
    agrees(cells['total_ns'], kernel['total_ns'], 'the first kernel of rank 3');
    await show(page, 'timeline');
    await page.click('.timeline button:text("All ranks")');
    await page.screenshot({ path: join(screenshots, 'ranks-light-timeline.png') });
    await page.close();
  });

  test('a capture without device activity, and one without anything else', { skip: noTraces }, async () => {
    for (const name of ['hta_rank_non_gpu', 'tl_mi210_gpu_only', 'hta_mtia_single_rank']) {
      const page = await open(report(join(traces, name), name));
      await page.screenshot({ path: join(screenshots, `${name}-light-overview.png`) });
      assert.notEqual(plain((await page.textContent('.verdict h1')) ?? ''), '');
      for (const view of await page.$$eval('.names a', (links) => links.map((link) => (link as HTMLElement).dataset['view']!))) await show(page, view);
      await page.close();
    }
  });

  test('a large capture opens and zooms fast', async (t) => {
    const large = join(traces, 'tl_xdit_sage_profile');
    const input = existsSync(large) ? large : example;
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const cpu = async (): Promise<number> => (await session.send('Performance.getMetrics')).metrics.find((metric) => metric.name === 'TaskDuration')!.value;
    await page.goto(`file://${report(input, 'large')}`);
    await page.waitForSelector('html[data-ready=timeline]');
    const marks = await page.evaluate(() => ({
      paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime, overview: performance.getEntriesByName('stepscope-overview')[0]?.startTime, timeline: performance.getEntriesByName('stepscope-timeline')[0]?.startTime,
    }));
    const opened = await cpu();
    await page.click('.names a[data-view="timeline"]');
    const box = (await page.locator('.stage canvas').boundingBox())!;
    await page.mouse.move(box.x + 600, box.y + 120);
    const begin = await cpu();
    const frames: number[] = [];
    for (let i = 0; i < 40; i++) {
      await page.mouse.wheel(0, i < 28 ? -120 : 160);
      await page.waitForTimeout(25);
      frames.push(Number(await page.getAttribute('.stage canvas', 'data-frame-ms')));
    }
    const perFrame = ((await cpu()) - begin) / 40;
    frames.sort((a, b) => a - b);
    const drawn = plain((await page.textContent('.timeline .drawn')) ?? '');
    t.diagnostic(`${drawn} First paint ${marks.paint?.toFixed(0)} ms, overview ${marks.overview?.toFixed(0)} ms, timeline ${marks.timeline?.toFixed(0)} ms; CPU to open ${(opened * 1000).toFixed(0)} ms`);
    t.diagnostic(`zooming: ${(perFrame * 1000).toFixed(1)} ms of CPU per frame; drawing median ${frames[20]?.toFixed(1)} ms, largest ${frames[39]?.toFixed(1)} ms`);
    // CPU time, so that a busy machine does not decide.
    assert.ok(opened < 1, `${opened} s of CPU to open`);
    assert.ok(perFrame < 0.033, `${perFrame} s of CPU per frame`);
    await page.close();
  });

  test('nothing was complained of and nothing was asked of a network', () => assert.deepEqual(said, []));
});
