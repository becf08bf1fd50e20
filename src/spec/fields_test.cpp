#include "spec/fields.h"

#include <gtest/gtest.h>

#include "spec/job_spec.h"
#include "spec/json_writer.h"

namespace atl::spec {
namespace {

struct Bad {
  const char* json;
  const char* field;
  const char* says;
};

class BadJob : public testing::TestWithParam<Bad> {};

TEST_P(BadJob, IsRefusedWithItsFieldAndAHint) {
  const auto parsed = parse_job_request(GetParam().json);
  ASSERT_FALSE(parsed) << GetParam().json;
  EXPECT_EQ(parsed.error().field, GetParam().field) << parsed.error().message;
  EXPECT_NE(parsed.error().message.find(GetParam().says), std::string::npos)
      << parsed.error().message;
}

const Bad kBad[] = {
    {"", "", "the body is empty"},
    {"{", "", "not JSON"},
    {"[]", "", "must be an object"},
    {"{} x", "", "not JSON"},
    {R"({"comand": ["true"]})", "comand", "did you mean command?"},
    {R"({"xyzzy": 1})", "xyzzy", "there is no field \"xyzzy\""},
    {R"({"command": "true"})", "command", "must be a list of texts"},
    {R"({"command": ["a", 3]})", "command[1]", "must be a text, in quotes"},
    {R"({"command": []})", "command", "must not be empty"},
    {R"({"command": ["a\u0000b"]})", "command[0]", "NUL"},
    {R"({"name": 3})", "name", "must be a text"},
    {R"({"cpus": true})", "cpus", "number of cores"},
    {R"({"cpus": -1})", "cpus", "not a number of cores"},
    {R"({"cpus": 1e300})", "cpus", "not a number of cores"},
    {R"({"cpus": "1.23456"})", "cpus", "not a number of cores"},
    {R"({"memory": "12Xi"})", "memory", "not an amount of memory"},
    {R"({"memory": 99999999999999999999})", "memory", "not an amount of memory"},
    {R"({"time": "soon"})", "time", "not a duration"},
    {R"({"priority": 1.5})", "priority", "whole number"},
    {R"({"priority": 9999999})", "priority", "at most 1000000"},
    {R"({"env": {"A": 3}})", "env.A", "must be a text, in quotes"},
    {R"({"env": []})", "env", "an object whose values are texts"},
    {R"({"env": {"": "x"}})", "env", "without a name"},
    {R"({"retries": {"maximum": 3}})", "retries.maximum", "there is no field"},
    {R"({"retries": {"max": -3}})", "retries.max", "at least 0"},
    {R"({"retries": "often"})", "retries", "not a number of retries"},
    {R"({"after": ["soon"]})", "after[0]", "not the id of a job"},
    {R"({"after": [{"kind": "after_end"}]})", "after[0].job", "is missing"},
    {R"({"after": [{"job": 3, "kind": "later"}]})", "after[0].kind", "one of after_success"},
    {R"({"devices": [{"kind": "gpu", "count": 0}]})", "devices[0].count", "at least 1"},
    {R"({"devices": 1e308})", "devices.kind", "at most 63"},
    {R"({"devices": ["gpu:0"]})", "devices[0].count", "at least 1"},
    {R"({"retries": 99999})", "retries.max", "at most 1000"},
    {R"({"isolation": "tight"})", "isolation", "one of automatic, none, sandbox"},
    {R"({"jobs": []})", "jobs", "must not be empty"},
    {R"({"jobs": {}})", "jobs", "must be a list"},
    {R"({"jobs": [{"command": ["a"]}, {"nam": "x"}]})", "jobs[1].nam", "did you mean name?"},
    {R"({"jobs": [{}], "name": "x"})", "jobs", "only the field jobs"},
    {R"({"labels": {"a": {"b": "c"}}})", "labels.a", "must be a text"},
};
INSTANTIATE_TEST_SUITE_P(Table, BadJob, testing::ValuesIn(kBad));

TEST(Fields, DeepNestingIsRefused) {
  std::string json(10000, '[');
  EXPECT_FALSE(parse_job_request(json));
}

TEST(Fields, WhatIsWrittenIsReadBack) {
  const auto spec = parse_json<JobSpec>(
      R"({"name":"ü\n\"x\"","command":["a","b c"],"cpus":0.25,"memory":"1.5Gi","time":"1d1s",
    "retries":3,"after":["12","after_end:13",14],"gpus":2,"env":{"A":"1"},"hold":true,"simulate":{"run_for":0.25},"array":7})");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->cpus->milli, 250);
  EXPECT_EQ(spec->memory->count, int64_t{3} << 29);
  EXPECT_EQ(spec->retries->max, 3);
  EXPECT_EQ(spec->after->at(1).kind, "after_end");
  EXPECT_EQ(spec->after->at(2).job, "14");
  EXPECT_EQ(spec->gpus, "2");
  EXPECT_EQ(spec->simulate->run_for, milliseconds(250));
  const auto again = parse_json<JobSpec>(to_json(*spec));
  ASSERT_TRUE(again) << to_json(*spec) << again.error().message;
  EXPECT_EQ(*again, *spec);
}

TEST(Fields, NullIsAWrongTypeLikeAnyOther) {
  const auto spec = parse_json<JobSpec>(R"({"name": null})");
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().field, "name");
}

