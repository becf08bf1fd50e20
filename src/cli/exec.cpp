// exec: a command in the place of a running task.
#include <openssl/evp.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <iterator>

#include "base/time.h"
#include "cli/exit.h"
#include "cli/log_stream.h"
#include "cli/selectors.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

constexpr Duration kExecMax = minutes(10);  // the server's own limit
constexpr std::chrono::minutes kPatience{11};

struct ExecFlags {
  std::string id;
  std::vector<std::string> command;
  std::string timeout;
  bool stdin_too = false;
};

std::string body_of(const ExecFlags& flags) {
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().key("command").begin_array();
  for (const std::string& word : flags.command) json.text(word);
  json.end_array();
  if (!flags.timeout.empty()) json.member("timeout", flags.timeout);
  if (flags.stdin_too) {
    const std::string text((std::istreambuf_iterator<char>(std::cin)),
                           std::istreambuf_iterator<char>());
    json.member("stdin", text);
  }
  json.end_object();
  return body;
}

std::string output_of(const Json& answer, const char* name, const char* other) {
  return answer.has(name) ? answer.text(name) : decode_base64(answer.text(other));
}

Result<void> check_timeout(const ExecFlags& flags) {
  if (flags.timeout.empty()) return {};
  const auto span = parse_duration(flags.timeout);
  if (!span) return fail(ErrorCode::invalid, "--timeout: " + span.error().message);
  if (*span > kExecMax) {
    return fail(ErrorCode::invalid, "--timeout " + flags.timeout +
                                        " is too long: a command in a job may take up to 10m; "
                                        "submit longer work as a job of its own");
  }
  return {};
}

Result<int> exec(Session& session, const ExecFlags& flags) {
  if (flags.command.empty())
    return fail(ErrorCode::invalid, "say what to run: atoll exec " + flags.id + " -- COMMAND…");
  if (auto ok = check_timeout(flags); !ok) return tl::unexpected(ok.error());
  auto id = one_job(session, flags.id);
  if (!id) return tl::unexpected(id.error());
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  http::Call call{.method = "POST", .target = job_path(*id) + "/exec"};
  call.headers.set("Content-Type", "application/json");
  call.body = body_of(flags);
  call.timeout = kPatience;
  const auto response = (*api)->send(std::move(call));
  if (!response) {
    session.say("atoll: " + response.error().message);
    return launcher_exit_code(response.error());
  }
  const auto answer = Json::parse(response->body);
  if (!answer) return tl::unexpected(answer.error());
  if (!session.for_people()) {
    session.out << (session.globals.format == Format::json ? answer->pretty()
                                                           : answer->compact() + "\n");
  } else {
    session.out << output_of(*answer, "stdout", "stdout_base64") << std::flush;
    session.err << output_of(*answer, "stderr", "stderr_base64") << std::flush;
  }
  return static_cast<int>((*answer)["exit_code"].integer(kExitLauncher));
}

}  // namespace

void add_exec_verb(Verbs& verbs) {
  auto flags = std::make_shared<ExecFlags>();
  CLI::App* verb = verbs.add(nullptr, "exec", "Run a command in the place of a running job",
                             "atoll exec 12 -- nvidia-smi\natoll exec 12[7] -- ls -l",
                             [flags](Session& session) { return exec(session, *flags); });
  verb->add_option("ID", flags->id, "12, 12[7] or last")->required();
  verb->add_flag("-i,--stdin", flags->stdin_too, "Give it our standard input");
  verb->add_option("--timeout", flags->timeout,
                   "How long it may take, up to 10m (1m); exit code 124 after it")
      ->type_name("DURATION");
  verbs.set_tail(verb, {.before = 1, .words = &flags->command}, "-- COMMAND…");
}

}  // namespace atl::cli
