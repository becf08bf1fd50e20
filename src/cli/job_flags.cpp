#include "cli/job_flags.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/text.h"

extern char** environ;

namespace atl::cli {
namespace {

constexpr std::size_t kStdinMax = 1 << 20;  // of the text field in the job's table

std::string flag_names(const spec::Field& field) {
  const std::string word = std::string("--") + field.flag;
  return field.letter ? std::string("-") + field.letter + "," + word : word;
}

// "Cores per task. (1)": the sentence, and what is meant when the flag is not given.
std::string flag_help(const spec::Field& field) {
  std::string help = field.sentence;
  if (help.ends_with('.')) help.pop_back();
  std::string fallback = field.fallback ? field.fallback : "";
  std::erase(fallback, '"');
  return fallback.empty() || fallback == "false" ? help : help + " (" + fallback + ")";
}

void set_or_throw(const spec::Field& field, void* object, const std::string& text) {
  const auto set = spec::set_text(field, object, text);
  if (!set) throw CLI::ValidationError(std::string("--") + field.flag, set.error().message);
}

// --env NAME takes the value from here.
std::string with_value(const std::string& text) {
  if (text.find('=') != std::string::npos) return text;
  const char* value = std::getenv(text.c_str());
  if (!value)
    throw CLI::ValidationError("--env", quote(text) + " is not set here: write NAME=VALUE");
  return text + "=" + value;
}

void add_table_flag(CLI::App* verb, const spec::Field& field, void* object) {
  if (field.kind == spec::Kind::boolean) {
    verb->add_flag_function(
        flag_names(field), [&field, object](std::int64_t) { set_or_throw(field, object, "true"); },
        flag_help(field));
    return;
  }
  const bool environment = std::string_view(field.name) == "env";
  verb->add_option_function<std::string>(
          flag_names(field),
          [&field, object, environment](const std::string& text) {
            set_or_throw(field, object, environment ? with_value(text) : text);
          },
          flag_help(field))
      ->trigger_on_parse()
      ->type_name(field.metavar ? field.metavar : "VALUE");
}

void add_dependency_flag(CLI::App* verb, JobFlags& flags, const char* name, const char* kind,
                         const char* sentence) {
  verb->add_option_function<std::string>(
          name,
          [&flags, name, kind](const std::string& text) {
            for (const std::string_view id : split(text, ',')) {
              const auto number = parse_int(id);
              if (!number || *number <= 0) {
                throw CLI::ValidationError(name, quote(id) + " is not the id of a job");
              }
              if (!flags.spec.after) flags.spec.after.emplace();
              flags.spec.after->push_back({.job = std::string(id), .kind = std::string(kind)});
            }
          },
          sentence)
      ->trigger_on_parse()
      ->type_name("ID");
}

Result<std::string> read_all(int fd, std::size_t max, const std::string& name) {
  std::string bytes;
  char piece[65536];
  while (true) {
    const ssize_t got = ::read(fd, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return fail(ErrorCode::invalid, "cannot read " + name + ": " + std::strerror(errno));
    if (got == 0) return bytes;
    bytes.append(piece, static_cast<std::size_t>(got));
    if (bytes.size() > max) {
      return fail(ErrorCode::too_large, name + " is larger than " + std::to_string(max) + " bytes");
    }
  }
}

Result<std::string> read_file(const std::string& path, std::size_t max) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail(ErrorCode::not_found, "cannot read " + quote(path) + ": " + std::strerror(errno));
  struct stat info{};
  const bool folder = ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
  auto bytes = folder ? fail(ErrorCode::invalid, quote(path) + " is a directory")
                      : read_all(fd, max, quote(path));
  ::close(fd);
  return bytes;
}

std::string absolute(const std::string& path, const std::string& directory) {
  std::string full = (std::filesystem::path(directory) / path).lexically_normal().string();
  if (full.size() > 1 && full.ends_with('/')) full.pop_back();
  return full;
}

// Variables that describe this very shell, or would hand the job our own credentials.
bool stays_here(std::string_view name) {
  return name == "_" || name == "PWD" || name == "OLDPWD" || name == "SHLVL" ||
         name.starts_with("ATOLL_");
}

std::map<std::string, std::string> whole_environment(const std::vector<std::string>& variables) {
  std::map<std::string, std::string> all;
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const std::string name = variable.substr(0, equals);
    if (!stays_here(name) && valid_utf8(variable)) all[name] = variable.substr(equals + 1);
  }
  return all;
}

Result<void> check_script(const std::string& text, const std::string& path) {
  const auto as_command = "; to run it as it is, write -- " + path;
  if (text.starts_with("\x7f"
                       "ELF")) {
    return fail(ErrorCode::invalid, quote(path) + " is a program, not a script" + as_command);
  }
  if (!text.starts_with("#!")) {
    return fail(ErrorCode::invalid, quote(path) +
                                        " does not say which program reads it: begin it with "
                                        "a line such as #!/bin/sh, or write -- sh " +
                                        path);
  }
  return {};
}

// The script's text, arguments and directives.
Result<void> take_script(const JobFlags& flags, const Surroundings& here, JobDraft& draft) {
  const std::string& path = flags.words.front();
  auto text = here.read_file(path, static_cast<std::size_t>(spec::kScriptBytesMax));
  if (!text) {
    Error error = text.error();
    if (error.code == ErrorCode::not_found) error.message += "; to run a command, write -- " + path;
    error.code = ErrorCode::invalid;
    return tl::unexpected(std::move(error));
  }
  if (auto ok = check_script(*text, path); !ok) return ok;
  auto directives = spec::read_directives(*text);
  if (!directives) {
    return fail(ErrorCode::invalid, path + ": " + directives.error().message,
                directives.error().field);
  }
  spec::overlay(draft.spec, directives->spec);
  draft.warnings = std::move(directives->warnings);
  draft.script_name = path;
  draft.spec.script = std::move(*text);
  if (flags.words.size() > 1) draft.spec.args.emplace(flags.words.begin() + 1, flags.words.end());
  if (!draft.spec.name) draft.spec.name = std::filesystem::path(path).filename().string();
  return {};
}

Result<void> take_words(const JobFlags& flags, const Surroundings& here, JobDraft& draft) {
  if (flags.words.empty()) {
    return fail(ErrorCode::invalid, "say what to run: a SCRIPT, or -- COMMAND…");
  }
  if (!flags.is_command) return take_script(flags, here, draft);
  draft.spec.command = flags.words;
  return {};
}

Result<void> take_stdin(const JobFlags& flags, const Surroundings& here, spec::JobSpec& job) {
  if (flags.stdin_source.empty()) return {};
  if (flags.stdin_source != "-") {
    job.stdin_file = flags.stdin_source;
    return {};
  }
  auto text = here.read_stdin(kStdinMax);
  if (!text) return tl::unexpected(text.error());
  if (!valid_utf8(*text) || text->find('\0') != std::string::npos) {
    return fail(ErrorCode::invalid,
                "standard input is not text: put it in a file, and write --stdin FILE");
  }
  job.stdin_text = std::move(*text);
  return {};
}

void make_paths_absolute(spec::JobSpec& job, const std::string& directory) {
  job.directory = absolute(job.directory.value_or("."), directory);
  if (job.stdin_file) job.stdin_file = absolute(*job.stdin_file, directory);
  if (job.venv) job.venv = absolute(*job.venv, directory);
  if (job.writable) {
    for (std::string& path : *job.writable) path = absolute(path, directory);
  }
}

}  // namespace

