// The machine's accounts, looked up through the name service and remembered for a minute.
#pragma once

#include <cstdint>
#include <map>

#include "base/result.h"
#include "site/local/protocol.h"

namespace atl::site {

class Accounts {
 public:
  // not_found: the machine has no such account. May block on the name service; called on the
  // driver's thread.
  [[nodiscard]] Result<Account> find(uint32_t uid);

 private:
  struct Remembered {
    Account account;
    int64_t until_us = 0;
  };
  std::map<uint32_t, Remembered> remembered_;
};

}  // namespace atl::site
