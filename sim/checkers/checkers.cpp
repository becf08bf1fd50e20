#include "sim/checkers/acknowledged.h"
#include "sim/checkers/agenda.h"
#include "sim/checkers/allocation.h"
#include "sim/checkers/feeds.h"
#include "sim/checkers/gangs.h"
#include "sim/checkers/idempotency.h"
#include "sim/checkers/one_attempt.h"
#include "sim/checkers/order.h"
#include "sim/checkers/queues.h"
#include "sim/checkers/reasons.h"
#include "sim/checkers/replay.h"
#include "sim/checkers/schedules.h"
#include "sim/checkers/settles.h"
#include "sim/checkers/shares.h"
#include "sim/checkers/steps.h"
#include "sim/checkers/yields.h"

namespace atl::sim {

std::vector<std::unique_ptr<Checker>> all_checkers() {
  std::vector<std::unique_ptr<Checker>> all;
  all.push_back(std::make_unique<Acknowledged>());
  all.push_back(std::make_unique<Idempotency>());
  all.push_back(std::make_unique<OneAttempt>());
  all.push_back(std::make_unique<Allocation>());
  all.push_back(std::make_unique<Agenda>());
  all.push_back(std::make_unique<Reasons>());
  all.push_back(std::make_unique<Shares>());
  all.push_back(std::make_unique<Order>());
  all.push_back(std::make_unique<Steps>());
  all.push_back(std::make_unique<Replay>());
  all.push_back(std::make_unique<Settles>());
  all.push_back(std::make_unique<Yields>());
  all.push_back(std::make_unique<Gangs>());
  all.push_back(std::make_unique<Queues>());
  all.push_back(std::make_unique<Feeds>());
  all.push_back(std::make_unique<Schedules>());
  return all;
}

}  // namespace atl::sim
