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

std::string flag_names(const char* name, char letter) {
  const std::string word = std::string("--") + name;
  return letter ? std::string("-") + letter + "," + word : word;
}

// "Cores per task (1)": the sentence, the words it can be, and what is meant when the flag is not
// given.
std::string flag_help(const spec::JobFlag& flag) {
  std::string help = flag.sentence;
  if (help.ends_with('.')) help.pop_back();
  if (flag.field && !flag.field->choices.empty()) {
    std::string words;
    for (const char* word : flag.field->choices)
      words += (words.empty() ? "" : ", ") + std::string(word);
    help += "; one of " + words;
  }
  std::string fallback = flag.fallback ? flag.fallback : "";
  std::erase(fallback, '"');
  return fallback.empty() || fallback == "false" ? help : help + " (" + fallback + ")";
}

using Setter = std::function<Result<void>(const std::string& text)>;

void add_flag(CLI::App* verb, const spec::JobFlag& flag, Setter set) {
  const auto set_or_throw = [set = std::move(set), name = flag.name](const std::string& text) {
    const auto done = set(text);
    if (!done) throw CLI::ValidationError(std::string("--") + name, done.error().message);
  };
  const std::string names = flag_names(flag.name, flag.letter);
  const std::string help = flag_help(flag);
  CLI::Option* option =
      flag.metavar ? verb->add_option_function<std::string>(names, set_or_throw, help)
                         ->trigger_on_parse()
                         ->type_name(flag.metavar)
                   : verb->add_flag_function(
                         names, [set_or_throw](std::int64_t) { set_or_throw("true"); }, help);
  if (flag.hidden) option->group("");
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

// What is said already stays as it is.
void add_whole_environment(const std::vector<std::string>& variables, spec::JobSpec& job) {
  if (!job.env) job.env.emplace();
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = variable.substr(0, equals);
    if (!stays_here(name) && spec::check_variable_name(name) && valid_utf8(variable))
      job.env->emplace(name, variable.substr(equals + 1));
  }
}

// --env NAME takes the value from here.
Result<void> add_variable(const std::string& name, const Surroundings& here, spec::JobSpec& job) {
  const std::string begin = name + "=";
  for (const std::string& variable : here.variables) {
    if (!variable.starts_with(begin)) continue;
    if (!job.env) job.env.emplace();
    (*job.env)[name] = variable.substr(begin.size());
    return {};
  }
  return fail(ErrorCode::invalid, "--env: " + quote(name) + " is not set here: write NAME=VALUE",
              "env");
}

// Lays what flags or directives said over what is there.
Result<void> lay(const spec::JobAsk& ask, const Surroundings& here, JobDraft& draft) {
  spec::overlay(draft.spec, ask.spec);
  for (const std::string& name : ask.env_names) {
    if (auto ok = add_variable(name, here, draft.spec); !ok) return ok;
  }
  if (ask.spec.stdin_file) draft.stdin_here = false;
  if (ask.stdin_here) draft.stdin_here = true;
  draft.env_all = draft.env_all || ask.env_all;
  if (!ask.key.empty()) draft.key = ask.key;
  return {};
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
  auto directives = spec::read_directives(*text, spec::Place::command_line);
  if (!directives) {
    return fail(ErrorCode::invalid, path + ": " + directives.error().message,
                directives.error().field);
  }
  if (auto ok = lay(*directives, here, draft); !ok)
    return fail(ErrorCode::invalid, path + ": " + ok.error().message, ok.error().field);
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

Result<void> take_stdin(const Surroundings& here, spec::JobSpec& job) {
  auto text = here.read_stdin(kStdinMax);
  if (!text) return tl::unexpected(text.error());
  if (!valid_utf8(*text) || text->find('\0') != std::string::npos) {
    return fail(ErrorCode::invalid,
                "standard input is not text: put it in a file, and write --stdin FILE");
  }
  job.stdin_file.reset();
  job.stdin_text = std::move(*text);
  return {};
}

// "after_end:last,12" with that job in the place of `last`; everything else stays, so that what is
// malformed is refused as it was written.
std::string with_last(std::string_view text, const std::string& id) {
  std::string out;
  while (true) {
    const std::size_t end = std::min(text.find_first_of(",:"), text.size());
    const std::string_view word = text.substr(0, end);
    out += word == "last" ? id : word;
    if (end == text.size()) return out;
    out += text[end];
    text.remove_prefix(end + 1);
  }
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

void add_table_flags(CLI::App* verb, const spec::Shape& shape, void* object) {
  for (const spec::Field& field : shape.fields) {
    if (!field.flag) continue;
    const bool alone = field.kind == spec::Kind::boolean;
    add_flag(
        verb,
        {.name = field.flag,
         .letter = field.letter,
         .metavar = alone           ? nullptr
                    : field.metavar ? field.metavar
                                    : "VALUE",
         .sentence = field.sentence,
         .fallback = field.fallback,
         .field = &field},
        [&field, object](const std::string& text) { return spec::set_text(field, object, text); });
  }
}

void add_job_flags(CLI::App* verb, JobFlags& flags) {
  for (const spec::JobFlag& flag : spec::job_flags()) {
    add_flag(verb, flag, [&flag, &flags](const std::string& text) -> Result<void> {
      const bool after = std::string_view(flag.name).starts_with("after");
      if (!after || with_last(text, "1") == text) return spec::use_job_flag(flag, flags.ask, text);
      flags.after_last.emplace_back(&flag, text);
      return {};
    });
  }
  // Where the command line fills in more than the API does.
  verb->get_option("--dir")->description("Where it runs (the current directory)");
  verb->get_option("--ns")->description("The namespace it belongs to (the context's, or your own)");
  verb->get_option("--name")->description(
      "What people see in lists (the script's or command's name)");
  verb->get_option("--env")->description(
      "Environment variable; without =V, its value here. Repeatable");
  verb->get_option("--retries")->description("How often it may fail and be tried again (0)");
  verb->get_option("--retry-on-timeout")->description("Retry also when it ran out of time");
  verb->get_option("--after")->description(
      "Only after that job (12, last) succeeded; after_end:ID ended, after_failure:ID failed");
}

Result<void> use_last(JobFlags& flags, const std::string& id) {
  for (const auto& [flag, text] : flags.after_last) {
    if (auto ok = spec::use_job_flag(*flag, flags.ask, with_last(text, id)); !ok) return ok;
  }
  flags.after_last.clear();
  return {};
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
  if (auto ok = take_words(flags, here, draft); !ok) return tl::unexpected(ok.error());
  if (auto ok = lay(flags.ask, here, draft); !ok) return tl::unexpected(ok.error());
  if (draft.env_all) add_whole_environment(here.variables, draft.spec);
  if (draft.stdin_here) {
    if (auto ok = take_stdin(here, draft.spec); !ok) return tl::unexpected(ok.error());
  }
  make_paths_absolute(draft.spec, here.directory);
  // The server checks the same; said here, --dry-run tells it too.
  if (auto ok = spec::to_submission(draft.spec); !ok) return tl::unexpected(ok.error());
  return draft;
}

}  // namespace atl::cli
