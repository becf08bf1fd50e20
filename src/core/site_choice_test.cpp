#include "core/site_choice.h"

#include <gtest/gtest.h>

#include "core/scheduling/explain.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

struct ThreeSites : TestWorld {
  ThreeSites() {
    nodes({node("n1", 2)});
    for (const char* name : {"lab", "cluster"}) {
      run(Request{admin(), AddSite{name, "simulated", "{}"}});
      run(Report{SiteProbed{name, {{node(std::string(name) + "-1", 4)}, {}}}});
    }
  }
  static SubmitJob wanting(const std::string& site, int64_t cpu_milli) {
    SubmitJob made = job(cpu_milli);
    made.terms.site = site;
    return made;
  }
  // The site of the job's task, or why it waits.
  std::string place_of(JobId id) {
    settle();
    const Job* found = state.job(id);
    const auto task = found->tasks.find(0);
    if (task == found->tasks.end()) return scheduling::explain(state, *found, false, now).sentence;
    return state.sites.at(placement_of(task->second.state)->site).name;
  }
  std::string refusal(const std::string& site) {
    const auto tried = attempt(Request{admin(), SubmitJobs{{wanting(site, 1000)}}});
    return tried ? "" : tried.error().message;
  }
};

TEST(SiteChoice, RanksByThePlaceInTheList) {
  EXPECT_EQ(site_rank("", "lab", false), 0u);
  EXPECT_EQ(site_rank("any", "lab", false), 0u);
  EXPECT_EQ(site_rank("", "lab", true), std::nullopt);
  EXPECT_EQ(site_rank("lab", "lab", true), 0u) << "it is named";
  EXPECT_EQ(site_rank("lab", "local", false), std::nullopt);
  EXPECT_EQ(site_rank("lab|cluster", "cluster", false), 1u);
  EXPECT_EQ(site_rank("lab|cluster", "lab", true), std::nullopt) << "it is not named alone";
  EXPECT_EQ(site_rank("lab|cluster", "clust", false), std::nullopt);
  EXPECT_EQ(site_rank("lab|any", "local", false), 1u);
  EXPECT_EQ(site_rank("lab|any", "local", true), std::nullopt);
}

TEST(SiteChoice, TheFirstSiteWithRoomIsTaken) {
  ThreeSites world;
  const std::string choice = "cluster|lab|any";
  EXPECT_EQ(world.place_of(world.submit(ThreeSites::wanting(choice, 3000))), "cluster");
  EXPECT_EQ(world.place_of(world.submit(ThreeSites::wanting(choice, 1000))), "cluster");
  EXPECT_EQ(world.place_of(world.submit(ThreeSites::wanting(choice, 3000))), "lab");
  EXPECT_EQ(world.place_of(world.submit(ThreeSites::wanting(choice, 2000))), "local");
  EXPECT_EQ(world.place_of(world.submit(ThreeSites::wanting("cluster|local", 1000))),
            "waiting for 1 core on one node: 2 of 2 in use on n1, where least is missing (lab has "
            "2); position 1");
  EXPECT_EQ(world.place_of(world.submit(ThreeSites::wanting("cluster|any", 1000))), "lab");
}

TEST(SiteChoice, ASmallerNodeElsewhereDoesNotBeatThePreference) {
  ThreeSites world;
  EXPECT_EQ(world.place_of(world.submit(ThreeSites::wanting("", 2000))), "local")
      << "least is left over there";
  ThreeSites other;
  EXPECT_EQ(other.place_of(other.submit(ThreeSites::wanting("lab|any", 2000))), "lab");
}

TEST(SiteChoice, WhatCannotBeMeantIsRefused) {
  ThreeSites world;
  EXPECT_EQ(world.refusal("any"), "");
  EXPECT_EQ(world.refusal("nowhere|lab"),
            "there is no site \"nowhere\"; the sites are local, lab, cluster");
  EXPECT_EQ(world.refusal("any|lab"), "any stands last: it means all other sites");
  EXPECT_EQ(world.refusal("lab|lab"), "site \"lab\" is named twice");
  EXPECT_NE(world.refusal("lab|"), "");
  world.run(Request{TestWorld::admin(), AddSite{"real", "local"}});
  EXPECT_EQ(world.refusal("real|lab"),
            "site lab only pretends to run work: name it alone, or leave it out");
  EXPECT_FALSE(world.attempt(Request{TestWorld::admin(), AddSite{"any", "local"}}));
}

TEST(SiteChoice, WorkWhoseSitesAreGoneSaysSo) {
  ThreeSites world;
  SubmitJob kept = ThreeSites::wanting("moon|mars", 1000);
  kept.keep = true;
  EXPECT_EQ(world.place_of(world.submit(kept)),
            "waiting for site moon or mars: none of them is available; position 1");
}

TEST(SiteChoice, ADefinitionStaysWithItsSite) {
  ThreeSites world;
  EXPECT_EQ(world.state.site_named("lab")->definition, "{}");
  EXPECT_EQ(world.state.site_named("local")->definition, "");
  const auto large = world.attempt(
      Request{TestWorld::admin(), AddSite{"huge", "ssh", std::string(300 << 10, ' ')}});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::too_large);
}

TEST(SiteChoice, ASiteWithWorkIsNotRemoved) {
  ThreeSites world;
  const JobId id = world.submit(ThreeSites::wanting("lab", 1000));
  EXPECT_EQ(world.place_of(id), "lab");
  const auto refused = world.attempt(Request{TestWorld::admin(), RemoveSite{"lab"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "site lab still runs work: `atoll site drain lab` lets it end and starts no more, and "
            "then it can be removed");
}

}  // namespace
}  // namespace atl::core
