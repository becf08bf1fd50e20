// What the policy promises, checked by brute force in many small random worlds.
#include <algorithm>
#include <numeric>

#include "core/index.h"
#include "core/scheduling/explain.h"
#include "core/scheduling/place.h"
#include "core/scheduling/round.h"
#include "core/test_random_world.h"

namespace atl::core::scheduling {
namespace {

const std::vector<std::string> kNamespaces{"lab", "bio", "chem", "geo"};

bool waits(const State& state, JobId id) {
  const auto job = state.jobs.find(id);
  return job != state.jobs.end() && job->second.placed == 0;
}

// Backfill. The first in line is the only one of its tier, so that it stays the first whatever
// shares come to; everybody runs until their limit.

// When the job starts, if nobody else comes; zero: never.
Time start_of(RandomWorld world, JobId id) {
  for (world.settle(); waits(world.state, id); world.settle()) {
    if (!world.pass()) return {};
  }
  return world.now;
}

SubmitJob head_of_line(RandomWorld& world) {
  SubmitJob head = world.draw_job(kNamespaces);
  head.terms.tier = Tier::interactive;
  head.keep = false;
  if (world.one_in(4)) world.draw_gang(head);
  if (world.one_in(2)) world.draw_wall(head);
  return head;
}

void draw_others(RandomWorld& world, int count, bool some_yield) {
  for (int i = 0; i < count; ++i) {
    SubmitJob job = world.draw_job(kNamespaces);
    job.terms.tier = kTiers[world.draw(1, some_yield ? 3 : 2)];
    // Of those that yield none has a grace that is longer than what is left of its time.
    if (job.terms.tier != Tier::opportunistic) job.terms.grace = minutes(world.draw(0, 5));
    if (!world.one_in(8)) world.draw_wall(job);
    if (world.one_in(6)) world.draw_gang(job);
    (void)world.attempt(Request{TestWorld::admin(), SubmitJobs{{job}}});
  }
}

TEST(Oracle, BackfillDoesNotDelayTheFirstInLine) {
  int heads = 0, passed = 0;
  for (uint32_t seed = 1; seed <= 3000; ++seed) {
    RandomWorld world(seed);
    world.draw_nodes(4);
    for (size_t i = 1; i < kNamespaces.size(); ++i)
      world.run(Request{TestWorld::admin(), CreateNamespace{kNamespaces[i], ""}});
    const bool some_yield = world.one_in(2);
    for (int i = world.draw(1, 3); i > 0; --i) {
      draw_others(world, world.draw(1, 4), some_yield);
      world.start_all();
      world.now = world.now + minutes(world.draw(0, 10));
    }
    const auto head = world.attempt(Request{TestWorld::admin(), SubmitJobs{{head_of_line(world)}}});
    if (!head) continue;
    const JobId id = std::get<JobSubmitted>(head->at(0).body).id;
    draw_others(world, world.draw(1, 6), some_yield);
    const World seen = after_round(world.state, world.now);
    const auto claim = std::find_if(seen.claims.begin(), seen.claims.end(),
                                    [&](const Claim& each) { return each.job == id; });
    if (claim == seen.claims.end() || claim->promised || !claim->until) continue;
    ++heads;
    for (const TaskPlaced& each : round(world.state, world.now, 1000).placed)
      passed += each.attempt.job > id;
    RandomWorld alone = world;
    alone.hold_all_but(id, false);
    const Time expected = start_of(std::move(alone), id);
    const Time start = start_of(std::move(world), id);
    ASSERT_TRUE(start) << "seed " << seed;
    EXPECT_LE(start, claim->until) << "later than it was told, seed " << seed;
    // Where some yield, it may be lucky and find more of them where it does not wait.
    if (!some_yield) EXPECT_LE(start, expected) << "later than without the others, seed " << seed;
  }
  EXPECT_GT(heads, 300);
  EXPECT_GT(passed, 200) << "others do start before it";
}

// Order. Namespaces are equals when quota, weight, cohort and use are the same, and users of them
// when their use is; jobs are when their terms and the time they came are. What came first among
// equals is served first, and nothing else tells them apart: neither ids nor names.

struct Roles {
  std::vector<int> namespaces, users;
};

// One course of things, played with the roles given to others; the fate of each job in its turn.
std::vector<std::string> play(uint32_t seed, const Roles& roles) {
  RandomWorld world(seed);
  world.draw_nodes(3);
  const Quota quota = world.draw_quota();
  const bool together = world.one_in(2);
  world.run(Request{TestWorld::admin(), SetCohort{"group", {}, {}, {}, {}}});
  for (const int user : {2, 3, 4})
    world.run(Request{TestWorld::admin(), CreateUser{"u" + std::to_string(user), false, {}}});
  for (const char* ns : {"a", "b", "c", "d"}) {
    world.run(Request{TestWorld::admin(), CreateNamespace{ns, ""}});
    world.run(Request{TestWorld::admin(), SetQuota{ns, quota}});
    if (together) world.run(Request{TestWorld::admin(), SetStake{ns, "group", {}, {}}});
    for (const char* user : {"u2", "u3", "u4"})
      world.run(Request{TestWorld::admin(), SetMember{ns, user, Role::member}});
  }
  for (int step = world.draw(1, 3); step > 0; --step) {
    for (int i = world.draw(1, 8); i > 0; --i) {
      SubmitJob job = world.draw_job({"?"});
      if (world.one_in(2)) world.draw_wall(job);
      if (world.one_in(6)) world.draw_gang(job);
      job.ns = std::string(1, static_cast<char>('a' + roles.namespaces[world.draw(0, 3)]));
      const Actor actor{
          UserId{static_cast<uint32_t>(2 + roles.users[world.draw(0, 2)])}, false, {}};
      world.run(Request{actor, SubmitJobs{{job}}});
    }
    world.start_all();
    world.now = world.now + minutes(world.draw(0, 20));
    if (world.one_in(2)) world.end_stopping();
    world.settle();
  }
  std::vector<std::string> fates;
  for (const auto& [id, job] : world.state.jobs) {
    std::string fate = to_string(id);
    for (const auto& [index, task] : job.tasks) {
      const Placement* at = placement_of(task.state);
      fate += at ? " " + at->node : " -";
      for (const HeldDevice& held : at ? at->devices : std::vector<HeldDevice>{})
        fate += "/" + held.unit;
      fate += std::holds_alternative<TaskStop>(task.state) ? " stops" : "";
    }
    fates.push_back(fate);
  }
  return fates;
}

TEST(Oracle, EqualsMayChangePlaces) {
  for (uint32_t seed = 1; seed <= 1500; ++seed) {
    std::mt19937 random(seed);
    Roles roles{{0, 1, 2, 3}, {0, 1, 2}};
    const auto before = play(seed, roles);
    std::shuffle(roles.namespaces.begin(), roles.namespaces.end(), random);
    std::shuffle(roles.users.begin(), roles.users.end(), random);
    ASSERT_EQ(play(seed, roles), before) << "seed " << seed;
  }
}

// Gives one after the other to whoever has least and still wants some.
std::vector<int> deal(std::vector<int> wanted, int count) {
  std::vector<int> got(wanted.size());
  for (; count > 0; --count) {
    int least = -1;
    for (int i = 0; i < static_cast<int>(got.size()); ++i) {
      if (got[i] < wanted[i] && (least < 0 || got[i] < got[least])) least = i;
    }
    if (least < 0) break;
    ++got[least];
  }
  std::sort(got.begin(), got.end());
  return got;
}

// Jobs that are equal but for whose they are may come in any order: everybody gets as much.
TEST(Oracle, TheOrderOfEqualJobsDecidesNothing) {
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    RandomWorld world(seed);
    const int room = world.draw(1, 12);
    world.nodes({node("n", room)});
    const int spaces = world.draw(1, 4), users = world.draw(1, 3);
    for (int user = 0; user < users; ++user)
      world.run(Request{TestWorld::admin(), CreateUser{"u" + std::to_string(user), false, {}}});
    for (int ns = 0; ns < spaces; ++ns) {
      const std::string name = "s" + std::to_string(ns);
      world.run(Request{TestWorld::admin(), CreateNamespace{name, ""}});
      for (int user = 0; user < users; ++user)
        world.run(
            Request{TestWorld::admin(), SetMember{name, "u" + std::to_string(user), Role::member}});
    }
    std::vector<std::vector<int>> wanted(static_cast<size_t>(spaces), std::vector<int>(users));
    for (int i = world.draw(1, 16); i > 0; --i) {
      const int ns = world.draw(0, spaces - 1), user = world.draw(0, users - 1);
      SubmitJob job = TestWorld::job();
      job.ns = "s" + std::to_string(ns);
      const Actor actor{UserId{static_cast<uint32_t>(2 + user)}, false, {}};
      world.run(Request{actor, SubmitJobs{{job}}});
      ++wanted[ns][user];
    }
    std::map<std::pair<NamespaceId, UserId>, int> placed;
    for (const TaskPlaced& each : round(world.state, world.now, 1000).placed) {
      const Job& job = world.state.jobs.at(each.attempt.job);
      ++placed[{job.ns, job.user}];
    }
    std::vector<int> all, got;
    for (int ns = 0; ns < spaces; ++ns) {
      const NamespaceId id = world.state.namespace_named("s" + std::to_string(ns))->id;
      std::vector<int> theirs;
      for (int user = 0; user < users; ++user)
        theirs.push_back(placed[{id, UserId{static_cast<uint32_t>(2 + user)}}]);
      std::sort(theirs.begin(), theirs.end());
      all.push_back(std::accumulate(wanted[ns].begin(), wanted[ns].end(), 0));
      got.push_back(std::accumulate(theirs.begin(), theirs.end(), 0));
      EXPECT_EQ(theirs, deal(wanted[ns], got.back())) << "seed " << seed;
    }
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, deal(all, room)) << "seed " << seed;
  }
}

