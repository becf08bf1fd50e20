// cc's counters: how many nodes of a workflow are done, ready, failed, submitted or running, as
// server-sent events, a number each time it changes.
//
// A thread looks a few times a second, and only while somebody listens and something was decided.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/cloudmesh_store.h"
#include "core/input.h"
#include "http/exchange.h"

namespace atl::api {

struct Context;

class CloudmeshCounts {
 public:
  explicit CloudmeshCounts(Context& context) : context_(context) {}
  ~CloudmeshCounts() { stop(); }

  struct Wish {
    core::Actor actor;
    DefinitionsOf of;
    std::string name;    // of the workflow
    std::string status;  // cc's word
    size_t begin = 0;    // how many the file has, for a workflow that has not run
  };
  void follow(std::shared_ptr<http::Stream> stream, Wish wish);

  // On the runtime's thread after each commit. Costs nothing while nobody listens.
  void on_commit();
  void heartbeat();
  void stop();

 private:
  struct Listener;
  using ListenerPtr = std::shared_ptr<Listener>;

  void run();
  void look(const ListenerPtr& listener);
  void count(const ListenerPtr& listener);
  std::vector<ListenerPtr> open_listeners();

  Context& context_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<ListenerPtr> listeners_;
  bool changed_ = false;
  bool stopping_ = false;
  std::thread thread_;  // begun by the first listener
};

}  // namespace atl::api
