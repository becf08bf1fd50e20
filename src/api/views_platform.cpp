#include "api/view_fields.h"
#include "spec/platform_json.h"

namespace atl::api {
namespace {

const Shape& quota_shape() { return spec::shape_of<spec::QuotaWish>(); }

constexpr std::array kProblem{
    always(Kind::text, "type", "Always about:blank."),
    always(Kind::text, "title", "The status in words."),
    always(Kind::integer, "status", "The HTTP status."),
    always(Kind::text, "detail", "What was wrong, where, and what to write instead."),
    always(Kind::text, "code",
           "A word for programs: invalid, unauthorized, forbidden, not_found, conflict, "
           "stale, infeasible, exhausted, unavailable, too_large, timeout, internal."),
    sometimes(Kind::text, "field", "The path of the offending field."),
    always(Kind::text, "request_id", "To quote when asking for help.")};
constexpr std::array kExec{always(Kind::integer, "exit_code", "What the command returned."),
                           maybe(Kind::text, "stdout", "Its output, when it is text."),
                           maybe(Kind::text, "stdout_base64", "Its output, when it is not."),
                           maybe(Kind::text, "stderr", "Its errors, when they are text."),
                           maybe(Kind::text, "stderr_base64", "Its errors, when they are not.")};
constexpr const char* kFileKinds[] = {"file", "directory", "link"};
constexpr std::array kFile{always(Kind::text, "path", "Within the job's directory."),
                           word("kind", "What it is.", kFileKinds),
                           always(Kind::integer, "size_bytes", "Its size."),
                           maybe(Kind::time, "modified", "When it last changed.")};
const Shape& file_shape() {
  static constexpr Shape shape{"File", "A file of a job.", kFile};
  return shape;
}
constexpr std::array kFileList{
    always(Kind::objects, "files", "In order of path.", file_shape),
    always(Kind::boolean, "truncated", "Whether there are more than 10000.")};
constexpr std::array kSample{
    always(Kind::number, "at_seconds", "When it was taken, since the start."),
    always(Kind::number, "cpu_seconds", "Processor time used since the start."),
    always(Kind::integer, "memory_bytes", "Memory in use.")};
const Shape& sample_shape() {
  static constexpr Shape shape{"Sample", "What an attempt used at a moment.", kSample};
  return shape;
}
constexpr std::array kSampleList{always(Kind::integer, "attempt", "The number of the attempt."),
                                 always(Kind::objects, "samples", "Oldest first.", sample_shape)};

constexpr std::array kEvent{always(Kind::integer, "sequence", "The commit it belongs to."),
                            always(Kind::time, "at", "When it happened."),
                            maybe(Kind::text, "by", "Who asked; null for the platform itself."),
                            always(Kind::text, "type", "Such as job_submitted."),
                            maybe(Kind::text, "namespace", "Whose it is."),
                            maybe(Kind::text, "job", "Which job it is about."),
                            always(Kind::any, "data", "What the event says.")};
const Shape& event_shape() {
  static constexpr Shape shape{"Event", "Something that has happened.", kEvent};
  return shape;
}
constexpr std::array kEventList{
    always(Kind::objects, "events", "In the order they happened; a commit is never split.",
           event_shape),
    always(Kind::integer, "after", "Where to go on."),
    always(Kind::boolean, "reset",
           "Whether the position asked for is so old that only what people asked for is left."),
    always(Kind::boolean, "more", "Whether there is more now.")};

constexpr std::array kUse{always(Kind::number, "cpus", "Cores."),
                          always(Kind::integer, "memory", "Bytes."),
                          always(Kind::integer_map, "devices", "By kind and kind:model."),
                          always(Kind::integer, "running", "Tasks placed."),
                          always(Kind::integer, "queued", "Jobs that have not ended.")};
const Shape& use_shape() {
  static constexpr Shape shape{"InUse", "What a namespace uses.", kUse};
  return shape;
}
constexpr std::array kNamespace{
    always(Kind::text, "name", "Its name."),
    always(Kind::text_map, "members", "Users and their roles."),
    maybe(Kind::text, "cohort", "The cohort it belongs to."),
    always(Kind::number, "weight", "Its part of what is shared."),
    always(Kind::object, "quota", "What it is sure of.", quota_shape),
    always(Kind::object, "borrow",
           "What it may use beyond, of what its cohort has; what is "
           "not named is all there is.",
           quota_shape),
    always(Kind::object, "in_use", "What it uses now.", use_shape),
    always(Kind::object, "borrowed", "What it uses beyond its quota.", quota_shape),
    sometimes(Kind::texts, "warnings",
              "When it was changed: devices that no node has, and that nobody can lend it what it "
              "may borrow.")};
constexpr std::array kNamespaceList{
    always(Kind::objects, "namespaces", "Those you may see.", namespace_shape)};
constexpr std::array kUser{
    always(Kind::text, "name", "Its name."),
    always(Kind::boolean, "platform_admin", "Whether they may do everything."),
    always(Kind::boolean, "disabled", "Whether they are shut out."),
    maybe(Kind::integer, "uid", "The machine's account behind it.")};
constexpr std::array kUserList{always(Kind::objects, "users", "All of them.", user_shape)};
constexpr std::array kToken{
    always(Kind::text, "id", "Its id."),
    always(Kind::text, "user", "Whose it is."),
    always(Kind::text, "note", "What it is for."),
    maybe(Kind::time, "created", "When it was made."),
    maybe(Kind::time, "expires", "When it ends; null: never."),
    always(Kind::boolean, "read_only", "Whether it may only read."),
    always(Kind::texts, "namespaces", "What it opens; empty: all of the user's."),
    maybe(Kind::text, "token", "The secret, shown once when it is made.")};
constexpr std::array kTokenList{
    always(Kind::objects, "tokens", "Your own; all for a platform administrator.", token_shape)};
constexpr std::array kWhoami{
    always(Kind::text, "name", "Who you are."),
    always(Kind::boolean, "platform_admin", "Whether you may do everything."),
    always(Kind::boolean, "read_only", "Whether your token may only read."),
    always(Kind::text_map, "namespaces", "Your role in each.")};

constexpr std::array kDevice{always(Kind::text, "unit", "Its name on the node."),
                             always(Kind::text, "kind", "Such as gpu."),
                             always(Kind::text, "model", "Such as a100."),
                             always(Kind::integer, "memory_bytes", "Its memory."),
                             always(Kind::boolean, "simulated", "Whether it is only declared."),
                             always(Kind::boolean, "used", "Whether a task holds it."),
                             always(Kind::number, "used_share", "The part of it that is held.")};
const Shape& node_device_shape() {
  static constexpr Shape shape{"NodeDevice", "A device of a node.", kDevice};
  return shape;
}
constexpr std::array kNode{
    always(Kind::text, "name", "Its name."),
    always(Kind::boolean, "gone", "Whether it is no longer reported."),
    always(Kind::boolean, "draining", "Whether nothing new starts there, or on all of its site."),
    always(Kind::number, "cpus", "Cores it has."),
    always(Kind::number, "cpus_used", "Cores given away."),
    always(Kind::integer, "memory_bytes", "Memory it has."),
    always(Kind::integer, "memory_bytes_used", "Memory given away."),
    always(Kind::integer, "tasks", "Tasks on it."),
    always(Kind::objects, "devices", "Its devices.", node_device_shape)};
const Shape& node_shape() {
  static constexpr Shape shape{"Node", "A machine of a site.", kNode};
  return shape;
}
constexpr std::array kSite{always(Kind::text, "name", "Its name."),
                           always(Kind::text, "kind", "Such as local."),
                           always(Kind::boolean, "draining", "Whether nothing new starts there."),
                           always(Kind::boolean, "reported", "Whether it has said what it has."),
                           always(Kind::texts, "abilities", "What it can do."),
                           maybe(Kind::any, "definition",
                                 "What it was added with, for platform administrators; null where "
                                 "the configuration has it."),
                           maybe(Kind::text, "trouble", "What is wrong with it as a whole."),
                           always(Kind::text_map, "node_trouble", "What is wrong, by node."),
                           always(Kind::objects, "nodes", "Its machines.", node_shape)};
constexpr std::array kSiteList{always(Kind::objects, "sites", "All of them.", site_shape)};

constexpr std::array kRunning{always(Kind::text, "id", "The task."),
                              always(Kind::text, "name", "Its job's name."),
                              always(Kind::text, "namespace", "Whose it is."),
                              always(Kind::text, "user", "Who submitted it."),
                              word("state", "Where it stands.", kStateWords),
                              always(Kind::integer, "attempt", "The number of the attempt."),
                              always(Kind::text, "site", "Where."),
                              always(Kind::text, "node", "On which node."),
                              always(Kind::number, "cpus", "Cores it was given."),
                              always(Kind::integer, "memory_bytes", "Memory it was given."),
                              maybe(Kind::time, "started", "When it started."),
                              maybe(Kind::number, "cpus_used", "Cores it uses."),
                              maybe(Kind::integer, "memory_bytes_used", "Memory it uses.")};
const Shape& running_shape() {
  static constexpr Shape shape{"RunningTask", "A task that holds a place.", kRunning};
  return shape;
}
constexpr std::array kStats{
    always(Kind::integer_map, "jobs", "Live jobs by state."),
    always(Kind::integer_map, "tasks", "Tasks waiting and active."),
    always(Kind::objects, "running", "Tasks that hold a place, up to the limit.", running_shape)};
constexpr std::array kVersion{always(Kind::text, "name", "Always atoll."),
                              always(Kind::text, "version", "Of the program."),
                              always(Kind::text, "api", "Of this API."),
                              always(Kind::text, "installation", "Which installation this is."),
                              always(Kind::texts, "listen", "Addresses served over TCP.")};
constexpr const char* kCheckStatus[] = {"ok", "warn", "fail"};
constexpr std::array kCheck{always(Kind::text, "check", "What was looked at."),
                            word("status", "How it is.", kCheckStatus),
                            always(Kind::text, "detail", "Why.")};
const Shape& check_shape() {
  static constexpr Shape shape{"Check", "One thing that decides whether work runs well.", kCheck};
  return shape;
}
constexpr std::array kDoctor{always(Kind::objects, "checks", "In order of weight.", check_shape)};
constexpr std::array kHealth{always(Kind::text, "status", "Always ok.")};

}  // namespace

#define ATOLL_VIEW(function, name, sentence, fields)      \
  const Shape& function() {                               \
    static constexpr Shape shape{name, sentence, fields}; \
    return shape;                                         \
  }
ATOLL_VIEW(problem_shape, "Problem", "What went wrong (RFC 9457).", kProblem)
ATOLL_VIEW(exec_shape, "ExecResult", "What a command said.", kExec)
ATOLL_VIEW(file_list_shape, "FileList", "The files of a job.", kFileList)
ATOLL_VIEW(sample_list_shape, "SampleList", "What an attempt used over time.", kSampleList)
ATOLL_VIEW(event_list_shape, "EventList", "A page of events.", kEventList)
ATOLL_VIEW(namespace_shape, "Namespace", "A project's slice of the platform.", kNamespace)
ATOLL_VIEW(namespace_list_shape, "NamespaceList", "Namespaces.", kNamespaceList)
ATOLL_VIEW(user_shape, "User", "Somebody who may ask for things.", kUser)
ATOLL_VIEW(user_list_shape, "UserList", "Users.", kUserList)
ATOLL_VIEW(token_shape, "Token", "A key to the API.", kToken)
ATOLL_VIEW(token_list_shape, "TokenList", "Tokens.", kTokenList)
ATOLL_VIEW(whoami_shape, "Whoami", "Who asks.", kWhoami)
ATOLL_VIEW(site_shape, "Site", "A place where work runs.", kSite)
ATOLL_VIEW(site_list_shape, "SiteList", "Sites.", kSiteList)
ATOLL_VIEW(stats_shape, "Stats", "What goes on.", kStats)
ATOLL_VIEW(version_shape, "Version", "The program.", kVersion)
ATOLL_VIEW(doctor_shape, "Doctor", "What was looked at.", kDoctor)
ATOLL_VIEW(health_shape, "Health", "Whether it lives.", kHealth)
#undef ATOLL_VIEW

}  // namespace atl::api
