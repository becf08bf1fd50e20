// What every verb is given: the flags that all verbs share, the terminal, and the way to the
// server.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/api.h"
#include "cli/cli.h"
#include "cli/contexts.h"
#include "cli/terminal.h"

namespace atl::cli {

enum class Format { table, wide, json, jsonl, yaml, name };

struct Globals {
  TargetFlags target;
  Format format = Format::table;
  bool quiet = false;
  bool no_headers = false;
  ColorChoice color = ColorChoice::automatic;
};

class Session {
 public:
  Session(Globals globals, const Hooks& hooks, std::ostream& out, std::ostream& err);

  // Names only, asked for as --quiet or -o name.
  bool names_only() const { return globals.quiet || globals.format == Format::name; }
  bool for_people() const { return !names_only() && globals.format <= Format::wide; }

  [[nodiscard]] Result<Target> target() const;
  [[nodiscard]] Result<Api*> api();  // the same one each time

  // A line for the person, on standard error; nothing of it reaches the terminal unescaped.
  void say(const std::string& line) const;
  void warn(const std::string& line) const;
  // Asks on the terminal; `invalid` when there is nobody to ask.
  [[nodiscard]] Result<bool> confirm(const std::string& question) const;

  const Globals globals;
  const Hooks& hooks;
  const Environment environment;
  const Terminal terminal;
  std::ostream& out;
  std::ostream& err;

 private:
  std::unique_ptr<Api> api_;
};

}  // namespace atl::cli
