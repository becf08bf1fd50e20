#include "spec/job_flags.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace atl::spec {
namespace {

Result<void> use_env(JobAsk& ask, std::string_view value) {
  if (value.find('=') != std::string_view::npos)
    return set_text(*find_field(shape_of<JobSpec>(), "env"), &ask.spec, value);
  if (auto ok = check_variable_name(value); !ok) return ok;
  ask.env_names.emplace_back(value);
  return {};
}

Result<void> use_stdin(JobAsk& ask, std::string_view value) {
  ask.stdin_here = value == "-";
  ask.spec.stdin_file.reset();
  if (ask.stdin_here) return {};
  return set_text(*find_field(shape_of<JobSpec>(), "stdin_file"), &ask.spec, value);
}

Result<void> use_notify(JobAsk& ask, std::string_view value) {
  if (!ask.spec.notify) ask.spec.notify.emplace();
  const char* field = value.find("://") != std::string_view::npos ? "webhook" : "mail";
  return set_text(*find_field(shape_of<NotifySpec>(), field), &*ask.spec.notify, value);
}

// Those that stand for a field of the table take letter, sentence and metavar from there.
const std::array kOwnFlags{
    JobFlag{.name = "env", .use = use_env},
    JobFlag{
        .name = "after",
        .use = [](JobAsk& ask,
                  std::string_view v) { return add_dependencies(v, "after_success", ask.spec); }},
    JobFlag{
        .name = "after-ok",
        .metavar = "ID",
        .sentence = "Only after that job succeeded",
        .use = [](JobAsk& ask,
                  std::string_view v) { return add_dependencies(v, "after_success", ask.spec); }},
    JobFlag{.name = "after-any",
            .metavar = "ID",
            .sentence = "Only after that job has ended, somehow",
            .use = [](JobAsk& ask,
                      std::string_view v) { return add_dependencies(v, "after_end", ask.spec); }},
    JobFlag{
        .name = "after-fail",
        .metavar = "ID",
        .sentence = "Only after that job failed",
        .use = [](JobAsk& ask,
                  std::string_view v) { return add_dependencies(v, "after_failure", ask.spec); }},
    JobFlag{.name = "env-all",
            .sentence = "Take along all environment variables",
            .use = [](JobAsk& ask, std::string_view v) -> Result<void> {
              ask.env_all = v != "false";
              return {};
            }},
    JobFlag{.name = "stdin",
            .metavar = "FILE",
            .sentence = "Standard input: a file there, or - for ours",
            .use = use_stdin},
    JobFlag{.name = "no-network",
            .sentence = "A sandbox without network",
            .use = [](JobAsk& ask, std::string_view v) -> Result<void> {
              ask.spec.network = v == "false";
              return {};
            }},
    JobFlag{.name = "notify",
            .metavar = "URL|MAIL",
            .sentence = "Tell this URL or mail address when it ends",
            .use = use_notify},
    JobFlag{.name = "key",
            .metavar = "KEY",
            .sentence = "Idempotency key: submitting twice makes one job",
            .use = [](JobAsk& ask, std::string_view v) -> Result<void> {
              ask.key = v;
              return {};
            }},
};

constexpr std::string_view kHidden[] = {"network", "stdin-file", "notify-webhook", "notify-mail"};

void add_fields(const Shape& shape, void* (*owner)(JobSpec&), std::vector<JobFlag>& flags) {
  for (const Field& field : shape.fields) {
    if (!field.flag) continue;
    const std::string_view name = field.flag;
    // A boolean with a metavar is one that people also switch off.
    const bool alone = field.kind == Kind::boolean && !field.metavar;
    JobFlag flag{.name = field.flag,
                 .letter = field.letter,
                 .metavar = alone           ? nullptr
                            : field.metavar ? field.metavar
                                            : "VALUE",
                 .sentence = field.sentence,
                 .fallback = field.fallback,
                 .hidden = std::ranges::find(kHidden, name) != std::end(kHidden),
                 .field = &field,
                 .owner = owner};
    for (const JobFlag& own : kOwnFlags) {
      if (own.name == name) flag.use = own.use;
    }
    flags.push_back(flag);
    if (field.kind == Kind::object && &field.shape() == &shape_of<RetriesSpec>()) {
      add_fields(
          field.shape(),
          [](JobSpec& spec) -> void* {
            return &(spec.retries ? *spec.retries : spec.retries.emplace());
          },
          flags);
    }
  }
}

std::vector<JobFlag> make_flags() {
  std::vector<JobFlag> flags;
  add_fields(shape_of<JobSpec>(), [](JobSpec& spec) -> void* { return &spec; }, flags);
  add_fields(
      shape_of<NotifySpec>(),
      [](JobSpec& spec) -> void* { return &(spec.notify ? *spec.notify : spec.notify.emplace()); },
      flags);
  for (const JobFlag& own : kOwnFlags) {
    const auto same = [&](const JobFlag& flag) { return std::string_view(flag.name) == own.name; };
    if (std::ranges::none_of(flags, same)) flags.push_back(own);
  }
  return flags;
}

}  // namespace

const std::vector<JobFlag>& job_flags() {
  static const std::vector<JobFlag> flags = make_flags();
  return flags;
}

const JobFlag* find_job_flag(std::string_view name) {
  for (const JobFlag& flag : job_flags()) {
    if (name == flag.name) return &flag;
    if (flag.letter && name.size() == 1 && name.front() == flag.letter) return &flag;
  }
  return nullptr;
}

Result<void> use_job_flag(const JobFlag& flag, JobAsk& ask, std::string_view value) {
  if (flag.use) return flag.use(ask, value);
  return set_text(*flag.field, flag.owner(ask.spec), value);
}

}  // namespace atl::spec
