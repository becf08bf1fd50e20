#include <sys/stat.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "spec/digest.h"
#include "spec/workflow/plain_json.h"
#include "steward/recipes.h"

namespace atl::steward {
namespace {

namespace json = boost::json;
using Outcome = core::StepPrepared::Result;

// Replaces what refers to steps; anything else was put in when the workflow was planned.
class Fill {
 public:
  explicit Fill(Kitchen& kitchen) : kitchen_(kitchen) {}

  void text(std::string& text) {
    if (text.find("{steps.") == std::string::npos) return;
    text = expand(text, [&](const Reference& each) -> std::optional<std::string> {
      if (each.root != "steps") return std::nullopt;
      const auto value = kitchen_.value(each);
      if (value) return text_in(*value);
      wrong_ = value.error();
      return std::nullopt;
    });
  }
  void texts(spec::Texts& texts) {
    if (!texts) return;
    for (std::string& each : *texts) text(each);
  }
  void map(spec::TextMap& map) {
    if (!map) return;
    for (auto& [key, value] : *map) text(value);
  }
  Result<void> done() const {
    if (wrong_) return tl::unexpected(*wrong_);
    return {};
  }

 private:
  Kitchen& kitchen_;
  std::optional<Error> wrong_;
};

// What a file that is no step's output looks like from outside: a change shows.
std::string look_of(const std::string& directory, const std::string& path) {
  struct stat info{};
  const std::string whole = path.starts_with('/') ? path : directory + "/" + path;
  if (stat(whole.c_str(), &info) != 0) return "value";
  return std::to_string(info.st_size) + "@" + std::to_string(info.st_mtim.tv_sec) + "." +
         std::to_string(info.st_mtim.tv_nsec);
}

// A file as it was: another run may have written another one of the same size there.
bool same_file(const json::object& output) {
  const auto* path = output.if_contains("file");
  const auto* size = output.if_contains("size");
  const auto* sum = output.if_contains("sha256");
  if (!path || !size || !sum) return false;
  const std::string name(path->as_string());
  struct stat info{};
  if (stat(name.c_str(), &info) != 0 || info.st_size != size->to_number<int64_t>()) return false;
  const auto digest = spec::sha256_of_file(name);
  return digest && to_hex(*digest) == std::string_view(sum->as_string());
}

bool same_files(const json::value& output) {
  if (output.is_object()) return same_file(output.as_object());
  if (!output.is_array()) return true;
  return std::ranges::all_of(output.as_array(), same_files);  // one for each task
}

// Whether what the earlier run has left is still there as it was.
bool still_there(const std::string& outputs) {
  boost::system::error_code error;
  const json::value all = json::parse(outputs, error);
  if (error || !all.is_object()) return outputs.empty();
  return std::ranges::all_of(all.as_object(),
                             [](const auto& each) { return same_files(each.value()); });
}

Result<std::optional<journal::KeptStep>> earlier(journal::History& history, core::StepRef step) {
  auto rows = history.steps(step.workflow, step.step, 1);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty() || rows->front().number != step.step ||
      rows->front().state != core::StepState::succeeded)
    return std::nullopt;
  return std::move(rows->front());
}

class Preparation {
 public:
  Preparation(journal::History& history, const core::PrepareStep& order)
      : history_(history), kitchen_(history, order.step) {
    prepared_.report.step = order.step;
  }

  Prepared run() {
    if (auto ok = make(); !ok) end(Outcome::fail, ok.error().message);
    return std::move(prepared_);
  }

 private:
  void end(Outcome result, std::string message) {
    prepared_.report.result = result;
    prepared_.report.message = std::move(message);
    prepared_.blobs.clear();
  }

  Result<void> make() {
    if (auto ok = kitchen_.open(); !ok) return ok;
    const spec::Recipe& recipe = kitchen_.recipe();
    if (recipe.reuse) return take_over(recipe, *recipe.reuse);
    if (recipe.refuse) return fail(ErrorCode::invalid, *recipe.refuse);
    if (recipe.when) {
      const auto lookup = [&](const Reference& each) { return kitchen_.value(each); };
      const auto holds = spec::holds(recipe.when->text, lookup, recipe.typed.value_or(false));
      if (!holds) return fail(holds.error().code, "when: " + holds.error().message);
      if (!*holds) {
        end(Outcome::skip, "its condition does not hold: " + recipe.when->text);
        return {};
      }
    }
    return make_job(recipe);
  }

  Result<void> take_over(const spec::Recipe& recipe, const spec::ReuseSpec& reuse) {
    const core::StepRef from{{static_cast<uint64_t>(reuse.workflow.value_or(0))},
                             static_cast<uint32_t>(reuse.step.value_or(0))};
    const auto kept = earlier(history_, from);
    if (!kept) return tl::unexpected(kept.error());
    if (!*kept)
      return fail(ErrorCode::not_found,
                  "what it left in workflow " + to_string(from.workflow) + " is gone");
    if (recipe.recheck) return check_again(recipe, (*kept)->outputs);
    end(Outcome::reuse, "taken over from workflow " + to_string(from.workflow));
    prepared_.report.outputs = (*kept)->outputs;
    prepared_.report.reused = from;
    return {};
  }

