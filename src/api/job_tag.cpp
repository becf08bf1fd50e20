#include "api/job_tag.h"

#include "api/job_row.h"
#include "base/wire.h"

namespace atl::api {
namespace {

class Fnv {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  }
  void add(uint64_t number) { add({reinterpret_cast<const char*>(&number), sizeof number}); }
  std::string tag() const {
    char text[24];
    std::snprintf(text, sizeof text, "\"%016llx\"", static_cast<unsigned long long>(hash_));
    return text;
  }

 private:
  uint64_t hash_ = 0xcbf29ce484222325ull;
};

void add_job(Fnv& hash, const core::Job& job, const core::Terms& terms) {
  hash.add(job.name);
  hash.add(wire::encode(terms));
  hash.add(job.held);
  for (const core::Label& label : job.labels) {
    hash.add(label.key);
    hash.add(label.value);
  }
  for (const auto count : job.tally) hash.add(uint64_t{count});
}

}  // namespace

std::string job_tag(const core::State& state, const core::Job& job) {
  Fnv hash;
  add_job(hash, job, state.terms_of(job));
  hash.add(static_cast<uint64_t>(state_of(job)));
  hash.add(job.placed);
  return hash.tag();
}

std::string job_tag(const journal::EndedJob& ended) {
  Fnv hash;
  add_job(hash, ended.job, ended.terms);
  hash.add(static_cast<uint64_t>(ended.ended.us));
  return hash.tag();
}

}  // namespace atl::api
