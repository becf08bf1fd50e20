#include "spec/directives.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "base/amount.h"
#include "base/text.h"
#include "core/limits.h"

namespace atl::spec {
namespace {

// Words as a shell would split them, without expansion; a word that begins with # ends the line.
std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote_char = 0;
  for (const char c : line) {
    if (quote_char) {
      if (c == quote_char)
        quote_char = 0;
      else
        *word += c;
    } else if (c == '"' || c == '\'') {
      quote_char = c;
      if (!word) word.emplace();
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (word) words.push_back(std::move(*word));
      word.reset();
    } else {
      if (!word && c == '#') return words;
      if (!word) word.emplace();
      *word += c;
    }
  }
  if (word) words.push_back(std::move(*word));
  return words;
}

struct Option {
  std::string name;  // "time", "t"
  bool is_short = false;
  std::optional<std::string> value;
};

// Slurm's numbers for one job, put together when all lines are read: cores are tasks times cores
// per task.
struct SlurmAmounts {
  std::optional<int64_t> tasks;
  std::optional<int64_t> cpus_per_task;
  std::optional<int64_t> memory_per_cpu;
};

Result<void> not_a(std::string_view what, std::string_view value) {
  return fail(ErrorCode::invalid, quote(value) + " is not " + std::string(what));
}

Result<void> slurm_count(std::string_view value, std::optional<int64_t>& out) {
  const auto n = parse_int(value);
  if (!n || *n < 1 || *n > 1'000'000) return not_a("a count", value);
  out = *n;
  return {};
}

// Slurm counts memory in MiB and its K, M, G, T are binary.
Result<int64_t> slurm_memory(std::string_view value) {
  std::string text(value);
  const bool bare = !text.empty() && text.back() >= '0' && text.back() <= '9';
  if (bare)
    text += "Mi";
  else if (!text.empty() && std::string_view("KMGT").find(text.back()) != std::string_view::npos)
    text += 'i';
  auto bytes = parse_bytes(text);
  if (!bytes)
    return fail(ErrorCode::invalid,
                quote(value) + " is not an amount of memory: write 4G or 4000 (MiB)");
  return bytes;
}

Result<void> slurm_time(std::string_view value, JobSpec& spec) {
  const auto minutes_only = parse_int(value);
  if (minutes_only && *minutes_only >= 0 && *minutes_only < 1'000'000'000) {
    spec.time = minutes(*minutes_only);
    return {};
  }
  const auto time = parse_duration(value);
  if (!time) return tl::unexpected(time.error());
  spec.time = *time;
  return {};
}

Result<void> slurm_gpus(std::string_view value, JobSpec& spec) {
  auto devices = parse_gpus(value);
  if (!devices) return tl::unexpected(devices.error());
  spec.gpus = std::string(value);
  return {};
}

Result<void> slurm_gres(std::string_view value, JobSpec& spec) {
  for (const std::string_view part : split(value, ',')) {
    const size_t colon = part.find(':');
    if (part.substr(0, colon) == "gpu") {
      if (auto ok =
              slurm_gpus(colon == std::string_view::npos ? "1" : part.substr(colon + 1), spec);
          !ok)
        return ok;
      continue;
    }
    if (!spec.devices) spec.devices.emplace();
    if (auto ok = shape_of<DeviceSpec>().from_scalar(&spec.devices->emplace_back(), part); !ok)
      return ok;
  }
  return {};
}

Result<void> slurm_dependency(std::string_view value, JobSpec& spec) {
  if (value.find('?') != std::string_view::npos)
    return not_a("a dependency we know (any-of with ? is not supported)", value);
  for (const std::string_view part : split(value, ',')) {
    if (part.find(':') == std::string_view::npos)
      return not_a("a dependency we know (afterok, afterany, afternotok)", part);
  }
  return add_dependencies(value, "after_success", spec);
}

struct SlurmOption {
  const char* name;
  char letter;
  bool takes_value;
  Result<void> (*use)(std::string_view value, JobSpec& spec, SlurmAmounts& amounts);
};

Result<void> use_field(const char* name, std::string_view value, JobSpec& spec) {
  return set_text(*find_field(shape_of<JobSpec>(), name), &spec, value);
}

constexpr std::array kSlurmOptions{
    SlurmOption{"job-name", 'J', true,
                [](auto v, auto& s, auto&) { return use_field("name", v, s); }},
    SlurmOption{"time", 't', true, [](auto v, auto& s, auto&) { return slurm_time(v, s); }},
    SlurmOption{"cpus-per-task", 'c', true,
                [](auto v, auto&, auto& a) { return slurm_count(v, a.cpus_per_task); }},
    SlurmOption{"ntasks", 'n', true,
                [](auto v, auto&, auto& a) { return slurm_count(v, a.tasks); }},
    SlurmOption{"ntasks-per-node", 0, true,
                [](auto v, auto&, auto& a) { return slurm_count(v, a.tasks); }},
    SlurmOption{"mem", 0, true,
                [](auto v, auto& s, auto&) -> Result<void> {
                  const auto bytes = slurm_memory(v);
                  if (!bytes) return tl::unexpected(bytes.error());
                  // All of a node's memory is what Slurm means by 0; here it is the default.
                  return *bytes > 0 ? use_field("memory", std::to_string(*bytes), s)
                                    : Result<void>();
                }},
    SlurmOption{"mem-per-cpu", 0, true,
                [](auto v, auto&, auto& a) -> Result<void> {
                  const auto bytes = slurm_memory(v);
                  if (!bytes) return tl::unexpected(bytes.error());
                  const bool tiny = *bytes > 0 && *bytes < kMemoryBytesMin;
                  if (tiny || *bytes > core::kMemoryBytesMax)
                    return not_a("a reasonable amount of memory", v);
                  if (*bytes > 0) a.memory_per_cpu = *bytes;
                  return {};
                }},
    SlurmOption{"gres", 0, true, [](auto v, auto& s, auto&) { return slurm_gres(v, s); }},
    SlurmOption{"gpus", 'G', true, [](auto v, auto& s, auto&) { return slurm_gpus(v, s); }},
    SlurmOption{"gpus-per-node", 0, true, [](auto v, auto& s, auto&) { return slurm_gpus(v, s); }},
    SlurmOption{"gpus-per-task", 0, true, [](auto v, auto& s, auto&) { return slurm_gpus(v, s); }},
    SlurmOption{"array", 'a', true,
                [](auto v, auto& s, auto&) { return use_field("array", v, s); }},
    SlurmOption{"dependency", 'd', true,
                [](auto v, auto& s, auto&) { return slurm_dependency(v, s); }},
    SlurmOption{"chdir", 'D', true,
                [](auto v, auto& s, auto&) { return use_field("directory", v, s); }},
    SlurmOption{"hold", 'H', false,
                [](auto, auto& s, auto&) -> Result<void> {
                  s.hold = true;
                  return {};
                }},
    SlurmOption{"priority", 0, true,
                [](auto v, auto& s, auto&) { return use_field("priority", v, s); }},
    SlurmOption{"input", 'i', true,
                [](auto v, auto& s, auto&) { return use_field("stdin_file", v, s); }},
    SlurmOption{"mail-user", 0, true,
                [](auto v, auto& s, auto&) -> Result<void> {
                  if (!s.notify) s.notify.emplace();
                  s.notify->mail = std::string(v);
                  return {};
                }},
};

// Slurm's words that have no meaning here but are no mistake; with a value unless marked.
constexpr std::array kSlurmIgnored{"output",
                                   "error",
                                   "partition",
                                   "account",
                                   "qos",
                                   "nodes",
                                   "nodelist",
                                   "exclude",
                                   "constraint",
                                   "mail-type",
                                   "export",
                                   "comment",
                                   "reservation",
                                   "licenses",
                                   "open-mode",
                                   "signal",
                                   "begin",
                                   "deadline",
                                   "nice",
                                   "switches",
                                   "profile",
                                   "tmp",
                                   "threads-per-core",
                                   "hint",
                                   "mem-bind",
                                   "cpu-freq",
                                   "distribution",
                                   "time-min",
                                   "cluster-constraint",
                                   "clusters",
                                   "wckey",
                                   "tasks-per-node",
                                   "sockets-per-node",
                                   "cores-per-socket"};
constexpr std::array kSlurmIgnoredFlags{
    "requeue",    "no-requeue",    "exclusive",    "oversubscribe", "overcommit",
    "parsable",   "verbose",       "quiet",        "wait",          "contiguous",
    "spread-job", "use-min-nodes", "get-user-env", "ignore-pbs",    "kill-on-invalid-dep"};
struct Letter {
  char letter;
  const char* name;
};
constexpr std::array kSlurmIgnoredLetters{Letter{'o', "output"},     Letter{'e', "error"},
                                          Letter{'p', "partition"},  Letter{'A', "account"},
                                          Letter{'q', "qos"},        Letter{'N', "nodes"},
                                          Letter{'w', "nodelist"},   Letter{'x', "exclude"},
                                          Letter{'C', "constraint"}, Letter{'b', "begin"}};

// How much of an ask only the place of submission can answer.
size_t wishes_of_the_place(const JobAsk& ask) {
  return size_t{ask.env_all} + size_t{ask.stdin_here} + ask.env_names.size() +
         size_t{!ask.key.empty()};
}

class Reader {
 public:
  explicit Reader(Place place) : place_(place) {}

