#include "runtime/task_payload.h"

#include <gtest/gtest.h>

namespace atl::runtime {
namespace {

TEST(TaskPayload, EachTaskHasItsOwnItem) {
  core::Payload shared;
  shared.script = "echo {item} {params.x} ${HOME}";
  shared.env = {{"FILE", "{item}.txt"}};
  shared.items = {"a", "b c", "d"};
  const core::Payload own = payload_of_task(shared, 1);
  EXPECT_EQ(own.script, "echo b c {params.x} ${HOME}");
  EXPECT_EQ(own.env.at("FILE"), "b c.txt");
  EXPECT_EQ(own.env.at("ATOLL_ITEM"), "b c");
  EXPECT_TRUE(own.items.empty());
  EXPECT_EQ(shared.items.size(), 3u);
}

TEST(TaskPayload, AGridHasKeys) {
  core::Payload shared;
  shared.argv = {"train", "--lr={item.lr}", "--batch={item.batch-size}", "{item.other}", "{item}"};
  shared.item_keys = {"lr", "batch-size"};
  shared.items = {"0.1", "32", "0.2", "64"};
  const core::Payload own = payload_of_task(shared, 1);
  EXPECT_EQ(own.argv, (std::vector<std::string>{"train", "--lr=0.2", "--batch=64", "{item.other}",
                                                "lr=0.2,batch-size=64"}));
  EXPECT_EQ(own.env.at("ATOLL_ITEM_LR"), "0.2");
  EXPECT_EQ(own.env.at("ATOLL_ITEM_BATCH_SIZE"), "64");
}

TEST(TaskPayload, WithoutItemsNothingIsReplaced) {
  core::Payload shared;
  shared.script = "echo {item}";
  EXPECT_EQ(payload_of_task(shared, 0), shared);
}

}  // namespace
}  // namespace atl::runtime
