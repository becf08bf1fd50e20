#include <algorithm>
#include <cmath>
#include <map>

#include "base/display.h"
#include "report/canvas.h"
#include "report/drawing.h"
#include "report/graph.h"
#include "report/label.h"
#include "report/layout.h"
#include "report/limits.h"
#include "report/routes.h"

namespace atl::report {
namespace {

constexpr double kCellWidth = 8, kCellHeight = 16;  // how a character is measured for Graphviz
constexpr int kBoxRows = 3;

// Signs that a plain terminal does not have become similar ones.
std::string plain(std::string text, bool ascii) {
  if (!ascii) return text;
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    const auto replace = [&](std::string_view sign, std::string_view by) {
      if (!rest.starts_with(sign)) return false;
      out += by;
      i += sign.size();
      return true;
    };
    if (replace("…", "..") || replace("×", "x")) continue;
    const auto byte = static_cast<unsigned char>(text[i++]);
    if (byte < 0x80) out += static_cast<char>(byte);
    if (byte >= 0xc0) out += '?';
  }
  return out;
}

std::string words_of(const WorkflowRun& run, const Box& box, int columns, bool ascii) {
  std::string out(mark(box.state, ascii));
  out += " " + plain(cut(box.name, columns), ascii);
  const std::string detail = detail_of(run, box);
  if (!detail.empty()) out += "  " + plain(cut(detail, columns), ascii);
  return out;
}

struct Picture {
  std::vector<std::string> words;
  std::vector<TextBox> boxes;
  Routes routes;
  int ranks = 0;
};

// Which row of boxes each belongs to; false when an arrow would point up or stay in its rank.
bool find_ranks(const Layout& layout, const Drawing& drawing, Picture& picture,
                std::vector<double>& rank_y) {
  std::map<long, int> ranks;
  for (const Point& center : layout.centers) ranks[std::lround(center.y)] = 0;
  for (auto& [y, rank] : ranks) {
    rank = picture.ranks++;
    rank_y.push_back(static_cast<double>(y));
  }
  for (size_t i = 0; i < picture.boxes.size(); ++i)
    picture.boxes[i].rank = ranks[std::lround(layout.centers[i].y)];
  return std::all_of(drawing.arrows.begin(), drawing.arrows.end(), [&](const Arrow& arrow) {
    return picture.boxes[arrow.from].rank < picture.boxes[arrow.to].rank;
  });
}

std::optional<Picture> plan_picture(const WorkflowRun& run, const Drawing& drawing, int columns,
                                    bool ascii) {
  Picture picture;
  LayoutRequest request{
      .arrows = drawing.arrows, .beside = 3 * kCellWidth, .between = 2 * kCellHeight};
  for (const Box& box : drawing.boxes) {
    picture.words.push_back(words_of(run, box, columns, ascii));
    TextBox text;
    text.width = display_width(picture.words.back()) + 4;
    picture.boxes.push_back(text);
    request.boxes.push_back({text.width * kCellWidth, kBoxRows * kCellHeight});
  }
  const auto layout = lay_out(request);
  if (!layout) return std::nullopt;
  for (size_t i = 0; i < picture.boxes.size(); ++i) {
    TextBox& box = picture.boxes[i];
    const double left = layout->centers[i].x / kCellWidth - box.width / 2.0;
    box.left = std::max(0, static_cast<int>(std::lround(left)));
  }
  std::vector<double> rank_y;
  if (!find_ranks(*layout, drawing, picture, rank_y)) return std::nullopt;
  picture.routes = find_routes(picture.boxes, drawing.arrows, *layout, rank_y, kCellWidth);
  return picture;
}

void draw_gap(Canvas& canvas, const Gap& gap, int top, int& line) {
  const int tips = top + gap.rows() - 1;
  for (const Bundle& bundle : gap.bundles) {
    ++line;
    const int level = top + std::max(0, bundle.track);
    int low = bundle.hops.front().from, high = low;
    for (const Hop& hop : bundle.hops) {
      low = std::min({low, hop.from, hop.to});
      high = std::max({high, hop.from, hop.to});
      const int end = hop.to_box >= 0 ? tips : tips + 1;
      // In one piece, or a level line in the row where two pieces meet would join them.
      canvas.down(hop.from, top - 1, bundle.track < 0 ? end : level, line);
      if (bundle.track >= 0) canvas.down(hop.to, level, end, line);
      if (hop.to_box >= 0) canvas.tip(hop.to, tips);
    }
    canvas.across(level, low, high, line);
  }
}

std::string draw_picture(const Drawing& drawing, const Picture& picture,
                         const TextOptions& options) {
  std::vector<int> top{0};
  for (const Gap& gap : picture.routes.gaps) top.push_back(top.back() + kBoxRows + gap.rows());
  Canvas canvas(picture.routes.width, top.back() + kBoxRows);
  int line = 0;
  for (size_t i = 0; i < picture.boxes.size(); ++i) {
    const TextBox& box = picture.boxes[i];
    const int y = top[static_cast<size_t>(box.rank)], right = box.left + box.width - 1;
    ++line;
    canvas.across(y, box.left, right, line);
    canvas.across(y + 2, box.left, right, line);
    canvas.down(box.left, y, y + 2, line);
    canvas.down(right, y, y + 2, line);
    canvas.words(box.left + 2, y + 1, picture.words[i], drawing.boxes[i].state);
  }
  for (size_t rank = 0; rank < picture.routes.passing.size(); ++rank)
    for (const int x : picture.routes.passing[rank])
      canvas.down(x, top[rank], top[rank] + kBoxRows - 1, ++line);
  for (size_t rank = 0; rank < picture.routes.gaps.size(); ++rank)
    draw_gap(canvas, picture.routes.gaps[rank], top[rank] + kBoxRows, line);
  return canvas.take(options.ascii, options.color);
}

std::optional<std::string> picture_of(const WorkflowRun& run, const Drawing& drawing,
                                      const TextOptions& options) {
  if (drawing.boxes.size() > kTextNodesMax) return std::nullopt;
  for (const int columns : {kLabelColumnsMax, 20, 12}) {
    const auto picture = plan_picture(run, drawing, columns, options.ascii);
    if (!picture || !picture->routes.clear) return std::nullopt;
    if (options.width == 0 || picture->routes.width <= options.width)
      return draw_picture(drawing, *picture, options);
  }
  return std::nullopt;
}

// The steps by level, each with what it needs: what is left when boxes do not fit.
std::string list_of(const WorkflowRun& run, const Drawing& drawing, const TextOptions& options) {
  std::vector<uint32_t> order(drawing.boxes.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(drawing.boxes[a].level, a) < std::pair(drawing.boxes[b].level, b);
  });
  std::vector<std::vector<uint32_t>> needs(drawing.boxes.size());
  for (const Arrow& arrow : drawing.arrows) needs[arrow.to].push_back(arrow.from);

