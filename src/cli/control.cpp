// cancel, hold, release, requeue and change: what is asked of jobs that exist.
#include <ostream>

#include "base/text.h"
#include "cli/display.h"
#include "cli/exit.h"
#include "cli/job_flags.h"
#include "cli/output.h"
#include "cli/selectors.h"
#include "cli/verbs.h"
#include "spec/json_writer.h"

namespace atl::cli {
namespace {

struct ControlFlags {
  std::vector<std::string> ids;
  std::string grace;
  bool yes = false;
};

// What one of these verbs sends and how it tells what came of it.
struct Control {
  const char* verb = "";
  const char* done = "";     // "12 cancelled"
  const char* nothing = "";  // "12 had ended already"
};

Result<bool> sure(Session& session, const ControlFlags& flags, const Control& control,
                  std::size_t count) {
  if (!names_all(flags.ids) || flags.yes || count == 0) return true;
  return session.confirm(std::string(control.verb) + " " + std::to_string(count) + " jobs?");
}

void tell(Session& session, const Control& control, const std::string& id, const Json& answer) {
  if (session.names_only()) {
    session.out << printable(id) << "\n";
    return;
  }
  const bool changed = !answer.has("changed") || answer["changed"].truth();
  session.out << printable(id) << " " << (changed ? control.done : control.nothing) << "\n";
}

// Each job by itself: one that cannot be reached does not keep the others from it.
Result<int> act_on_each(Session& session, const ControlFlags& flags, const Control& control,
                        const std::function<Result<Json>(Api&, const std::string& id)>& act) {
  auto ids = many_jobs(session, flags.ids);
  if (!ids) return tl::unexpected(ids.error());
  const auto agreed = sure(session, flags, control, ids->size());
  if (!agreed) return tl::unexpected(agreed.error());
  if (!*agreed) return kExitFailure;
  auto api = session.api();
  if (!api) return tl::unexpected(api.error());
  int code = kExitOk;
  const bool documents = !session.for_people() && !session.names_only();
  std::vector<Json> answers;
  for (const std::string& id : *ids) {
    const auto answer = act(**api, id);
    if (answer) {
      for (const Json& warning : (*answer)["warnings"].items()) session.warn(warning.text());
      documents ? answers.push_back(*answer) : tell(session, control, id, *answer);
      continue;
    }
    session.say("atoll: " + id + ": " + answer.error().message);
    if (code == kExitOk) code = exit_code(answer.error());
  }
  if (documents)
    print_answers(session, answers, flags.ids.size() > 1 || names_all(flags.ids), "id");
  return code;
}

std::string cancel_body(const std::string& grace) {
  if (grace.empty()) return "{}";
  std::string body;
  spec::JsonWriter json(body);
  json.begin_object().member("grace", grace).end_object();
  return body;
}

CLI::App* add_control(Verbs& verbs, const Control& control, const char* sentence,
                      const char* examples, const std::shared_ptr<ControlFlags>& flags) {
  CLI::App* verb =
      verbs.add(nullptr, control.verb, sentence, examples, [flags, control](Session& session) {
        return act_on_each(session, *flags, control, [&](Api& api, const std::string& id) {
          const bool cancel = std::string_view(control.verb) == "cancel";
          return api.post(job_path(id) + "/" + control.verb,
                          cancel ? cancel_body(flags->grace) : "");
        });
      });
  verb->add_option("ID", flags->ids, "12, 12[7], last, or all of yours that have not ended")
      ->required();
  verb->add_flag("-y,--yes", flags->yes, "Do not ask before touching all");
  return verb;
}

Result<int> change(Session& session, const ControlFlags& flags, const spec::JobChange& wish) {
  if (wish == spec::JobChange{}) {
    return fail(ErrorCode::invalid,
                "say what changes, such as --priority 10; see `atoll change --help`");
  }
  return act_on_each(session, flags, {"change", "changed", "was so already"},
                     [&wish](Api& api, const std::string& id) {
                       return api.patch(job_path(id), spec::to_json(wish));
                     });
}

void add_change_verb(Verbs& verbs) {
  auto flags = std::make_shared<ControlFlags>();
  auto wish = std::make_shared<spec::JobChange>();
  CLI::App* verb =
      verbs.add(nullptr, "change", "Change what a waiting job asks for",
                "atoll change 12 --mem 4Gi --time 8h\n"
                "atoll change last --priority 10\n"
                "atoll change 12 --parallel-max 50     also while tasks of an array run",
                [flags, wish](Session& session) { return change(session, *flags, *wish); });
  verb->add_option("ID", flags->ids, "12, last, or all")->required();
  verb->add_flag("-y,--yes", flags->yes, "Do not ask before touching all");
  add_table_flags(verb, spec::shape_of<spec::JobChange>(), wish.get());
}

}  // namespace

void add_control_verbs(Verbs& verbs) {
  auto cancel = std::make_shared<ControlFlags>();
  add_control(verbs, {"cancel", "cancelled", "had ended already"},
              "Stop jobs: SIGTERM, then SIGKILL after the grace",
              "atoll cancel 12\natoll cancel 12[7] 13 --grace 5s\natoll cancel all --yes", cancel)
      ->add_option("--grace", cancel->grace,
                   "Between SIGTERM and SIGKILL; 0 kills at once (the job's own)")
      ->type_name("DURATION");
  add_control(verbs, {"hold", "held", "was held already"}, "Keep waiting jobs from starting",
              "atoll hold 12", std::make_shared<ControlFlags>());
  add_control(verbs, {"release", "released", "was not held"}, "Let held jobs start",
              "atoll release 12", std::make_shared<ControlFlags>());
  add_control(verbs, {"requeue", "requeued", "was waiting already"}, "Run jobs or tasks once more",
              "atoll requeue 12\natoll requeue 12[7]", std::make_shared<ControlFlags>());
  add_change_verb(verbs);
}

}  // namespace atl::cli
