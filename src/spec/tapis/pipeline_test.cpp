#include "spec/tapis/pipeline.h"

#include <gtest/gtest.h>

namespace atl::spec::tapis {
namespace {

const std::string kFunction =
    R"("type":"function","runtime":"python:3.9","installer":"pip","code":"cHJpbnQoMSk=")";

std::string with_tasks(const std::string& tasks, const std::string& more = {}) {
  return R"({"id":"demo","type":"workflow","tasks":[)" + tasks + "]" + more + "}";
}

Error error_of(const std::string& json, const Templates& templates = {}) {
  const auto made = read_pipeline(json, templates);
  EXPECT_FALSE(made) << json;
  return made ? Error{} : made.error();
}

TEST(TapisPipeline, IsRead) {
  const auto made = read_pipeline(R"({"id":"demo","type":"workflow","uuid":"x","unknown":{},
    "execution_profile":{"max_exec_time":60,"duplicate_submission_policy":"deny"},
    "env":{"REGION":{"type":"string","value":"eu"},
           "KEY":{"type":"string","value_from":{"secret":{"engine":"e","pk":"k1","field_selector":["a","b"]}}}},
    "params":{"N":{"type":"number","required":true}},
    "tasks":[
      {"id":"use","type":"request","http_method":"get","url":"http://x/y",
       "depends_on":[{"id":"gen","can_skip":true}],
       "input":{"X":{"type":"string","value_from":{"task_output":{"task_id":"gen","output_id":"OUT"}}}},
       "conditions":[{"gt":[{"args":"N"},0]},{"ne":[{"env":"REGION"},"us"]}]},
      {"id":"gen",)" + kFunction + R"(,"output":{"OUT":{"type":"string"}},
       "execution_profile":{"flavor":"c1sml","max_retries":2}}]})");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->order, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(made->profile.duplicates, "deny");
  EXPECT_EQ(made->profile.max_exec_time, 60);
  EXPECT_EQ(made->env.at("KEY").source.name, "k1/a/b");
  EXPECT_EQ(made->tasks[1].profile.flavor, "c1sml");
  EXPECT_EQ(made->tasks[1].profile.max_retries, 2);
  EXPECT_TRUE(made->tasks[0].depends_on[0].can_skip);
  EXPECT_FALSE(made->tasks[0].depends_on[0].can_fail);
}

// What is wrong, where, and with which words.
TEST(TapisPipeline, ErrorsTellTheirPlace) {
  const std::string a = R"({"id":"a",)" + kFunction + "}";
  const struct {
    std::string json, field, words;
  } cases[] = {
      {"[]", "", "object"},
      {"{", "", ""},
      {R"({"type":"workflow"})", "id", "is missing"},
      {R"({"id":"../x"})", "id", "is no id"},
      {R"({"id":"-x"})", "id", "is no id"},
      {R"({"id":"a","type":"etl"})", "type", "only pipelines of type workflow"},
      {R"({"id":"a","taks":[]})", "", "did you mean tasks?"},
      {R"({"id":"a","archive_ids":["x"]})", "archive_ids[0]", "archives are not offered"},
      {R"({"id":"a","env":{"1":{"value":"x"}}})", "env.1", "is no name"},
      {R"({"id":"a","env":{"A":{"type":"number","value":"x"}}})", "env.A.value", "is no number"},
      {R"({"id":"a","env":{"A":{"type":"text","value":"x"}}})", "env.A.type", "there are string"},
      {R"({"id":"a","env":{"A":{"value_from":{"args":"x"}}}})", "env.A.value_from", "secret only"},
      {R"({"id":"a","execution_profile":{"max_exec_time":0}})", "execution_profile.max_exec_time",
       "from 1"},
      {R"({"id":"a","execution_profile":{"duplicate_submission_policy":"x"}})",
       "execution_profile.duplicate_submission_policy", "allow, deny, terminate, defer"},
      {R"({"id":"a","cron":"0 6 * *"})", "cron", "write five"},
      {R"({"id":"a","cron":"0 6 * * $"})", "cron", "$"},
      {with_tasks("3"), "tasks[0]", "must be an object"},
      {with_tasks(R"({"id":"a"})"), "tasks[0].type", "is missing"},
      {with_tasks(R"({"id":"a b","type":"request"})"), "tasks[0].id", "is no id"},
      {with_tasks(R"({"id":"a","type":"wish"})"), "tasks[0].type", "there are function"},
      {with_tasks(R"({"id":"a","type":"function"})"), "tasks[0]", "needs code"},
      {with_tasks(R"({"id":"a","type":"function","code":"$x!"})"), "tasks[0].code", "base64"},
      {with_tasks(R"({"id":"a","type":"function","code":"eA==","packages":["--index-url=x"]})"),
       "tasks[0].packages[0]", "is no package"},
      {with_tasks(R"({"id":"a","type":"request","http_method":"get","url":"file:///etc/passwd"})"),
       "tasks[0].url", "http://"},
      {with_tasks(R"({"id":"a","type":"request","http_method":"fly","url":"http://x"})"),
       "tasks[0].http_method", "there are get"},
      {with_tasks(R"({"id":"a","type":"application","image":"x"})"), "tasks[0]", "its command"},
      {with_tasks(R"({"id":"bld","type":"image_build"})"), "tasks[0]", "task \"bld\" builds"},
      {with_tasks(R"({"id":"act","type":"tapis_actor","tapis_actor_id":"x"})"), "tasks[0]",
       "task \"act\" runs"},
      {with_tasks(R"({"id":"a","type":"tapis_job","tapis_job_def":{}})"),
       "tasks[0].tapis_job_def.appId", "is missing"},
      {with_tasks(R"({"id":"a","type":"tapis_job","tapis_job_def":{"appId":"x","parameterSet":)"
                  R"({"appArgs":[{"arg":"; rm"}]}}})"),
       "tasks[0].tapis_job_def.parameterSet.appArgs[0].arg", "none of &"},
      {with_tasks(R"({"id":"a","type":"tapis_job","tapis_job_def":{"appId":"x","parameterSet":)"
                  R"({"envVariables":[{"key":"A=B","value":"x"}]}}})"),
       "tasks[0].tapis_job_def.parameterSet.envVariables[0].key", "no name for a variable"},
      {R"({"id":"a","env":{"A":{"value":")" + std::string(70 << 10, 'x') + R"("}}})", "env.A.value",
       "over 64 KiB"},
      {with_tasks(a + "," + a), "tasks[1].id", "two tasks \"a\""},
      {with_tasks(R"({"id":"abc","depends_on":[{"id":"abd"}],)" + kFunction + "}," +
                  R"({"id":"abe",)" + kFunction + "}"),
       "tasks[0].depends_on[0].id", "there is no task \"abd\"; did you mean"},
      {with_tasks(R"({"id":"b","input":{"X":{"value_from":{"task_output":{"task_id":"a",)"
                  R"("output_id":"O"}}}},)" +
                  kFunction + "}," + a),
       "tasks[0].input.X.value_from.task_output", "does not depend on a task \"a\""},
      {with_tasks(R"({"id":"b","depends_on":[{"id":"a"}],"input":{"X":{"value_from":)"
                  R"({"task_output":{"task_id":"a","output_id":"O"}}}},)" +
                  kFunction + "}," + a),
       "tasks[0].input.X.value_from.task_output", "declares no output \"O\""},
      {with_tasks(R"({"id":"b","input":{"X":{"value_from":{"env":"NO"}}},)" + kFunction + "}"),
       "tasks[0].input.X.value_from.env", "has no \"NO\""},
      {with_tasks(R"({"id":"b","conditions":[{"eqq":[1,2]}],)" + kFunction + "}"),
       "tasks[0].conditions[0]", "did you mean eq?"},
      {with_tasks(R"({"id":"b","conditions":[{"eq":[{"env":"K"},"x"]}],)" + kFunction + "}",
                  R"(,"env":{"K":{"value_from":{"secret":{"pk":"k"}}}})"),
       "tasks[0].conditions", "cannot look at a secret"},
  };
  for (const auto& each : cases) {
    const Error error = error_of(each.json);
    EXPECT_EQ(error.field, each.field) << each.json << "\n" << error.message;
    EXPECT_NE(error.message.find(each.words), std::string::npos) << each.json << "\n"
                                                                 << error.message;
  }
}

TEST(TapisPipeline, ACircleIsToldByItsNames) {
  const auto task = [](const std::string& id, const std::string& on) {
    return R"({"id":")" + id + R"(","depends_on":[{"id":")" + on + R"("}],)" + kFunction + "}";
  };
  const Error error = error_of(with_tasks(task("a", "c") + "," + task("b", "a") + "," +
                                          task("c", "b") + "," + task("d", "a")));
  EXPECT_NE(error.message.find("a -> c -> b -> a"), std::string::npos) << error.message;
  EXPECT_NE(error_of(with_tasks(task("x", "x"))).message.find("x -> x"), std::string::npos);
}

TEST(TapisPipeline, AChainMayBeLong) {
  std::string tasks = R"({"id":"t0",)" + kFunction + "}";
  for (int i = 1; i < 5000; ++i)
    tasks = R"({"id":"t)" + std::to_string(i) + R"(","depends_on":[{"id":"t)" +
            std::to_string(i - 1) + R"("}],)" + kFunction + "}," + tasks;
  const auto made = read_pipeline(with_tasks(tasks));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->order.front(), 4999u);
}

