#include "api/cloudmesh_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "spec/cloudmesh/cc_file.h"

namespace atl::api {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNamespaceLine = "# namespace ";
constexpr std::string_view kDirectoryLine = "# directory ";
constexpr mode_t kPassThrough = 0711;  // other accounts reach the files that came along, by name

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

tl::unexpected<Error> failed(const std::string& what, const std::string& path) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable;
  return fail(code, "cannot " + what + " " + path + ": " + std::strerror(errno));
}

Result<void> make_folder(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), kPassThrough) != 0 && errno != EEXIST) return failed("make", part);
    if (at == std::string::npos) return {};
  }
}

Result<std::string> read_whole(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) return failed("read", path);
  std::string text;
  char buffer[64 << 10];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0) return failed("read", path);
    if (got == 0) return text;
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() > 2 * kDefinitionBytesMax) return failed("read", path);
  }
}

Result<void> write_durably(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0) return failed("write", path);
    text.remove_prefix(static_cast<size_t>(put));
  }
  if (::fsync(fd) != 0) return failed("write", path);
  return {};
}

Result<void> sync_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || ::fsync(folder.get()) != 0) return failed("write", path);
  return {};
}

// The old content or the new one, whole, whenever the machine stops.
Result<void> replace(const std::string& folder, const std::string& name, const std::string& text) {
  const std::string path = folder + "/" + name;
  const std::string fresh = folder + "/.new-" + name;
  {
    const Descriptor file(
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file.get() < 0) return failed("write", fresh);
    if (auto ok = write_durably(file.get(), text, fresh); !ok) {
      ::unlink(fresh.c_str());
      return ok;
    }
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) return failed("write", path);
  return sync_folder(folder);
}

// The value of the line that the text begins with, which is taken off.
std::optional<std::string> take_line(std::string& text, std::string_view key) {
  if (!text.starts_with(key)) return std::nullopt;
  const size_t end = text.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string value = text.substr(key.size(), end - key.size());
  text.erase(0, end + 1);
  return value;
}

// Nothing when it belongs to an earlier namespace of that name.
std::optional<Definition> parse_kept(std::string text, NamespaceId ns) {
  Definition definition;
  if (take_line(text, kNamespaceLine) != std::to_string(ns.value)) return std::nullopt;
  definition.directory = take_line(text, kDirectoryLine).value_or("");
  definition.yaml = std::move(text);
  return definition;
}

Result<void> check_directory(const std::string& directory) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  const bool plain = valid_utf8(directory) && directory.size() <= 4096 &&
                     std::none_of(directory.begin(), directory.end(), control);
  if (directory.empty() || (plain && directory.starts_with('/'))) return {};
  return fail(ErrorCode::invalid, "the directory must be an absolute path", "run_directory");
}

}  // namespace

Result<void> check_definition_name(const std::string& name) {
  if (name == "run" || name == "upload")
    return fail(ErrorCode::invalid,
                quote(name) + " cannot be the name of a workflow: it is a word of the addresses",
                "workflow_name");
  if (auto ok = spec::cc::check_cc_name(name); !ok)
    return fail(ok.error().code, ok.error().message, "workflow_name");
  return check_word(name, "workflow_name");
}

Error no_such_definition(const std::string& name) {
  return {ErrorCode::not_found, "Workflow '" + name + "' not found", "workflow"};
}

