#include <unistd.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "base/wire.h"
#include "core/limits.h"
#include "site/safe_files.h"
#include "spec/workflow/plain_json.h"
#include "steward/recipes.h"

namespace atl::steward {
namespace {

namespace json = boost::json;

constexpr size_t kManifestMax = 1 << 20;
constexpr size_t kFedPage = 1'000;
constexpr uint64_t kTasksMax = 10'000;  // whose outputs are looked at one by one

Result<std::string> read_small(const std::string& root, const std::string& path, size_t max) {
  auto file = site::open_below(root, path);
  if (!file) return tl::unexpected(file.error());
  if (file->size > static_cast<int64_t>(max))
    return fail(ErrorCode::too_large, path + " has " + std::to_string(file->size) +
                                          " bytes; a value may have " + std::to_string(max));
  std::string bytes(static_cast<size_t>(file->size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = read(file->fd.get(), bytes.data() + done, bytes.size() - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

// NAME, size, checksum and path of each file, as the step's own script has written them down.
json::object read_manifest(const std::string& root) {
  json::object files;
  const auto text = read_small(root, ".files", kManifestMax);
  if (!text) return files;
  for (const std::string_view line : split(*text, '\n')) {
    const auto parts = split(line, '\t');
    if (parts.size() != 4) continue;
    const auto size = parse_int(parts[1]);
    if (!size || !valid_utf8(parts[3])) continue;
    files[json::string_view(parts[0])] = {{"file", json::string_view(parts[3])},
                                          {"size", *size},
                                          {"sha256", json::string_view(parts[2])}};
  }
  return files;
}

// A value of the type that was promised, where it is more than a text.
Result<json::value> typed(const spec::OutputSpec& output, const std::string& text) {
  const std::string type = output.type.value_or("string");
  if (type == "string" || type.starts_with("tapis_file"))
    return json::value(json::string_view(text));
  boost::system::error_code error;
  // Python's words for them are known too.
  json::value value = text == "True"    ? json::value(true)
                      : text == "False" ? json::value(false)
                                        : json::parse(text, error);
  const bool list = type.ends_with("_array");
  const bool fits = list                ? value.is_array()
                    : type == "number"  ? value.is_number()
                    : type == "boolean" ? value.is_bool()
                                        : false;
  if (!error && fits) return value;
  return fail(ErrorCode::invalid,
              "output " + *output.name + " is " + quote(text) + ", which is no " + type);
}

class Collection {
 public:
  Collection(const Sources& sources, const core::CollectStep& order)
      : sources_(sources), order_(order), kitchen_(sources.history, order.step) {
    report_.step = order.step;
    report_.job = order.job;
  }

  core::StepCollected run() {
    auto ok = look();
    if (!ok) {
      report_.failed = true;
      report_.message = ok.error().message;
      report_.cache = {};
    }
    return std::move(report_);
  }

 private:
  Result<void> look() {
    if (auto ok = kitchen_.open(); !ok) return ok;
    const spec::Recipe& recipe = kitchen_.recipe();
    if (!order_.job) return list_outputs(recipe);
    if (recipe.outputs) {
      if (auto ok = read_outputs(*recipe.outputs); !ok) return ok;
    }
    if (recipe.asserts) {
      if (auto ok = check(recipe.asserts->text); !ok) return ok;
    }
    return recipe.cache.value_or(false) ? set_key() : Result<void>{};
  }

  // Of all jobs of a step that went through a queue: lists in the order of the jobs, behind what is
  // known of the step already. Too many of them are only kept one by one.
  Result<void> list_outputs(const spec::Recipe& recipe) {
    boost::system::error_code error;
    json::value all = json::parse(order_.outputs.empty() ? "{}" : order_.outputs, error);
    const auto wanted = recipe.outputs.value_or(std::vector<spec::OutputSpec>{});
    for (const spec::OutputSpec& output : wanted) all.as_object()[*output.name] = json::array();
    report_.outputs = order_.outputs;
    if (wanted.empty()) return {};
    size_t bytes = 0;
    for (JobId last;;) {
      const auto page = sources_.history.fed_outputs(order_.step, last, kFedPage);
      if (!page) return tl::unexpected(page.error());
      for (const journal::FedOutput& each : *page) {
        bytes += each.outputs.size();
        if (bytes > core::kOutputBytesMax) {
          report_.message = "what its jobs left is kept one by one: atoll workflow outputs " +
                            to_string(order_.step.workflow) + " " +
                            std::to_string(order_.step.step);
          return {};
        }
        const json::value one = json::parse(each.outputs, error);
        for (const spec::OutputSpec& output : wanted)
          all.as_object()[*output.name].as_array().push_back(one.as_object().at(*output.name));
      }
      if (page->size() < kFedPage) break;
      last = page->back().job;
    }
    report_.outputs = json::serialize(all);
    return {};
  }

  // Where the job has left its outputs, on whatever site that is.
  std::string root() const {
    for (const auto& [name, driver] : *sources_.drivers.all()) {
      const std::string directory = driver->job_directory(order_.job);
      if (!directory.empty() && access((directory + "/outputs").c_str(), F_OK) == 0)
        return directory;
    }
    return {};
  }

  Result<void> read_outputs(const std::vector<spec::OutputSpec>& wanted) {
    const std::string directory = root();
    if (directory.empty()) return fail(ErrorCode::not_found, "its site keeps no outputs of it");
    const auto job = sources_.history.job(order_.job);
    if (!job) return tl::unexpected(job.error());
    json::object all;
    if (!job->job.array) {
      if (auto ok = read_task(directory + "/outputs", wanted, all); !ok) return ok;
    } else {
      if (auto ok = read_tasks(directory, wanted, job->job.size, all); !ok) return ok;
    }
    report_.outputs = json::serialize(all);
    if (report_.outputs.size() <= core::kOutputBytesMax) return {};
    return fail(ErrorCode::too_large, "its outputs are over 64 KiB; leave what is large in a file");
  }

  Result<void> read_tasks(const std::string& directory, const std::vector<spec::OutputSpec>& wanted,
                          uint64_t tasks, json::object& all) {
    if (tasks > kTasksMax)
      return fail(ErrorCode::too_large, "outputs of more than 10000 tasks are not kept one by one");
    for (const spec::OutputSpec& output : wanted) all[*output.name] = json::array();
    for (uint64_t i = 0; i < tasks; ++i) {
      json::object one;
      auto ok = read_task(directory + "/outputs/" + std::to_string(i), wanted, one);
      if (!ok)
        return fail(ok.error().code, "task " + std::to_string(i) + ": " + ok.error().message);
      for (const spec::OutputSpec& output : wanted)
        all[*output.name].as_array().push_back(one[*output.name]);
    }
    return {};
  }

  static Result<void> read_task(const std::string& root,
                                const std::vector<spec::OutputSpec>& wanted, json::object& all) {
    json::object files = read_manifest(root);
    for (const spec::OutputSpec& output : wanted) {
      if (output.file) {
        if (!files.contains(*output.name))
          return fail(ErrorCode::not_found, "output " + *output.name + " is not there");
        all[*output.name] = files[*output.name];
        continue;
      }
      auto value = read_small(root, *output.name, core::kOutputBytesMax);
      if (!value && output.optional.value_or(false) && value.error().code == ErrorCode::not_found) {
        all[*output.name] = nullptr;
        continue;
      }
      if (!value)
        return fail(value.error().code, "output " + *output.name +
                                            ": nothing that can be read is in $ATOLL_OUTPUTS/" +
                                            *output.name);
      if (value->ends_with('\n')) value->pop_back();
      if (!valid_utf8(*value))
        return fail(ErrorCode::invalid, "output " + *output.name + " is not UTF-8 text");
      auto made = typed(output, *value);
      if (!made) return tl::unexpected(made.error());
      all[*output.name] = std::move(*made);
    }
    return {};
  }

  Result<void> check(const std::string& conditions) {
    const auto lookup = [&](const Reference& each) -> Result<std::string> {
      if (each.root == "outputs") return output_in(report_.outputs, "this one", each.path);
      return kitchen_.value(each);
    };
    const json::value list = json::parse(conditions);
    for (const json::value& each : list.as_array()) {
      const std::string text = spec::plain_json(each);
      const auto holds = spec::holds(text, lookup);
      if (!holds) return fail(holds.error().code, "check: " + holds.error().message);
      if (!*holds) return fail(ErrorCode::conflict, "check failed: " + text);
    }
    return {};
  }

  Result<void> set_key() {
    const auto bytes = sources_.history.payload(order_.job);
    if (!bytes) return tl::unexpected(bytes.error());
    const auto payload = wire::decode<core::Payload>(*bytes);
    if (!payload) return tl::unexpected(payload.error());
    const auto kept = payload->env.find(kCacheKey);
    if (kept == payload->env.end()) return {};
    const auto key = parse_digest(kept->second);
    if (!key) return tl::unexpected(key.error());
    report_.cache = *key;
    return {};
  }

  const Sources& sources_;
  const core::CollectStep& order_;
  Kitchen kitchen_;
  core::StepCollected report_;
};

}  // namespace

core::StepCollected collect(const Sources& sources, const core::CollectStep& order) {
  return Collection(sources, order).run();
}

}  // namespace atl::steward
