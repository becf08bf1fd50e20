// The drawing in characters is read back: whoever follows the lines must find the arrows of the
// run.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "base/display.h"
#include "base/text.h"
#include "report/graph.h"
#include "report/test_runs.h"

namespace atl::report {
namespace {

using Arrows = std::set<std::pair<std::string, std::string>>;

// Characters by row and column.
class Page {
 public:
  explicit Page(const std::string& text) {
    for (const std::string_view line : split(text, '\n')) {
      auto& row = rows_.emplace_back();
      for (size_t at = 0; at < line.size();) {
        size_t bytes = 1;
        while (at + bytes < line.size() &&
               (static_cast<unsigned char>(line[at + bytes]) & 0xc0) == 0x80)
          ++bytes;
        row.emplace_back(line.substr(at, bytes));
        at += bytes;
      }
    }
  }
  std::string at(int x, int y) const {
    const bool inside = y >= 0 && static_cast<size_t>(y) < rows_.size() && x >= 0 &&
                        static_cast<size_t>(x) < rows_[static_cast<size_t>(y)].size();
    return inside ? rows_[static_cast<size_t>(y)][static_cast<size_t>(x)] : " ";
  }
  int height() const { return static_cast<int>(rows_.size()); }
  int width(int y) const { return static_cast<int>(rows_[static_cast<size_t>(y)].size()); }

  // The name in the box whose inside has the place; empty when there is no box.
  std::string name_at(int x, int y) const {
    int left = x;
    while (left >= 0 && at(left, y) != "│") --left;
    std::string words;
    for (int i = left + 2; at(i, y) != "│" && i < width(y); ++i) words += at(i, y);
    const auto parts = split(words, ' ');
    return parts.size() > 1 ? std::string(parts[1]) : "";
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

constexpr int kU = 1, kD = 2, kL = 4, kR = 8;
const std::map<std::string, int> kSides{
    {"│", kU | kD},      {"─", kL | kR},      {"┌", kD | kR},          {"┐", kD | kL},
    {"└", kU | kR},      {"┘", kU | kL},      {"├", kU | kD | kR},     {"┤", kU | kD | kL},
    {"┬", kD | kL | kR}, {"┴", kU | kL | kR}, {"┼", kU | kD | kL | kR}};

// Follows a line from just below a box; lines are only ever entered from above or from the side.
struct Walk {
  const Page& page;
  std::string from;
  Arrows& found;
  std::set<std::tuple<int, int, int>> seen;

  void go(int x, int y, int heading) {
    if (!seen.insert({x, y, heading}).second) return;
    const std::string here = page.at(x, y);
    if (here == "▼") {
      EXPECT_EQ(heading, kD);
      found.insert({from, page.name_at(x, y + 2)});
      return;
    }
    const auto sides = kSides.find(here);
    if (sides == kSides.end()) {
      ADD_FAILURE() << "a line from " << from << " ends at " << x << "," << y;
      return;
    }
    const bool level = heading == kL || heading == kR;
    if (level && here == "│") return onward(x, y, heading);  // another line passes over
    if (sides->second & kD) go(x, y + 1, kD);
    if ((sides->second & kL) && heading != kR) go(x - 1, y, kL);
    if ((sides->second & kR) && heading != kL) go(x + 1, y, kR);
  }
  void onward(int x, int y, int heading) { go(heading == kL ? x - 1 : x + 1, y, heading); }
};

Arrows read_back(const std::string& text) {
  const Page page(text);
  Arrows found;
  for (int y = 2; y < page.height(); ++y) {
    for (int x = 0; x < page.width(y); ++x) {
      // A lid has its corner two rows higher; only the bottom of a box has a way out.
      if (page.at(x, y) != "└" || page.at(x, y - 2) != "┌" || page.at(x + 2, y - 1) != "✓")
        continue;
      for (int i = x + 1; page.at(i, y) != "┘" && i < page.width(y); ++i)
        if (page.at(i, y) == "┬")
          Walk{page, page.name_at(x + 1, y - 1), found, {}}.go(i, y + 1, kD);
    }
  }
  return found;
}

WorkflowRun random_run(uint32_t seed, uint32_t most, Arrows& arrows) {
  std::mt19937 random(seed);
  const uint32_t count = 2 + random() % (most - 1);
  std::vector<std::pair<std::string, std::vector<uint32_t>>> steps;
  for (uint32_t i = 0; i < count; ++i) {
    steps.push_back({"s" + std::to_string(i) + std::string(random() % 6, 'x'), {}});
    for (uint32_t j = 0; j < i; ++j) {
      if (random() % (2 + i / 2) != 0) continue;
      steps[i].second.push_back(j);
      arrows.insert({steps[j].first, steps[i].first});
    }
  }
  return run_of(steps);
}

TEST(TextGraph, LinesLeadWhereTheArrowsOfTheRunLead) {
  int drawn = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Arrows arrows;
    const WorkflowRun run = random_run(seed, seed < 30 ? 9 : 16, arrows);
    const std::string text = to_text(run, {.width = 0});
    if (text.starts_with("level")) continue;  // a list says it in words
    ++drawn;
    ASSERT_EQ(read_back(text), arrows) << "seed " << seed << "\n" << text;
  }
  EXPECT_GT(drawn, 50);
}

TEST(TextGraph, IsNeverWiderThanTheTerminal) {
  for (uint32_t seed = 100; seed < 112; ++seed) {
    Arrows arrows;
    const WorkflowRun run = random_run(seed, 24, arrows);
    for (const int width : {30, 80}) {
      const std::string text = to_text(run, {.width = width});
      for (const std::string_view line : split(text, '\n'))
        ASSERT_LE(display_width(line), width) << "seed " << seed << ": " << line;
    }
  }
}

}  // namespace
}  // namespace atl::report
