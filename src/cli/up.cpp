// up and down: the server on this machine.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <ostream>
#include <thread>

#include "cli/display.h"
#include "cli/exit.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kShowProgressAfter{2'000};
constexpr milliseconds kStopPatience{60'000};
constexpr std::size_t kLogLines = 20;

struct UpFlags {
  bool foreground = false;
  std::string config;
  std::string listen;
  std::string timeout = "2m";  // replaying a long journal takes seconds
};

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

// The API of the server on the home's own socket, whatever context is current.
Result<Api> local_api(const std::string& home) {
  Target target;
  target.home = home;
  target.url = "unix:" + home + "/atoll.sock";
  target.local = true;
  return Api::open(target);
}

// Whether a server answers there, and what keeps it from taking work, if anything does.
struct Answer {
  bool up = false;
  std::string trouble;
};

Answer ask(const std::string& home) {
  auto api = local_api(home);
  if (!api) return {};
  const auto ready =
      api->send({.method = "GET", .target = "//readyz", .timeout = milliseconds(2'000)});
  if (ready) return {true, ""};
  const bool answers =
      api->send({.method = "GET", .target = "//healthz", .timeout = milliseconds(2'000)})
          .has_value();
  return {answers, answers ? ready.error().message : ""};
}

// The addresses it says it serves over TCP.
std::vector<std::string> tcp_urls(const std::string& home) {
  std::vector<std::string> urls;
  auto api = local_api(home);
  if (!api) return urls;
  const auto version = api->get("//version");
  if (!version) return urls;
  for (const Json& url : list_of((*version)["listen"])) urls.push_back(url.text());
  return urls;
}

std::vector<std::string> server_args(const UpOptions& options) {
  std::vector<std::string> args{"atoll", "up", "--foreground", "--home", options.home};
  if (!options.config.empty()) args.insert(args.end(), {"--config", options.config});
  if (!options.listen.empty()) args.insert(args.end(), {"--listen", options.listen});
  return args;
}

// The server's own exit code, after the end of its log.
int tell_death(Session& session, const std::string& log, off_t from, int status) {
  const std::string end = log_end(log, from, kLogLines);
  session.say(
      "atoll: the server ended before it was ready" +
      (end.empty() ? "; its log, " + log + ", says nothing" : "; the end of " + log + ":\n" + end));
  return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : kExitFailure;
}

Result<int> wait_until_ready(Session& session, const UpOptions& options, const Spawned& server,
                             Duration timeout) {
  const std::string log = options.home + "/server.log";
  StatusLine status(session.terminal);
  const auto begun = Clock::now();
  while (!ask(options.home).up) {
    const auto passed = std::chrono::duration_cast<milliseconds>(Clock::now() - begun);
    int how = 0;
    if (has_ended(server.pid, how)) {
      status.clear();
      return tell_death(session, log, server.log_start, how);
    }
    if (passed > std::chrono::microseconds(timeout.us)) {
      status.clear();
      session.say("the server (process " + std::to_string(server.pid) + ") is not ready after " +
                  format_duration(timeout) + " and goes on trying; its log is " + log);
      return kExitTimeout;
    }
    if (passed > kShowProgressAfter) {
      status.show("starting the server … " + std::to_string(passed.count() / 1000) +
                  " s (log: " + log + ")");
    }
    std::this_thread::sleep_for(milliseconds(20));
  }
  return kExitOk;
}

Json server_document(const std::string& home, const std::vector<std::string>& urls, bool started) {
  std::string text;
  spec::JsonWriter json(text);
  const std::string socket = "unix:" + home + "/atoll.sock";
  json.begin_object().member("url", urls.empty() ? socket : urls.front());
  json.member("socket", socket).key("listen").begin_array();
  for (const std::string& url : urls) json.text(url);
  json.end_array().member("pid", std::int64_t{server_pid(home)}).member("home", home);
  json.member("started", started).end_object();
  return Json::parse(text).value_or(Json());
}

// `started` is false for a server that ran before.
void greet(Session& session, bool started, const std::string& home) {
  const std::vector<std::string> urls = tcp_urls(home);
  print_one(session, server_document(home, urls, started), "url", [&] {
    std::string where = home + "/atoll.sock";
    for (const std::string& url : urls) where += " and " + url;
    const pid_t pid = server_pid(home);
    const std::string process =
        pid == 0 ? " under another account" : " (process " + std::to_string(pid) + ")";
    return paint("●", Color::good, session.terminal.color) +
           (started ? " running" : " already running") + process + ", listening on " +
           printable(where) + "\n";
  });
  if (const std::string trouble = ask(home).trouble; !trouble.empty()) session.warn(trouble);
}

// The part of a path that is there and is no directory; empty when there is none.
std::string in_the_way(const std::filesystem::path& path) {
  std::error_code error;
  for (std::filesystem::path at = path; at.has_relative_path(); at = at.parent_path()) {
    using std::filesystem::file_type;
    const file_type kind = std::filesystem::status(at, error).type();
    if (kind == file_type::directory) return {};
    if (kind != file_type::not_found && kind != file_type::none) return at.string();
  }
  return {};
}

Result<void> make_home(const std::string& home) {
  std::error_code error;
  if (std::filesystem::create_directories(home, error)) {
    // Payloads and tokens are nobody else's business; but the accounts of the machine pass through
    // root's directory to the socket.
    using std::filesystem::perms;
    const perms pass = ::getuid() == 0 ? perms::group_exec | perms::others_exec : perms::none;
    std::filesystem::permissions(home, perms::owner_all | pass, error);
  }
  if (!error) return {};
  // Trying again helps against a full disk, and nothing else.
  const bool full = error == std::errc::no_space_on_device;
  const std::string file = in_the_way(home);
  return fail(full ? ErrorCode::unavailable : ErrorCode::conflict,
              "cannot make the data directory " + home + ": " +
                  (file.empty() ? error.message() : file + " is not a directory") +
                  (full ? "" : "; name another with --home"));
}

Result<int> up(Session& session, const UpFlags& flags) {
  const auto target = session.target();
  if (!target) return tl::unexpected(target.error());
  const auto timeout = parse_duration(flags.timeout);
  if (!timeout) return fail(ErrorCode::invalid, "--timeout: " + timeout.error().message);
  const UpOptions options{target->home, absolute(flags.config), flags.listen};
  if (flags.foreground) {
    if (!session.hooks.serve) return fail(ErrorCode::internal, "this program has no server in it");
    return session.hooks.serve(options);
  }
  if (ask(options.home).up) {
    greet(session, false, options.home);
    for (const auto& [flag, value] :
         {std::pair("--listen", flags.listen), std::pair("--config", flags.config)}) {
      if (!value.empty()) {
        session.warn(std::string(flag) + " " + value +
                     " is ignored, since the server runs already: `atoll down` first");
      }
    }
    return kExitOk;
  }
  if (auto made = make_home(options.home); !made) return tl::unexpected(made.error());
  const auto server = spawn_detached(server_args(options), options.home + "/server.log");
  if (!server) return tl::unexpected(server.error());
  auto ready = wait_until_ready(session, options, *server, *timeout);
  if (ready && *ready == kExitOk) greet(session, true, options.home);
  return ready;
}

// `pid` is zero when there was no server to stop.
Json stopped_document(const std::string& home, pid_t pid) {
  std::string text;
  spec::JsonWriter json(text);
  json.begin_object().member("home", home).key("pid");
  pid == 0 ? json.null() : json.number(std::int64_t{pid});
  json.member("stopped", pid != 0).end_object();
  return Json::parse(text).value_or(Json());
}

Result<int> down(Session& session) {
  const auto target = session.target();
  if (!target) return tl::unexpected(target.error());
  const pid_t pid = server_pid(target->home);
  // Only its own account may read who holds the lock.
  if (pid == 0 && ask(target->home).up) {
    return fail(ErrorCode::forbidden, "the server on " + target->home +
                                          " belongs to another account, which alone can stop it");
  }
  if (pid == 0) {
    if (session.for_people())
      session.say("no server is running on " + target->home);
    else
      print_one(session, stopped_document(target->home, 0), "home", [] { return std::string(); });
    return kExitOk;
  }
  StatusLine status(session.terminal);
  auto stopped = stop_server(target->home, pid, kStopPatience, [&](milliseconds passed) {
    if (passed > kShowProgressAfter) {
      status.show("stopping the server … " + std::to_string(passed.count() / 1000) + " s");
    }
  });
  status.clear();
  if (!stopped) return tl::unexpected(stopped.error());
  print_one(session, stopped_document(target->home, pid), "home", [] {
    return std::string("stopped; work that was running goes on, and `atoll up` finds it again\n");
  });
  return kExitOk;
}

}  // namespace

void add_server_verbs(Verbs& verbs) {
  auto flags = std::make_shared<UpFlags>();
  CLI::App* verb = verbs.add(nullptr, "up", "Start the server on this machine",
                             "atoll up\n"
                             "atoll up --home /srv/atoll --listen 127.0.0.1:8080\n"
                             "atoll up --foreground          under systemd",
                             [flags](Session& session) { return up(session, *flags); });
  verb->add_flag("--foreground", flags->foreground, "Stay in the foreground, as systemd expects");
  verb->add_option("--config", flags->config, "Configuration file (HOME/atoll.yaml)")
      ->type_name("FILE");
  verb->add_option("--listen", flags->listen, "TCP address, overruling the configuration")
      ->type_name("HOST:PORT");
  verb->add_option("--timeout", flags->timeout, "How long to wait until it is ready (2m)")
      ->type_name("DURATION");
  verbs.add(nullptr, "down", "Stop the server; work that runs goes on", "atoll down", down);
}

}  // namespace atl::cli