  Result<void> check_again(const spec::Recipe& recipe, const std::string& outputs) {
    std::map<std::string, std::string> values;
    for (const spec::OutputSpec& output :
         recipe.outputs.value_or(std::vector<spec::OutputSpec>{})) {
      if (output.file) continue;
      const auto value = output_in(outputs, "this one", *output.name);
      if (!value) return tl::unexpected(value.error());
      values[*output.name] = text_in(*value);
    }
    return set_payload(spec::checking_job(recipe, recipe.job.value_or(spec::JobSpec{}), values),
                       {});
  }

  Result<void> make_job(const spec::Recipe& recipe) {
    auto items = kitchen_.items();
    if (!items) return tl::unexpected(items.error());
    if (*items && (*items)->count() == 0) {
      end(Outcome::skip, "there is nothing to go through");
      return {};
    }
    auto job = kitchen_.job();
    if (!job) return tl::unexpected(job.error());
    if (recipe.cache.value_or(false)) {
      const auto found = find_cached(*job, *items);
      if (!found) return tl::unexpected(found.error());
      if (*found) return {};
    }
    const auto whole = kitchen_.filled(recipe);
    if (!whole) return tl::unexpected(whole.error());
    spec::wrap(*whole, *job);
    return set_payload(*job, *items);
  }

  Result<void> set_payload(const spec::JobSpec& job, const std::optional<spec::Items>& items) {
    auto made = spec::with_items(job, items);
    if (!made) return tl::unexpected(made.error());
    prepared_.report.payload = made->job.payload;
    prepared_.report.array = made->job.array;
    prepared_.report.indices = made->job.indices;
    prepared_.blobs.push_back({made->job.payload, std::move(made->payload_bytes)});
    return {};
  }

  // True when an earlier success will do.
  Result<bool> find_cached(spec::JobSpec& job, const std::optional<spec::Items>& items) {
    const auto key = kitchen_.cache_key(job, items);
    if (!key) return tl::unexpected(key.error());
    // Kept with the job: what it reads may have changed by the time it has ended.
    if (!job.env) job.env.emplace();
    (*job.env)[kCacheKey] = to_hex(*key);
    const auto ns = kitchen_.space();
    if (!ns) return tl::unexpected(ns.error());
    const auto known = history_.cached(*ns, *key);
    if (!known) return tl::unexpected(known.error());
    if (!*known) return false;
    const auto kept = earlier(history_, **known);
    if (!kept) return tl::unexpected(kept.error());
    if (!*kept || !still_there((*kept)->outputs)) return false;
    end(Outcome::reuse, "the same as in workflow " + to_string((*known)->workflow));
    prepared_.report.outputs = (*kept)->outputs;
    prepared_.report.reused = **known;
    return true;
  }

  journal::History& history_;
  Kitchen kitchen_;
  Prepared prepared_;
};

}  // namespace

Result<void> Kitchen::open() {
  const auto bytes = history_.step_bytes(step_, true);
  if (!bytes) return tl::unexpected(bytes.error());
  auto recipe = spec::parse_json<spec::Recipe>(*bytes);
  if (!recipe) return tl::unexpected(recipe.error());
  recipe_ = std::move(*recipe);
  return {};
}

Result<NamespaceId> Kitchen::space() {
  const auto workflow = history_.workflow(step_.workflow);
  if (!workflow) return tl::unexpected(workflow.error());
  return workflow->ns;
}

Result<std::string> Kitchen::output_of(const std::string& step, const std::string& name) {
  if (!outputs_.contains(step)) {
    const auto found = needed(step);
    if (!found) return tl::unexpected(found.error());
    if (!*found)
      return fail(ErrorCode::invalid, "step " + quote(step) + " is not one that this one needs");
    outputs_[step] = (*found)->outputs;
  }
  auto value = output_in(outputs_[step], step, name);
  const bool missing = !value && value.error().code == ErrorCode::not_found;
  return missing && recipe_.typed.value_or(false) ? Result<std::string>("null") : value;
}

Result<std::optional<journal::KeptStep>> Kitchen::needed(const std::string& name) {
  const auto named = [&](uint32_t number) -> Result<std::optional<journal::KeptStep>> {
    auto rows = history_.steps(step_.workflow, number, 1);
    if (!rows) return tl::unexpected(rows.error());
    if (rows->empty() || rows->front().step.name != name) return std::nullopt;
    return std::move(rows->front());
  };
  const auto& numbers = recipe_.steps;
  if (numbers && numbers->contains(name)) {
    auto found = named(static_cast<uint32_t>(numbers->at(name)));
    if (!found || *found) return found;
  }
  // Of one that was added later only the core knows the numbers of those it needs.
  const auto own = history_.steps(step_.workflow, step_.step, 1);
  if (!own) return tl::unexpected(own.error());
  for (const core::Need& need :
       own->empty() ? std::vector<core::Need>{} : own->front().step.needs) {
    auto found = named(need.step);
    if (!found || *found) return found;
  }
  return std::nullopt;
}