// Reasons. What is lacking by the reason's own numbers is added: no more, and then a little less.

bool is_device(const std::string& resource) { return resource.starts_with("gpu"); }

// In the unit in which it can be added: thousandths of cores, bytes, tasks, whole devices.
int64_t lacking(const Block& block) {
  const int64_t milli = block.asked - (block.limit - block.in_use);
  return is_device(block.resource) ? (milli + kWholeDevice - 1) / kWholeDevice : milli;
}

void raise(Quota& quota, const std::string& resource, int64_t amount) {
  if (resource == "cpu")
    *quota.cpu_milli += amount;
  else if (resource == "memory")
    *quota.memory_bytes += amount;
  else if (resource == "tasks")
    *quota.running += static_cast<uint64_t>(amount);
  else
    quota.devices.at(resource) += static_cast<uint32_t>(amount);
}

void raise_quota(RandomWorld& world, const Block& block, int64_t amount) {
  for (const auto& [id, ns] : world.state.namespaces) {
    if (block.holder != "namespace " + ns.name) continue;
    Quota quota = ns.quota;
    raise(quota, block.resource, amount);
    apply(world.state, {world.now, {}, QuotaSet{id, quota}});
    return;
  }
  for (const auto& [id, cohort] : world.state.cohorts) {
    if (block.holder != "cohort " + cohort.name) continue;
    Quota quota = cohort.nominal;
    raise(quota, block.resource, amount);
    apply(world.state, {world.now, {}, CohortSet{id, cohort.name, quota, cohort.stake}});
    return;
  }
}

