// Bundles src/ into one self-contained page: dist/report.html, into which the program puts a run's data. Nothing in it reaches for a network, and a
// content security policy forbids it.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';

const largestPage = 1_500_000;

const bundle = await build({
  entryPoints: { page: 'src/main.ts' },
  outdir: 'dist',
  bundle: true,
  write: false,
  minify: true,
  format: 'iife',
  target: ['chrome103', 'firefox113', 'safari16.4'],
  legalComments: 'none',
  charset: 'utf8',
});
const text = (suffix) => bundle.outputFiles.find((file) => file.path.endsWith(suffix)).text;
// The page's marks for data must stand in it once: where the template has them.
const script = text('.js').trim();
const style = text('.css').trim();
const hash = (content) => `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
const policy = [`default-src 'none'`, `script-src ${hash(script)}`, `style-src ${hash(style)}`, `img-src data: blob:`, `base-uri 'none'`, `form-action 'none'`].join('; ');
const licence = (await readFile('node_modules/uplot/LICENSE', 'utf8')).trim();

const template = await readFile('src/page.html', 'utf8');
const page = template
  .replace('@@POLICY@@', () => policy)
  .replace('@@LICENCES@@', () => `uPlot 1.6.32\n${licence}`)
  .replace('@@STYLE@@', () => style)
  .replace('@@SCRIPT@@', () => script);
for (const mark of ['@@STEPSCOPE_DOCUMENT@@', '@@STEPSCOPE_COLUMNS@@']) {
  if (page.split(mark).length !== 2) throw new Error(`${mark} must stand in the page exactly once`);
}
if (Buffer.byteLength(page) > largestPage) throw new Error(`The page is ${Buffer.byteLength(page)} bytes; at most ${largestPage} are allowed`);
await mkdir('dist', { recursive: true });
await writeFile('dist/report.html', page);
console.log(`dist/report.html: ${(Buffer.byteLength(page) / 1000).toFixed(0)} kB`);