Result<std::string> Kitchen::value(const Reference& reference) {
  const auto params = recipe_.params.value_or(std::map<std::string, std::string>{});
  const spec::TextMap env = recipe_.job ? recipe_.job->env : spec::TextMap{};
  if (const auto known = spec::known_value(reference, params, env))
    return json::serialize(json::value(*known));
  if (reference.root == "steps") {
    const size_t dot = reference.path.find(".outputs.");
    if (dot != std::string::npos)
      return output_of(reference.path.substr(0, dot), reference.path.substr(dot + 9));
  }
  return fail(ErrorCode::invalid,
              "{" + reference.root + "." + reference.path + "} stands for nothing");
}

Result<spec::JobSpec> Kitchen::job() {
  spec::JobSpec job = recipe_.job.value_or(spec::JobSpec{});
  if (recipe_.typed.value_or(false)) {
    if (auto ok = bind(job); !ok) return tl::unexpected(ok.error());
    return job;
  }
  Fill fill(*this);
  for (spec::Text* text : {&job.script, &job.directory}) {
    if (*text) fill.text(**text);
  }
  fill.texts(job.command);
  fill.texts(job.writable);
  fill.map(job.env);
  if (auto ok = fill.done(); !ok) return tl::unexpected(ok.error());
  return job;
}

Result<void> Kitchen::bind(spec::JobSpec& job) {
  if (!job.env) job.env.emplace();
  (*job.env)["ATOLL_WORKFLOW"] = to_string(step_.workflow);
  (*job.env)["ATOLL_STEP_NUMBER"] = std::to_string(step_.step);
  for (const spec::BindSpec& each : recipe_.bind.value_or(std::vector<spec::BindSpec>{})) {
    const auto value = output_of(*each.step, *each.output);
    if (!value) return tl::unexpected(value.error());
    if (*value != "null")
      (*job.env)[*each.name] = text_in(*value);
    else if (each.required.value_or(false))
      return fail(ErrorCode::not_found, "step " + *each.step + " has left no output " +
                                            *each.output + ", which this one needs");
  }
  return {};
}

Result<spec::Recipe> Kitchen::filled(spec::Recipe recipe) {
  Fill fill(*this);
  fill.texts(recipe.check);
  if (auto ok = fill.done(); !ok) return tl::unexpected(ok.error());
  return recipe;
}

Result<std::optional<spec::Items>> Kitchen::items() {
  if (!recipe_.for_each) return std::nullopt;
  const auto lookup = [&](const Reference& each) { return value(each); };
  const auto file = [&](const std::string& path) -> Result<std::string> {
    if (recipe_.files && recipe_.files->contains(path)) return recipe_.files->at(path);
    return fail(ErrorCode::invalid, quote(path) + " was not sent along with the workflow");
  };
  auto items = spec::items_of(recipe_.for_each->text, lookup, file);
  if (!items) return tl::unexpected(items.error());
  return std::move(*items);
}

Result<Digest> Kitchen::cache_key(const spec::JobSpec& job,
                                  const std::optional<spec::Items>& items) {
  std::string all = spec::to_json(job);
  if (items) {
    for (const std::string& key : items->keys) all += "\nkey " + key;
    for (const std::string& each : items->values) all += "\nitem " + each;
  }
  spec::TextMap inputs = recipe_.inputs;
  Fill fill(*this);
  fill.map(inputs);
  if (auto ok = fill.done(); !ok) return tl::unexpected(ok.error());
  for (const auto& [name, path] : inputs.value_or(std::map<std::string, std::string>{}))
    all += "\ninput " + name + "=" + path + " " + look_of(job.directory.value_or(""), path);
  all += "\noutputs";
  for (const spec::OutputSpec& output : recipe_.outputs.value_or(std::vector<spec::OutputSpec>{}))
    all += " " + *output.name + "=" + output.file.value_or("");
  for (const std::string& command : recipe_.check.value_or(std::vector<std::string>{}))
    all += "\ncheck " + command;
  if (recipe_.asserts) all += "\nasserts " + recipe_.asserts->text;
  return spec::sha256(all);
}

Result<std::string> output_in(const std::string& outputs, const std::string& step,
                              const std::string& name) {
  boost::system::error_code error;
  const json::value all = json::parse(outputs.empty() ? "{}" : outputs, error);
  const json::value* found =
      error || !all.is_object() ? nullptr : all.as_object().if_contains(name);
  if (!found) return fail(ErrorCode::not_found, "step " + step + " has left no output " + name);
  if (found->is_object() && found->as_object().contains("file"))
    return json::serialize(found->as_object().at("file"));
  return json::serialize(*found);
}

std::string text_in(const std::string& text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  return error ? text : spec::plain_text(value);
}

Prepared prepare(const Sources& sources, const core::PrepareStep& order) {
  return Preparation(sources.history, order).run();
}

}  // namespace atl::steward
