// A table of the findings: sorted by a click on a column's name, narrowed by a text, copied as CSV. Long tables show their first rows until asked for more.
import { columnIndex, type Table, type Value } from './data/document.ts';
import { h } from './dom.ts';
import { ColumnFormat, absent, csvCell, grouped, visible } from './format.ts';

export interface TableOptions {
  heading?: string;                                // above the table, beside its tools
  rows?: number;                                   // shown at first; default 40
  tools?: boolean;                                 // filter, all columns, copy; default: as far as the table needs them
  bar?: string;                                    // key of the column that carries a bar; default "share", else the first total
  barShade?: (row: Value[]) => string;             // its shade by name; default "compute"
  onName?: (name: string) => void;                 // adds a button to the first text column: find in the timeline
  rowClass?: (row: Value[]) => string;
  compact?: boolean;                               // texts in one line each
  hide?: string[];                                 // keys of columns not shown
}

export interface TableView { element: HTMLElement; visibleRows: () => Value[][]; csv: () => string }

function compare(a: Value | undefined, b: Value | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), 'en', { numeric: true });
}

async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page opened from a file may not have the clipboard; a selected field does.
    const field = h('textarea', { style: { position: 'fixed', top: '0', opacity: '0' } }, text);
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
  }
}

export function tableView(table: Table, options: TableOptions = {}): TableView {
  const pageRows = options.rows ?? 40;
  let shownRows = pageRows;
  let allColumns = false;
  let sortColumn = -1, descending = true;
  let filter = '';
  const barColumn = options.bar !== undefined ? columnIndex(table, options.bar)
    : columnIndex(table, 'share') >= 0 ? columnIndex(table, 'share') : table.columns.findIndex((column) => /total_ns$/.test(column.key));
  const largest = barColumn < 0 ? 0 : Math.max(0, ...table.rows.map((row) => (typeof row[barColumn] === 'number' ? (row[barColumn] as number) : 0)));
  const isText = table.columns.map((_, i) => table.rows.some((row) => typeof row[i] === 'string'));
  const nameColumn = isText.indexOf(true);
  // Columns of short words do not wrap.
  const isShort = table.columns.map((_, i) => isText[i] && table.rows.every((row) => typeof row[i] !== 'string' || (row[i] as string).length <= 24));
  const formats = table.columns.map((column, i) => new ColumnFormat(column.unit, table.rows.map((row) => row[i])));
  const hasMoreColumns = table.columns.some((column) => !column.in_text && !(options.hide ?? []).includes(column.key));

  const rows = (): Value[][] => {
    const wanted = filter.toLowerCase();
    const result = wanted === '' ? [...table.rows] : table.rows.filter((row) => row.some((value) => typeof value === 'string' && value.toLowerCase().includes(wanted)));
    if (sortColumn >= 0) {
      const sign = descending ? -1 : 1;
      // Absent values stay last whichever way.
      result.sort((a, b) => {
        const x = a[sortColumn], y = b[sortColumn];
        if (x === null || y === null || x === undefined || y === undefined) return (x === null || x === undefined ? 1 : 0) - (y === null || y === undefined ? 1 : 0);
        return sign * compare(x, y);
      });
    }
    return result;
  };
  const csv = (): string => [table.columns.map((column) => csvCell(column.key)), ...rows().map((row) => table.columns.map((_, i) => csvCell(row[i])))].map((cells) => `${cells.join(',')}\r\n`).join('');

  const head = h('thead', {}), body = h('tbody', {});
  const count = h('span', { class: 'count', role: 'status' });
  const more = h('div', { class: 'more-rows' });
  const shownColumns = (): number[] => table.columns.map((_, i) => i).filter((i) => {
    const column = table.columns[i]!;
    return !(options.hide ?? []).includes(column.key) && (allColumns || column.in_text);
  });

  const drawHead = (): void => {
    head.replaceChildren(h('tr', {}, shownColumns().map((i) => {
      const column = table.columns[i]!;
      const sorted = sortColumn === i;
      const unit = formats[i]!.unitName;
      return h('th', { scope: 'col', class: isText[i] ? '' : 'number', 'aria-sort': sorted ? (descending ? 'descending' : 'ascending') : null },
        h('button', {
          type: 'button', class: column.title.length + unit.length <= 10 ? 'brief' : null, title: `Sort by ${column.title}`, 'data-column': column.key,
          onclick: () => {
            // First the order one looks for: the largest number, the first name; then the other; then as it was.
            const first = !isText[i];
            if (!sorted) {
              sortColumn = i;
              descending = first;
            } else if (descending === first) descending = !descending;
            else sortColumn = -1;
            shownRows = pageRows;
            draw();
            (head.querySelector(`button[data-column="${CSS.escape(column.key)}"]`) as HTMLElement | null)?.focus();
          },
        }, column.title, unit ? `, ${unit}` : '', sorted ? h('span', { class: 'arrow', 'aria-hidden': 'true' }, descending ? '↓' : '↑') : ''));
    })));
  };

  const textCell = (text: string, i: number): Node[] => {
    const shown = visible(text);
    const long = shown.length > (options.compact ? 30 : 90);
    const cell = h('div', { class: long ? 'cell long' : 'cell', title: long ? shown : null }, shown);
    if (long) cell.addEventListener('click', () => { if (!getSelection()?.toString()) cell.classList.toggle('open'); });
    if (options.onName && i === nameColumn) {
      const find = options.onName;
      return [h('div', { class: 'named' }, cell, h('button', { class: 'find', type: 'button', title: 'Find in the timeline', 'aria-label': `Find ${shown.slice(0, 60)} in the timeline`, onclick: () => find(text) }, '⌕'))];
    }
    return [cell];
  };

  const draw = (): void => {
    drawHead();
    const all = rows();
    const columns = shownColumns();
    body.replaceChildren(...all.slice(0, shownRows).map((row) => h('tr', { class: options.rowClass?.(row) || null }, columns.map((i) => {
      const value = row[i];
      if (typeof value === 'string') return h('td', { class: isShort[i] ? 'text short' : 'text long' }, value === '' ? h('span', { class: 'absent' }, absent) : textCell(value, i));
      const text = formats[i]!.cell(value);
      const cell = h('td', { class: `${isText[i] ? 'text' : 'number'}${value === null || value === undefined ? ' absent' : ''}${i === barColumn ? ' bar' : ''}` }, text);
      if (i === barColumn && typeof value === 'number' && largest > 0 && value > 0) {
        cell.append(h('i', { style: { width: `calc((100% - 8px) * ${(value / largest).toFixed(4)})`, background: `var(--${options.barShade?.(row) ?? 'compute'})` } }));
      }
      return cell;
    }))));
    const cut = table.rows_total > table.rows.length ? ` (the report keeps ${grouped(table.rows.length)} of ${grouped(table.rows_total)}; the rest is in --format json)` : '';
    count.textContent = filter === '' ? `${grouped(table.rows.length)} ${table.rows.length === 1 ? 'row' : 'rows'}${cut}` : `${grouped(all.length)} of ${grouped(table.rows.length)} rows`;
    more.replaceChildren();
    if (all.length > shownRows) {
      more.append(h('button', { class: 'button', type: 'button', onclick: () => { shownRows = Infinity; draw(); } }, `Show all ${grouped(all.length)}`));
    }
  };

  const tools = h('div', { class: 'table-tools' }, options.heading ? h('h3', {}, options.heading) : null);
  const many = table.rows.length > 8;
  if (options.tools ?? (many || hasMoreColumns)) {
    const field = h('input', { class: 'field', type: 'search', placeholder: 'Filter', 'aria-label': `Filter ${table.title}`, size: 22, spellcheck: 'false' });
    field.addEventListener('input', () => {
      filter = field.value.trim();
      shownRows = pageRows;
      draw();
    });
    field.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && field.value !== '') {
        field.value = filter = '';
        draw();
        event.stopPropagation();
      }
    });
    const copy = h('button', { class: 'button', type: 'button', title: 'Copy these rows, all columns, as CSV' }, 'Copy CSV');
    copy.addEventListener('click', () => {
      void copyText(csv()).then(() => {
        copy.textContent = 'Copied';
        setTimeout(() => { copy.textContent = 'Copy CSV'; }, 1500);
      });
    });
    if (many || options.tools) tools.append(field, count);
    tools.append(h('span', { class: 'grow' }));
    if (hasMoreColumns) {
      const columns = h('button', { class: 'button', type: 'button', 'aria-pressed': 'false' }, 'All columns');
      columns.addEventListener('click', () => {
        allColumns = !allColumns;
        columns.setAttribute('aria-pressed', String(allColumns));
        draw();
      });
      tools.append(columns);
    }
    tools.append(copy);
  }
  draw();
  const element = h('div', { class: 'table' }, tools.childElementCount > 0 ? tools : null, h('div', { class: 'table-scroll' }, h('table', { class: options.compact ? 'data compact' : 'data' }, h('caption', { class: 'visually-hidden' }, table.title), head, body)), more);
  return { element, visibleRows: rows, csv };
}
