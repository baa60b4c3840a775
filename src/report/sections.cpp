#include "report/sections.h"

#include <algorithm>

#include "base/text.h"
#include "report/format.h"
#include "report/json_parts.h"
#include "report/text_parts.h"

namespace stepscope {

namespace {

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --text: #1a1d21; --faint: #5d6670; --line: #d8dde2; --page: #ffffff; --panel: #f5f7f9; --accent: #1f5fbf; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ec; --faint: #9aa4ae; --line: #343b43; --page: #14171a; --panel: #1c2126; --accent: #7fb0ff; }
}
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 70rem; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; margin: 0 0 1.5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .4rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
h3 { font-size: .95rem; margin: 1.2rem 0 .4rem; color: var(--faint); font-weight: 600; }
p { margin: .4rem 0; max-width: 60rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: .6rem; margin: .8rem 0; }
dl div { background: var(--panel); border-radius: 6px; padding: .5rem .7rem; }
dt { color: var(--faint); font-size: .85rem; }
dd { margin: 0; font-size: 1.1rem; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
td:not(.number) { overflow-wrap: break-word; }
td:first-child:not(.number) { overflow-wrap: anywhere; }
ul { margin: .6rem 0; padding-left: 1.2rem; color: var(--faint); max-width: 60rem; }
.summary { color: var(--accent); font-size: 1.05rem; }
)";

void write_table(std::string& html, const Table& table, bool titled) {
  if (table.rows.empty()) return;
  if (titled) html += "<h3>" + escaped(table.title) + "</h3>\n";
  std::vector<ColumnFormat> formats;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    std::vector<const Value*> values;
    for (const std::vector<Value>& row : table.rows) values.push_back(&row[column]);
    formats.emplace_back(table.columns[column].unit, values);
  }
  const auto open = [&](std::string_view tag, std::size_t column) {
    html += "<" + std::string(tag) + (formats[column].is_numeric() ? " class=\"number\">" : ">");
  };
  html += "<div class=\"wide\"><table>\n<thead><tr>";
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    open("th", column);
    html += escaped(table.columns[column].title) + (formats[column].unit_name().empty() ? "" : " (" + escaped(formats[column].unit_name()) + ")") + "</th>";
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Value>& row : table.rows) {
    html += "<tr>";
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      open("td", column);
      html += escaped(formats[column].cell(row[column])) + "</td>";
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
}

void write_section(std::string& html, const Section& section) {
  html += "<section>\n<h2>" + escaped(section.title) + "</h2>\n";
  if (!section.summary.empty()) html += "<p class=\"summary\">" + escaped(section.summary) + "</p>\n";
  if (!section.figures.empty()) {
    html += "<dl>\n";
    for (const Figure& figure : section.figures)
      html += "<div><dt>" + escaped(figure.title) + "</dt><dd>" + escaped(format_value(figure.value, figure.unit)) + "</dd></div>\n";
    html += "</dl>\n";
  }
  for (const Table& table : section.tables) write_table(html, table, section.tables.size() > 1 || table.title != section.title);
  if (!section.caveats.empty()) {
    html += "<ul>\n";
    for (const std::string& caveat : section.caveats) html += "<li>" + escaped(caveat) + "</li>\n";
    html += "</ul>\n";
  }
  html += "</section>\n";
}

}  // namespace

std::string sections_text(const SectionReport& report, const TextOptions& options) {
  TextPage page(std::max(40, options.columns), options.colour, options.ascii);
  page.paragraph(printable(report.title), 0, Ink::strong);
  for (const Section& section : report.sections) {
    if (section.key == "advice")
      write_advice(page, options, section);
    else
      stepscope::write_section(page, options, section, "");
  }
  return std::move(page).finish();
}

std::string sections_json(const SectionReport& report) {
  JsonWriter json;
  json.begin_object(true);
  json.key("schema");
  json.value(report.schema);
  json.key("version");
  json.value(STEPSCOPE_VERSION);
  write_json_sections(json, report.sections);
  json.end_object();
  return json.take() + "\n";
}

std::string sections_html(const SectionReport& report) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += "<title>" + escaped(report.title) + "</title>\n<style>" + std::string(style) + "</style>\n</head>\n<body>\n<h1>" + escaped(report.title) + "</h1>\n";
  for (const Section& section : report.sections) write_section(html, section);
  html += "</body>\n</html>\n";
  return html;
}

}  // namespace stepscope
