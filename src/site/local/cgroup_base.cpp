// Finding the hierarchies: /proc/self/mountinfo says where each controller is mounted,
// /proc/self/cgroup where in it this process lives.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/text.h"
#include "site/local/cgroup.h"
#include "site/local/files.h"

namespace atl::site {
namespace {

struct Hierarchies {
  std::map<std::string, std::string> v1;  // controller -> mount point
  std::string v2;
};

Hierarchies find_hierarchies(const std::string& root) {
  Hierarchies found;
  const std::string text = read_file(root + "proc/self/mounts").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.size() < 4) continue;
    const std::string point =
        (root == "/" ? "" : root.substr(0, root.size() - 1)) + std::string(words[1]);
    if (words[2] == "cgroup2") found.v2 = point;
    if (words[2] != "cgroup") continue;
    for (const std::string_view option : split(words[3], ','))
      found.v1[std::string(option)] = point;
  }
  return found;
}

// controller ("" for v2) -> path of this process's group
std::map<std::string, std::string> own_groups(const std::string& root) {
  std::map<std::string, std::string> own;
  const std::string text = read_file(root + "proc/self/cgroup").value_or("");
  for (const std::string_view line : split(text, '\n')) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view path = line.substr(second + 1);
    for (const std::string_view name : split(line.substr(first + 1, second - first - 1), ',')) {
      own[std::string(name)] = path == "/" ? "" : std::string(path);
    }
  }
  return own;
}

// Strips what an earlier warden of ours added, so that a warden started from inside a slot does not
// nest.
std::string without_slot(const std::string& path) {
  const size_t at = path.find("/atoll-");
  return at == std::string::npos ? path : path.substr(0, at);
}

bool make_group(const std::string& path) {
  return (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) &&
         ::access((path + "/cgroup.procs").c_str(), W_OK) == 0;
}

std::string make_v1(const Hierarchies& found, const std::map<std::string, std::string>& own,
                    const std::string& controller, const std::string& name, std::string& why) {
  const auto mount = found.v1.find(controller);
  const auto group = own.find(controller);
  if (mount == found.v1.end() || group == own.end()) return {};
  const std::string path = mount->second + without_slot(group->second) + "/" + name;
  if (make_group(path)) return path;
  why = "cannot make " + path + ": " + std::strerror(errno);
  return {};
}

bool enable_controllers(const std::string& group) {
  const std::string file = group + "/cgroup.subtree_control";
  bool all = true;
  for (const char* one : {"+memory", "+cpu", "+pids"}) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    all = fd >= 0 && ::write(fd, one, std::strlen(one)) > 0 && all;
    if (fd >= 0) ::close(fd);
  }
  return all;
}

// A group with processes may not hand controllers down, so those of a delegated unit move into a
// leaf of their own.
void move_members_to_leaf(const std::string& group) {
  const std::string leaf = group + "/atoll-server";
  if (!make_group(leaf)) return;
  const std::string members = read_file(group + "/cgroup.procs").value_or("");
  for (const std::string_view pid : split(members, '\n')) {
    const int fd = ::open((leaf + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && !pid.empty()) static_cast<void>(!::write(fd, pid.data(), pid.size()));
    if (fd >= 0) ::close(fd);
  }
}

bool make_v2(const Hierarchies& found, const std::map<std::string, std::string>& own,
             const std::string& name, CgroupBase& base) {
  const auto group = own.find("");
  if (found.v2.empty() || group == own.end()) return false;
  const std::string here = found.v2 + without_slot(group->second);
  const std::string controllers = read_file(here + "/cgroup.controllers").value_or("");
  if (controllers.find("memory") == std::string::npos) return false;
  const std::string path = here + "/" + name;
  if (!enable_controllers(here)) move_members_to_leaf(here);
  if (!enable_controllers(here) || !make_group(path) || !enable_controllers(path)) {
    base.why = "the control group " + here + " is not delegated to us: " + std::strerror(errno);
    ::rmdir(path.c_str());
    return false;
  }
  base.version = 2;
  base.memory = base.cpu = base.cpuacct = base.pids = path;
  return true;
}

}  // namespace

std::vector<std::string> CgroupBase::directories() const {
  std::vector<std::string> all;
  for (const std::string* one : {&pids, &memory, &cpu, &cpuacct}) {
    if (!one->empty() && std::find(all.begin(), all.end(), *one) == all.end()) all.push_back(*one);
  }
  return all;
}

CgroupBase make_cgroup_base(const std::string& installation, const std::string& root) {
  const Hierarchies found = find_hierarchies(root);
  const std::map<std::string, std::string> own = own_groups(root);
  const std::string name = "atoll-" + installation;
  CgroupBase base;
  if (make_v2(found, own, name, base)) return base;
  base.memory = make_v1(found, own, "memory", name, base.why);
  base.cpu = make_v1(found, own, "cpu", name, base.why);
  base.cpuacct = make_v1(found, own, "cpuacct", name, base.why);
  base.pids = make_v1(found, own, "pids", name, base.why);
  if (!base.memory.empty() || !base.pids.empty()) {
    base.version = 1;
  } else {
    remove_cgroup_base(base);
    base = {.why = base.why.empty() ? "no memory or pids controller is mounted" : base.why};
  }
  return base;
}

void remove_cgroup_base(const CgroupBase& base) {
  for (const std::string& directory : base.directories()) ::rmdir(directory.c_str());
}

}  // namespace atl::site
