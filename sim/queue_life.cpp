#include "sim/queue_life.h"

namespace atl::sim {
namespace {

constexpr const char* kQueue = "frames";
constexpr core::QueueSettings kSettings{seconds(30), 3, true};

}  // namespace

void QueueLife::begin(std::string ns, uint64_t puts) {
  ns_ = std::move(ns);
  left_ = puts;
  make_queue();
}

void QueueLife::make_queue() {
  const auto again = [this] { later(seconds(1), seconds(10), [this] { make_queue(); }); };
  if (server_.up()) {
    const core::Namespace* ns = server_.state().namespace_named(ns_);
    made_ = ns && server_.state().queue_named(ns->id, kQueue);
  }
  if (!made_)
    return send(
        core::CreateQueue{ns_, kQueue, kSettings}, {}, [again](const auto&) { again(); }, again);
  put_next();
  const auto workers = static_cast<uint64_t>(rng_.between(1, 4));
  for (uint64_t worker = 0; worker < workers; ++worker) work(worker);
  restore();
}

bool QueueLife::idle() const {
  if (!made_ || left_ > 0 || open_ > 0 || !closed_ || !server_.up()) return false;
  const core::Namespace* ns = server_.state().namespace_named(ns_);
  const core::WorkQueue* queue = ns ? server_.state().queue_named(ns->id, kQueue) : nullptr;
  return queue && queue->left() == 0;
}

void QueueLife::send(core::Command command, const std::vector<std::string>& bodies,
                     Answered answered, std::function<void()> silence) {
  const auto heard = std::make_shared<bool>(false);
  world_.after(seconds(30), [heard, silence] {
    if (!*heard && silence) silence();
  });
  if (!server_.up()) return;
  runtime::Submission submission;
  submission.request = {{UserId{1}, false, {}}, std::move(command)};
  submission.bodies = bodies;
  const auto request = std::make_shared<core::Request>(submission.request);
  const auto sent = std::make_shared<std::vector<std::string>>(bodies);
  server_.post(std::move(submission),
               [this, heard, request, sent, answered](const Result<runtime::Accepted>& answer) {
                 observer_.told({*request, "", false, answer, sent.get()});
                 if (*heard || rng_.chance(faults_.answer_lost)) return;
                 *heard = true;
                 answered(answer);
               });
}

QueueLife::Put QueueLife::draw_put() {
  Put put;
  put.keyed = rng_.chance(500);
  put.command = {ns_, kQueue, {}};
  const auto count = rng_.between(1, 8);
  for (int64_t i = 0; i < count; ++i) {
    const std::string body = "item " + std::to_string(++serial_);
    core::NewItem item{static_cast<int32_t>(rng_.between(-2, 2)), {}, "", body.size()};
    if (rng_.chance(200)) item.delay = rng_.between(seconds(1), minutes(2));
    if (put.keyed) item.key = body;
    put.command.items.push_back(std::move(item));
    put.bodies.push_back(body);
  }
  return put;
}

// When all has been put, so that those who wait for it end.
void QueueLife::close() {
  const auto again = [this] { later(seconds(1), seconds(20), [this] { close(); }); };
  if (open_ > 0) return again();
  send(
      core::ChangeQueue{ns_, kQueue, {}, {}, {}, true}, {},
      [this, again](const auto& answer) { answer ? void(closed_ = true) : again(); }, again);
}

void QueueLife::put_next() {
  if (left_ == 0) return close();
  --left_;
  ++open_;
  put(std::make_shared<const Put>(draw_put()));
  later(Duration{}, minutes(1), [this] { put_next(); });
}

// Only one that has keys may be repeated; for another one silence is the last word.
void QueueLife::put(const PutPtr& wish) {
  const auto again = [this, wish] { later(seconds(1), seconds(20), [this, wish] { put(wish); }); };
  send(
      wish->command, wish->bodies,
      [this, again](const Result<runtime::Accepted>& answer) {
        if (!answer && answer.error().code == ErrorCode::unavailable) return again();
        --open_;
      },
      [this, wish, again] {
        if (wish->keyed) return again();
        --open_;
      });
}

void QueueLife::work(uint64_t worker) {
  const auto again = [this, worker] {
    later(seconds(1), seconds(40), [this, worker] { work(worker); });
  };
  const core::LeaseItems wish{ns_, kQueue, static_cast<uint32_t>(rng_.between(1, 4)),
                              rng_.between(seconds(5), minutes(1)),
                              "worker " + std::to_string(worker)};
  send(
      wish, {},
      [this, worker, again](const Result<runtime::Accepted>& answer) {
        if (!answer || answer->events.empty()) return again();
        leased(worker, std::get<core::ItemsLeased>(answer->events.front().body));
      },
      again);
}

void QueueLife::leased(uint64_t worker, const core::ItemsLeased& lease) {
  if (rng_.chance(50)) {
    // It dies and comes back without knowing what it had.
    return later(seconds(5), minutes(2), [this, worker] { work(worker); });
  }
  if (rng_.chance(300)) later(seconds(1), seconds(20), [this, id = lease.lease] { extend(id); });
  later(milliseconds(1), minutes(1), [this, worker, lease] { finish(worker, lease); });
}

void QueueLife::extend(LeaseId lease) {
  send(core::ExtendLeases{ns_, kQueue, {lease}, {}}, {}, [](const auto&) {}, {});
}

void QueueLife::finish(uint64_t worker, const core::ItemsLeased& lease) {
  const auto next = [this, worker] {
    later(milliseconds(1), seconds(5), [this, worker] { work(worker); });
  };
  std::vector<ItemId> some;
  if (rng_.chance(200)) some.push_back(lease.items.front().first);
  core::Command told = core::FinishItems{ns_, kQueue, lease.lease, some};
  if (rng_.chance(300))
    told = core::ReturnItems{ns_,
                             kQueue,
                             lease.lease,
                             some,
                             rng_.chance(500) ? rng_.between(seconds(1), minutes(1)) : Duration{},
                             "exit code 1"};
  // Who hears nothing tells it once more, which must change nothing.
  send(
      told, {}, [next](const auto&) { next(); },
      [this, told, next] { send(told, {}, [next](const auto&) { next(); }, next); });
}

// Now and then somebody gives dead letters another chance.
void QueueLife::restore() {
  if (left_ == 0) return;
  send(core::RestoreItems{ns_, kQueue, {}}, {}, [](const auto&) {}, {});
  later(minutes(5), minutes(30), [this] { restore(); });
}

}  // namespace atl::sim
