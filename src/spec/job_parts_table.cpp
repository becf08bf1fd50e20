// The smaller structures within a job, each with a shorthand where people expect one.
#include <array>

#include "base/text.h"
#include "core/limits.h"
#include "spec/job_spec.h"

namespace atl::spec {
namespace {

constexpr const char* kDependencyKinds[] = {"after_success", "after_end", "after_failure"};

Result<void> device_from_text(void* object, std::string_view text) {
  auto& device = *static_cast<DeviceSpec*>(object);
  const auto parts = split(text, ':');
  const auto last = parts.size() > 1 ? parse_int(parts.back()) : std::nullopt;
  if (parts.size() > 3 || (parts.size() == 3 && !last)) {
    return fail(ErrorCode::invalid,
                quote(text) + " is not a device: write KIND, KIND:COUNT or KIND:MODEL:COUNT");
  }
  device.kind = std::string(parts[0]);
  if (parts.size() > 1 && (!last || parts.size() == 3)) device.model = std::string(parts[1]);
  device.count = last.value_or(1);
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
    after.kind = std::string(text.substr(0, colon));
    bool known = false;
    for (const char* kind : kDependencyKinds) known = known || *after.kind == kind;
    if (!known) {
      return fail(ErrorCode::invalid,
                  quote(*after.kind) + " is not one of after_success, after_end, after_failure");
    }
    text.remove_prefix(colon + 1);
  }
  if (const auto id = parse_int(text); !id || *id <= 0) {
    return fail(ErrorCode::invalid,
                quote(text) + " is not the id of a job: write 12 or after_end:12");
  }
  after.job = std::string(text);
  return {};
}

constexpr std::array kDeviceFields{
    field<&DeviceSpec::kind>({.name = "kind",
                              .sentence = "What it is.",
                              .example = "\"gpu\"",
                              .high = 63,
                              .required = true}),
    field<&DeviceSpec::model>({.name = "model",
                               .sentence = "Which model; any when left out.",
                               .example = "\"a100\"",
                               .high = 63}),
    field<&DeviceSpec::count>({.name = "count",
                               .sentence = "How many.",
                               .example = "1",
                               .fallback = "1",
                               .low = 1,
                               .high = core::kDeviceCountMax}),
};

constexpr std::array kRetriesFields{
    field<&RetriesSpec::max>({.name = "max",
                              .sentence = "Attempts after the first that a failure may cost.",
                              .example = "3",
                              .fallback = "0",
                              .low = 0,
                              .high = core::kRetriesMax}),
    field<&RetriesSpec::backoff>(
        {.name = "backoff",
         .sentence = "The pause before the first retry; it doubles each time.",
         .example = "\"10s\"",
         .fallback = "\"1s\""}),
    field<&RetriesSpec::backoff_max>({.name = "backoff_max",
                                      .sentence = "The longest pause.",
                                      .example = "\"5m\"",
                                      .fallback = "\"5m\""}),
    field<&RetriesSpec::exit_codes>(
        {.name = "exit_codes",
         .sentence = "Retry only on these exit codes; on any failure when left out.",
         .example = "[75]",
         .high = 256}),
    field<&RetriesSpec::on_timeout>({.name = "on_timeout",
                                     .sentence = "Whether running out of time is retried too.",
                                     .example = "true",
                                     .fallback = "false"}),
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

template <>
const Shape& shape_of<DeviceSpec>() {
  static constexpr Shape shape{"Device", "Accelerators or other devices that a task needs.",
                               kDeviceFields, device_from_text,
                               "KIND, KIND:COUNT or KIND:MODEL:COUNT"};
  return shape;
}
template <>
const Shape& shape_of<RetriesSpec>() {
  static constexpr Shape shape{"Retries", "What happens when a task fails.", kRetriesFields,
                               retries_from_text, "A number is the most retries."};
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
                               kSimulateFields};
  return shape;
}

}  // namespace atl::spec