  Result<void> line(std::string_view text, size_t number) {
    number_ = number;
    const bool slurm = text.starts_with("#SBATCH");
    text.remove_prefix(slurm ? 7 : 6);
    if (!text.empty() && text.front() != ' ' && text.front() != '\t')
      return {};  // "#ATOLLS are islands"
    words_ = split_words(text);
    for (at_ = 0; at_ < words_.size();) {
      const std::string word = words_[at_++];
      const Result<void> ok = take(word, slurm);
      if (!ok)
        return fail(ErrorCode::invalid,
                    "line " + std::to_string(number) + ": " + word + ": " + ok.error().message,
                    ok.error().field);
    }
    return {};
  }

  Directives finish() {
    JobSpec& spec = result_.spec;
    const int64_t cores = amounts_.tasks.value_or(1) * amounts_.cpus_per_task.value_or(1);
    if (amounts_.tasks || amounts_.cpus_per_task) spec.cpus = Cpus{cores * 1000};
    if (amounts_.memory_per_cpu && !spec.memory)
      spec.memory =
          Bytes{std::min(*amounts_.memory_per_cpu, core::kMemoryBytesMax / cores) * cores};
    return std::move(result_);
  }

 private:
  Result<void> take(const std::string& word, bool slurm) {
    if (!word.starts_with('-') || word.size() < 2) {
      warn("this is not an option: " + quote(word));
      return {};
    }
    Option option;
    option.is_short = word[1] != '-';
    if (option.is_short) {
      option.name = word.substr(1, 1);
      if (word.size() > 2) option.value = word.substr(word[2] == '=' ? 3 : 2);
    } else {
      const size_t equals = word.find('=');
      option.name = word.substr(2, equals == std::string::npos ? std::string::npos : equals - 2);
      if (equals != std::string::npos) option.value = word.substr(equals + 1);
    }
    return slurm ? take_slurm(option, word) : take_own(option, word);
  }

