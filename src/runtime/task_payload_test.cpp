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

TEST(TaskPayload, AnItemOfAQueueIsOnStandardInputToo) {
  core::Payload shared;
  shared.script = "echo {item}";
  const core::Payload own = payload_of_items(shared, {{ItemId{7}, "a b"}}, true);
  EXPECT_EQ(own.script, "echo a b");
  EXPECT_EQ(own.env.at("ATOLL_ITEM"), "a b");
  EXPECT_EQ(own.env.at("ATOLL_ITEM_ID"), "7");
  EXPECT_EQ(own.stdin_text, "a b");
}

TEST(TaskPayload, AnItemThatIsAnObjectHasNames) {
  core::Payload shared;
  shared.argv = {"{item.rate}", "{item.name}", "{item.other}"};
  const std::string body = R"({"rate":0.5,"name":"a b"})";
  const core::Payload own = payload_of_items(shared, {{ItemId{7}, body}}, true);
  EXPECT_EQ(own.argv, (std::vector<std::string>{"0.5", "a b", "{item.other}"}));
  EXPECT_EQ(own.env.at("ATOLL_ITEM_NAME"), "a b");
  EXPECT_EQ(own.stdin_text, body);
  EXPECT_TRUE(payload_of_items(shared, {{ItemId{7}, R"({"a":[1]})"}}, true).item_keys.empty());
}

TEST(TaskPayload, SeveralItemsAreLines) {
  const core::Payload own =
      payload_of_items({}, {{ItemId{7}, "a"}, {ItemId{9}, "b\n"}, {ItemId{10}, "{}"}}, false);
  EXPECT_EQ(own.stdin_text, "a\nb\n{}\n");
  EXPECT_EQ(own.env.at("ATOLL_ITEM_ID"), "7,9,10");
}

TEST(TaskPayload, WhatNoVariableCanHoldIsOnlyOnStandardInput) {
  for (const std::string& body : {std::string(200'000, 'x'), std::string("a\0b", 3)}) {
    const core::Payload own = payload_of_items({}, {{ItemId{7}, body}}, true);
    EXPECT_FALSE(own.env.contains("ATOLL_ITEM"));
    EXPECT_EQ(own.stdin_text, body);
  }
}

}  // namespace
}  // namespace atl::runtime
