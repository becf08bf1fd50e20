#include "site/remote/framing.h"

#include <unistd.h>

#include <atomic>
#include <random>

#include "base/text.h"

namespace atl::site {

std::string shell_quote(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string new_mark() {
  static std::atomic<uint64_t> count = 0;
  static const uint64_t chance = std::random_device{}();
  return "atoll-" + std::to_string(::getpid()) + "-" + std::to_string(chance) + "-" +
         std::to_string(count++);
}

// `read` takes single bytes from a pipe, so what follows the mark is left for the script; head and
// a script on stdin would read ahead. A script that was cut on its way is not begun.
std::string framed_program(const std::string& mark) {
  return "n=`echo;echo _`;n=${n%_};s=;d=;while IFS= read -r l;do case $l in " + mark +
         ")d=1;break;;esac;s=$s$l$n;done;test -n \"$d\"||exit 97;echo;echo begin-" + mark +
         ";(eval \"$s\");c=$?;echo;echo end-" + mark + " $c";
}

std::string framed_command(const std::string& mark) {
  return "exec /bin/sh -c '" + framed_program(mark) + "'";
}

std::string framed_input(const ShellCommand& command, const std::string& mark) {
  std::string text = command.script;
  if (!text.ends_with('\n')) text += '\n';
  text += mark + "\n";
  text += command.input;
  return text;
}

std::optional<Said> unframe(std::string_view out, const std::string& mark) {
  const std::string begin = "\nbegin-" + mark + "\n", end = "\nend-" + mark + " ";
  const size_t from = out.find(begin);
  const size_t to = out.rfind(end);
  if (from == std::string_view::npos || to == std::string_view::npos) return std::nullopt;
  const size_t body = from + begin.size();
  std::string_view rest = out.substr(to + end.size());
  const size_t line = rest.find('\n');
  if (line == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> code = parse_int(rest.substr(0, line));
  if (!code) return std::nullopt;
  if (to < body) return std::nullopt;
  return Said{.exit_code = static_cast<int>(*code),
              .out = std::string(out.substr(body, to - body))};
}

std::string_view before_frame(std::string_view out, const std::string& mark) {
  return trim(out.substr(0, std::min(out.size(), out.find("\nbegin-" + mark))));
}

}  // namespace atl::site
