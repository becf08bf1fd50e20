#include "spec/workflow/queue_items.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/template.h"
#include "base/text.h"
#include "core/limits.h"

namespace atl::spec {
namespace {

namespace json = boost::json;

constexpr std::array<const char*, 3> kCounts{"done", "dead", "given_back"};

tl::unexpected<Error> refuse_queue(const std::string& message) {
  return fail(ErrorCode::invalid, "for_each " + message);
}

bool is_count(const std::string& name) {
  return std::find(kCounts.begin(), kCounts.end(), name) != kCounts.end();
}

// Numbers may stand in quotes.
Result<uint32_t> number_in(const json::value& value, const char* what, uint32_t high) {
  const std::string text =
      value.is_string() ? std::string(value.as_string()) : json::serialize(value);
  const auto number = parse_int(text);
  if (number && *number >= 1 && *number <= high) return static_cast<uint32_t>(*number);
  return refuse_queue(std::string(what) + " must be a number from 1 to " + std::to_string(high) +
                      ", and is " + text);
}

Result<void> unknown_key(const std::string& key, const std::vector<std::string>& known,
                         const char* where) {
  std::string all;
  for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
  const auto meant = did_you_mean(key, known);
  return refuse_queue(std::string("has ") + quote(key) + " " + where + ", which is none of " + all +
                      (meant ? "; did you mean " + *meant + "?" : ""));
}

Result<void> read_workers(const json::value& value, core::FeedTerms& terms) {
  if (!value.is_object()) {
    const auto most = number_in(value, "workers", core::kStepsUnderWayMax);
    if (!most) return tl::unexpected(most.error());
    terms.workers_max = *most;
    return {};
  }
  std::optional<uint32_t> least, most;
  for (const auto& entry : value.as_object()) {
    const std::string key(entry.key());
    if (key != "min" && key != "max") return unknown_key(key, {"min", "max"}, "in workers");
    const auto number = number_in(entry.value(), key == "min" ? "workers.min" : "workers.max",
                                  core::kStepsUnderWayMax);
    if (!number) return tl::unexpected(number.error());
    (key == "min" ? least : most) = *number;
  }
  terms.workers_min = least.value_or(1);
  terms.workers_max = most.value_or(std::max(kWorkersUsual, terms.workers_min));
  if (terms.workers_min <= terms.workers_max) return {};
  return refuse_queue("workers.min is " + std::to_string(terms.workers_min) +
                      ", which is more than workers.max, " + std::to_string(terms.workers_max));
}

Result<void> read_name(const json::value& value, core::FeedTerms& terms) {
  if (!value.is_string() || value.as_string().empty())
    return refuse_queue("queue must be the name of one: {queue: urls}");
  terms.queue = std::string(value.as_string());
  const auto references = references_in(terms.queue);
  for (const Reference& each : references) {
    if (each.root != "params" && each.root != "env")
      return refuse_queue("queue may be named by params and env, not by {" + each.root + "." +
                          each.path + "}");
  }
  if (!references.empty()) return {};
  if (auto ok = check_word(terms.queue, "queue"); !ok) return refuse_queue(ok.error().message);
  return {};
}

Result<void> read_until(const json::value& value, core::FeedTerms& terms) {
  const std::string word = value.is_string() ? std::string(value.as_string()) : "";
  if (word != "dry" && word != "closed")
    return refuse_queue("until must be dry or closed, and is " + json::serialize(value));
  terms.until_closed = word == "closed";
  return {};
}

Result<void> read_key(const std::string& key, const json::value& value, core::FeedTerms& terms) {
  if (key == "queue") return read_name(value, terms);
  if (key == "workers") return read_workers(value, terms);
  if (key == "until") return read_until(value, terms);
  if (key != "batch")
    return unknown_key(key, {"queue", "workers", "batch", "until"}, "beside queue");
  const auto batch = number_in(value, "batch", core::kItemsPerLeaseMax);
  if (!batch) return tl::unexpected(batch.error());
  terms.batch = *batch;
  return {};
}

}  // namespace

Result<std::optional<core::FeedTerms>> feed_of(const std::optional<Json>& for_each) {
  boost::system::error_code error;
  const json::value value = for_each ? json::parse(for_each->text, error) : json::value();
  if (error || !value.is_object() || !value.as_object().contains("queue")) return std::nullopt;
  core::FeedTerms terms;
  terms.workers_max = kWorkersUsual;
  for (const auto& entry : value.as_object()) {
    if (auto ok = read_key(std::string(entry.key()), entry.value(), terms); !ok)
      return tl::unexpected(ok.error());
  }
  return terms;
}

Result<void> check_fed_step(const WrittenStep& step) {
  const auto feed = feed_of(step.spec.for_each);
  if (!feed) return tl::unexpected(feed.error());
  if (!*feed) return {};
  if (step.spec.cache.value_or(false))
    return fail(ErrorCode::invalid, "cache does not go with a queue: an item is done only once");
  if (step.spec.parallel)
    return fail(ErrorCode::invalid,
                "parallel does not go with a queue: say for_each: {queue: " + (*feed)->queue +
                    ", workers: " + std::to_string(*step.spec.parallel) + "}");
  for (const OutputSpec& output : step.outputs) {
    if (is_count(*output.name))
      return fail(ErrorCode::invalid, "output " + quote(*output.name) +
                                          " is a count that every step with a queue leaves: "
                                          "give yours another name");
  }
  return {};
}

bool leaves(const WrittenStep& step, const std::string& name) {
  const bool declared = std::any_of(step.outputs.begin(), step.outputs.end(),
                                    [&](const OutputSpec& each) { return each.name == name; });
  if (declared || !is_count(name)) return declared;
  const auto feed = feed_of(step.spec.for_each);
  return feed && *feed;
}

}  // namespace atl::spec
