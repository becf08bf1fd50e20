// Documents that a namespace keeps: who may write them, their versions, and their bounds.
#include "core/kept/kept.h"

#include <gtest/gtest.h>

#include "core/limits.h"
#include "core/test_world.h"

namespace atl::core {
namespace {

class KeptWorld : public TestWorld {
 public:
  KeptWorld() {
    run(Request{admin(), CreateUser{"bob", false, {}}});
    run(Request{admin(), CreateUser{"eve", false, {}}});
    run(Request{admin(), SetMember{"lab", "bob", Role::member}});
  }
  static KeepDocument note(std::string text) {
    KeepDocument keep;
    keep.ns = "lab";
    keep.kind = "note";
    keep.name = "n";
    keep.text = std::move(text);
    return keep;
  }
  const KeptDocument* find() const {
    return state.document(state.namespace_named("lab")->id, "note", "n");
  }
  Error refusal(Command command, Actor actor = admin()) {
    const auto events = attempt(Request{actor, std::move(command)});
    EXPECT_FALSE(events.has_value());
    return events ? Error{} : events.error();
  }
  static Actor bob() { return {UserId{2}, false, {}}; }
  static Actor eve() { return {UserId{3}, false, {}}; }
};

TEST(Kept, EachWriteIsAVersionAndTheFirstWriterOwnsIt) {
  KeptWorld world;
  world.run(Request{KeptWorld::bob(), KeptWorld::note("a")});
  world.run(Request{KeptWorld::admin(), KeptWorld::note("b")});
  ASSERT_TRUE(world.find());
  EXPECT_EQ(world.find()->text, "b");
  EXPECT_EQ(world.find()->version, 2U);
  EXPECT_EQ(world.find()->owner, UserId{2});
  KeepDocument given = KeptWorld::note("c");
  given.owner = "eve";
  world.run(Request{KeptWorld::admin(), given});
  EXPECT_EQ(world.find()->owner, UserId{3});
  world.run(Request{KeptWorld::bob(), DropDocument{"lab", "note", "n"}});
  EXPECT_FALSE(world.find());
}

TEST(Kept, WritesThatMustNotHappenAreRefused) {
  KeptWorld world;
  EXPECT_EQ(world.refusal(KeptWorld::note("a"), KeptWorld::eve()).code, ErrorCode::not_found);
  KeepDocument high = KeptWorld::note("a");
  high.role = Role::admin;
  EXPECT_EQ(world.refusal(high, KeptWorld::bob()).code, ErrorCode::forbidden);
  EXPECT_EQ(world.refusal(KeptWorld::note(std::string(kDocumentBytesMax + 1, 'x'))).field, "text");
  EXPECT_EQ(world.refusal(DropDocument{"lab", "note", "n"}).code, ErrorCode::not_found);

  world.run(Request{KeptWorld::bob(), KeptWorld::note("a")});
  KeepDocument once = KeptWorld::note("b");
  once.create_only = true;
  EXPECT_EQ(world.refusal(once).code, ErrorCode::conflict);
  KeepDocument stale = KeptWorld::note("b");
  stale.expected = 0;
  EXPECT_EQ(world.refusal(stale).field, "version");
  EXPECT_EQ(world.find()->text, "a");
}

}  // namespace
}  // namespace atl::core
