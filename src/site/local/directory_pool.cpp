#include "site/local/directory_pool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "site/local/environment.h"
#include "site/local/files.h"

namespace atl::site {
namespace {

std::string parent(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

bool is_real_directory(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

DirectoryPool::~DirectoryPool() { drop_spare(); }

void DirectoryPool::drop_spare() {
  if (!spare_.empty()) ::rmdir(spare_.c_str());
  spare_.clear();
}

Result<void> DirectoryPool::take(const Launch& launch) {
  if (launch.array && array_made_ != launch.job_dir) {
    if (Result<void> made = make(launch.job_dir, launch.account); !made) return made;
    array_made_ = launch.job_dir;
  }
  const std::string path = checkpoint_directory(launch);
  if (move_in(path, launch.account)) return {};
  return make(path, launch.account);
}

// Only a directory of the same account is used again: another could have kept it open.
bool DirectoryPool::move_in(const std::string& path, const Account& account) {
  if (spare_.empty()) return false;
  if (spare_owner_ != account.uid) {
    drop_spare();
    return false;
  }
  int error = ::rename(spare_.c_str(), path.c_str()) == 0 ? 0 : errno;
  if (error == ENOENT && make_directories(parent(path), 0711)) {
    error = ::rename(spare_.c_str(), path.c_str()) == 0 ? 0 : errno;
  }
  if (error == 0) spare_.clear();
  return error == 0 || error == ENOTEMPTY || error == EEXIST;
}

Result<void> DirectoryPool::make(const std::string& path, const Account& account) {
  int error = ::mkdir(path.c_str(), 0700) == 0 ? 0 : errno;
  if (error == ENOENT && make_directories(parent(path), 0711)) {
    error = ::mkdir(path.c_str(), 0700) == 0 ? 0 : errno;
  }
  if (error == EEXIST) return {};
  if (error == 0 && account.uid != ::geteuid() &&
      ::lchown(path.c_str(), account.uid, account.gid) != 0) {
    error = errno;
  }
  if (error == 0) return {};
  return fail(ErrorCode::unavailable,
              "cannot make the job's directory " + path + ": " + std::strerror(error));
}

bool DirectoryPool::give_back(const Launch& launch) {
  const std::string path = checkpoint_directory(launch);
  bool checkpointed = false;
  if (!is_empty_directory(path)) {
    checkpointed = ::unlink(checkpoint_note(launch).c_str()) == 0;
    ::unlink(notice_file(launch).c_str());
    ::unlink(progress_file(launch).c_str());
    if (!launch.payload.script.empty() && !shares_script(launch))
      ::unlink(script_path(launch).c_str());
    if (!is_empty_directory(path)) return checkpointed;
  }
  move_out(path, launch);
  return checkpointed;
}

void DirectoryPool::move_out(const std::string& path, const Launch& launch) {
  if (!spare_.empty()) {
    ::rmdir(path.c_str());
    return;
  }
  const std::string spare = parent(parent(launch.job_dir)) + "/.spare-" + std::to_string(slot_);
  if (::rename(path.c_str(), spare.c_str()) != 0) return;
  // The path lay in a directory of the task's account, who may have put something else there in the
  // last instant.
  if (is_real_directory(spare) && is_empty_directory(spare)) {
    spare_ = spare;
    spare_owner_ = launch.account.uid;
  } else if (::rmdir(spare.c_str()) != 0 && ::unlink(spare.c_str()) != 0) {
    ::rename(spare.c_str(), path.c_str());
  }
}

}  // namespace atl::site
