// How jobs look in tables and sentences; shared by ps, top, show and wait.
#pragma once

#include <string>

#include "base/interval_set.h"
#include "base/time.h"
#include "cli/json.h"
#include "cli/output.h"

namespace atl::cli {

// The outcome of a job that has ended, else its state.
std::string state_word(const Json& job);
Color state_color(const std::string& word);

// What the server says of how it ended, without the outcome that stands beside it; empty when it
// says no more than that.
std::string end_message(const Json& job);

View job_list_view();

// "2", "0.5"; "1Gi"; "gpu:a100:1".
std::string show_cpus(const Json& job);
std::string show_memory(const Json& bytes);
// Of an attempt or a step; empty where it is not known.
std::string shown_energy(const Json& used);
std::string show_devices(const Json& job);

// How long it has run or waited; when it ended.
std::string show_job_time(const Json& job);
std::string show_span(Duration span);  // whole seconds and up: "4m10s", "3h12m", "2d4h"

// "7/1000" of an array, empty otherwise.
std::string show_progress(const Json& job);

// "40%" of what it says of itself while it runs, empty when it says nothing.
std::string show_percent(const Json& job);
// "[########------------]  40%  running: epoch 4"; empty when no percent is known.
std::string show_bar(const Json& job);

// Adds the indices that a page of an array's tasks tells of: those that have started and those that
// wait.
void add_task_indices(IntervalSet& all, const Json& page);

}  // namespace atl::cli