  std::string out;
  uint32_t level = 0;
  for (const uint32_t i : order) {
    const Box& box = drawing.boxes[i];
    if (out.empty() || box.level != level) out += "level " + std::to_string(box.level + 1) + "\n";
    level = box.level;
    std::string text = words_of(run, box, kLabelColumnsMax, options.ascii);
    for (size_t n = 0; n < needs[i].size(); ++n) {
      text += n > 0 ? ", " : options.ascii ? "  <- " : "  ← ";
      text += plain(drawing.boxes[needs[i][n]].name, options.ascii);
    }
    const int room = options.width == 0 ? display_width(text) : std::max(10, options.width - 2);
    const std::string kept = plain(cut(text, room), options.ascii);
    Canvas line(display_width(kept) + 2, 1);
    line.words(2, 0, kept, box.state);
    out += line.take(options.ascii, options.color);
  }
  return out;
}

}  // namespace

std::string to_text(const WorkflowRun& run, const TextOptions& options) {
  const Drawing drawing = plan_drawing(run, kTextNodesMax);
  std::string out;
  if (!drawing.note.empty()) out = plain(drawing.note, options.ascii) + "\n";
  if (!drawing.drawable) return out;
  if (auto picture = picture_of(run, drawing, options)) return out + *picture;
  return out + list_of(run, drawing, options);
}

}  // namespace atl::report
