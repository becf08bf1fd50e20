// What people send besides jobs: small structures with a field table each (spec/fields.h).
#pragma once

#include "spec/fields.h"

namespace atl::api {

struct CancelWish {
  std::optional<Duration> grace;
};
struct ExecWish {
  spec::Texts command;
  spec::Text stdin_text;
  std::optional<Duration> timeout;
};
struct NamespaceWish {
  spec::Text name;
  spec::Text admin;
};
struct MemberWish {
  spec::Text role;
};
struct UserWish {
  spec::Text name;
  spec::Flag platform_admin;
  spec::Integer uid;
};
struct UserChange {
  spec::Flag disabled;
  spec::Flag platform_admin;
  spec::Integer uid;
};
struct TokenWish {
  spec::Text user;
  spec::Text note;
  std::optional<Duration> expires_in;
  spec::Flag read_only;
  spec::Texts namespaces;
  spec::Flag jwt;
};
struct SecretWish {
  spec::Text value;
};
struct BackupWish {
  spec::Text file;
};

}  // namespace atl::api

namespace atl::spec {

template <>
const Shape& shape_of<api::CancelWish>();
template <>
const Shape& shape_of<api::ExecWish>();
template <>
const Shape& shape_of<api::NamespaceWish>();
template <>
const Shape& shape_of<api::MemberWish>();
template <>
const Shape& shape_of<api::UserWish>();
template <>
const Shape& shape_of<api::UserChange>();
template <>
const Shape& shape_of<api::TokenWish>();
template <>
const Shape& shape_of<api::SecretWish>();
template <>
const Shape& shape_of<api::BackupWish>();

}  // namespace atl::spec
