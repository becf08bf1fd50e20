// For the journal's own tests: a directory that goes away, and a small world whose events make
// batches the way the runtime makes them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/core.h"
#include "journal/journal.h"

namespace atl::journal {

class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// The value, or a failed test that shows the error.
template <class T>
T must(Result<T> result) {
  if (!result) ADD_FAILURE() << result.error().message;
  if constexpr (!std::is_void_v<T>) return result ? std::move(*result) : T{};
}

Blob make_blob(const std::string& bytes);

class World {
 public:
  core::State state;
  Batch batch;  // what happened since the last take()

  // A user, two namespaces, a site with two nodes.
  void found();
  JobId submit(const std::string& name, const std::string& payload = "payload",
               const std::string& key = {});
  void run(JobId id,
           core::Outcome outcome = core::Outcome::succeeded);  // placed, started, ended, job ended
  void happen(core::EventBody body);
  Batch take() { return std::exchange(batch, {}); }

  NamespaceId ns{1};
  UserId user{1};
  core::Labels labels;
};

// Everything described about a value, one member a line, for golden files.
std::string state_text(const core::State& state);

}  // namespace atl::journal
