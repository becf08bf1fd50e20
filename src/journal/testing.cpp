#include "journal/testing.h"

#include <openssl/evp.h>
#include <stdlib.h>

#include <filesystem>
#include <sstream>

#include "base/check.h"
#include "base/wire.h"

namespace atl::journal {

namespace {

// In memory where there is room: these tests sync thousands of times, and a killed process loses
// nothing of a tmpfs.
const char* fast_place() {
  std::error_code error;
  const auto space = std::filesystem::space("/dev/shm", error);
  return !error && space.available > (uint64_t{256} << 20) ? "/dev/shm" : "/tmp";
}

}  // namespace

TempDir::TempDir() {
  path_ = std::string(fast_place()) + "/atoll_journal_XXXXXX";
  CHECK(mkdtemp(path_.data()), "no temporary directory");
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Blob make_blob(const std::string& bytes) {
  Blob blob{.digest = {}, .bytes = bytes};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), blob.digest.bytes.data(), &size, EVP_sha256(), nullptr);
  return blob;
}

void World::happen(core::EventBody body) {
  batch.events.push_back({.at = Time{state.now.us + 1000000}, .by = user, .body = std::move(body)});
  for (core::Effect& effect : core::apply(state, batch.events.back())) {
    const bool archived = std::holds_alternative<core::ArchiveAttempt>(effect) ||
                          std::holds_alternative<core::ArchiveJob>(effect) ||
                          std::holds_alternative<core::UnarchiveJob>(effect) ||
                          std::holds_alternative<core::RememberKey>(effect) ||
                          std::holds_alternative<core::DropItems>(effect);
    if (archived) batch.archive.push_back(std::move(effect));
  }
}

void World::found() {
  happen(core::UserCreated{.id = {1}, .name = "ada", .platform_admin = true, .uid = 1000});
  happen(core::UserCreated{.id = {2}, .name = "bob", .platform_admin = false, .uid = {}});
  happen(core::NamespaceCreated{.id = {1}, .name = "default"});
  happen(core::NamespaceCreated{.id = {2}, .name = "climate"});
  happen(core::MemberSet{.id = {2}, .user = {2}, .role = core::Role::member});
  happen(core::SiteAdded{.id = {1}, .name = "local", .kind = "simulated"});
  core::SiteReport report;
  report.nodes.push_back(
      {.name = "n1", .cpu_milli = 4'000'000'000, .memory_bytes = int64_t{1} << 50, .devices = {}});
  happen(core::SiteReported{.id = {1}, .report = report});
}

JobId World::submit(const std::string& name, const std::string& payload, const std::string& key) {
  Blob blob = make_blob(payload);
  core::JobSubmitted job;
  job.id = {state.counters.job + 1};
  job.ns = ns;
  job.user = user;
  job.name = name;
  job.terms.resources = {.cpu_milli = 1000, .memory_bytes = 1 << 20, .devices = {}};
  job.payload = blob.digest;
  job.indices = IntervalSet({0, 0});
  job.labels = labels;
  job.key = key;
  const JobId id = job.id;
  batch.blobs.push_back(std::move(blob));
  happen(std::move(job));
  return id;
}

void World::run(JobId id, core::Outcome outcome) {
  const AttemptId attempt{id, 0, 1};
  happen(core::TaskPlaced{.attempt = attempt, .placement = {.site = {1}, .node = "n1"}});
  happen(core::TaskStarted{.attempt = attempt, .started = state.now});
  core::AttemptResult result;
  result.exit_code = outcome == core::Outcome::succeeded ? 0 : 3;
  result.usage = {.started = state.now, .ended = state.now, .cpu = seconds(1)};
  happen(core::TaskEnded{.attempt = attempt, .outcome = outcome, .result = result});
  happen(core::JobEnded{.id = id, .outcome = outcome, .message = {}});
}

namespace {

class TextWriter {
 public:
  template <class T>
  void value(const T& item) {
    if constexpr (wire::kIsVarint<T>) {
      scalar(item);
    } else if constexpr (std::is_same_v<T, std::string>) {
      out_ << '"' << item << '"';
    } else if constexpr (std::is_same_v<T, Digest>) {
      out_ << to_hex(item).substr(0, 16);
    } else if constexpr (std::is_same_v<T, IntervalSet>) {
      out_ << format_intervals(item);
    } else if constexpr (wire::IsOptional<T>::value) {
      if (item)
        value(*item);
      else
        out_ << "none";
    } else if constexpr (wire::IsVariant<T>::value) {
      out_ << item.index() << ":";
      std::visit([&](const auto& body) { value(body); }, item);
    } else if constexpr (wire::IsMap<T>::value) {
      list(item, [&](const auto& entry) {
        value(entry.first);
        out_ << ": ";
        value(entry.second);
      });
    } else if constexpr (Described<T>) {
      out_ << "{";
      for_each_member(item, [&](const char* name, const auto& member, int index) {
        out_ << (index ? " " : "") << name << "=";
        value(member);
      });
      out_ << "}";
    } else {
      list(item, [&](const auto& entry) { value(entry); });
    }
  }
  std::string take() { return out_.str(); }

 private:
  template <class T>
  void scalar(const T& item) {
    if constexpr (wire::IsId<T>::value)
      out_ << item.value;
    else if constexpr (std::is_same_v<T, Time> || std::is_same_v<T, Duration>)
      out_ << item.us << "us";
    else if constexpr (std::is_enum_v<T>)
      out_ << enum_name(item);
    else
      out_ << +item;
  }
  template <class T, class Fn>
  void list(const T& items, Fn&& each) {
    out_ << "[";
    bool first = true;
    for (const auto& item : items) {
      if (!std::exchange(first, false)) out_ << ", ";
      each(item);
    }
    out_ << "]";
  }
  std::ostringstream out_;
};

}  // namespace

std::string state_text(const core::State& state) {
  std::string text;
  for_each_member(state, [&](const char* name, const auto& member, int) {
    TextWriter writer;
    writer.value(member);
    text += std::string(name) + " " + writer.take() + "\n";
  });
  for (const auto& [id, job] : state.jobs) {
    TextWriter writer;
    writer.value(job);
    text += "job " + writer.take() + "\n";
  }
  return text;
}

}  // namespace atl::journal