void enlarge(RandomWorld& world, size_t at, const Block& block, const Terms& terms,
             int64_t amount) {
  std::vector<NodeCapacity> nodes;
  for (const auto& [name, node] : world.state.sites.begin()->second.nodes)
    nodes.push_back(node.capacity);
  NodeCapacity& node = nodes[at];
  if (block.resource == "cpu") node.cpu_milli += amount;
  if (block.resource == "memory") node.memory_bytes += amount;
  for (int64_t i = 0; is_device(block.resource) && i < amount; ++i)
    node.devices.push_back({"new" + std::to_string(node.devices.size()), "gpu",
                            terms.resources.devices.at(0).model, 0, true});
  world.nodes(nodes);
}

// The worlds in which so much is added, wherever the reason leaves open where.
std::vector<RandomWorld> with_more(const RandomWorld& world, const Block& block, const Terms& terms,
                                   int64_t amount) {
  std::vector<RandomWorld> all;
  const size_t nodes = world.state.sites.begin()->second.nodes.size();
  const bool quota = block.obstacle == Obstacle::quota;
  for (size_t i = 0; i < (quota ? 1 : nodes); ++i) {
    const auto node = std::next(world.state.sites.begin()->second.nodes.begin(), i);
    // The reason speaks of nodes that are large enough.
    if (!quota && !node_could(node->second, terms.resources)) continue;
    all.push_back(world);
    if (quota)
      raise_quota(all.back(), block, amount);
    else
      enlarge(all.back(), i, block, terms, amount);
    all.back().settle();
  }
  return all;
}

