#include "report/routes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace atl::report {
namespace {

Point on_curve(const Point* p, double t) {
  const double s = 1 - t;
  const double a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
  return {a * p[0].x + b * p[1].x + c * p[2].x + d * p[3].x,
          a * p[0].y + b * p[1].y + c * p[2].y + d * p[3].y};
}

// Where the course is at the height `y`: of its points the nearest one, which is near enough for
// characters.
double passes_at(const std::vector<Point>& course, double y) {
  double best = std::numeric_limits<double>::max(), x = 0;
  for (size_t i = 0; i + 3 < course.size(); i += 3) {
    for (int step = 0; step <= 32; ++step) {
      const Point point = on_curve(&course[i], step / 32.0);
      if (std::abs(point.y - y) < best) {
        best = std::abs(point.y - y);
        x = point.x;
      }
    }
  }
  return x;
}

// The columns of each rank that lines may pass through.
class Columns {
 public:
  Columns(const std::vector<TextBox>& boxes, size_t ranks) : taken_(ranks) {
    for (const TextBox& box : boxes)
      for (int x = box.left - 1; x <= box.left + box.width; ++x)
        taken_[static_cast<size_t>(box.rank)].insert(x);
  }

  // The free one nearest to `wish`, with room on both sides.
  int take(int rank, int wish) {
    std::set<int>& taken = taken_[static_cast<size_t>(rank)];
    const auto free = [&](int x) {
      return x >= 0 && !taken.contains(x) && !taken.contains(x - 1) && !taken.contains(x + 1);
    };
    int off = 0;
    while (!free(wish + off)) off = off > 0 ? -off : 1 - off;
    taken.insert(wish + off);
    return wish + off;
  }

 private:
  std::vector<std::set<int>> taken_;
};

// A source with several hops is one bundle; those with a single one are joined by where they go.
std::vector<Bundle> bundled(const std::vector<Hop>& hops) {
  const auto source = [](const Hop& hop) {
    return hop.from_box >= 0 ? hop.from_box : -1 - static_cast<int>(hop.arrow);
  };
  std::map<int, int> count;
  for (const Hop& hop : hops) ++count[source(hop)];
  std::map<std::pair<int, int>, Bundle> bundles;
  for (const Hop& hop : hops) {
    const bool by_end = count[source(hop)] == 1 && hop.to_box >= 0;
    bundles[by_end ? std::pair(1, hop.to_box) : std::pair(0, source(hop))].hops.push_back(hop);
  }
  std::vector<Bundle> out;
  for (auto& [key, bundle] : bundles) out.push_back(std::move(bundle));
  return out;
}

double origin(const Bundle& bundle, int box) {
  double sum = 0, count = 0;
  for (const Hop& hop : bundle.hops)
    if (hop.to_box == box) sum += hop.from, ++count;
  return sum / count;
}

// Where on the lid of the box the nth of several bundles should arrive.
int wish_of(const TextBox& box, size_t nth, size_t of, const Bundle& bundle) {
  const int from = bundle.hops.front().from;
  const bool below = from > box.left && from < box.left + box.width - 1;
  if (of == 1) return bundle.hops.size() == 1 && below ? from : box.middle();
  const int span = static_cast<int>(of) - 1;
  const int apart = 2 * span <= box.width - 3 ? 2 : 1;
  return box.middle() + static_cast<int>(nth) * apart - span * apart / 2;
}

// The place on the lid nearest to `wish` that is free, and below which no other line starts: two
// such pairs may block each other. The wish itself when the lid is too short.
int port(const TextBox& box, int wish, const std::set<int>& taken, const std::set<int>& starts) {
  const int low = box.left + 1, high = box.left + box.width - 2;
  wish = std::clamp(wish, low, high);
  for (int off = 0; std::abs(off) <= box.width; off = off > 0 ? -off : 1 - off) {
    const int at = wish + off;
    if (at >= low && at <= high && !taken.contains(at) && !starts.contains(at)) return at;
  }
  return wish;
}

// Each bundle gets its own place on the lid of the box it goes to, from left to right by where it
// comes from.
// False when two had to share one.
bool choose_ports(std::vector<Bundle>& bundles, const std::vector<TextBox>& boxes) {
  bool clear = true;
  std::map<int, std::vector<Bundle*>> incoming;
  for (Bundle& bundle : bundles) {
    std::set<int> ends;
    for (const Hop& hop : bundle.hops)
      if (hop.to_box >= 0 && ends.insert(hop.to_box).second)
        incoming[hop.to_box].push_back(&bundle);
  }
  for (auto& [box, list] : incoming) {
    const int end = box;
    const TextBox& lid = boxes[static_cast<size_t>(box)];
    std::sort(list.begin(), list.end(), [end](const Bundle* a, const Bundle* b) {
      return std::pair(origin(*a, end), a) < std::pair(origin(*b, end), b);
    });
    std::set<int> taken;
    for (size_t i = 0; i < list.size(); ++i) {
      std::set<int> starts;
      for (const Bundle& other : bundles)
        for (const Hop& hop : other.hops)
          if (&other != list[i]) starts.insert(hop.from);
      const int at = port(lid, wish_of(lid, i, list.size(), *list[i]), taken, starts);
      clear &= taken.insert(at).second;
      for (Hop& hop : list[i]->hops)
        if (hop.to_box == box) hop.to = at;
    }
  }
  return clear;
}

std::pair<int, int> span_of(const Bundle& bundle) {
  int low = std::numeric_limits<int>::max(), high = 0;
  for (const Hop& hop : bundle.hops) {
    low = std::min({low, hop.from, hop.to});
    high = std::max({high, hop.from, hop.to});
  }
  return {low, high};
}

// Whether `a` leaves from a column in which `b` arrives: then a must turn off above b.
bool before(const Bundle& a, const Bundle& b) {
  for (const Hop& leaves : a.hops)
    for (const Hop& arrives : b.hops)
      if (leaves.from == arrives.to) return true;
  return false;
}

// Rows for the level parts: each bundle as high as it may be, none over another one.
int assign_tracks(std::vector<Bundle>& bundles, bool& clear) {
  std::vector<Bundle*> open;
  for (Bundle& bundle : bundles) {
    const auto [low, high] = span_of(bundle);
    if (low != high) open.push_back(&bundle);
  }
  std::vector<std::vector<std::pair<int, int>>> rows;
  const auto fits = [&](size_t row, std::pair<int, int> span) {
    return row >= rows.size() || std::none_of(rows[row].begin(), rows[row].end(), [&](auto other) {
             return span.first <= other.second + 1 && other.first <= span.second + 1;
           });
  };
  std::vector<Bundle*> placed;
  while (!open.empty()) {
    auto next = std::find_if(open.begin(), open.end(), [&](const Bundle* each) {
      return std::none_of(open.begin(), open.end(), [&](const Bundle* other) {
        return other != each && before(*other, *each);
      });
    });
    if (next == open.end()) {  // in a ring there is no order
      next = open.begin();
      clear = false;
    }
    Bundle& bundle = **next;
    size_t row = 0;
    for (const Bundle* each : placed)
      if (before(*each, bundle)) row = std::max(row, static_cast<size_t>(each->track) + 1);
    while (!fits(row, span_of(bundle))) ++row;
    if (row >= rows.size()) rows.resize(row + 1);
    rows[row].push_back(span_of(bundle));
    bundle.track = static_cast<int>(row);
    placed.push_back(&bundle);
    open.erase(next);
  }
  return static_cast<int>(rows.size());
}

}  // namespace

