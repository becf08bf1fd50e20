#include "cli/contexts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "cli/yaml_text.h"
#include "http/client.h"
#include "spec/yaml_reader.h"

namespace atl::cli {
namespace {

namespace fs = std::filesystem;
namespace yaml = spec::yaml;

std::string value_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value ? value : "";
}

std::string home_directory(const Environment& environment) {
  const std::string home = value_of(environment, "HOME");
  return home.empty() ? "/" : home;
}

// An XDG base directory; relative ones are to be ignored, says the specification.
std::string xdg(const Environment& environment, const char* name, const char* fallback) {
  const std::string value = value_of(environment, name);
  return value.starts_with('/') ? value : home_directory(environment) + fallback;
}

Context read_context(const yaml::Node& node) {
  if (!node.is_map()) yaml::wrong(node, "a context is a map with `url`");
  Context context;
  const std::map<std::string, std::string*> known = {{"url", &context.url},
                                                     {"token", &context.token},
                                                     {"namespace", &context.ns},
                                                     {"ca_file", &context.ca_file}};
  yaml::each_entry(node, [&](const std::string& key, const yaml::Node&, const yaml::Node& value) {
    // A newer program may have written more.
    if (const auto found = known.find(key); found != known.end())
      *found->second = yaml::text_of(value);
  });
  return context;
}

Contexts read_contexts(const yaml::Node& root) {
  Contexts contexts;
  if (root.is_null()) return contexts;
  yaml::each_entry(root, [&](const std::string& key, const yaml::Node&, const yaml::Node& value) {
    if (key == "current") contexts.current = yaml::text_of(value);
    if (key != "contexts" || value.is_null()) return;
    yaml::each_entry(value,
                     [&](const std::string& name, const yaml::Node&, const yaml::Node& context) {
                       contexts.named[name] = read_context(context);
                     });
  });
  return contexts;
}

std::string to_yaml(const Contexts& contexts) {
  boost::json::object named;
  const auto set = [](boost::json::object& object, const char* key, const std::string& value) {
    if (!value.empty()) object[key] = value;
  };
  for (const auto& [name, context] : contexts.named) {
    boost::json::object entry;
    set(entry, "url", context.url);
    set(entry, "token", context.token);
    set(entry, "namespace", context.ns);
    set(entry, "ca_file", context.ca_file);
    named[name] = std::move(entry);
  }
  boost::json::object root;
  set(root, "current", contexts.current);
  root["contexts"] = std::move(named);
  return yaml_text(root);
}

tl::unexpected<Error> cannot(const std::string& what, const std::string& path) {
  return fail(ErrorCode::unavailable, "cannot " + what + " " + path + ": " + std::strerror(errno));
}

Result<void> write_private(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return cannot("write", path);
  const bool written = ::fchmod(fd, 0600) == 0 &&
                       ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  errno = error;
  if (!written) return cannot("write", path);
  return {};
}

Result<Target> of_context(Target target, const std::string& name, const Contexts& contexts) {
  const auto found = contexts.named.find(name);
  if (found == contexts.named.end()) {
    std::vector<std::string> names{"local"};
    for (const auto& [known, context] : contexts.named) names.push_back(known);
    const auto near = did_you_mean(name, names);
    return fail(ErrorCode::invalid, "there is no context " + quote(name) +
                                        (near ? "; did you mean " + *near + "?"
                                              : "; see them with `atoll login --list`"));
  }
  target.context = name;
  target.url = found->second.url;
  target.token = found->second.token;
  target.ns = found->second.ns;
  target.ca_file = found->second.ca_file;
  return target;
}

Target of_socket(Target target) {
  target.url = "unix:" + target.home + "/atoll.sock";
  target.local = true;
  return target;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const fs::path full = fs::absolute(path, error);
  std::string text = (error ? fs::path(path) : full).lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::string contexts_path(const Environment& environment) {
  return xdg(environment, "XDG_CONFIG_HOME", "/.config") + "/atoll/contexts.yaml";
}

std::string default_home(const Environment& environment) {
  return xdg(environment, "XDG_DATA_HOME", "/.local/share") + "/atoll";
}

Result<Contexts> load_contexts(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return Contexts{};
    return cannot("read", path);
  }
  std::stringstream text;
  text << file.rdbuf();
  Contexts contexts;
  auto read = yaml::read_yaml(text.str(), path,
                              [&](const yaml::Node& root) { contexts = read_contexts(root); });
  if (!read) return tl::unexpected(std::move(read.error()));
  return contexts;
}

Result<void> save_contexts(const std::string& path, const Contexts& contexts) {
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  fs::create_directories(folder, error);
  if (error) {
    return fail(ErrorCode::unavailable, "cannot make " + folder.string() + ": " + error.message());
  }
  const std::string fresh = path + ".new";
  if (auto written = write_private(fresh, to_yaml(contexts)); !written) return written;
  if (::rename(fresh.c_str(), path.c_str()) != 0) return cannot("write", path);
  return {};
}

Result<Target> resolve_target(const TargetFlags& flags, const Contexts& contexts,
                              const Environment& environment) {
  const std::string named_home =
      flags.home.empty() ? value_of(environment, "ATOLL_HOME") : flags.home;
  const std::string url = value_of(environment, "ATOLL_URL");
  Target target;
  target.home = absolute_path(named_home.empty() ? default_home(environment) : named_home);
  target.token = value_of(environment, "ATOLL_TOKEN");
  if (!flags.url.empty() || (flags.context.empty() && flags.home.empty() && !url.empty())) {
    target.url = flags.url.empty() ? url : flags.url;
    return target;
  }
  if (flags.context == "local") return of_socket(std::move(target));
  if (!flags.context.empty()) return of_context(std::move(target), flags.context, contexts);
  if (!named_home.empty() || contexts.current.empty()) return of_socket(std::move(target));
  std::string token = target.token;
  auto found = of_context(std::move(target), contexts.current, contexts);
  if (found && !token.empty()) found->token = std::move(token);
  return found;
}

Result<void> check_transport(const std::string& url, bool has_token) {
  const auto parsed = http::Url::parse(url);
  if (!parsed) return tl::unexpected(parsed.error());
  const bool loopback =
      parsed->host == "localhost" || parsed->host == "::1" || parsed->host.starts_with("127.");
  if (!has_token || parsed->scheme != http::Url::Scheme::http || loopback) return {};
  return fail(ErrorCode::invalid,
              "a token is not sent to " + url +
                  " because http would show it to the network: use https, or an "
                  "ssh tunnel to localhost");
}

}  // namespace atl::cli
