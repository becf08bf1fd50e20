// From the command line to the JSON that the server takes.
#include "cli/job_flags.h"

#include <gtest/gtest.h>

#include "cli/json.h"

namespace atl::cli {
namespace {

Surroundings here(std::map<std::string, std::string> files = {}, std::string input = "") {
  return {.directory = "/home/ada/exp",
          .variables = {"PATH=/bin", "LANG=C", "ATOLL_TOKEN=secret", "PWD=/x", "_=y"},
          .read_file = [files](const std::string& path, std::size_t) -> Result<std::string> {
            const auto found = files.find(path);
            if (found == files.end())
              return fail(ErrorCode::not_found, "cannot read \"" + path + "\"");
            return found->second;
          },
          .read_stdin = [input](std::size_t) -> Result<std::string> { return input; }};
}

struct Parsed {
  JobFlags flags;
  std::string error;
};

// As `atoll submit ARGS` is parsed.
Parsed parse(std::vector<std::string> args) {
  Parsed parsed;
  Verbs verbs;
  Globals globals;
  add_globals(verbs, globals);
  CLI::App* verb = verbs.add(nullptr, "submit", "", "", {});
  add_job_flags(verb, parsed.flags);
  verbs.set_tail(
      verb, {.before = 0, .words = &parsed.flags.words, .marked = &parsed.flags.is_command}, "");
  args.insert(args.begin(), "submit");
  take_tail(verbs, verbs.root(), args);
  std::reverse(args.begin(), args.end());
  try {
    verbs.root().parse(args);
  } catch (const CLI::ParseError& error) {
    parsed.error = error.what();
  }
  return parsed;
}

std::string json_of(const std::vector<std::string>& args,
                    const Surroundings& surroundings = here()) {
  const Parsed parsed = parse(args);
  if (!parsed.error.empty()) return "usage: " + parsed.error;
  const auto draft = draft_job(parsed.flags, surroundings);
  return draft ? spec::to_json(draft->spec) : "error: " + draft.error().message;
}

TEST(JobFlags, ACommandKeepsItsOwnFlags) {
  EXPECT_EQ(
      json_of({"--cpus", "0.5", "--", "python3", "-c", "print(1)", "--cpus", "9"}),
      R"x({"command":["python3","-c","print(1)","--cpus","9"],"directory":"/home/ada/exp","cpus":0.5})x");
}

TEST(JobFlags, GlobalFlagsMayStandBetween) {
  const Parsed parsed = parse({"-q", "-o", "json", "-c", "2", "--home", "/x", "--", "true"});
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.flags.words, std::vector<std::string>{"true"});
  EXPECT_EQ(parsed.flags.ask.spec.cpus->milli, 2000);
}

TEST(JobFlags, FlagsOverDirectivesOverDefaults) {
  const auto surroundings =
      here({{"job.sh", "#!/bin/sh\n#ATOLL --cpus 2 --mem 2Gi\n#SBATCH --time=10\necho hi\n"}});
  const auto parsed = parse({"--cpus", "4", "job.sh", "--epochs", "3"});
  const auto draft = draft_job(parsed.flags, surroundings).value();
  EXPECT_EQ(draft.spec.cpus->milli, 4000);
  EXPECT_EQ(draft.spec.memory->count, int64_t{2} << 30);
  EXPECT_EQ(draft.spec.time->us, minutes(10).us);
  EXPECT_EQ(draft.spec.args, (std::vector<std::string>{"--epochs", "3"}));
  EXPECT_EQ(draft.spec.name, "job.sh");
  EXPECT_FALSE(draft.spec.command);
}

TEST(JobFlags, AnUnknownDirectiveIsAWarningWithItsLine) {
  const auto draft =
      draft_job(parse({"job.sh"}).flags, here({{"job.sh", "#!/bin/sh\n#ATOLL --cpuss 2\n"}}))
          .value();
  ASSERT_EQ(draft.warnings.size(), 1u);
  EXPECT_EQ(draft.warnings[0].line, 2u);
}

TEST(JobFlags, RepeatedFlagsAddUp) {
  EXPECT_EQ(
      json_of({"-e", "A=1", "-e", "B=x=y", "--label", "m=unet", "--label", "n=2", "--", "true"}),
      R"({"command":["true"],"env":{"A":"1","B":"x=y"},"directory":"/home/ada/exp","labels":{"m":"unet","n":"2"}})");
}

TEST(JobFlags, DependenciesHaveTheirKinds) {
  const std::string json =
      json_of({"--after", "3,4", "--after-any", "5", "--after-fail", "6", "--", "true"});
  const auto after = Json::parse(json).value()["after"].items();
  ASSERT_EQ(after.size(), 4u) << json;
  EXPECT_EQ(after[1].text("job") + after[1].text("kind"), "4after_success");
  EXPECT_EQ(after[2].text("kind"), "after_end");
  EXPECT_EQ(after[3].text("kind"), "after_failure");
  EXPECT_NE(json_of({"--after", "x", "--", "true"}).find("\"x\" is not the id of a job"),
            std::string::npos);
  EXPECT_NE(json_of({"--after", "never:1", "--", "true"}).find("is not one of after_success"),
            std::string::npos);
}

TEST(JobFlags, AfterTakesTheKindInFrontOfTheId) {
  const auto spec = parse({"--after", "1", "--after", "after_end:2,after_failure:3", "--after",
                           "after_success:4", "--after", "afterany:5:6", "--after-ok", "7"})
                        .flags.ask.spec;
  std::string said;
  for (const spec::AfterSpec& one : *spec.after) said += *one.job + *one.kind + " ";
  EXPECT_EQ(said,
            "1after_success 2after_end 3after_failure 4after_success 5after_end 6after_end "
            "7after_success ");
}

TEST(JobFlags, RetriesAndSimulationHaveFlags) {
  EXPECT_EQ(
      json_of({"--retries", "3", "--retry-on", "1,2", "--retry-on", "75", "--backoff", "10s",
               "--backoff-max", "5m", "--retry-on-timeout", "--simulate", "run_for=5s,exit_code=1",
               "--", "true"}),
      R"({"command":["true"],"directory":"/home/ada/exp","retries":{"max":3,"backoff":"10s","backoff_max":"5m","exit_codes":[1,2,75],"on_timeout":true},"simulate":{"run_for":"5s","exit_code":1}})");
  EXPECT_NE(json_of({"--retry-on", "1", "--", "true"}).find("retries.max is missing"),
            std::string::npos);
}

TEST(JobFlags, AScriptMayAskForWhatIsHere) {
  const auto surroundings =
      here({{"job.sh", "#!/bin/sh\n#ATOLL --env-all --env LANG --stdin - --key k1 --no-network\n"}},
           "in\n");
  const Parsed parsed = parse({"-e", "PATH=/x", "job.sh"});
  const auto draft = draft_job(parsed.flags, surroundings).value();
  EXPECT_EQ(draft.spec.env, (std::map<std::string, std::string>{{"LANG", "C"}, {"PATH", "/x"}}));
  EXPECT_EQ(draft.spec.stdin_text, "in\n");
  EXPECT_EQ(draft.spec.network, false);
  EXPECT_EQ(draft.key, "k1");
  const Parsed other = parse({"--key", "k2", "--stdin", "f", "job.sh"});
  const auto over = draft_job(other.flags, surroundings).value();
  EXPECT_EQ(over.key, "k2");
  EXPECT_EQ(over.spec.stdin_file, "/home/ada/exp/f");
  EXPECT_FALSE(over.spec.stdin_text);
}

TEST(JobFlags, EveryFlagReachesItsField) {
  const Json job = Json::parse(json_of({"--name",
                                        "n",
                                        "--ns",
                                        "v",
                                        "--gpus",
                                        "a100:1",
                                        "--time",
                                        "2h",
                                        "--array",
                                        "1-1000%50",
                                        "--priority",
                                        "-5",
                                        "--retries",
                                        "3",
                                        "--dir",
                                        "sub",
                                        "--venv",
                                        "env",
                                        "--hold",
                                        "--keep",
                                        "--stdin",
                                        "in.txt",
                                        "--isolation",
                                        "sandbox",
                                        "--no-network",
                                        "--site",
                                        "local",
                                        "--notify",
                                        "https://x.example/h",
                                        "--grace",
                                        "30s",
                                        "--",
                                        "true"}))
                       .value();
  EXPECT_EQ(job.text("name") + job.text("namespace") + job.text("gpus") + job.text("array"),
            "nva100:11-1000%50");
  EXPECT_EQ(job["priority"].integer(), -5);
  EXPECT_EQ(job["retries"]["max"].integer(), 3);
  EXPECT_EQ(job.text("directory"), "/home/ada/exp/sub");
  EXPECT_EQ(job.text("venv"), "/home/ada/exp/env");
  EXPECT_EQ(job.text("stdin_file"), "/home/ada/exp/in.txt");
  EXPECT_EQ(job.text("isolation") + job.text("site"), "sandboxlocal");
  EXPECT_TRUE(job["hold"].truth() && job["keep"].truth());
  EXPECT_FALSE(job["network"].truth());
  EXPECT_EQ(job["notify"].text("webhook"), "https://x.example/h");
}

TEST(JobFlags, EnvAllTakesTheEnvironmentWithoutOurSecrets) {
  EXPECT_EQ(
      json_of({"--env-all", "-e", "LANG=de", "--", "true"}),
      R"({"command":["true"],"env":{"LANG":"de","PATH":"/bin"},"directory":"/home/ada/exp"})");
}

TEST(JobFlags, StandardInputMayBeOurs) {
  EXPECT_EQ(
      Json::parse(json_of({"--stdin", "-", "--", "cat"}, here({}, "1 2\n"))).value().text("stdin"),
      "1 2\n");
  EXPECT_NE(json_of({"--stdin", "-", "--", "cat"}, here({}, "\xff")).find("not text"),
            std::string::npos);
}

TEST(JobFlags, MistakesSayWhatToWrite) {
  EXPECT_EQ(json_of({}), "error: say what to run: a SCRIPT, or -- COMMAND…");
  EXPECT_NE(json_of({"python3", "train.py"}).find("to run a command, write -- python3"),
            std::string::npos);
  EXPECT_NE(json_of({"a.out"}, here({{"a.out",
                                      "\x7f"
                                      "ELF…"}}))
                .find("is a program"),
            std::string::npos);
  EXPECT_NE(json_of({"x.py"}, here({{"x.py", "print(1)"}})).find("#!/bin/sh"), std::string::npos);
  EXPECT_NE(json_of({"--mem", "lots", "--", "true"}).find("usage: --mem"), std::string::npos);
  EXPECT_NE(json_of({"--env", "NO_SUCH_VARIABLE_X", "--", "true"}).find("is not set here"),
            std::string::npos);
  EXPECT_NE(json_of({"--mem", "0", "--", "true"}).find("must be at least 1Mi"), std::string::npos);
  EXPECT_NE(json_of({"--gpus", "a100:0", "--", "true"}).find("no GPU at all"), std::string::npos);
  EXPECT_NE(json_of({"--env", "1A=3", "--", "true"}).find("\"1A\", which is no name"),
            std::string::npos);
  EXPECT_NE(json_of({"--env", "A\n=c", "--", "true"}).find("\"A\\x0a\", which is no name"),
            std::string::npos);
  EXPECT_NE(json_of({"--dir", "/tmp/\x01", "--", "true"}).find("no control characters"),
            std::string::npos);
  EXPECT_NE(json_of({"--cpus", "-1", "--", "true"}).find("usage: --cpus"), std::string::npos);
}

TEST(JobFlags, OnlyTheWordLastStandsForAJob) {
  Parsed parsed = parse({"--after", "after_end:last,12", "--", "true"});
  ASSERT_EQ(parsed.error, "");
  ASSERT_EQ(parsed.flags.after_last.size(), 1u);
  ASSERT_TRUE(use_last(parsed.flags, "7"));
  const auto draft = draft_job(parsed.flags, here());
  ASSERT_TRUE(draft);
  EXPECT_NE(spec::to_json(draft->spec)
                .find(R"([{"job":"7","kind":"after_end"},{"job":"12","kind":"after_success"}])"),
            std::string::npos)
      << spec::to_json(draft->spec);
  for (const char* malformed : {",7", ":7", "7,", ",", "7,,8"}) {
    const Parsed refused = parse({"--after", malformed, "--", "true"});
    EXPECT_NE(refused.error, "") << malformed;
    EXPECT_TRUE(refused.flags.after_last.empty()) << malformed;
  }
  for (const char* malformed : {",last", ":last", "last,", "last,,8"}) {
    Parsed refused = parse({"--after", malformed, "--", "true"});
    EXPECT_FALSE(refused.error.empty() && use_last(refused.flags, "7")) << malformed;
  }
}

}  // namespace
}  // namespace atl::cli
