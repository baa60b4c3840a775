// A Table of findings as aligned lines that fit the page.
#pragma once

#include <string>
#include <vector>

#include "analyze/findings.h"
#include "report/text_page.h"

namespace stepscope {

struct TableStyle {
  int rows = 10;             // shown; the rest is told in a last line with what it sums to
  bool all_columns = false;  // also those that are not in_text; columns that do not fit are shown below in further blocks
  int indent = 2;
};

// Nothing for a table without rows.
void write_table(TextPage& page, const Table& table, const TableStyle& style);

// The column that the rows are sorted by and that can be summed (a time, an amount), or -1: what "… and 37 more" adds up.
int ranking_column(const Table& table);

}  // namespace stepscope
