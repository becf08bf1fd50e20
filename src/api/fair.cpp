// Who is behind their fair share, in the scheduler's own numbers.
#include <cstdio>

#include "api/context.h"
#include "api/handlers.h"
#include "core/scheduling/fairness.h"

namespace atl::api {
namespace {

namespace scheduling = core::scheduling;
using core::Amounts;
using scheduling::Payer;

constexpr size_t kFairRowsMax = 10'000;

struct FairRow {
  const char* kind = "";
  std::string name;
  std::string path;
  int depth = 0;
  uint32_t weight_milli = 1000;
  int64_t share = 0;  // of kWhole, what its weight gives it
  Amounts now;
  int64_t uses = 0;    // of kWhole: what it has now
  std::string most;    // the resource of which it has so much; empty: it has nothing
  int64_t lately = 0;  // what it had, decayed
  int64_t standing = 0;
};

struct FairTable {
  core::Tier tier = core::Tier::batch;
  core::Policy policy;
  std::vector<FairRow> rows;
  bool truncated = false;
};

// Lays out the tree: members of each level by standing, furthest behind first.
class FairTree {
 public:
  FairTree(const core::State& state, const core::Actor& actor, Time now, core::Tier tier)
      : state_(state), actor_(actor) {
    world_.state = &state;
    world_.now = std::max(now, state.now);
    table_.tier = tier;
    table_.policy = state.policy;
    for (const auto& [id, cohort] : state.cohorts)
      below_[cohort.stake.cohort].push_back({id, {}, {}});
    for (const auto& [id, ns] : state.namespaces) below_[ns.stake.cohort].push_back({{}, id, {}});
  }

  FairTable take() {
    put(below_[CohortId{}], scheduling::kWhole, "", 0);
    return std::move(table_);
  }

 private:
  void put(const std::vector<Payer>& payers, int64_t whole, const std::string& path, int depth) {
    int64_t weights = 0;
    std::vector<std::pair<int64_t, FairRow>> rows;
    for (const Payer& payer : payers) weights += weight_of(payer);
    std::map<std::pair<int64_t, std::string>, Payer> order;
    for (const Payer& payer : payers)
      order.emplace(std::pair(scheduling::standing(world_, payer, table_.tier), name(payer)),
                    payer);
    for (const auto& [key, payer] : order) {
      // Cohorts are no secret, but who works in another's namespace is.
      if (payer.ns && !core::may_view(state_, actor_, payer.ns)) continue;
      if (table_.rows.size() >= kFairRowsMax) {
        table_.truncated = true;
        return;
      }
      FairRow row = row_of(payer);
      row.path = path + row.name;
      row.depth = depth;
      row.standing = key.first;
      row.share = static_cast<int64_t>(static_cast<double>(whole) * weight_of(payer) /
                                       static_cast<double>(weights));
      const int64_t share = row.share;
      const std::string inner = row.path + "/";
      table_.rows.push_back(std::move(row));
      put(members_of(payer), share, inner, depth + 1);
    }
  }

  std::vector<Payer> members_of(const Payer& payer) {
    if (payer.cohort) return below_[payer.cohort];
    std::vector<Payer> users;
    if (payer.user) return users;
    for (const auto& [user, account] : state_.namespaces.at(payer.ns).user_accounts)
      users.push_back({{}, payer.ns, user});
    return users;
  }

  uint32_t weight_of(const Payer& payer) const {
    if (payer.cohort) return state_.cohorts.at(payer.cohort).stake.weight_milli;
    return payer.user ? 1000 : state_.namespaces.at(payer.ns).stake.weight_milli;
  }

  std::string name(const Payer& payer) const {
    if (payer.cohort) return state_.cohorts.at(payer.cohort).name;
    return payer.user ? name_of(state_, payer.user) : name_of(state_, payer.ns);
  }

  const core::Account& account_of(const Payer& payer) const {
    if (payer.cohort) return state_.cohorts.at(payer.cohort).account;
    const core::Namespace& ns = state_.namespaces.at(payer.ns);
    return payer.user ? ns.user_accounts.at(payer.user) : ns.account;
  }

  FairRow row_of(const Payer& payer) const {
    FairRow row;
    row.kind = payer.cohort ? "cohort" : payer.user ? "user" : "namespace";
    row.name = name(payer);
    row.weight_milli = weight_of(payer);
    for (const auto& [tier, meter] : account_of(payer)) {
      if (tier <= table_.tier) core::add(row.now, meter.now);
    }
    Amounts past = scheduling::counted(world_, payer, table_.tier);
    core::add(past, row.now, -1);
    row.uses = scheduling::dominant_share(row.now, state_.capacity);
    row.most = most_of(row.now, row.uses);
    row.lately = scheduling::dominant_share(past, state_.capacity);
    return row;
  }

  std::string most_of(const Amounts& now, int64_t uses) const {
    const auto is_most = [&](const Amounts& alone) {
      return scheduling::dominant_share(alone, state_.capacity) == uses;
    };
    if (uses == 0) return {};
    if (is_most({now.cpu_milli, 0, {}})) return "cpu";
    for (const auto& [kind, milli] : now.devices_milli) {
      if (is_most({0, 0, {{kind, milli}}})) return kind;
    }
    return "memory";
  }

  const core::State& state_;
  const core::Actor& actor_;
  scheduling::World world_;
  std::map<CohortId, std::vector<Payer>> below_;
  FairTable table_;
};

// A part of kWhole as a number, to a millionth.
void write_part(spec::JsonWriter& json, const char* key, int64_t part) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g",
                static_cast<double>(part) / static_cast<double>(scheduling::kWhole));
  json.key(key).raw(text);
}

void write_row(spec::JsonWriter& json, const FairRow& row) {
  json.begin_object().member("kind", row.kind).member("name", row.name).member("path", row.path);
  json.member("depth", row.depth).key("weight").milli(row.weight_milli);
  write_part(json, "share", row.share);
  write_part(json, "uses", row.uses);
  write_part(json, "lately", row.lately);
  write_part(json, "standing", row.standing);
  json.key("most");
  row.most.empty() ? json.null() : json.text(row.most);
  json.key("in_use").begin_object().key("cpus").milli(row.now.cpu_milli);
  json.member("memory", row.now.memory_mib << 20).key("devices").begin_object();
  for (const auto& [kind, milli] : row.now.devices_milli) {
    if (milli > 0) json.key(kind).milli(milli);
  }
  json.end_object().end_object().end_object();
}

}  // namespace

void show_fair(const CallPtr& call) {
  core::Tier tier = core::Tier::batch;
  const auto asked = call->query_all("tier");
  if (!asked.empty() && !enum_from_name(asked.back(), tier))
    return call->refuse(
        {ErrorCode::invalid, "tier is one of interactive, service, batch, opportunistic", "tier"});
  view(
      call,
      [call, tier](const core::State& state) -> Result<FairTable> {
        return FairTree(state, call->actor, call->context.options.now(), tier).take();
      },
      [call](const FairTable& table) {
        std::string body;
        spec::JsonWriter json(body);
        json.begin_object().member("tier", enum_name(table.tier));
        json.member("half_life", spec::exact_duration(table.policy.half_life));
        json.member("truncated", table.truncated).key("rows").begin_array();
        for (const FairRow& row : table.rows) write_row(json, row);
        json.end_array().end_object();
        call->respond_json(std::move(body));
      });
}

}  // namespace atl::api