Routes find_routes(const std::vector<TextBox>& boxes, const std::vector<Arrow>& arrows,
                   const Layout& layout, const std::vector<double>& rank_y, double column) {
  Routes routes;
  routes.passing.resize(rank_y.size());
  Columns columns(boxes, rank_y.size());
  std::vector<std::vector<Hop>> hops(rank_y.size());
  for (size_t i = 0; i < arrows.size(); ++i) {
    const TextBox& from = boxes[arrows[i].from];
    const TextBox& to = boxes[arrows[i].to];
    Hop hop{.from = from.middle(), .from_box = static_cast<int>(arrows[i].from), .arrow = i};
    for (int rank = from.rank; rank < to.rank; ++rank) {
      const bool last = rank + 1 == to.rank;
      const auto below = static_cast<size_t>(rank + 1);
      hop.to_box = last ? static_cast<int>(arrows[i].to) : -1;
      if (!last) {
        const double wish = passes_at(layout.courses[i], rank_y[below]) / column;
        hop.to = columns.take(rank + 1, static_cast<int>(std::lround(wish)));
        routes.passing[below].push_back(hop.to);
        routes.width = std::max(routes.width, hop.to + 1);
      }
      hops[static_cast<size_t>(rank)].push_back(hop);
      hop = {.from = hop.to, .arrow = i};
    }
  }
  for (const TextBox& box : boxes) routes.width = std::max(routes.width, box.left + box.width);
  for (size_t rank = 0; rank + 1 < rank_y.size(); ++rank) {
    Gap gap{.bundles = bundled(hops[rank])};
    routes.clear &= choose_ports(gap.bundles, boxes);
    gap.tracks = assign_tracks(gap.bundles, routes.clear);
    routes.gaps.push_back(std::move(gap));
  }
  return routes;
}

}  // namespace atl::report
