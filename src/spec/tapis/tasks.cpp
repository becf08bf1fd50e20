#include "spec/tapis/tasks.h"

#include <algorithm>

#include "spec/job_spec.h"
#include "spec/tapis/values.h"
#include "spec/workflow/condition.h"

namespace atl::spec::tapis {
namespace {

constexpr int64_t kSecondsMax = 31LL * 24 * 3600;
constexpr int64_t kRetriesMax = 100;
constexpr size_t kPackagesMax = 100;

bool base64_text(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/' || c == '\n' || c == '\r';
  });
}

bool inside(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.front() == '-') return false;
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") return false;
  }
  return path.find_first_of("\n\r") == std::string_view::npos;
}

void read_path(const At& at, std::string& into) {
  into = at.text();
  if (!inside(into)) at.wrong(quote(into) + " must be a path below the task's own directory");
}

GitRepository read_repository(const At& at) {
  at.check_keys({"url", "branch", "directory", "auth"});
  GitRepository made;
  made.url = at.need("url").text();
  if (!made.url.starts_with("https://") && !made.url.starts_with("http://"))
    at.need("url").wrong("must begin with https:// or http://");
  made.branch = at.text_or("branch");
  if (made.branch.starts_with('-')) at.need("branch").wrong("is no branch");
  read_path(at.need("directory"), made.directory);
  return made;
}

FunctionTask read_function(const At& at) {
  FunctionTask made;
  std::ignore = at.text_or("runtime");  // the site's own python3 runs it
  if (const auto installer = at.find("installer")) std::ignore = installer->choice({"pip"});
  if (const auto code = at.find("code")) {
    made.code = code->text();
    if (!base64_text(made.code)) code->wrong("must be base64");
  }
  if (const auto entrypoint = at.find("entrypoint")) read_path(*entrypoint, made.entrypoint);
  made.command = at.text_or("command");
  if (const auto packages = at.find("packages")) {
    packages->each_item([&](const At& item) {
      const std::string name = item.text();
      if (name.empty() || name.starts_with('-') || name.find_first_of("\n\r") != std::string::npos)
        item.wrong(quote(name) + " is no package: write a name such as numpy==2.1");
      made.packages.push_back(name);
    });
    if (made.packages.size() > kPackagesMax) packages->wrong("has more than 100 packages");
  }
  if (const auto repositories = at.find("git_repositories"))
    repositories->each_item(
        [&](const At& item) { made.repositories.push_back(read_repository(item)); });
  if (made.code.empty() && made.command.empty() && made.entrypoint.empty())
    at.wrong("a function needs code, or the entrypoint of a repository");
  if (made.code.empty() && !made.entrypoint.empty() && made.repositories.empty())
    at.wrong("an entrypoint is a file of one of git_repositories, and there are none");
  return made;
}

ApplicationTask read_application(const At& at) {
  ApplicationTask made;
  made.image = at.need("image").text();
  const auto command = at.find("command");
  if (!command)
    at.wrong("images are not run here, so an application needs its command beside the image");
  if (command->value().is_string()) {
    made.command = command->text();
  } else {
    command->each_item([&](const At& item) { made.argv.push_back(item.text()); });
  }
  if (made.command.empty() && (made.argv.empty() || made.argv[0].empty()))
    command->wrong("is empty");
  if (const auto arguments = at.find("args")) {
    if (made.argv.empty()) arguments->wrong("needs a command that is a list");
    arguments->each_item([&](const At& item) { made.argv.push_back(item.text()); });
  }
  return made;
}

// A map of texts; numbers and booleans stand for what they are written as.
json::object read_texts(const At& at) {
  json::object all;
  at.each_member([&](const std::string& key, const At& member) {
    const json::value& value = member.value();
    if (value.is_object() || value.is_array() || value.is_null())
      member.wrong("must be a text, a number or true or false");
    all[key] = text_of_json(json::serialize(value));
    if (key.find_first_of("\r\n") != std::string::npos ||
        all[key].as_string().find_first_of("\r\n") != json::string::npos)
      member.wrong("must be one line");
  });
  return all;
}

RequestTask read_request(const At& at) {
  json::object made;
  made["method"] = at.need("http_method")
                       .choice({"get", "post", "put", "patch", "delete", "head", "options", "GET",
                                "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"});
  const std::string url = at.need("url").text();
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    at.need("url").wrong("must begin with http:// or https://");
  if (url.find_first_of(" \t\r\n") != std::string::npos)
    at.need("url").wrong("must have no blanks");
  made["url"] = url;
  if (const auto auth = at.find("auth"))
    auth->wrong("is not offered; write the header that it stands for");
  if (const auto data = at.find("data")) made["data"] = data->value();
  if (const auto headers = at.find("headers")) made["headers"] = read_texts(*headers);
  if (const auto query = at.find("query_params")) made["query"] = read_texts(*query);
  return {json::serialize(made)};
}

