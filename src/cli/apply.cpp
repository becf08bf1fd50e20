// apply: puts a platform file in force. export: writes the file of what is in force.
#include <ostream>

#include "cli/exit.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "spec/platform_json.h"

namespace atl::cli {
namespace {

struct ApplyFlags {
  std::string file;
  bool dry_run = false;
  bool yes = false;
  bool prune = false;
};

std::string value_in_words(const Json& change, const char* key) {
  const std::string value = change.text(key);
  const std::string field = change.text("field");
  if (!value.empty()) return value;
  if (field == "weight") return "1";
  if (field == "quota")
    return change.text("kind") == "cohort" ? "the sum of its members'" : "no limits";
  if (field == "borrow") return "all that is left";
  return field == "members" ? "nobody" : "none";
}

std::string change_line(const Json& change, bool color) {
  const std::string word = change.text("change");
  const std::string field = change.text("field");
  std::string line = word == "add" ? "+ " : word == "remove" ? "- " : "~ ";
  line += change.text("kind");
  if (!change.text("name").empty()) line += " " + change.text("name");
  if (field.empty()) {
    line += " " + change.text(word == "add" ? "to" : "from");
  } else {
    line +=
        " " + field + ": " + value_in_words(change, "from") + " -> " + value_in_words(change, "to");
  }
  const Color tone = word == "add" ? Color::good : word == "remove" ? Color::bad : Color::warning;
  return paint(printable(line), tone, color) + "\n";
}

std::string counted(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " change" : " changes");
}

std::string name_of_file(const ApplyFlags& flags) {
  return flags.file == "-" ? "standard input" : flags.file;
}

// The server's refusal, with the place in the file that its field stands for.
Error in_file(const spec::PlatformFile& file, const std::string& name, Error error) {
  const std::string place = file.place_of(error.field);
  if (!place.empty()) error.message = name + ":" + place + ": " + error.message;
  return error;
}

Result<Json> send_platform(Session& session, const ApplyFlags& flags,
                           const spec::PlatformFile& file, bool dry_run) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const std::string path = "/platform" + query({{"dry_run", dry_run ? "true" : ""},
                                                {"prune", flags.prune ? "true" : ""}});
  auto answer = (*api)->patch(path, spec::to_json(spec::to_wish(file)));
  if (!answer) return tl::unexpected(in_file(file, name_of_file(flags), answer.error()));
  return answer;
}

void tell_warnings(const Session& session, const Json& answer) {
  for (const Json& warning : answer["warnings"].items()) session.warn(warning.text());
}

void print_changes(Session& session, const Json& answer) {
  if (session.names_only()) {
    for (const Json& change : answer["changes"].items())
      session.out << printable(change.text("name")) << "\n";
    return;
  }
  print_one(session, answer, "applied", [&] {
    std::string out;
    for (const Json& change : answer["changes"].items())
      out += change_line(change, session.terminal.color);
    return out;
  });
}

Result<int> apply_file(Session& session, const ApplyFlags& flags) {
  const auto file = spec::load_platform_file(flags.file);
  if (!file) return tl::unexpected(file.error());
  if (!file->nodes.empty())
    return fail(ErrorCode::invalid,
                name_of_file(flags) + ":" + file->place_of("nodes") +
                    ": nodes are for `atoll simulate`; a server's come from its sites, so leave "
                    "them out of what is applied");
  const auto preview = send_platform(session, flags, *file, true);
  if (!preview) return tl::unexpected(preview.error());
  tell_warnings(session, *preview);
  const std::size_t count = (*preview)["changes"].items().size();
  if (count == 0 || flags.dry_run) {
    print_changes(session, *preview);
    if (session.for_people())
      session.out << (count == 0 ? "nothing to change" : counted(count) + "; nothing was applied")
                  << "\n";
    return kExitOk;
  }
  if (session.for_people()) print_changes(session, *preview);
  if (!flags.yes) {
    const auto sure = session.confirm("Apply " + counted(count) + "?");
    if (!sure) return tl::unexpected(sure.error());
    if (!*sure) return kExitFailure;
  }
  const auto done = send_platform(session, flags, *file, false);
  if (!done) return tl::unexpected(done.error());
  if (!session.for_people()) {
    print_changes(session, *done);
    return kExitOk;
  }
  if ((*done)["changes"].compact() != (*preview)["changes"].compact()) {
    session.warn("something else was changed meanwhile; this is what was applied:");
    print_changes(session, *done);
  }
  session.out << "applied " << counted((*done)["changes"].items().size()) << "\n";
  return kExitOk;
}

Result<int> export_platform(Session& session) {
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  const auto answer = (*api)->get("/platform");
  if (!answer) return tl::unexpected(answer.error());
  if (session.globals.format == Format::json || session.globals.format == Format::jsonl) {
    print_one(session, *answer, "", [] { return std::string(); });
    return kExitOk;
  }
  const auto wish = spec::parse_json<spec::PlatformWish>(answer->compact());
  if (!wish) return tl::unexpected(wish.error());
  const auto file = spec::to_platform_file(*wish);
  if (!file) return tl::unexpected(file.error());
  session.out << "# What is in force at " << printable((*api)->target().url)
              << "; put back with: atoll apply -f FILE\n"
              << spec::write_platform_file(*file) << std::flush;
  return kExitOk;
}

}  // namespace

void add_apply_verbs(Verbs& verbs) {
  auto flags = std::make_shared<ApplyFlags>();
  CLI::App* verb =
      verbs.add(nullptr, "apply",
                "Put a file of cohorts, quotas, hours and reservations in force, all or nothing",
                "atoll export > platform.yaml\n"
                "atoll apply -f platform.yaml --dry-run      what would change\n"
                "atoll apply -f platform.yaml\n"
                "atoll apply -f platform.yaml --prune --yes  also delete what it does not name",
                [flags](Session& session) { return apply_file(session, *flags); });
  verb->add_option("-f,--file", flags->file, "The file; - for standard input")
      ->required()
      ->type_name("FILE");
  verb->add_flag("--dry-run", flags->dry_run, "Show what would change, and change nothing");
  verb->add_flag("-y,--yes", flags->yes, "Do not ask");
  verb->add_flag(
      "--prune", flags->prune,
      "Delete cohorts, calendar entries and reservations that the file does not name, and "
      "namespaces that it does not name and that have no jobs");
  verbs.add(nullptr, "export", "Write what is in force as a file for `atoll apply`",
            "atoll export > platform.yaml\natoll export -o json", export_platform);
}

}  // namespace atl::cli
