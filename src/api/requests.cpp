#include "api/requests.h"

#include <array>

#include "core/limits.h"

namespace atl::spec {
namespace {

using namespace api;

constexpr const char* kRoles[] = {"viewer", "member", "admin"};
constexpr int64_t kUidMax = 4294967294;  // the last one means "none"

constexpr std::array kCancel{
    field<&CancelWish::grace>(
        {.name = "grace",
         .sentence = "Between SIGTERM and SIGKILL; the job's own when left out.",
         .example = "\"10s\""}),
};
constexpr std::array kExecWish{
    field<&ExecWish::command>({.name = "command",
                               .sentence = "The program and its arguments.",
                               .example = "[\"nvidia-smi\"]",
                               .low = 1,
                               .high = 1000,
                               .required = true}),
    field<&ExecWish::stdin_text>({.name = "stdin",
                                  .sentence = "Text that it reads from standard input.",
                                  .example = "\"\"",
                                  .high = 1 << 20}),
    field<&ExecWish::timeout>({.name = "timeout",
                               .sentence = "How long it may take, up to ten minutes.",
                               .example = "\"30s\"",
                               .fallback = "\"1m\""}),
};
constexpr std::array kNamespaceWish{
    field<&NamespaceWish::name>({.name = "name",
                                 .sentence = "Its name: a-z 0-9 . _ -",
                                 .example = "\"vision\"",
                                 .low = 1,
                                 .high = 63,
                                 .required = true}),
    field<&NamespaceWish::admin>(
        {.name = "admin",
         .sentence = "The user who becomes its administrator; who asks when left out.",
         .example = "\"ada\"",
         .high = 63}),
};
constexpr std::array kMember{
    field<&MemberWish::role>({.name = "role",
                              .sentence = "What they may do in the namespace.",
                              .example = "\"member\"",
                              .choices = kRoles,
                              .required = true}),
};
constexpr std::array kUserWish{
    field<&UserWish::name>({.name = "name",
                            .sentence = "Its name: a-z 0-9 . _ -",
                            .example = "\"ada\"",
                            .low = 1,
                            .high = 63,
                            .required = true}),
    field<&UserWish::platform_admin>({.name = "platform_admin",
                                      .sentence = "Whether they may do everything.",
                                      .example = "false",
                                      .fallback = "false"}),
    field<&UserWish::uid>({.name = "uid",
                           .sentence = "The machine's account behind it, known on the unix socket.",
                           .example = "1000",
                           .low = 0,
                           .high = kUidMax}),
};
constexpr std::array kUserChange{
    field<&UserChange::disabled>(
        {.name = "disabled", .sentence = "Whether they are shut out.", .example = "true"}),
    field<&UserChange::platform_admin>({.name = "platform_admin",
                                        .sentence = "Whether they may do everything.",
                                        .example = "false"}),
    field<&UserChange::uid>({.name = "uid",
                             .sentence = "The machine's account behind it.",
                             .example = "1000",
                             .low = 0,
                             .high = kUidMax}),
};
constexpr std::array kTokenWish{
    field<&TokenWish::user>({.name = "user",
                             .sentence = "Whose token it is; your own when left out.",
                             .example = "\"ada\"",
                             .high = 63}),
    field<&TokenWish::note>({.name = "note",
                             .sentence = "What it is for.",
                             .example = "\"laptop\"",
                             .high = core::kNameBytesMax}),
    field<&TokenWish::expires_in>({.name = "expires_in",
                                   .sentence = "How long it lives; for ever when 0.",
                                   .example = "\"30d\"",
                                   .fallback = "\"90d\""}),
    field<&TokenWish::read_only>({.name = "read_only",
                                  .sentence = "Whether it may only read.",
                                  .example = "true",
                                  .fallback = "false"}),
    field<&TokenWish::namespaces>(
        {.name = "namespaces",
         .sentence = "The namespaces it opens; all of the user's when left out.",
         .example = "[\"vision\"]",
         .high = 256}),
    field<&TokenWish::jwt>({.name = "jwt",
                            .sentence = "Whether it comes in the shape of a JWT, as clients of "
                                        "Tapis want it.",
                            .example = "true",
                            .fallback = "false"}),
};
constexpr std::array kSecretWish{
    field<&SecretWish::value>({.name = "value",
                               .sentence = "What it says; shown to nobody again.",
                               .example = "\"correct horse battery staple\"",
                               .low = 1,
                               .high = 64 << 10,
                               .required = true}),
};
constexpr std::array kBackup{
    field<&BackupWish::file>({.name = "file",
                              .sentence = "An absolute path on the server; must not exist.",
                              .example = "\"/var/backups/atoll.backup\"",
                              .low = 1,
                              .high = 4096,
                              .required = true}),
};

}  // namespace

template <>
const Shape& shape_of<CancelWish>() {
  static constexpr Shape shape{"Cancel", "How to stop.", kCancel};
  return shape;
}
template <>
const Shape& shape_of<ExecWish>() {
  static constexpr Shape shape{"Exec", "A command to run in the place of a running task.",
                               kExecWish};
  return shape;
}
template <>
const Shape& shape_of<NamespaceWish>() {
  static constexpr Shape shape{"NewNamespace", "A namespace to make.", kNamespaceWish};
  return shape;
}
template <>
const Shape& shape_of<MemberWish>() {
  static constexpr Shape shape{"Member", "A member's role.", kMember};
  return shape;
}
template <>
const Shape& shape_of<UserWish>() {
  static constexpr Shape shape{"NewUser", "A user to make.", kUserWish};
  return shape;
}
template <>
const Shape& shape_of<UserChange>() {
  static constexpr Shape shape{"UserChange", "What changes; what is left out stays.", kUserChange};
  return shape;
}
template <>
const Shape& shape_of<TokenWish>() {
  static constexpr Shape shape{"NewToken", "A token to make.", kTokenWish};
  return shape;
}
template <>
const Shape& shape_of<SecretWish>() {
  static constexpr Shape shape{"NewSecret", "A secret to set.", kSecretWish};
  return shape;
}
template <>
const Shape& shape_of<BackupWish>() {
  static constexpr Shape shape{"Backup", "Where the copy goes.", kBackup};
  return shape;
}

}  // namespace atl::spec
