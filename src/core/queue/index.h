// Keeps the derived parts of queues, as core/index.h does for the rest.
#pragma once

#include "core/state.h"

namespace atl::core {

void index_run(WorkQueue& queue, ItemId first, const FreshRun& run);
void unindex_run(WorkQueue& queue, ItemId first, const FreshRun& run);

void index_item(State& state, WorkQueue& queue, ItemId id, const Item& item);
void unindex_item(State& state, WorkQueue& queue, ItemId id, const Item& item);

void index_lease(State& state, const WorkQueue& queue, LeaseId id, const Lease& lease);
void unindex_lease(State& state, const WorkQueue& queue, LeaseId id, const Lease& lease);

// The whole queue, whose derived part is empty.
void index_queue(State& state, WorkQueue& queue);
void clear_derived(WorkQueue& queue);

// The namespace's first one by name, or null.
const WorkQueue* first_queue_of(const State& state, NamespaceId ns);

// The put time of the oldest item that may be leased; zero when there is none.
Time oldest_ready(const WorkQueue& queue);

// What is wrong with it, or nothing.
std::string broken_in_queue(const State& state, const WorkQueue& queue);

}  // namespace atl::core
