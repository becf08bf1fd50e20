#include "cli/contexts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "http/client.h"

namespace atl::cli {
namespace {

namespace fs = std::filesystem;

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

std::string text_of(const YAML::Node& node, const char* key) {
  const YAML::Node value = node[key];
  return value && value.IsScalar() ? value.as<std::string>() : "";
}

Result<Contexts> read_contexts(const YAML::Node& root, const std::string& path) {
  Contexts contexts;
  if (root.IsNull()) return contexts;
  if (!root.IsMap()) return fail(ErrorCode::invalid, path + " must be a map with `contexts`");
  contexts.current = text_of(root, "current");
  const YAML::Node named = root["contexts"];
  if (named && !named.IsMap()) return fail(ErrorCode::invalid, path + ": contexts must be a map");
  for (const auto& entry : named) {
    const auto name = entry.first.as<std::string>();
    if (!entry.second.IsMap()) {
      return fail(ErrorCode::invalid,
                  path + ": context " + quote(name) + " must be a map with `url`");
    }
    contexts.named[name] = {.url = text_of(entry.second, "url"),
                            .token = text_of(entry.second, "token"),
                            .ns = text_of(entry.second, "namespace"),
                            .ca_file = text_of(entry.second, "ca_file")};
  }
  return contexts;
}

std::string to_yaml(const Contexts& contexts) {
  YAML::Emitter out;
  const auto entry = [&out](const char* key, const std::string& value) {
    if (!value.empty()) out << YAML::Key << key << YAML::Value << YAML::DoubleQuoted << value;
  };
  out << YAML::BeginMap;
  entry("current", contexts.current);
  out << YAML::Key << "contexts" << YAML::Value << YAML::BeginMap;
  for (const auto& [name, context] : contexts.named) {
    out << YAML::Key << YAML::DoubleQuoted << name << YAML::Value << YAML::BeginMap;
    entry("url", context.url);
    entry("token", context.token);
    entry("namespace", context.ns);
    entry("ca_file", context.ca_file);
    out << YAML::EndMap;
  }
  out << YAML::EndMap << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
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
  try {
    return read_contexts(YAML::Load(text.str()), path);
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::invalid,
                path + ":" + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
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
