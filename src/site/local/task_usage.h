// What a tree of processes has used, from wait4 and, where no control group accounts, from /proc.
#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "base/time.h"

namespace atl::site {

struct TreeUsage {
  int64_t cpu_us = 0;
  int64_t memory_bytes = 0;
};

// Of the living descendants of the caller; each costs a few reads, so it is for once a second.
TreeUsage tree_usage();

void add_usage(rusage& sum, const rusage& more);
Duration cpu_of(const rusage& usage);

}  // namespace atl::site
