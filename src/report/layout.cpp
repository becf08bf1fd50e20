#include "report/layout.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>

#include "base/text.h"
#include "report/limits.h"
#include "report/program.h"

namespace atl::report {
namespace {

// Graphviz counts in inches and prints five digits. A hundred units to the inch keep a unit exact
// in drawings of up to a thousand inches, which is more than anybody looks at.
constexpr double kUnitsPerInch = 100;

std::string question(const LayoutRequest& request) {
  const bool large = request.arrows.size() > 500;
  std::string out = fmt::format(
      "digraph{{graph[rankdir={},nodesep={:.3f},ranksep={:.3f},splines={},nslimit=4,nslimit1=4,"
      "mclimit={}];node[shape=box,fixedsize=true,label=\"\"];edge[arrowhead=none];\n",
      request.across ? "LR" : "TB", request.beside / kUnitsPerInch, request.between / kUnitsPerInch,
      large ? "line" : "true", large ? 0.3 : 1.0);
  for (size_t i = 0; i < request.boxes.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{}[width={:.3f},height={:.3f}];\n", i,
                   request.boxes[i].width / kUnitsPerInch, request.boxes[i].height / kUnitsPerInch);
  }
  for (const Arrow& arrow : request.arrows)
    fmt::format_to(std::back_inserter(out), "{}->{};\n", arrow.from, arrow.to);
  return out + "}\n";
}

// Reads the words of a line of Graphviz's plain format one by one; zero when there are no more.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line) {}

  std::string_view next() {
    line_ = trim(line_);
    const std::string_view found = line_.substr(0, line_.find(' '));
    line_.remove_prefix(found.size());
    return found;
  }
  size_t index() { return static_cast<size_t>(parse_int(next()).value_or(-1)); }
  double number() { return std::strtod(std::string(next()).c_str(), nullptr) * kUnitsPerInch; }
  Point point() {
    const double x = number();
    return {x, number()};
  }

 private:
  std::string_view line_;
};

void read_edge(Words words, Layout& layout,
               const std::map<std::pair<size_t, size_t>, size_t>& arrows) {
  const size_t from = words.index(), to = words.index(), count = words.index();
  const auto found = arrows.find({from, to});
  if (found == arrows.end() || count > 10'000) return;
  for (size_t i = 0; i < count; ++i) layout.courses[found->second].push_back(words.point());
}

Result<Layout> read_answer(const std::string& answer, const LayoutRequest& request) {
  Layout layout;
  layout.centers.resize(request.boxes.size());
  layout.courses.resize(request.arrows.size());
  std::map<std::pair<size_t, size_t>, size_t> arrows;
  for (size_t i = 0; i < request.arrows.size(); ++i)
    arrows[{request.arrows[i].from, request.arrows[i].to}] = i;
  size_t seen = 0;
  for (const std::string_view line : split(answer, '\n')) {
    Words words(line);
    const std::string_view kind = words.next();
    if (kind == "graph") {
      words.next();
      layout.size.width = words.number();
      layout.size.height = words.number();
    } else if (kind == "node") {
      const size_t box = words.index();
      if (box < layout.centers.size()) layout.centers[box] = words.point(), ++seen;
    } else if (kind == "edge") {
      read_edge(words, layout, arrows);
    }
  }
  if (seen != request.boxes.size())
    return fail(ErrorCode::unavailable, "dot gave an answer that is not whole");
  const auto turn = [&](Point& point) { point.y = layout.size.height - point.y; };
  for (Point& center : layout.centers) turn(center);
  for (auto& course : layout.courses)
    for (Point& point : course) turn(point);
  return layout;
}

}  // namespace

Result<Layout> lay_out(const LayoutRequest& request) {
  const auto answer = run_program(
      {"dot", "-Tplain"}, question(request),
      {.time = kLayoutTime, .answer_max = kLayoutBytesMax, .memory_max = kLayoutMemoryMax});
  if (!answer) return tl::unexpected(answer.error());
  return read_answer(*answer, request);
}

}  // namespace atl::report