// Follows the reasons until the job starts; what is wrong with one of them, if it is.
std::string follow(RandomWorld world, JobId id, int& followed) {
  const Terms terms = world.state.terms_of(world.state.jobs.at(id));
  for (int step = 0; step < 60; ++step) {
    world.settle();
    if (!waits(world.state, id)) return "";
    const Explanation why = explain(world.state, world.state.jobs.at(id), true);
    const Block& block = why.block;
    if (block.obstacle == Obstacle::yielding) {
      world.end_stopping();
      world.hold_all_but(id);
      continue;
    }
    if (block.obstacle == Obstacle::infeasible) return "";
    if (block.obstacle != Obstacle::quota && block.obstacle != Obstacle::capacity)
      return "it says: " + why.sentence;
    const int64_t lack = lacking(block);
    if (lack <= 0) return "nothing is lacking: " + why.sentence;
    for (const RandomWorld& less : with_more(world, block, terms, lack - 1)) {
      if (!waits(less.state, id)) return "less would do: " + why.sentence;
    }
    ++followed;
    std::vector<RandomWorld> enough = with_more(world, block, terms, lack);
    const auto moves = std::find_if(enough.begin(), enough.end(), [&](const RandomWorld& each) {
      return !waits(each.state, id) ||
             explain(each.state, each.state.jobs.at(id), true).sentence != why.sentence;
    });
    if (moves == enough.end()) return "that is not enough: " + why.sentence;
    world = *moves;
  }
  return "there is no end to it";
}

TEST(Oracle, AReasonIsTrueToTheLastBit) {
  int followed = 0;
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    RandomWorld world(seed);
    world.draw_nodes(3);
    world.draw_namespaces(kNamespaces);
    for (int i = world.draw(4, 10); i > 0; --i) {
      SubmitJob job = world.draw_job(kNamespaces);
      if (world.one_in(5)) world.draw_gang(job);
      world.submit(job);
      if (world.one_in(2)) world.start_all();
      world.now = world.now + seconds(world.draw(0, 100));
    }
    world.start_all();
    for (const auto& [id, job] : State(world.state).jobs) {
      if (!job.ready()) continue;
      RandomWorld alone = world;
      alone.hold_all_but(id);
      const std::string wrong = follow(std::move(alone), id, followed);
      ASSERT_EQ(wrong, "") << "job " << id.value << ", seed " << seed;
    }
  }
  EXPECT_GT(followed, 2000);
}

// Taking back. Who has more than their quota, of each thing that it limits.
bool over(const Quota& quota, const InUse& used) {
  if (quota.cpu_milli && used.cpu_milli > *quota.cpu_milli) return true;
  if (quota.memory_bytes && used.memory_bytes > *quota.memory_bytes) return true;
  if (quota.running && used.tasks > *quota.running) return true;
  return std::any_of(quota.devices.begin(), quota.devices.end(), [&](const auto& entry) {
    const auto has = used.devices.find(entry.first);
    return has != used.devices.end() && has->second > int64_t{entry.second} * kWholeDevice;
  });
}

