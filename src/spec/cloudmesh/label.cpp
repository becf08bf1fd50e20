#include "spec/cloudmesh/label.h"

#include <algorithm>
#include <optional>

namespace atl::spec::cc {
namespace {

constexpr const char* kNotAvailable = "N/A";

std::string with_colons(std::string_view format) {
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    const bool colon = format.substr(i, 2) == "--";
    out += colon ? ':' : format[i];
    if (colon) ++i;
  }
  return out;
}

class Labeller {
 public:
  Labeller(const LabelValues& values, Time now, const Zone& zone)
      : values_(values), now_(now), zone_(zone) {}

  // Nothing when it is no variable.
  std::optional<std::string> value(std::string_view variable) const {
    if (const auto own = values_.attributes.find(std::string(variable));
        own != values_.attributes.end())
      return own->second;
    const size_t dot = variable.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view root = variable.substr(0, dot);
    const std::string rest(variable.substr(dot + 1));
    if (root == "os") return found(values_.os, rest);
    if (root == "cm") return found(values_.cm, rest);
    if (const auto at = moment(root)) {
      if (!*at) return kNotAvailable;
      return format_cc_time(rest.empty() ? kCcTimeFormat : with_colons(rest), *at, zone_);
    }
    if (root != "dt0" && root != "dt1" && root != "dt") return std::nullopt;
    const auto span = this->span(root);
    if (!span) return kNotAvailable;
    return format_cc_span(rest.empty() ? kCcSpanFormat : with_colons(rest), *span);
  }

 private:
  static std::string found(const std::map<std::string, std::string>& map, const std::string& key) {
    const auto known = map.find(key);
    return known == map.end() ? kNotAvailable : known->second;
  }
  std::optional<Time> moment(std::string_view root) const {
    const std::pair<std::string_view, Time> known[] = {{"now", now_},
                                                       {"created", values_.created},
                                                       {"modified", values_.modified},
                                                       {"tstart", values_.tstart},
                                                       {"tend", values_.tend},
                                                       {"t0", values_.t0},
                                                       {"t1", values_.t1}};
    for (const auto& [name, at] : known) {
      if (name == root) return at;
    }
    return std::nullopt;
  }
  // dt0 is how long the workflow has taken so far, dt1 and dt how long it and the job took.
  std::optional<Duration> span(std::string_view root) const {
    const Time begin = root == "dt" ? values_.tstart : values_.t0;
    const Time stop = root == "dt" ? values_.tend : values_.t1;
    if (!begin) return std::nullopt;
    if (stop) return stop - begin;
    if (root == "dt0") return now_ - begin;
    return std::nullopt;
  }

  const LabelValues& values_;
  const Time now_;
  const Zone& zone_;
};

}  // namespace

std::string render_label(std::string_view format, const LabelValues& values, Time now,
                         const Zone& zone) {
  const Labeller labeller(values, now, zone);
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format.substr(i, 2) == "\\n") {
      out += '\n';
      ++i;
      continue;
    }
    const size_t shut = format[i] == '{' ? format.find('}', i) : std::string_view::npos;
    if (shut != std::string_view::npos) {
      if (const auto value = labeller.value(format.substr(i + 1, shut - i - 1))) {
        out += *value;
        i = shut;
        continue;
      }
    }
    out += format[i];
  }
  return out;
}

}  // namespace atl::spec::cc