Result<std::vector<std::string>> CloudmeshStore::list(const DefinitionsOf& of) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder(of), error), end; !error && at != end;
       at.increment(error)) {
    const std::string file = at->path().filename().string();
    if (!file.ends_with(".yaml") || file.starts_with('.')) continue;
    std::string name = file.substr(0, file.size() - 5);
    if (names.size() < kDefinitionsMax && load(of, name)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<Definition> CloudmeshStore::load(const DefinitionsOf& of, const std::string& name) const {
  if (!check_definition_name(name)) return tl::unexpected(no_such_definition(name));
  auto text = read_whole(folder(of) + "/" + name + ".yaml");
  if (!text && text.error().code == ErrorCode::not_found)
    return tl::unexpected(no_such_definition(name));
  if (!text) return tl::unexpected(text.error());
  auto definition = parse_kept(std::move(*text), of.id);
  if (!definition) return tl::unexpected(no_such_definition(name));
  return std::move(*definition);
}

Result<void> CloudmeshStore::save(const DefinitionsOf& of, const std::string& name,
                                  const Definition& definition) {
  const std::lock_guard lock(changes_);
  return save_locked(of, name, definition);
}

Result<void> CloudmeshStore::save_locked(const DefinitionsOf& of, const std::string& name,
                                         const Definition& definition) {
  if (path_.empty()) return fail(ErrorCode::unavailable, "this server keeps no workflows by name");
  if (auto ok = check_definition_name(name); !ok) return ok;
  if (auto ok = check_directory(definition.directory); !ok) return ok;
  if (definition.yaml.size() > kDefinitionBytesMax)
    return fail(ErrorCode::too_large, "a workflow that is kept by name has at most 16Mi", "yaml");
  const auto before = load(of, name);
  if (!before) {
    const auto names = list(of);
    if (names && names->size() >= kDefinitionsMax)
      return fail(ErrorCode::exhausted, of.ns + " has 10,000 workflows; delete some first");
  }
  if (auto ok = make_folder(folder(of)); !ok) return ok;
  const std::string head = std::string(kNamespaceLine) + std::to_string(of.id.value) + "\n" +
                           std::string(kDirectoryLine) + definition.directory + "\n";
  if (auto ok = replace(folder(of), name + ".yaml", head + definition.yaml); !ok) return ok;
  if (before && before->directory != definition.directory) drop_tree(before->directory);
  return {};
}

Result<void> CloudmeshStore::remove(const DefinitionsOf& of, const std::string& name) {
  const std::lock_guard lock(changes_);
  const auto definition = load(of, name);
  if (!definition) return tl::unexpected(definition.error());
  const std::string path = folder(of) + "/" + name + ".yaml";
  if (::unlink(path.c_str()) != 0) return failed("remove", path);
  drop_tree(definition->directory);
  return sync_folder(folder(of));
}

Result<void> CloudmeshStore::change(const DefinitionsOf& of, const std::string& name,
                                    const std::optional<Definition>& fresh, const Change& edit) {
  const std::lock_guard lock(changes_);
  auto definition = load(of, name);
  const bool missing = !definition && definition.error().code == ErrorCode::not_found;
  if (!definition && !(missing && fresh)) return tl::unexpected(definition.error());
  Definition kept = definition ? std::move(*definition) : *fresh;
  auto edited = edit(kept.yaml);
  if (!edited) return tl::unexpected(edited.error());
  kept.yaml = std::move(*edited);
  return save_locked(of, name, kept);
}

Result<std::string> CloudmeshStore::new_tree(const DefinitionsOf& of, const std::string& name) {
  if (path_.empty()) return fail(ErrorCode::unavailable, "this server keeps no workflows by name");
  if (auto ok = check_definition_name(name); !ok) return tl::unexpected(ok.error());
  if (auto ok = make_folder(path_ + "/trees"); !ok) return tl::unexpected(ok.error());
  std::string path = trees() + of.ns + "." + name + ".XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return failed("make", path);
  if (::chmod(path.c_str(), 0755) != 0) return failed("make", path);
  return path;
}

bool CloudmeshStore::is_tree(const std::string& directory) const {
  return !path_.empty() && directory.starts_with(trees()) && directory.size() > trees().size() &&
         directory.find("/..") == std::string::npos;
}

void CloudmeshStore::drop_tree(const std::string& directory) const {
  if (!is_tree(directory)) return;
  // The tree's own top, when the nodes run in a folder of it.
  const size_t end = directory.find('/', trees().size());
  std::error_code ignored;
  fs::remove_all(directory.substr(0, end), ignored);
}

}  // namespace atl::api
