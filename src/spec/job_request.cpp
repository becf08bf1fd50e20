#include <boost/json.hpp>

#include "core/limits.h"
#include "spec/fields_json.h"
#include "spec/job_spec.h"

namespace atl::spec {

Result<JobRequest> parse_job_request(std::string_view text) {
  const auto tree = parse_tree(text);
  if (!tree) return tl::unexpected(tree.error());
  JobRequest request;
  const auto* object = tree->if_object();
  const boost::json::value* jobs = object ? object->if_contains("jobs") : nullptr;
  if (!jobs) {
    if (auto ok = parse_value(shape_of<JobSpec>(), &request.jobs.emplace_back(), *tree, ""); !ok)
      return tl::unexpected(ok.error());
    return request;
  }
  request.batch = true;
  if (object->size() > 1)
    return fail(ErrorCode::invalid, "a batch has only the field jobs", "jobs");
  const auto* list = jobs->if_array();
  if (!list)
    return fail(ErrorCode::invalid,
                "jobs is " + std::string(word_for(*jobs)) + "; it must be a list", "jobs");
  if (list->empty()) return fail(ErrorCode::invalid, "jobs must not be empty", "jobs");
  if (list->size() > core::kBatchJobsMax)
    return fail(ErrorCode::invalid, "a batch may have at most 10000 jobs", "jobs");
  request.jobs.resize(list->size());
  for (size_t i = 0; i < list->size(); ++i) {
    const std::string path = "jobs[" + std::to_string(i) + "]";
    if (auto ok = parse_value(shape_of<JobSpec>(), &request.jobs[i], (*list)[i], path); !ok)
      return tl::unexpected(ok.error());
  }
  return request;
}

}  // namespace atl::spec
