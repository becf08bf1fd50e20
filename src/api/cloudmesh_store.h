// The workflows of Cloudmesh's habits: a file each, HOME/cloudmesh/NAMESPACE/NAME.yaml, which
// people add to and run by its name. What has run is in the journal; this is what would run next.
//
// A file is replaced whole and is on the disk before a call returns. From any thread; calls block.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace atl::api {

inline constexpr size_t kDefinitionBytesMax = 16 << 20;
inline constexpr size_t kDefinitionsMax = 10'000;  // of one namespace

// Whose it is. The number tells a namespace from one of that name before it.
struct DefinitionsOf {
  std::string ns;
  NamespaceId id;
};

struct Definition {
  std::string yaml;
  std::string directory;  // where its nodes run; empty: each in a directory of its own
};

class CloudmeshStore {
 public:
  // Nothing is made before something is kept; an empty path refuses all.
  explicit CloudmeshStore(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] Result<std::vector<std::string>> list(const DefinitionsOf& of) const;
  [[nodiscard]] Result<Definition> load(const DefinitionsOf& of, const std::string& name) const;
  [[nodiscard]] Result<void> save(const DefinitionsOf& of, const std::string& name,
                                  const Definition& definition);
  // With the files that came along with it.
  [[nodiscard]] Result<void> remove(const DefinitionsOf& of, const std::string& name);

  // Loads, changes and saves as one. One that is not there begins as `fresh`, if that is given.
  using Change = std::function<Result<std::string>(const std::string& yaml)>;
  [[nodiscard]] Result<void> change(const DefinitionsOf& of, const std::string& name,
                                    const std::optional<Definition>& fresh, const Change& edit);

  // A directory of its own for files that come along, and its end when they are not wanted.
  [[nodiscard]] Result<std::string> new_tree(const DefinitionsOf& of, const std::string& name);
  void drop_tree(const std::string& directory) const;
  // Whether the directory is one of those.
  bool is_tree(const std::string& directory) const;

  // Where an administrator puts directories for POST /cloudmesh/workflow?directory=.
  std::string upload_directory() const { return path_ + "/upload"; }

 private:
  [[nodiscard]] Result<void> save_locked(const DefinitionsOf& of, const std::string& name,
                                         const Definition& definition);
  std::string folder(const DefinitionsOf& of) const { return path_ + "/namespaces/" + of.ns; }
  std::string trees() const { return path_ + "/trees/"; }

  const std::string path_;
  std::mutex changes_;
};

// A name for a file and an address; "run" and "upload" are words of the routes.
[[nodiscard]] Result<void> check_definition_name(const std::string& name);

// "Workflow 'flood' not found", as cc says it.
Error no_such_definition(const std::string& name);

}  // namespace atl::api
