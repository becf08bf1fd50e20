// What people may write about a workflow: the one place where a field gets its name, sentence,
// bounds and default.
#include <array>

#include "core/limits.h"
#include "spec/workflow/workflow_file.h"

namespace atl::spec {
namespace {

constexpr std::array<const char*, 4> kStepTiers{"interactive", "service", "batch", "opportunistic"};
constexpr std::array<const char*, 4> kParamTypes{"text", "integer", "number", "boolean"};

constexpr const char* kConditionSchema = R"("type":["array","object","boolean"])";

constexpr std::array kParamFields{
    field<&ParamSpec::type>({.name = "type",
                             .sentence = "What may be given for it.",
                             .example = "\"integer\"",
                             .fallback = "\"text\"",
                             .choices = kParamTypes}),
    field<&ParamSpec::fallback>({.name = "default",
                                 .sentence = "What it is when nothing is given.",
                                 .example = "\"2017\"",
                                 .high = kTextBytesMax,
                                 .number_too = true}),
    field<&ParamSpec::required>({.name = "required",
                                 .sentence = "It has to be given: --set NAME=VALUE.",
                                 .example = "true",
                                 .fallback = "false"}),
    field<&ParamSpec::choices>({.name = "choices",
                                .sentence = "Nothing else may be given for it.",
                                .example = "[\"small\", \"large\"]",
                                .low = 1,
                                .high = kItemsMax}),
    field<&ParamSpec::help>({.name = "help",
                             .sentence = "What it is for.",
                             .example = "\"the year of the data\"",
                             .high = 4096})};

constexpr std::array kNeedFields{
    field<&NeedSpec::step>({.name = "step",
                            .sentence = "The step that has to end first.",
                            .example = "\"fetch\"",
                            .required = true}),
    field<&NeedSpec::can_fail>({.name = "can_fail",
                                .sentence = "This one runs also when the other one failed.",
                                .example = "true",
                                .fallback = "false"}),
    field<&NeedSpec::can_skip>({.name = "can_skip",
                                .sentence = "This one runs also when the other one was skipped.",
                                .example = "true",
                                .fallback = "false"})};

constexpr std::array kResourceFields{
    field<&ResourcesSpec::cpus>(
        {.name = "cpus", .sentence = "Cores, to a thousandth.", .example = "0.5", .fallback = "1"}),
    field<&ResourcesSpec::memory>({.name = "memory",
                                   .sentence = "Memory; more than that ends it.",
                                   .example = "\"1Gi\"",
                                   .fallback = "\"1Gi\"",
                                   .low = kMemoryBytesMin}),
    field<&ResourcesSpec::gpus>({.name = "gpus",
                                 .sentence = "GPUs, as for `atoll submit --gpus`.",
                                 .example = "\"a100:1\"",
                                 .high = 256,
                                 .number_too = true,
                                 .list_too = true}),
    field<&ResourcesSpec::devices>({.name = "devices",
                                    .sentence = "Other devices.",
                                    .example = "[{\"kind\": \"fpga\"}]",
                                    .high = core::kDeviceRequestsMax})};

constexpr std::array kStepFields{
    field<&StepSpec::run>(
        {.name = "run",
         .sentence = "A script; without a #! line sh runs it, up to the first command that fails.",
         .example = "\"echo hello\"",
         .low = 1,
         .high = kScriptBytesMax}),
    field<&StepSpec::argv>({.name = "argv",
                            .sentence = "A program and its arguments, instead of a script.",
                            .example = "[\"python3\", \"train.py\"]",
                            .low = 1,
                            .high = kItemsMax}),
    field<&StepSpec::needs>({.name = "needs",
                             .sentence = "What has to end well before it starts.",
                             .example = "[\"fetch\"]",
                             .high = kNeedsMax}),
    field<&StepSpec::site>({.name = "site",
                            .sentence = "Where it runs, or several sites in the order they are "
                                        "liked; anywhere when left out.",
                            .example = "\"lab|any\"",
                            .high = kSiteBytesMax,
                            .list_too = true}),
    field<&StepSpec::resources>({.name = "resources", .sentence = "What it asks for."}),
    field<&StepSpec::tier>({.name = "tier",
                            .sentence = "Who is served first.",
                            .example = "\"batch\"",
                            .fallback = "\"batch\"",
                            .choices = kStepTiers}),
    field<&StepSpec::retries>({.name = "retries",
                               .sentence = "How often it is tried again when it fails.",
                               .example = "2"}),
    field<&StepSpec::timeout>({.name = "timeout",
                               .sentence = "The longest it may run; no limit when left out.",
                               .example = "\"2h\"",
                               .also = "time"}),
    field<&StepSpec::grace>({.name = "grace",
                             .sentence = "Between SIGTERM and SIGKILL when it is stopped.",
                             .example = "\"30s\"",
                             .fallback = "\"30s\""}),
    field<&StepSpec::env>({.name = "env",
                           .sentence = "Environment variables.",
                           .example = "{\"OMP_NUM_THREADS\": \"4\"}",
                           .high = kItemsMax}),
    field<&StepSpec::secrets>({.name = "secrets",
                               .sentence = "Variables that are set to secrets of the namespace, "
                                           "by their names.",
                               .example = "{\"API_KEY\": \"weather\"}",
                               .high = 100}),
    field<&StepSpec::directory>({.name = "directory",
                                 .sentence = "Where it runs.",
                                 .example = "\"/home/ada/exp\"",
                                 .high = 4096}),
    field<&StepSpec::priority>({.name = "priority",
                                .sentence = "Higher starts first within the namespace.",
                                .example = "10",
                                .fallback = "0",
                                .low = -core::kPriorityMax,
                                .high = core::kPriorityMax}),
    field<&StepSpec::labels>({.name = "labels",
                              .sentence = "Words to find it by.",
                              .example = "{\"project\": \"flood\"}",
                              .high = kItemsMax}),
    field<&StepSpec::simulate>({.name = "simulate",
                                .sentence = "What a simulated site pretends.",
                                .example = "{\"run_for\": \"5s\"}"}),
    field<&StepSpec::uses>({.name = "uses",
                            .sentence = "A template of the workflow that says what this does not.",
                            .example = "\"training\"",
                            .high = 128}),
    field<&StepSpec::when>({.name = "when",
                            .sentence =
                                "A condition, or a list of which all have to hold; else the "
                                "step is skipped.",
                            .example = "[{\"gt\": [\"{steps.find.outputs.count}\", 0]}]",
                            .schema = kConditionSchema}),
    field<&StepSpec::for_each>(
        {.name = "for_each",
         .sentence = "What it goes through, one task for each: a list, {range: 1-100}, {file: "
                     "PATH} with one in a line, {grid: {NAME: [values]}}, what a step left, or the "
                     "items of a queue: {queue: NAME, workers: {min: 1, max: 8}, batch: 1, until: "
                     "dry}.",
         .example = "[\"north\", \"south\"]",
         .schema = R"("type":["array","object","string"])"}),
    field<&StepSpec::parallel>({.name = "parallel",
                                .sentence = "How many of its tasks may run at once.",
                                .example = "10",
                                .low = 1,
                                .high = 1'000'000}),
    field<&StepSpec::inputs>(
        {.name = "inputs",
         .sentence = "What it reads: files or values, in ATOLL_INPUT_NAME; they count for cache.",
         .example = "{\"data\": \"{steps.fetch.outputs.archive}\"}",
         .high = 1000}),
    field<&StepSpec::outputs>(
        {.name = "outputs",
         .sentence =
             "What it leaves: values that it writes to $ATOLL_OUTPUTS/NAME, and files below "
             "its directory.",
         .example = "{\"count\": {}, \"model\": {\"file\": \"model.pt\"}}",
         .schema = R"("type":["array","object"])"}),
    field<&StepSpec::check>(
        {.name = "check",
         .sentence =
             "What has to be true when it has run: commands, or conditions over its outputs.",
         .example = "[\"test -s model.pt\", {\"ge\": [\"{outputs.accuracy}\", 0.9]}]",
         .schema = R"("type":["array","object","string"])"}),
    field<&StepSpec::cache>({.name = "cache",
                             .sentence = "An earlier success with the same script, inputs and "
                                         "parameters will do instead.",
                             .example = "true",
                             .fallback = "false"}),
    field<&StepSpec::volumes>(
        {.name = "volumes",
         .sentence = "Directories that it may write beside its own, in ATOLL_VOLUME_NAME.",
         .example = "{\"data\": \"/srv/data\"}",
         .high = 100})};

Result<void> need_from_text(void* object, std::string_view text) {
  static_cast<NeedSpec*>(object)->step = std::string(text);
  return {};
}

}  // namespace

template <>
const Shape& shape_of<ParamSpec>() {
  static const Shape kShape{"WorkflowParam", "A parameter of a workflow.", kParamFields};
  return kShape;
}
template <>
const Shape& shape_of<NeedSpec>() {
  static const Shape kShape{"WorkflowNeed", "A step that has to end first.", kNeedFields,
                            need_from_text, "Its name alone."};
  return kShape;
}
template <>
const Shape& shape_of<ResourcesSpec>() {
  static const Shape kShape{"WorkflowResources", "What a step asks for.", kResourceFields};
  return kShape;
}
template <>
const Shape& shape_of<StepSpec>() {
  static const Shape kShape{"WorkflowStep", "One step of a workflow.", kStepFields};
  return kShape;
}

}  // namespace atl::spec
