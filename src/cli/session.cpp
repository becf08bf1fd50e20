#include "cli/session.h"

#include <cstdlib>
#include <iostream>

#include "cli/display.h"

namespace atl::cli {

Session::Session(Globals flags, const Hooks& server, std::ostream& data, std::ostream& diagnostics)
    : globals(std::move(flags)),
      hooks(server),
      environment([](const char* name) { return std::getenv(name); }),
      terminal(detect_terminal(globals.color, environment)),
      out(data),
      err(diagnostics) {}

Result<Target> Session::target() const {
  const auto contexts = load_contexts(contexts_path(environment));
  if (!contexts) return tl::unexpected(contexts.error());
  return resolve_target(globals.target, *contexts, environment);
}

Result<Api*> Session::api() {
  if (api_) return api_.get();
  const auto where = target();
  if (!where) return tl::unexpected(where.error());
  auto opened = Api::open(*where);
  if (!opened) return tl::unexpected(opened.error());
  api_ = std::make_unique<Api>(std::move(*opened));
  return api_.get();
}

void Session::say(const std::string& line) const {
  err << printable(line, true) << "\n" << std::flush;
}

void Session::warn(const std::string& line) const {
  err << paint("warning:", Color::warning, terminal.color_err) << " " << printable(line, true)
      << "\n"
      << std::flush;
}

Result<bool> Session::confirm(const std::string& question) const {
  if (!terminal.in_is_terminal || !terminal.err_is_terminal) {
    return fail(ErrorCode::invalid, question + " Say --yes, since there is no terminal to ask on.");
  }
  err << printable(question) << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace atl::cli
