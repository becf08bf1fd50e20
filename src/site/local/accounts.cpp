#include "site/local/accounts.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <vector>

#include "site/local/files.h"

namespace atl::site {
namespace {

constexpr int64_t kRememberUs = 60000000;
constexpr int kGroupsMax = 1024;

Result<Account> look_up(uint32_t uid) {
  passwd entry;
  passwd* found = nullptr;
  std::vector<char> buffer(16 << 10);
  ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  if (!found) {
    return fail(ErrorCode::not_found,
                "this machine has no account with the user id " + std::to_string(uid));
  }
  Account account{.uid = uid,
                  .gid = entry.pw_gid,
                  .name = entry.pw_name,
                  .home = entry.pw_dir,
                  .shell = entry.pw_shell};
  std::vector<gid_t> groups(kGroupsMax);
  int count = kGroupsMax;
  if (::getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count) < 0) count = kGroupsMax;
  account.groups.assign(groups.begin(), groups.begin() + count);
  return account;
}

}  // namespace

Result<Account> Accounts::find(uint32_t uid) {
  const int64_t now = monotonic_us();
  if (const auto at = remembered_.find(uid); at != remembered_.end() && at->second.until_us > now) {
    return at->second.account;
  }
  Result<Account> account = look_up(uid);
  // A server may run under a number without a name, as in containers; for itself that is no error.
  if (!account && uid == ::geteuid()) {
    account = Account{.uid = uid,
                      .gid = ::getegid(),
                      .name = std::to_string(uid),
                      .home = "/",
                      .shell = "/bin/sh"};
  }
  if (account) remembered_[uid] = {*account, now + kRememberUs};
  return account;
}

}  // namespace atl::site
