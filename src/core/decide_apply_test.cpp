#include "core/test_world.h"

namespace atl::core {
namespace {

Quota cores(int64_t count) {
  Quota quota;
  quota.cpu_milli = count * 1000;
  return quota;
}

class WholePlatform : public ::testing::Test {
 protected:
  Result<Events> apply_all(const ApplyPlatform& wish) {
    const State before = world.state;
    auto events = world.attempt(Request{TestWorld::admin(), wish});
    if (!events) EXPECT_EQ(world.state, before) << "a refused command leaves no trace";
    return events;
  }
  void in_force(const ApplyPlatform& wish) {
    const auto events = apply_all(wish);
    ASSERT_TRUE(events) << events.error().message;
    EXPECT_TRUE(apply_all(wish)->empty()) << "the second time there is nothing to change";
  }
  void refused(const ApplyPlatform& wish, const std::string& field, const std::string& text) {
    const auto result = apply_all(wish);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().field, field) << result.error().message;
    EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().message;
  }
  static ApplyPlatform::CohortTerms cohort(std::string name, std::string parent = "",
                                           Quota quota = {}) {
    return {std::move(name), std::move(parent), 1000, std::move(quota), {}};
  }
  static ApplyPlatform::NamespaceTerms ns(std::string name, std::string cohort = "",
                                          Quota quota = {}) {
    return {std::move(name), std::move(cohort), 1000, std::move(quota), {}, {}};
  }
  std::string parent_of(const std::string& name) const {
    const CohortId above = world.state.cohort_named(name)->stake.cohort;
    return above ? world.state.cohorts.at(above).name : "";
  }
  TestWorld world;
};

TEST_F(WholePlatform, MakesEverythingInWhateverOrderItIsNamed) {
  ApplyPlatform wish;
  wish.policy = Policy{hours(24), minutes(30)};
  wish.cohorts = {cohort("group", "institute", cores(8)), cohort("institute", "", cores(16))};
  wish.namespaces = {ns("bio", "group", cores(4)), ns("lab", "group", cores(4))};
  in_force(wish);
  EXPECT_EQ(world.state.policy.half_life, hours(24));
  EXPECT_EQ(parent_of("group"), "institute");
  const Namespace& bio = *world.state.namespace_named("bio");
  EXPECT_EQ(bio.quota, cores(4));
  EXPECT_EQ(bio.members.at(UserId{1}), Role::admin) << "who asked looks after it";
}

TEST_F(WholePlatform, OnlyTheEndIsJudgedNotTheSteps) {
  in_force({{}, {cohort("a", "", cores(8)), cohort("b", "a", cores(6))}, {}, false});
  // Upside down, and more for b than a had: no single command after the other could do it.
  in_force({{}, {cohort("a", "b", cores(10)), cohort("b", "", cores(12))}, {}, false});
  EXPECT_EQ(parent_of("a"), "b");
  EXPECT_EQ(parent_of("b"), "");
}

TEST_F(WholePlatform, AnEntryIsTheWholeOfWhatItNamesAndTheRestStays) {
  in_force({{}, {cohort("a", "", cores(8)), cohort("b")}, {ns("lab", "a", cores(4))}, false});
  in_force({{}, {}, {ns("lab")}, false});
  EXPECT_EQ(world.state.namespace_named("lab")->quota, Quota{});
  EXPECT_FALSE(world.state.namespace_named("lab")->stake.cohort);
  EXPECT_EQ(world.state.cohort_named("a")->quota, cores(8));
}

TEST_F(WholePlatform, CirclesAreRefusedWithTheirNames) {
  refused({{}, {cohort("a", "b"), cohort("b", "c"), cohort("c", "a"), cohort("d", "a")}, {}, false},
          "cohorts[0].parent", "a in b in c in a");
  refused({{}, {cohort("a", "a")}, {}, false}, "cohorts[0].parent", "within itself");
  in_force({{}, {cohort("a"), cohort("b", "a")}, {}, false});
  refused({{}, {cohort("a", "b")}, {}, false}, "cohorts[0].parent", "a in b in a");
  ApplyPlatform deep;
  for (int i = 0; i < 9; ++i)
    deep.cohorts.push_back(
        cohort("l" + std::to_string(i), i == 0 ? "" : "l" + std::to_string(i - 1)));
  refused(deep, "cohorts[8].parent", "deeper than 8");
}

TEST_F(WholePlatform, MoreThanTheCohortHasIsRefused) {
  refused({{},
           {cohort("a", "", cores(4))},
           {ns("bio", "a", cores(3)), ns("lab", "a", cores(2))},
           false},
          "cohorts[0].quota", "(lab, bio) together exceed its own in cpu");
  in_force({{}, {cohort("a", "", cores(4))}, {}, false});
  refused({{}, {}, {ns("lab", "a", cores(5))}, false}, "namespaces[0].quota", "exceed");
}

TEST_F(WholePlatform, ASingleBadEntryRefusesAll) {
  ApplyPlatform wish;
  wish.cohorts = {cohort("a"), cohort("b", "a")};
  wish.namespaces = {ns("bio", "b"), ns("chem", "nowhere")};
  refused(wish, "namespaces[1].cohort", "no cohort \"nowhere\"");
  wish.namespaces[1] = ns("chem");
  wish.namespaces[1].weight_milli = 0;
  refused(wish, "namespaces[1].weight", "must be between 0.001");
  wish.namespaces[1] = ns("bio");
  refused(wish, "namespaces[1]", "named twice");
  wish.namespaces[1] = ns("chem");
  wish.namespaces[1].members = {{"nobody", Role::admin}};
  refused(wish, "namespaces[1].members.nobody", "no user \"nobody\"");
  wish.namespaces[1].members = {{"root", Role::member}};
  refused(wish, "namespaces[1].members", "no administrator");
  wish.namespaces.pop_back();
  wish.cohorts.push_back(cohort("a"));
  refused(wish, "cohorts[2]", "named twice");
  wish.cohorts.back() = cohort("Bad");
  refused(wish, "cohorts[2].name", "Bad");
  wish.cohorts.pop_back();
  wish.policy = Policy{seconds(1), hours(1)};
  refused(wish, "policy.half_life", "between");
  wish.policy = {};
  in_force(wish);
}

TEST_F(WholePlatform, MembersAreThoseThatAreNamed) {
  world.run(Request{TestWorld::admin(), CreateUser{"ada", false, {}}});
  ApplyPlatform wish;
  wish.namespaces = {ns("lab")};
  wish.namespaces[0].members = {{"ada", Role::admin}};
  in_force(wish);
  EXPECT_EQ(world.state.namespace_named("lab")->members.size(), 1u);
  wish.namespaces[0].members = {};
  in_force(wish);
  EXPECT_EQ(world.state.namespace_named("lab")->members.size(), 1u);
}

TEST_F(WholePlatform, PruningDeletesWhatIsNotNamedButNoWork) {
  world.nodes({node("n1", 4)});
  in_force({{},
            {cohort("a"), cohort("b", "a"), cohort("c", "b")},
            {ns("bio", "c"), ns("default", ""), ns("lab", "c")},
            false});
  world.submit(TestWorld::job());
  refused({{}, {cohort("a")}, {}, true}, "", "cohort c cannot be deleted: namespace lab");
  in_force({{}, {cohort("a")}, {ns("lab", "a")}, true});
  EXPECT_EQ(world.state.cohorts.size(), 1u);
  EXPECT_FALSE(world.state.namespace_named("bio"));
  EXPECT_TRUE(world.state.namespace_named("default"));
  in_force({{}, {}, {ns("lab")}, true});
  EXPECT_TRUE(world.state.cohorts.empty());
}

TEST_F(WholePlatform, TakesAPlatformAdministrator) {
  world.run(Request{TestWorld::admin(), CreateUser{"ada", false, {}}});
  const auto result = world.attempt(Request{{UserId{2}, false, {}}, ApplyPlatform{}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::forbidden);
}

}  // namespace
}  // namespace atl::core