TEST(TapisPipeline, ATemplateFillsWhatATaskDoesNotSay) {
  const Templates templates = [](const std::string& name) -> Result<std::string> {
    if (name != "lib") return fail(ErrorCode::not_found, "there is no pipeline " + name);
    return with_tasks(R"({"id":"get","type":"request","http_method":"get","url":"http://x/",)"
                      R"("depends_on":[{"id":"other"}],"output":{"BODY":{"type":"string"}}})");
  };
  const auto uses = [](const std::string& name) {
    return with_tasks(R"({"id":"mine","type":"template","url":"http://y/","uses":{"name":")" +
                      name + R"("}})");
  };
  const auto made = read_pipeline(uses("lib/get"), templates);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->tasks[0].type, "request");
  EXPECT_EQ(made->tasks[0].request.json, R"({"method":"get","url":"http://y/"})");
  EXPECT_TRUE(made->tasks[0].output.contains("BODY"));
  EXPECT_TRUE(made->tasks[0].depends_on.empty());
  const auto untyped =
      read_pipeline(with_tasks(R"({"id":"mine","uses":{"name":"lib/get"}})"), templates);
  ASSERT_TRUE(untyped) << untyped.error().message;
  EXPECT_EQ(untyped->tasks[0].type, "request");
  EXPECT_EQ(error_of(uses("no/get"), templates).message,
            "tasks[0].uses.name: there is no pipeline no");
  EXPECT_NE(error_of(uses("lib/x"), templates).message.find("has no task \"x\""),
            std::string::npos);
  EXPECT_NE(error_of(with_tasks(R"({"id":"a","type":"template","uses":{"name":"x","source":{}}})"),
                     templates)
                .message.find("not fetched from repositories"),
            std::string::npos);
}

TEST(TapisPipeline, ArgumentsAreRead) {
  const auto args = read_args(R"({"N":{"type":"number","value":3},"S":{"value":"x"}})");
  ASSERT_TRUE(args) << args.error().message;
  EXPECT_EQ(args->at("N").source.json, "3");
  const auto odd = read_args(R"({"N":{"type":"number","value":"3"}})");
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().field, "args.N.value");
  EXPECT_FALSE(read_args("[]"));
}

}  // namespace
}  // namespace atl::spec::tapis