  Result<void> take_own(const Option& option, const std::string& word) {
    const JobFlag* flag = find_job_flag(option.name);
    if (!flag) return take_slurm(option, word);
    const auto value =
        flag->metavar ? value_of(option) : Result<std::string>(option.value.value_or("true"));
    if (!value) return tl::unexpected(value.error());
    const size_t before = wishes_of_the_place(result_);
    if (auto ok = use_job_flag(*flag, result_, *value); !ok) return ok;
    if (place_ == Place::server && wishes_of_the_place(result_) > before)
      warn(word + " has a meaning only where `atoll submit` reads the script");
    return {};
  }

  Result<void> take_slurm(const Option& option, const std::string& word) {
    for (const SlurmOption& known : kSlurmOptions) {
      const bool same = option.is_short ? known.letter && option.name[0] == known.letter
                                        : option.name == known.name;
      if (!same) continue;
      if (!known.takes_value) return known.use("", result_.spec, amounts_);
      const auto value = value_of(option);
      if (!value) return tl::unexpected(value.error());
      return known.use(*value, result_.spec, amounts_);
    }
    ignore(option, word);
    return {};
  }

  // Also steps over the value of an option that is known to have one.
  void ignore(const Option& option, const std::string& word) {
    std::string name = option.name;
    for (const Letter& each : kSlurmIgnoredLetters) {
      if (option.is_short && option.name[0] == each.letter) name = each.name;
    }
    const auto is = [&](const char* known) { return name == known; };
    const bool valued = std::any_of(kSlurmIgnored.begin(), kSlurmIgnored.end(), is);
    const bool flag = std::any_of(kSlurmIgnoredFlags.begin(), kSlurmIgnoredFlags.end(), is);
    if (valued && !option.value && at_ < words_.size() && !words_[at_].starts_with('-')) ++at_;
    if (valued || flag) return warn("--" + name + " has no meaning here and is ignored");
    if (!option.value && at_ < words_.size() && !words_[at_].starts_with('-')) ++at_;
    std::vector<std::string> names;
    for (const SlurmOption& known : kSlurmOptions) names.emplace_back(known.name);
    for (const JobFlag& own : job_flags()) names.emplace_back(own.name);
    const auto near = option.is_short ? std::nullopt : did_you_mean(name, names);
    warn("unknown option " + quote(word) + (near ? "; did you mean --" + *near + "?" : ""));
  }

  Result<std::string> value_of(const Option& option) {
    if (option.value) return *option.value;
    if (at_ < words_.size()) return words_[at_++];
    return fail(ErrorCode::invalid, "the value is missing");
  }

  void warn(std::string message) {
    if (result_.warnings.size() < kDirectiveWarningsMax)
      result_.warnings.push_back({number_, std::move(message)});
  }

  const Place place_;
  Directives result_;
  SlurmAmounts amounts_;
  size_t number_ = 0;
  std::vector<std::string> words_;
  size_t at_ = 0;
};

}  // namespace

Result<Directives> read_directives(std::string_view script, Place place) {
  Reader reader(place);
  script = script.substr(0, kDirectiveBlockMax);
  for (size_t number = 1; !script.empty(); ++number) {
    const size_t end = script.find('\n');
    const std::string_view line = script.substr(0, end);
    script.remove_prefix(end == std::string_view::npos ? script.size() : end + 1);
    if (!trim(line).empty() && !line.starts_with('#')) break;
    if (!line.starts_with("#ATOLL") && !line.starts_with("#SBATCH")) continue;
    if (auto ok = reader.line(line, number); !ok) return tl::unexpected(ok.error());
  }
  return reader.finish();
}

}  // namespace atl::spec