void add_table_flags(CLI::App* verb, const spec::Shape& shape, void* object,
                     const std::vector<std::string>& skip) {
  for (const spec::Field& field : shape.fields) {
    const bool skipped = std::find(skip.begin(), skip.end(), field.name) != skip.end();
    if (field.flag && !skipped) add_table_flag(verb, field, object);
  }
}

void add_job_flags(CLI::App* verb, JobFlags& flags) {
  add_table_flags(verb, spec::shape_of<spec::JobSpec>(), &flags.spec,
                  {"network", "stdin_file", "after"});
  // Where the command line fills in more than the API does.
  verb->get_option("--dir")->description("Where it runs (the current directory)");
  verb->get_option("--ns")->description("The namespace it belongs to (the context's, or your own)");
  verb->get_option("--name")->description(
      "What people see in lists (the script's or command's name)");
  verb->get_option("--env")->description(
      "Environment variable; without =V, its value here. Repeatable");
  verb->get_option("--retries")->description("How often it may fail and be tried again (0)");
  add_dependency_flag(verb, flags, "--after,--after-ok", "after_success",
                      "Only after that job succeeded");
  add_dependency_flag(verb, flags, "--after-any", "after_end",
                      "Only after that job has ended, somehow");
  add_dependency_flag(verb, flags, "--after-fail", "after_failure", "Only after that job failed");
  verb->add_flag("--env-all", flags.env_all, "Take along all environment variables");
  verb->add_option("--stdin", flags.stdin_source, "Standard input: a file there, or - for ours")
      ->type_name("FILE");
  verb->add_flag("--no-network", flags.no_network, "A sandbox without network");
  verb->add_option("--notify", flags.notify, "Tell this URL or mail address when it ends")
      ->type_name("URL|MAIL");
  verb->add_option("--key", flags.key, "Idempotency key: submitting twice makes one job")
      ->type_name("KEY");
}

Surroundings real_surroundings() {
  Surroundings here;
  std::error_code error;
  here.directory = std::filesystem::current_path(error).string();
  for (char** variable = environ; variable && *variable; ++variable)
    here.variables.emplace_back(*variable);
  here.read_file = read_file;
  here.read_stdin = [](std::size_t max) { return read_all(STDIN_FILENO, max, "standard input"); };
  return here;
}

Result<JobDraft> draft_job(const JobFlags& flags, const Surroundings& here) {
  JobDraft draft;
  if (flags.env_all) draft.spec.env = whole_environment(here.variables);
  if (auto ok = take_words(flags, here, draft); !ok) return tl::unexpected(ok.error());
  spec::overlay(draft.spec, flags.spec);
  if (auto ok = take_stdin(flags, here, draft.spec); !ok) return tl::unexpected(ok.error());
  if (flags.no_network) draft.spec.network = false;
  if (!flags.notify.empty()) {
    const bool url = flags.notify.find("://") != std::string::npos;
    draft.spec.notify.emplace();
    (url ? draft.spec.notify->webhook : draft.spec.notify->mail) = flags.notify;
  }
  make_paths_absolute(draft.spec, here.directory);
  return draft;
}

}  // namespace atl::cli
