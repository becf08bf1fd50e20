#include "cli/platform.h"

#include <ostream>

#include "cli/exit.h"

namespace atl::cli {

Result<int> show_list(Session& session, const std::string& path, const View& view) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto items = (*api)->list(path);
  if (!items) return tl::unexpected(items.error());
  print_list(session, view, *items);
  return kExitOk;
}

Result<int> do_and_say(Session& session, const std::string& method, const std::string& path,
                       std::string body, const std::string& name, const std::string& sentence) {
  return do_and_say(session, method, path, std::move(body), name,
                    [&](const Json&) { return sentence; });
}

Result<int> do_and_say(Session& session, const std::string& method, const std::string& path,
                       std::string body, const std::string& name,
                       const std::function<std::string(const Json&)>& sentence,
                       const std::function<void(const Json&)>& also) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  http::Call call{.method = method, .target = path};
  if (!body.empty()) call.headers.set("Content-Type", "application/json");
  call.body = std::move(body);
  const auto answer = (*api)->send(std::move(call));
  if (!answer) return tl::unexpected(answer.error());
  Json thing;
  if (!answer->body.empty()) {
    auto parsed = Json::parse(answer->body);
    if (!parsed) return tl::unexpected(parsed.error());
    thing = std::move(*parsed);
  }
  if (session.names_only()) {
    session.out << printable(name) << "\n";
  } else if (!session.for_people() && !thing.is_null()) {
    print_one(session, thing, "name", [] { return std::string(); });
  } else {
    session.out << printable(sentence(thing)) << "\n";
  }
  for (const Json& warning : thing["warnings"].items()) session.warn(warning.text());
  if (also) also(thing);
  return kExitOk;
}

}  // namespace atl::cli
