// Random histories of a queue beside a model that is too simple to be wrong: a list of items, each
// with its place and its holder.
#include <algorithm>

#include "core/limits.h"
#include "core/queue/lease.h"
#include "core/test_random_world.h"

namespace atl::core {
namespace {

struct Model {
  struct Entry {
    int32_t priority = 0;
    uint32_t attempts = 0;
    Time not_before;
    LeaseId lease;
    bool dead = false;
  };
  std::map<ItemId, Entry> items;
  std::map<LeaseId, Time> until;
  uint64_t next = 1;
  uint64_t done = 0;
  uint32_t attempts_max = 3;

  void put(int count, int32_t priority, Time not_before) {
    for (int i = 0; i < count; ++i) items[ItemId{next++}] = {priority, 0, not_before, {}, false};
  }
  void leave(Entry& entry, Time not_before) {
    entry.lease = {};
    entry.dead = entry.attempts >= attempts_max;
    entry.not_before = entry.dead ? Time{} : not_before;
  }
  void pass(Time now) {
    for (auto& [id, entry] : items) {
      if (entry.lease && until.at(entry.lease) <= now) leave(entry, {});
      if (entry.not_before && entry.not_before <= now) entry.not_before = {};
    }
  }
  std::vector<ItemId> lease(size_t max, LeaseId id, Time end) {
    std::vector<ItemId> line;
    for (const auto& [item, entry] : items) {
      if (!entry.lease && !entry.dead && !entry.not_before) line.push_back(item);
    }
    std::sort(line.begin(), line.end(), [&](ItemId a, ItemId b) {
      return std::pair(-items.at(a).priority, a) < std::pair(-items.at(b).priority, b);
    });
    line.resize(std::min(max, line.size()));
    for (const ItemId item : line) {
      items.at(item).lease = id;
      ++items.at(item).attempts;
    }
    if (!line.empty()) until[id] = end;
    return line;
  }
  std::vector<ItemId> held(LeaseId lease) const {
    std::vector<ItemId> found;
    for (const auto& [id, entry] : items) {
      if (entry.lease == lease) found.push_back(id);
    }
    return found;
  }
};

class QueueHistory : public RandomWorld, public testing::Test {
 public:
  explicit QueueHistory(uint32_t seed) : RandomWorld(seed) {
    run(Request{admin(), CreateQueue{"lab", "q", {seconds(20), model.attempts_max, true}}});
  }
  void TestBody() override {}

  void step() {
    switch (draw(0, 7)) {
      case 0:
      case 1:
        return put();
      case 2:
      case 3:
        return lease();
      case 4:
        return finish();
      case 5:
        return give_back();
      case 6:
        return extend();
      default:
        now = now + seconds(draw(1, 15));
        settle();
        model.pass(now);
    }
  }

  void check() {
    const WorkQueue& queue = state.queues.at(QueueId{1});
    uint64_t dead = 0, leased = 0, delayed = 0;
    for (const auto& [id, entry] : model.items) {
      dead += entry.dead;
      leased += entry.lease ? 1 : 0;
      delayed += entry.not_before ? 1 : 0;
    }
    ASSERT_EQ(queue.size(), model.items.size());
    ASSERT_EQ(queue.dead, dead);
    ASSERT_EQ(queue.leased, leased);
    ASSERT_EQ(queue.delayed, delayed);
    ASSERT_EQ(queue.done.total, model.done);
  }

  Model model;

 private:
  void put() {
    const int count = draw(1, 6);
    const NewItem item{draw(-1, 1), seconds(one_in(4) ? draw(1, 20) : 0), "", uint64_t(draw(0, 9))};
    run(Request{admin(), PutItems{"lab", "q", std::vector<NewItem>(count, item)}});
    model.put(count, item.priority, item.delay.us ? now + item.delay : Time{});
  }
  void lease() {
    const auto max = static_cast<uint32_t>(draw(1, 5));
    const LeaseId id{state.counters.lease + 1};
    const Events events = run(Request{admin(), LeaseItems{"lab", "q", max, {}, ""}});
    const std::vector<ItemId> expected = model.lease(max, id, now + seconds(20));
    std::vector<ItemId> got;
    if (!events.empty())
      for_each_item(std::get<ItemsLeased>(events[0].body).items,
                    [&](ItemId item) { got.push_back(item); });
    ASSERT_EQ(got, expected);
  }
  // Any lease that ever was: most are over.
  LeaseId some_lease() {
    return LeaseId{static_cast<uint64_t>(draw(1, static_cast<int>(state.counters.lease) + 1))};
  }
  void finish() {
    const LeaseId id = some_lease();
    std::vector<ItemId> held = model.held(id);
    const bool some = held.size() > 1 && one_in(2);
    if (some) held.pop_back();
    const auto events =
        attempt(Request{admin(), FinishItems{"lab", "q", id, some ? held : std::vector<ItemId>{}}});
    ASSERT_EQ(events.has_value(), !held.empty());
    for (const ItemId item : held) model.items.erase(item);
    model.done += held.size();
  }
  void give_back() {
    const LeaseId id = some_lease();
    const Duration delay = seconds(one_in(2) ? draw(1, 20) : 0);
    const auto events = attempt(Request{admin(), ReturnItems{"lab", "q", id, {}, delay, "again"}});
    const std::vector<ItemId> held = model.held(id);
    ASSERT_EQ(events.has_value(), !held.empty());
    for (const ItemId item : held)
      model.leave(model.items.at(item), delay.us ? now + delay : Time{});
  }
  void extend() {
    const LeaseId id = some_lease();
    const auto events = attempt(Request{admin(), ExtendLeases{"lab", "q", {id}, {}}});
    ASSERT_EQ(events.has_value(), !model.held(id).empty());
    if (events) model.until[id] = now + seconds(20);
  }
};

TEST(QueueProperty, RandomHistoriesGoAsTheSimpleModelSays) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    QueueHistory history(seed);
    for (int i = 0; i < 120; ++i) {
      history.step();
      history.check();
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
  }
}

}  // namespace
}  // namespace atl::core
