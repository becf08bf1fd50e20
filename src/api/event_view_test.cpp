#include "api/event_view.h"

#include <gtest/gtest.h>

#include "journal/memory_journal.h"

namespace atl::api {
namespace {

core::Job live(uint64_t id, bool array) {
  core::Job job;
  job.id = JobId{id};
  job.ns = NamespaceId{1};
  job.array = array;
  return job;
}

TEST(EventView, WhomATaskStandsBehindIsNamedByTheKindOfThatOnesJob) {
  core::State state;
  state.users[UserId{1}] = {.id = UserId{1}, .name = "root", .platform_admin = true};
  state.jobs[JobId{51}] = live(51, false);
  state.jobs[JobId{52}] = live(52, true);
  journal::MemoryJournal journal;
  const auto shown = [&](AttemptId attempt, AttemptId behind) {
    const core::TaskPlaced placed{attempt, {}, behind};
    const SeenCommit seen = see(state, {1, {{Time{1}, {}, placed}}});
    EventFilter filter;
    filter.actor.user = UserId{1};
    return show_commit(state, journal, filter, seen).at(0).json;
  };
  const std::string array = shown({JobId{52}, 3, 1}, {JobId{51}, 0, 1});
  EXPECT_NE(array.find(R"("attempt":"52[3].1")"), std::string::npos) << array;
  EXPECT_NE(array.find(R"("behind":"51.1")"), std::string::npos) << array;
  const std::string single = shown({JobId{51}, 0, 2}, {JobId{52}, 3, 1});
  EXPECT_NE(single.find(R"("attempt":"51.2")"), std::string::npos) << single;
  EXPECT_NE(single.find(R"("behind":"52[3].1")"), std::string::npos) << single;
}

}  // namespace
}  // namespace atl::api