bool included(const At& at) { return at.flag_or("include", true); }

void read_parameters(const At& at, TapisJobTask& job) {
  at.check_keys({"appArgs", "containerArgs", "schedulerOptions", "envVariables", "archiveFilter",
                 "logConfig"});
  if (const auto arguments = at.find("appArgs")) {
    arguments->each_item([&](const At& item) {
      if (!included(item)) return;
      const std::string arg = item.text_or("arg");
      if (arg.find_first_of("&><|;`\r\n") != std::string::npos)
        item.need("arg").wrong("must have none of & > < | ; `");
      if (!arg.empty()) job.arguments.push_back(arg);
    });
  }
  if (const auto variables = at.find("envVariables")) {
    variables->each_item([&](const At& item) {
      if (!included(item)) return;
      const std::string key = item.need("key").text();
      if (auto ok = check_variable_name(key); !ok) item.need("key").wrong(ok.error().message);
      job.env[key] = item.text_or("value");
    });
  }
}

TapisJobTask read_job(const At& task) {
  const At at = task.need("tapis_job_def");
  TapisJobTask job;
  job.app = at.need("appId").text();
  if (job.app.empty()) at.need("appId").wrong("is empty");
  for (const char* files : {"fileInputs", "fileInputArrays"}) {
    const auto given = at.find(files);
    if (given && given->value().is_array() && !given->value().as_array().empty())
      given->wrong("files are not copied for a job; let the task fetch them");
  }
  job.site = at.text_or("execSystemId");
  if (const auto n = at.find("nodeCount")) job.nodes = n->integer(1, 1000);
  if (const auto n = at.find("coresPerNode")) job.cores = n->integer(1, 10'000);
  if (const auto n = at.find("memoryMB")) job.memory_mb = n->integer(1, 1LL << 30);
  if (const auto n = at.find("maxMinutes")) job.minutes = n->integer(1, kSecondsMax / 60);
  if (const auto parameters = at.find("parameterSet")) read_parameters(*parameters, job);
  return job;
}

void read_dependencies(const At& at, Task& task) {
  at.each_item([&](const At& item) {
    item.check_keys({"id", "can_fail", "can_skip"});
    Dependency made;
    made.id = item.need("id").text();
    made.can_fail = item.flag_or("can_fail", false);
    made.can_skip = item.flag_or("can_skip", false);
    for (const Dependency& other : task.depends_on) {
      if (other.id == made.id) item.wrong("task " + quote(made.id) + " is named twice");
    }
    task.depends_on.push_back(std::move(made));
  });
}

void read_outputs(const At& at, Task& task) {
  at.each_member([&](const std::string& key, const At& member) {
    if (auto ok = check_word(key, "output"); !ok) member.wrong(ok.error().message);
    const auto type = member.find("type");
    task.output[key] = type ? read_type(*type) : IoType::string;
  });
}

void read_conditions(const At& at, Task& task) {
  at.each_item([&](const At& item) {
    if (auto ok = check_condition(json::serialize(item.value())); !ok)
      item.wrong(ok.error().message);
  });
  if (!at.value().as_array().empty()) task.conditions = json::serialize(at.value());
}

void read_kind(const At& at, Task& task) {
  if (task.type == "container_run") task.type = "application";
  if (task.type == "function") {
    task.function = read_function(at);
  } else if (task.type == "application") {
    task.application = read_application(at);
  } else if (task.type == "request") {
    task.request = read_request(at);
  } else if (task.type == "tapis_job") {
    task.job = read_job(at);
    task.output.try_emplace("STATUS", IoType::string);
  } else if (task.type == "image_build") {
    at.wrong("task " + quote(task.id) +
             " builds an image, and there is no image builder here; build it elsewhere and leave "
             "the task out");
  } else if (task.type == "tapis_actor") {
    at.wrong("task " + quote(task.id) +
             " runs a Tapis actor, and there are none here; write it as a function");
  } else {
    at.need("type").wrong("is " + quote(task.type) +
                          "; there are function, application, request, tapis_job, template");
  }
}

}  // namespace

