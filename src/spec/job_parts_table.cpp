// The smaller structures within a job, each with a shorthand where people expect one.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "core/limits.h"
#include "spec/job_spec.h"

namespace atl::spec {
namespace {

constexpr const char* kDependencyKinds[] = {"after_success", "after_end", "after_failure"};

// Our word for what waits, from ours or Slurm's; null when it is neither.
const char* dependency_kind(std::string_view word) {
  static constexpr std::string_view kSlurm[] = {"afterok", "afterany", "afternotok"};
  for (size_t i = 0; i < std::size(kDependencyKinds); ++i) {
    if (word == kDependencyKinds[i] || word == kSlurm[i]) return kDependencyKinds[i];
  }
  return nullptr;
}

Result<void> device_from_text(void* object, std::string_view text) {
  auto device = parse_device(text);
  if (!device) return tl::unexpected(device.error());
  if (!device->count) device->count = 1;
  *static_cast<DeviceSpec*>(object) = std::move(*device);
  return {};
}

Result<void> retries_from_text(void* object, std::string_view text) {
  const auto max = parse_int(text);
  if (!max || *max < 0)
    return fail(ErrorCode::invalid, quote(text) + " is not a number of retries");
  static_cast<RetriesSpec*>(object)->max = *max;
  return {};
}

Result<void> after_from_text(void* object, std::string_view text) {
  auto& after = *static_cast<AfterSpec*>(object);
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const char* kind = dependency_kind(text.substr(0, colon));
    if (!kind) {
      return fail(ErrorCode::invalid, quote(text.substr(0, colon)) +
                                          " is not one of after_success, after_end, after_failure "
                                          "(or Slurm's afterok, afterany, afternotok)");
    }
    after.kind = kind;
    text.remove_prefix(colon + 1);
  }
  if (const auto id = parse_int(text); !id || *id <= 0) {
    return fail(ErrorCode::invalid,
                quote(text) + " is not the id of a job: write 12 or after_end:12");
  }
  after.job = std::string(text);
  return {};
}

// run_for=5s,exit_code=1; start_error comes last, because a message may have commas.
Result<void> simulate_from_text(void* object, std::string_view text) {
  while (!text.empty()) {
    const bool message = text.starts_with("start_error=");
    const std::string_view part = message ? text : text.substr(0, text.find(','));
    const size_t equals = part.find('=');
    const Field* field = find_field(shape_of<SimulateSpec>(), part.substr(0, equals));
    if (!field || equals == std::string_view::npos) {
      return fail(ErrorCode::invalid,
                  quote(part) + " is not known: write run_for=5s,exit_code=1 or start_error=TEXT");
    }
    if (auto ok = set_text(*field, object, part.substr(equals + 1)); !ok) return ok;
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return {};
}

constexpr std::array kDeviceFields{
    field<&DeviceSpec::kind>({.name = "kind",
                              .sentence = "What it is.",
                              .example = "\"gpu\"",
                              .high = 63,
                              .required = true}),
    field<&DeviceSpec::model>(
        {.name = "model",
         .sentence = "Which model; any when left out. Several in order of preference, as a list or "
                     "with | between them; `any` takes any other.",
         .example = "\"a100|v100|any\"",
         .high = 512,
         .list_too = true}),
    field<&DeviceSpec::count>({.name = "count",
                               .sentence = "How many.",
                               .example = "1",
                               .fallback = "1",
                               .low = 1,
                               .high = core::kDeviceCountMax}),
    field<&DeviceSpec::share>(
        {.name = "share",
         .sentence = "The part of each device that is enough, to a thousandth.",
         .example = "0.25"}),
    field<&DeviceSpec::memory>({.name = "memory",
                                .sentence = "The same, by the memory that is needed of it.",
                                .example = "\"10Gi\"",
                                .low = 1 << 20}),
    field<&DeviceSpec::slice>({.name = "slice",
                               .sentence = "The same, by the profile of a slice.",
                               .example = "\"1g.5gb\"",
                               .high = 63}),
};

constexpr std::array kRetriesFields{
    field<&RetriesSpec::max>({.name = "max",
                              .sentence = "Attempts after the first that a failure may cost; "
                                          "needed as soon as anything else is said of retries.",
                              .example = "3",
                              .low = 0,
                              .high = core::kRetriesMax}),
    field<&RetriesSpec::backoff>(
        {.name = "backoff",
         .sentence = "The pause before the first retry; it doubles each time.",
         .example = "\"10s\"",
         .fallback = "\"1s\"",
         .flag = "backoff",
         .metavar = "DURATION"}),
    field<&RetriesSpec::backoff_max>({.name = "backoff_max",
                                      .sentence = "The longest pause before a retry.",
                                      .example = "\"5m\"",
                                      .fallback = "\"5m\"",
                                      .flag = "backoff-max",
                                      .metavar = "DURATION"}),
    field<&RetriesSpec::exit_codes>(
        {.name = "exit_codes",
         .sentence = "Retry only on these exit codes; on any failure when left out.",
         .example = "[75]",
         .high = 256,
         .flag = "retry-on",
         .metavar = "CODE,…"}),
    field<&RetriesSpec::on_timeout>({.name = "on_timeout",
                                     .sentence = "Whether running out of time is retried too.",
                                     .example = "true",
                                     .fallback = "false",
                                     .flag = "retry-on-timeout"}),
};

constexpr std::array kAfterFields{
    field<&AfterSpec::job>({.name = "job",
                            .sentence = "The id of the job to wait for.",
                            .example = "\"12\"",
                            .high = 24,
                            .required = true,
                            .number_too = true}),
    field<&AfterSpec::kind>({.name = "kind",
                             .sentence = "What it waits for.",
                             .example = "\"after_success\"",
                             .fallback = "\"after_success\"",
                             .choices = kDependencyKinds}),
};

constexpr std::array kNotifyFields{
    field<&NotifySpec::webhook>(
        {.name = "webhook",
         .sentence = "An http or https URL that gets a POST when the job ends.",
         .example = "\"https://example.org/hook\"",
         .high = 2048,
         .flag = "notify-webhook",
         .metavar = "URL"}),
    field<&NotifySpec::mail>({.name = "mail",
                              .sentence = "An address for the configured mail command.",
                              .example = "\"ada@example.org\"",
                              .high = 254,
                              .flag = "notify-mail",
                              .metavar = "ADDRESS"}),
};

constexpr std::array kSimulateFields{
    field<&SimulateSpec::run_for>({.name = "run_for",
                                   .sentence = "How long a simulated site pretends to run it.",
                                   .example = "\"5s\"",
                                   .fallback = "\"0s\""}),
    field<&SimulateSpec::exit_code>({.name = "exit_code",
                                     .sentence = "The exit code it pretends to end with.",
                                     .example = "0",
                                     .fallback = "0",
                                     .low = 0,
                                     .high = 255}),
    field<&SimulateSpec::start_error>(
        {.name = "start_error",
         .sentence = "Pretends that it could not start, with this message.",
         .example = "\"no such image\"",
         .high = 256}),
};

}  // namespace

Result<void> add_dependencies(std::string_view text, const char* kind, JobSpec& spec) {
  if (!spec.after) spec.after.emplace();
  for (const std::string_view part : split(text, ',')) {
    auto words = split(part, ':');
    std::string word = kind;
    if (words.size() > 1) {
      word = words[0];
      words.erase(words.begin());
    }
    for (const std::string_view id : words) {
      if (spec.after->size() >= core::kDependenciesMax)
        return fail(ErrorCode::invalid, "a job may wait for at most 1000 others", "after");
      if (auto ok = after_from_text(&spec.after->emplace_back(), word + ":" + std::string(id)); !ok)
        return ok;
    }
  }
  return {};
}

template <>
const Shape& shape_of<DeviceSpec>() {
  static constexpr Shape shape{"Device", "Accelerators or other devices that a task needs.",
                               kDeviceFields, device_from_text,
                               "KIND, KIND:COUNT or KIND:MODEL:COUNT"};
  return shape;
}
template <>
const Shape& shape_of<RetriesSpec>() {
  static constexpr Shape shape{"Retries",
                               "What happens when a task fails. Nothing is retried unless max "
                               "says how often.",
                               kRetriesFields, retries_from_text, "A number is the most retries."};
  return shape;
}
template <>
const Shape& shape_of<AfterSpec>() {
  static constexpr Shape shape{"After", "A job to wait for.", kAfterFields, after_from_text,
                               "An id such as 12, or KIND:12."};
  return shape;
}
template <>
const Shape& shape_of<NotifySpec>() {
  static constexpr Shape shape{"Notify", "Who is told when the job ends.", kNotifyFields};
  return shape;
}
template <>
const Shape& shape_of<SimulateSpec>() {
  static constexpr Shape shape{"Simulate", "What a site of kind simulated pretends.",
                               kSimulateFields, simulate_from_text,
                               "run_for=5s,exit_code=1; start_error=TEXT comes last."};
  return shape;
}

}  // namespace atl::spec
