#include "bench/yardsticks.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "base/check.h"

namespace atl::bench {
namespace {

using simulate::TraceJob;

struct Opening {
  size_t node = 0;
  Duration at;
  int64_t spare = 0;  // beside the head, then
};

class Yardstick {
 public:
  Yardstick(const simulate::Trace& trace, const simulate::Nodes& nodes, Backfill backfill)
      : trace_(trace), backfill_(backfill), out_(simulate::empty_outcome(trace)) {
    for (const core::NodeCapacity& node : nodes) {
      by_free_[node.cpu_milli].insert(free_.size());
      free_.push_back(node.cpu_milli);
    }
    ends_.resize(free_.size());
  }

  simulate::Outcome run() {
    size_t next = 0;
    while (next < trace_.jobs.size() || !events_.empty()) {
      const bool submits = next < trace_.jobs.size() &&
                           (events_.empty() || trace_.jobs[next].submit < events_.top().at);
      now_ = submits ? trace_.jobs[next].submit : events_.top().at;
      while (!events_.empty() && events_.top().at == now_) end_one();
      for (; next < trace_.jobs.size() && trace_.jobs[next].submit == now_; ++next) submit(next);
      schedule();
    }
    out_.end = now_;
    out_.curve.finish(now_);
    return std::move(out_);
  }

 private:
  struct End {
    Duration at;
    uint32_t job;
    uint32_t node;
    bool operator<(const End& o) const { return std::tie(at, job) > std::tie(o.at, o.job); }
  };

  const TraceJob& job(uint32_t number) const { return trace_.jobs[number]; }
  Duration limit(uint32_t number) const {
    return job(number).wall.us > 0 ? job(number).wall : hours(24 * 366);
  }

  void submit(size_t number) {
    waiting_[job(static_cast<uint32_t>(number)).cpu_milli].insert(static_cast<uint32_t>(number));
    order_.insert(static_cast<uint32_t>(number));
    out_.curve.wait(trace_.jobs[number].ns, now_, trace_.jobs[number].cpu_milli);
  }

  void set_free(size_t node, int64_t free) {
    by_free_[free_[node]].erase(node);
    by_free_[free].insert(node);
    free_[node] = free;
  }

  void end_one() {
    const End end = events_.top();
    events_.pop();
    set_free(end.node, free_[end.node] + job(end.job).cpu_milli);
    ends_[end.node].erase({out_.tasks[end.job].started + limit(end.job), end.job});
    out_.tasks[end.job].ended = now_;
    out_.curve.use(job(end.job).ns, now_, -int64_t{job(end.job).cpu_milli});
  }

  void start(uint32_t number, size_t node) {
    set_free(node, free_[node] - job(number).cpu_milli);
    ends_[node].insert({now_ + limit(number), number});
    events_.push({now_ + job(number).run, number, static_cast<uint32_t>(node)});
    out_.tasks[number].started = now_;
    out_.curve.wait(job(number).ns, now_, -int64_t{job(number).cpu_milli});
    out_.curve.use(job(number).ns, now_, job(number).cpu_milli);
    order_.erase(number);
    const auto same = waiting_.find(job(number).cpu_milli);
    same->second.erase(number);
    if (same->second.empty()) waiting_.erase(same);
  }

  // The node with the least left over, other than `except`.
  std::optional<size_t> fitting(int64_t cores, std::optional<size_t> except) const {
    for (auto it = by_free_.lower_bound(cores); it != by_free_.end(); ++it) {
      for (const size_t node : it->second) {
        if (node != except) return node;
      }
    }
    return std::nullopt;
  }

  void schedule() {
    ++out_.rounds;
    while (!order_.empty()) {
      const uint32_t head = *order_.begin();
      const auto node = fitting(job(head).cpu_milli, {});
      if (!node) break;
      start(head, *node);
    }
    if (backfill_ == Backfill::easy && order_.size() > 1) fill_behind(*order_.begin());
  }

  Opening soonest(int64_t cores) const {
    std::optional<Opening> best;
    for (size_t node = 0; node < free_.size(); ++node) {
      int64_t free = free_[node];
      for (const auto& [at, number] : ends_[node]) {
        if (best && at >= best->at) break;
        free += job(number).cpu_milli;
        if (free < cores) continue;
        // Whatever else ends at that instant is spare too, and never less than this.
        best = Opening{node, at, free - cores};
        break;
      }
    }
    CHECK(best, "a job that no node could hold");
    return *best;
  }

  // Those behind the head in the order they came; of those that ask for the same cores only the
  // first that may start matters.
  void fill_behind(uint32_t head) {
    Opening opening = soonest(job(head).cpu_milli);
    std::set<int64_t> stuck;  // cores for which there is only the head's own node left
    std::map<int64_t, std::set<uint32_t>::iterator> next;
    for (auto& [cores, numbers] : waiting_) next[cores] = numbers.begin();
    while (!next.empty()) {
      auto first = next.begin();
      for (auto it = next.begin(); it != next.end(); ++it) {
        if (*it->second < *first->second) first = it;
      }
      const uint32_t number = *first->second++;
      const int64_t cores = first->first;
      const bool last = first->second == waiting_.at(cores).end();
      if (last) next.erase(first);
      if (number != head) try_behind(number, opening, stuck);
      // Not even a short one fits beside the head.
      if (stuck.count(cores) && free_[opening.node] < cores) next.erase(cores);
    }
  }

  void try_behind(uint32_t number, Opening& opening, std::set<int64_t>& stuck) {
    const int64_t cores = job(number).cpu_milli;
    if (!stuck.count(cores)) {
      if (const auto node = fitting(cores, opening.node)) return start(number, *node);
      stuck.insert(cores);
    }
    if (free_[opening.node] < cores) return;
    if (now_ + limit(number) <= opening.at) return start(number, opening.node);
    if (cores > opening.spare) return;
    opening.spare -= cores;
    start(number, opening.node);
  }

  const simulate::Trace& trace_;
  const Backfill backfill_;
  simulate::Outcome out_;
  Duration now_;
  std::vector<int64_t> free_;                                  // by node
  std::map<int64_t, std::set<size_t>> by_free_;                // nodes
  std::vector<std::set<std::pair<Duration, uint32_t>>> ends_;  // by node, as they were asked for
  std::priority_queue<End> events_;                            // as they really are
  std::set<uint32_t> order_;                                   // who waits, first come first
  std::map<int64_t, std::set<uint32_t>> waiting_;              // the same by cores
};

}  // namespace

simulate::Outcome run_yardstick(const simulate::Trace& trace, const simulate::Nodes& nodes,
                                Backfill backfill) {
  return Yardstick(trace, nodes, backfill).run();
}

}  // namespace atl::bench
