// The directory of a task (checkpoints, notes, its script), made before it starts and gone after it
// when it left nothing there. Making and removing a directory costs 80 µs here and a rename 5 µs,
// so a keeper keeps one empty directory per account aside and moves it in and out. Belongs to one
// keeper.
#pragma once

#include <string>

#include "base/result.h"
#include "site/local/protocol.h"

namespace atl::site {

class DirectoryPool {
 public:
  explicit DirectoryPool(int slot) : slot_(slot) {}
  ~DirectoryPool();
  DirectoryPool(const DirectoryPool&) = delete;
  DirectoryPool& operator=(const DirectoryPool&) = delete;

  // Makes the task's directory, owned by its account. One left by an earlier attempt is used as it
  // is.
  [[nodiscard]] Result<void> take(const Launch& launch);
  // Removes what we put there; true when the task left its `checkpointed` note, which is removed as
  // well.
  bool give_back(const Launch& launch);

 private:
  [[nodiscard]] Result<void> make(const std::string& path, const Account& account);
  bool move_in(const std::string& path, const Account& account);
  void move_out(const std::string& path, const Launch& launch);
  void drop_spare();

  const int slot_;
  std::string spare_;  // path of the directory kept aside; empty: none
  uint32_t spare_owner_ = 0;
  std::string array_made_;  // the job directory of the last array
};

}  // namespace atl::site