Profile read_profile(const At& at, bool of_pipeline) {
  at.check_keys({"max_exec_time", "max_retries", "retry_policy", "invocation_mode", "flavor",
                 "duplicate_submission_policy", "lock_expiration_policy"});
  Profile made;
  if (const auto time = at.find("max_exec_time"))
    made.max_exec_time = time->integer(1, kSecondsMax);
  if (const auto retries = at.find("max_retries"))
    made.max_retries = retries->integer(0, kRetriesMax);
  if (const auto policy = at.find("retry_policy"))
    std::ignore = policy->choice({"exponential_backoff"});
  if (const auto mode = at.find("invocation_mode")) std::ignore = mode->choice({"async", "sync"});
  if (const auto flavor = at.find("flavor"))
    made.flavor = flavor->choice({"c1tiny", "c1xxsml", "c1xsml", "c1sml", "c1med", "c1lrg",
                                  "c1xlrg", "c1xxlrg", "g1nvdsml", "g1nvdmed", "g1nvdlrg"});
  if (!of_pipeline) return made;
  made.duplicates = "terminate";
  if (const auto policy = at.find("duplicate_submission_policy"))
    made.duplicates = policy->choice({"allow", "deny", "terminate", "defer"});
  if (const auto policy = at.find("lock_expiration_policy"))
    std::ignore = policy->choice({"no_op", "disable_pipeline", "delete_lock"});
  return made;
}

Task read_task(const At& at) {
  at.check_keys({"id",
                 "type",
                 "uses",
                 "depends_on",
                 "description",
                 "execution_profile",
                 "input",
                 "output",
                 "conditions",
                 "cache",
                 "runtime",
                 "packages",
                 "installer",
                 "code",
                 "entrypoint",
                 "command",
                 "args",
                 "git_repositories",
                 "image",
                 "http_method",
                 "url",
                 "data",
                 "headers",
                 "query_params",
                 "auth",
                 "poll",
                 "tapis_job_def",
                 "builder",
                 "context",
                 "destination",
                 "tapis_actor_id",
                 "tapis_actor_message"});
  Task task;
  task.id = at.need("id").text();
  if (auto ok = check_id(task.id, at.path() + ".id"); !ok) throw ok.error();
  task.type = at.need("type").text();
  if (const auto depends = at.find("depends_on")) read_dependencies(*depends, task);
  if (const auto input = at.find("input")) task.input = read_variables(*input, Sources::any);
  if (const auto output = at.find("output")) read_outputs(*output, task);
  if (const auto conditions = at.find("conditions")) read_conditions(*conditions, task);
  if (const auto profile = at.find("execution_profile"))
    task.profile = read_profile(*profile, false);
  read_kind(at, task);
  return task;
}

json::value with_template(const At& task, const Templates& templates) {
  const auto uses = task.find("uses");
  if (!uses) {
    if (task.text_or("type") == "template")
      task.wrong("a template needs uses: {\"name\": \"PIPELINE/TASK\"}");
    return task.value();
  }
  uses->check_keys({"name", "path", "source"});
  if (uses->find("source"))
    uses->wrong(
        "templates are not fetched from repositories; keep the task in a pipeline of this "
        "group and name it as PIPELINE/TASK");
  const At name = uses->need("name");
  const std::string whole = name.text();
  const size_t slash = whole.find('/');
  if (slash == std::string::npos) name.wrong("is " + quote(whole) + "; write PIPELINE/TASK");
  const std::string pipeline = whole.substr(0, slash), id = whole.substr(slash + 1);
  const auto text = templates ? templates(pipeline)
                              : fail(ErrorCode::not_found, "there is no pipeline " + pipeline);
  if (!text) name.wrong(text.error().message);
  const json::value other = json::parse(*text);
  const json::value* tasks = other.as_object().if_contains("tasks");
  for (const json::value& each : tasks ? tasks->as_array() : json::array{}) {
    if (each.at("id").as_string() != id) continue;
    if (each.as_object().contains("uses"))
      name.wrong("task " + quote(id) + " is a template itself");
    json::object merged = task.object();
    const json::value* type = merged.if_contains("type");
    if (type && (type->is_null() || *type == "template")) merged.erase("type");
    // Only what the task does not set itself; where it stands in its own pipeline stays there.
    for (const auto& entry : each.as_object()) {
      if (entry.key() != "id" && entry.key() != "depends_on")
        merged.emplace(entry.key(), entry.value());
    }
    return merged;
  }
  name.wrong("pipeline " + quote(pipeline) + " has no task " + quote(id));
}

}  // namespace atl::spec::tapis