// Whether the namespace has with one more such task no more than its quota of cores.
bool sure_of(const State& state, const Job& job) {
  const Namespace& ns = state.namespaces.at(job.ns);
  const Terms& terms = state.terms_of(job);
  if (terms.tier == Tier::opportunistic || !ns.quota.cpu_milli) return false;
  InUse after = ns.in_use;
  Placement placement;
  for (const DeviceRequest& request : terms.resources.devices) {
    for (uint32_t i = 0; i < request.count; ++i)
      placement.devices.push_back({"", request.kind, request.model, kWholeDevice, kWholeDevice});
  }
  add_in_use(after, terms, placement, +1);
  return !over(ns.quota, after);
}

// All that yields anyway, and of each namespace that belongs to a cohort what its quota does not
// cover: higher tiers are covered first, then who came first.
std::vector<AttemptId> must_yield(const State& state) {
  std::vector<std::tuple<NamespaceId, Tier, Time, AttemptId, const Holder*>> tasks;
  for (const auto& [name, node] : state.sites.begin()->second.nodes) {
    for (const auto& [task, holder] : node.holders)
      tasks.emplace_back(holder.ns, state.terms.at(holder.terms).terms.tier, holder.since,
                         AttemptId{task.job, task.index, holder.attempt}, &holder);
  }
  std::sort(tasks.begin(), tasks.end());
  std::vector<AttemptId> found;
  std::map<NamespaceId, InUse> covered;
  for (const auto& [id, tier, since, attempt, holder] : tasks) {
    const Namespace& ns = state.namespaces.at(id);
    InUse with = covered[id];
    add_in_use(with, state.terms.at(holder->terms).terms, {{}, {}, holder->devices}, +1);
    const bool borrowed = ns.stake.cohort && over(ns.quota, with);
    if (!borrowed) covered[id] = with;
    if (borrowed || tier == Tier::opportunistic) found.push_back(attempt);
  }
  return found;
}

TEST(Oracle, NobodyWaitsForWhatABorrowerHas) {
  int borrowers = 0, waiting = 0;
  for (uint32_t seed = 1; seed <= 3000; ++seed) {
    RandomWorld world(seed);
    world.draw_nodes(3);
    world.draw_namespaces(kNamespaces);
    // Everybody who is there at first may borrow; then one comes who is sure of what they want.
    for (int i = world.draw(2, 8); i > 0; --i) {
      world.submit(world.draw_job(kNamespaces));
      world.start_all();
      world.now = world.now + seconds(world.draw(1, 100));
    }
    SubmitJob wanted = world.draw_job(kNamespaces);
    for (const auto& [id, job] : State(world.state).jobs) {
      if (job.ready()) world.run(Request{TestWorld::admin(), CancelJob{id, {}, {}}});
    }
    const JobId id = world.submit(wanted);
    if (!sure_of(world.state, world.state.jobs.at(id))) continue;
    for (int turn = 0; turn < 3; ++turn) {
      world.settle();
      world.end_stopping();
    }
    world.settle();
    for (const auto& [ns, each] : world.state.namespaces)
      borrowers += each.stake.cohort && over(each.quota, each.in_use);
    if (!waits(world.state, id)) continue;
    ++waiting;
    RandomWorld without = world;
    without.hold_all_but(id);
    for (const AttemptId attempt : must_yield(world.state)) without.end(attempt);
    without.settle();
    // One that takes any model may have found more of one than it is sure of.
    const Namespace& ns = *without.state.namespace_named(wanted.ns);
    EXPECT_TRUE(waits(without.state, id) || over(ns.quota, ns.in_use))
        << "seed " << seed << ": " << explain(world.state, world.state.jobs.at(id)).sentence;
  }
  EXPECT_GT(borrowers, 50);
  EXPECT_GT(waiting, 50);
}

}  // namespace
}  // namespace atl::core::scheduling
