#include "spec/workflow/condition.h"

#include <gtest/gtest.h>

namespace atl::spec {
namespace {

Result<std::string> value(const Reference& reference) {
  if (reference.path == "year") return "2017";
  if (reference.path == "mode") return "\"full\"";
  if (reference.path == "absent") return "null";
  if (reference.path == "fetch.outputs.count") return "12";
  if (reference.path == "list") return "[1, 2]";
  return fail(ErrorCode::not_found, "no " + reference.path);
}

bool is(const std::string& json, bool strict = false) {
  const auto result = holds(json, value, strict);
  EXPECT_TRUE(result) << json << ": " << (result ? "" : result.error().message);
  return result && *result;
}

TEST(Condition, ComparesNumbersAndTexts) {
  EXPECT_TRUE(is(R"({"eq": ["{params.year}", 2017]})"));
  EXPECT_TRUE(is(R"({"ne": [{"params": "mode"}, "quick"]})"));
  EXPECT_TRUE(is(R"({"gt": ["{steps.fetch.outputs.count}", 9]})"));
  EXPECT_TRUE(is(R"({"le": [{"output": "fetch.count"}, "12.0"]})"));
  EXPECT_TRUE(is(R"({"ge": [{"task_output": {"task_id": "fetch", "output_id": "count"}}, 12]})"));
  EXPECT_TRUE(is(R"({"lt": ["abc", "abd"]})"));
  EXPECT_TRUE(is(R"({"eq": ["{params.mode}-{params.year}", "full-2017"]})"));
  EXPECT_TRUE(is(R"({"eq": [{"args": "absent"}, null]})"));
  EXPECT_FALSE(is(R"({"eq": [1, 2]})"));
}

TEST(Condition, StrictValuesHaveTheirTypes) {
  EXPECT_TRUE(is(R"({"eq": ["1", 1]})"));
  EXPECT_FALSE(is(R"({"eq": ["1", 1]})", true));
  EXPECT_TRUE(is(R"({"eq": [1, 1.0]})", true));
  EXPECT_FALSE(holds(R"({"gt": ["2", 1]})", value, true));
}

TEST(Condition, LooksInLists) {
  EXPECT_TRUE(is(R"({"in": ["{params.mode}", ["quick", "full"]]})"));
  EXPECT_TRUE(is(R"({"in": [2, {"params": "list"}]})"));
  EXPECT_TRUE(is(R"({"in": ["ul", "full"]})"));
  EXPECT_FALSE(is(R"({"in": [3, [1, 2]]})"));
}

TEST(Condition, JoinsAsManyAsThereAre) {
  const std::string t = "{\"eq\":[1,1]}", f = "{\"eq\":[1,2]}";
  const auto of = [&](const std::string& name, const std::vector<bool>& which) {
    std::string list;
    for (const bool each : which) list += (list.empty() ? "" : ",") + (each ? t : f);
    return is("{\"" + name + "\":[" + list + "]}");
  };
  EXPECT_TRUE(of("and", {true, true, true}));
  EXPECT_FALSE(of("and", {true, false}));
  EXPECT_TRUE(of("or", {false, true}));
  EXPECT_TRUE(of("xor", {true, true, false}));
  EXPECT_FALSE(of("xor", {true, true}));
  EXPECT_FALSE(of("xor", {false, false}));
  EXPECT_TRUE(of("nand", {true, false}));
  EXPECT_TRUE(of("nor", {false, false}));
  EXPECT_TRUE(of("xnor", {false, false, false}));
  EXPECT_TRUE(of("xnor", {true, true}));
  EXPECT_FALSE(of("xnor", {true, false}));
  EXPECT_TRUE(is("{\"not\":" + f + "}"));
  EXPECT_FALSE(is("[" + t + "," + f + "]"));
}

TEST(Condition, MistakesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"eq": [1]})", "eq compares two values, and here are 1"},
      {R"({"and": [true]})", "and joins two conditions or more"},
      {R"({"eq": [1, {"x": 2}]})", "{\"x\":2} is no operand"},
      {R"("yes")", "\"yes\" is no condition"},
      {R"({"in": [1, 2]})", "in needs a list to look in"},
  };
  for (const auto& [json, message] : cases) {
    const auto ok = check_condition(json);
    ASSERT_FALSE(ok) << json;
    EXPECT_EQ(ok.error().message.substr(0, std::string(message).size()), message);
  }
  EXPECT_FALSE(holds(R"({"eq": ["{params.nothing}", 1]})", value));
  EXPECT_FALSE(holds(R"({"gt": ["a", 1]})", value));
}

}  // namespace
}  // namespace atl::spec
