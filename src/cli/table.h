// Tables that fit their terminal: columns shrink to their least width, then the least important
// ones are left out, so that a row is always one line.
#pragma once

#include <string>
#include <vector>

#include "cli/display.h"

namespace atl::cli {

struct Cell {
  std::string text;  // made printable by the table
  Color color = Color::plain;
};
using Row = std::vector<Cell>;

struct Column {
  std::string title;
  Align align = Align::left;
  int least = 0;      // columns it may shrink to; 0: never shrinks
  int drop_rank = 0;  // left out when there is no room, highest first; 0: never
};

struct TableStyle {
  int width = 0;  // of the terminal; 0: as wide as it likes
  bool headers = true;
  bool color = false;
};

// Lines, each with its end. Columns that are empty in every row are left out when `drop_empty`.
std::string render_table(std::vector<Column> columns, std::vector<Row> rows,
                         const TableStyle& style, bool drop_empty = false);

}  // namespace atl::cli
