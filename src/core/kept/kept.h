// Named documents of a namespace whose meaning lives outside the core: it keeps them with all else,
// says who may write them, and numbers their versions.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "core/types.h"

namespace atl::core {

struct KeptKey {
  NamespaceId ns;
  std::string kind;
  std::string name;
  auto operator<=>(const KeptKey&) const = default;
};

struct KeptDocument {
  std::string text;
  UserId owner;          // who wrote it first
  Time written;          // this version
  uint64_t version = 0;  // from 1
  bool operator==(const KeptDocument&) const = default;
};

struct DocumentKept {
  KeptKey key;
  std::string text;
  UserId owner;
  bool operator==(const DocumentKept&) const = default;
};
struct DocumentDropped {
  KeptKey key;
  bool operator==(const DocumentDropped&) const = default;
};

ATOLL_DESCRIBE(KeptKey, ns, kind, name)
ATOLL_DESCRIBE(KeptDocument, text, owner, written, version)
ATOLL_DESCRIBE(DocumentKept, key, text, owner)
ATOLL_DESCRIBE(DocumentDropped, key)

}  // namespace atl::core
