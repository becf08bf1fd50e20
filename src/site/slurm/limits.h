// Bounds of the Slurm site, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace atl::site {

inline constexpr size_t kSlurmAnswerMax = 64 << 20;  // of one program; a queue of 100,000 in text
inline constexpr size_t kJsonRunsMax = 1'000;  // beyond, text: a job in JSON is 5 KiB, a line 100 B
inline constexpr size_t kSubmissionsMax = 64;  // in one exchange: an answer within a second or two
inline constexpr size_t kAccountedMax = 500;   // asked for in one call of sacct; the rest next time
inline constexpr size_t kTemplateBytesMax = 64 << 10;
inline constexpr size_t kGresUnitsMax = 1'024;  // of one kind on one node; more is no accelerator
inline constexpr size_t kNodesMax = 20'000;     // that a cluster may report
inline constexpr size_t kSaidMax = 300;         // bytes of another program's words in a message
inline constexpr int kSubmitTriesMax = 5;  // of an attempt whose submission fails for no reason
inline constexpr Duration kSlurmPatience = seconds(60);     // for one exchange
inline constexpr Duration kUnreachableAfter = seconds(10);  // a controller that restarts is no news
inline constexpr Duration kVanishedAfter = seconds(30);     // accounting may be behind the queue
inline constexpr Duration kResubmitAfter = seconds(10);     // a slow controller may yet accept it
inline constexpr Duration kStrayPatience = minutes(5);      // what a template does behind the task
inline constexpr Duration kStopPatience = seconds(10);   // beyond the grace, before Slurm ends it
inline constexpr Duration kHopelessAfter = seconds(15);  // nodes register with a new controller
inline constexpr Duration kSettle = seconds(2);          // of a result on a network file system
inline constexpr Duration kProbeSoon = seconds(10);      // after the controller was away
inline constexpr Duration kProbeEvery = minutes(1);
inline constexpr Duration kKillMargin = seconds(60);  // Slurm's own limit comes after the wrapper's

}  // namespace atl::site
