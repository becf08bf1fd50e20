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
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  http::Call call{.method = method, .target = path};
  if (!body.empty()) call.headers.set("Content-Type", "application/json");
  call.body = std::move(body);
  const auto answer = (*api)->send(std::move(call));
  if (!answer) return tl::unexpected(answer.error());
  if (session.names_only()) {
    session.out << printable(name) << "\n";
  } else if (!session.for_people() && !answer->body.empty()) {
    const auto thing = Json::parse(answer->body);
    if (thing) print_one(session, *thing, "name", [] { return std::string(); });
  } else {
    session.out << printable(sentence) << "\n";
  }
  return kExitOk;
}

}  // namespace atl::cli