TEST(Fields, FlagsSetTheSameTable) {
  JobSpec spec;
  const Shape& shape = shape_of<JobSpec>();
  for (const auto& [flag, text] :
       std::vector<std::pair<const char*, const char*>>{{"env", "A=1"},
                                                        {"env", "B=x=y"},
                                                        {"mem", "2G"},
                                                        {"t", "90"},
                                                        {"after", "after_end:3"},
                                                        {"hold", "true"},
                                                        {"gpus", "1g.5gb"},
                                                        {"gpus", "a100:1"},
                                                        {"retries", "2"}}) {
    ASSERT_TRUE(find_flag(shape, flag)) << flag;
    ASSERT_TRUE(set_text(*find_flag(shape, flag), &spec, text)) << flag;
  }
  EXPECT_EQ(spec.env->at("B"), "x=y");
  EXPECT_EQ(spec.memory->count, 2'000'000'000);
  EXPECT_EQ(spec.time, seconds(90));
  EXPECT_EQ(spec.retries->max, 2);
  EXPECT_EQ(spec.gpus, "1g.5gb,a100:1") << "said again it adds";
  EXPECT_FALSE(set_text(*find_flag(shape, "env"), &spec, "novalue"));
}

TEST(Fields, OverlayPrefersTheTopAndMergesMaps) {
  auto base = *parse_json<JobSpec>(
      R"({"name":"a","env":{"A":"1","B":"2"},"retries":{"max":3,"backoff":"5s"}})");
  const auto top = *parse_json<JobSpec>(R"({"env":{"B":"3"},"retries":1,"cpus":2})");
  overlay(base, top);
  EXPECT_EQ(base.name, "a");
  EXPECT_EQ(base.env->at("A"), "1");
  EXPECT_EQ(base.env->at("B"), "3");
  EXPECT_EQ(base.retries->max, 1);
  EXPECT_EQ(base.retries->backoff, seconds(5));
  EXPECT_EQ(base.cpus->milli, 2000);
}

TEST(Fields, EveryFieldHasASentenceAndAnExampleThatParses) {
  std::vector<const Shape*> shapes;
  collect_shapes(shape_of<JobSpec>(), shapes);
  EXPECT_EQ(shapes.size(), 6u);
  for (const Field& field : shape_of<JobSpec>().fields) {
    EXPECT_STRNE(field.sentence, "") << field.name;
    ASSERT_TRUE(field.example) << field.name;
    JobSpec spec;
    const std::string json = std::string("{\"") + field.name + "\":" + field.example + "}";
    EXPECT_TRUE(parse_json(shape_of<JobSpec>(), &spec, json)) << json;
  }
}

TEST(JsonWriter, EscapesAndRepairsText) {
  std::string out;
  append_json_text(out, "a\"b\\c\n\x01\xff\xc3\xa9\xf0\x9f\x90\xa0");
  EXPECT_EQ(out, "\"a\\\"b\\\\c\\n\\u0001\xef\xbf\xbd\xc3\xa9\xf0\x9f\x90\xa0\"");
}

TEST(JsonWriter, ExactDurations) {
  EXPECT_EQ(exact_duration(hours(25) + seconds(1)), "1d1h1s");
  EXPECT_EQ(exact_duration(milliseconds(1500)), "1500ms");
  EXPECT_EQ(exact_duration({}), "0s");
}

}  // namespace
}  // namespace atl::spec
