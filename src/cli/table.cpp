#include "cli/table.h"

#include <algorithm>
#include <numeric>

namespace atl::cli {
namespace {

constexpr int kGap = 2;

std::vector<int> natural_widths(const std::vector<Column>& columns, const std::vector<Row>& rows,
                                bool headers) {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    int width = headers ? display_width(columns[i].title) : 0;
    for (const Row& row : rows) width = std::max(width, display_width(row[i].text));
    widths.push_back(width);
  }
  return widths;
}

int total(const std::vector<int>& widths) {
  const int gaps = kGap * (static_cast<int>(widths.size()) - 1);
  return std::accumulate(widths.begin(), widths.end(), std::max(0, gaps));
}

// Takes from the widest column that may still shrink, so that equals are cut equally.
void shrink(std::vector<int>& widths, const std::vector<Column>& columns, int limit) {
  for (int over = total(widths) - limit; over > 0; --over) {
    int widest = -1;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool may = columns[i].least > 0 && widths[i] > columns[i].least;
      if (may && (widest < 0 || widths[i] > widths[static_cast<std::size_t>(widest)])) {
        widest = static_cast<int>(i);
      }
    }
    if (widest < 0) return;
    --widths[static_cast<std::size_t>(widest)];
  }
}

void erase_column(std::vector<Column>& columns, std::vector<Row>& rows, std::size_t index) {
  const auto at = static_cast<std::ptrdiff_t>(index);
  columns.erase(columns.begin() + at);
  for (Row& row : rows) row.erase(row.begin() + at);
}

bool drop_least_important(std::vector<Column>& columns, std::vector<Row>& rows) {
  const auto least =
      std::max_element(columns.begin(), columns.end(),
                       [](const auto& a, const auto& b) { return a.drop_rank < b.drop_rank; });
  if (least == columns.end() || least->drop_rank == 0) return false;
  erase_column(columns, rows, static_cast<std::size_t>(least - columns.begin()));
  return true;
}

void drop_empty_columns(std::vector<Column>& columns, std::vector<Row>& rows) {
  if (rows.empty()) return;  // the titles alone still say what there could be
  for (std::size_t i = columns.size(); i-- > 1;) {
    const bool empty = std::all_of(rows.begin(), rows.end(), [i](const Row& row) {
      return row[i].text.empty() || row[i].text == "-";
    });
    if (empty) erase_column(columns, rows, i);
  }
}

std::string line_of(const std::vector<Column>& columns, const Row& row,
                    const std::vector<int>& widths, bool color) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool last = i + 1 == columns.size();
    const std::string text = cut(row[i].text, widths[i]);
    const std::string gap(static_cast<std::size_t>(std::max(0, widths[i] - display_width(text))),
                          ' ');
    const std::string painted = paint(text, row[i].color, color);
    const bool right = columns[i].align == Align::right;
    line += right ? gap + painted : painted + (last ? "" : gap);
    if (!last) line += std::string(kGap, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string render_table(std::vector<Column> columns, std::vector<Row> rows,
                         const TableStyle& style, bool drop_empty) {
  for (Row& row : rows) {
    row.resize(columns.size());
    for (Cell& cell : row) cell.text = printable(cell.text);
  }
  if (drop_empty) drop_empty_columns(columns, rows);
  std::vector<int> widths = natural_widths(columns, rows, style.headers);
  if (style.width > 0) {
    shrink(widths, columns, style.width);
    while (total(widths) > style.width && drop_least_important(columns, rows)) {
      widths = natural_widths(columns, rows, style.headers);
      shrink(widths, columns, style.width);
    }
  }
  std::string out;
  if (style.headers) {
    Row titles;
    for (const Column& column : columns) titles.push_back({column.title, Color::faint});
    out += line_of(columns, titles, widths, style.color);
  }
  for (const Row& row : rows) out += line_of(columns, row, widths, style.color);
  return out;
}

}  // namespace atl::cli
