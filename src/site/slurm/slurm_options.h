// How a Slurm site is set up.
#pragma once

#include <map>
#include <string>

#include "base/time.h"

namespace atl::site {

// Where Slurm shall put work; empty fields are left to Slurm.
struct SlurmChoice {
  std::string partition;
  std::string account;
  std::string qos;
  std::string gres;  // without a count: "gpu:a100"; of an accelerator's entry only
  std::string constraint;
  std::string reservation;
};

enum class SlurmPlacement : uint8_t {
  engine,  // Slurm chooses the node
  atoll,   // the node that Atoll chose is asked for by --nodelist
};

struct SlurmOptions {
  std::string site = "slurm";  // the site's name in reports
  std::string home;            // the server's data directory
  std::string installation;    // unique to this data directory, with its epoch
  std::string over;            // an ssh host with Slurm's commands; empty: this machine
  std::string ssh_config;      // instead of the user's own; for `over`
  // Where run directories are, on a file system that the login node and the nodes share; a path
  // that does not begin with "/" is below the account's home. Empty: ".atoll/INSTALLATION".
  std::string directory;
  SlurmChoice choice;  // what work gets that asks for no accelerator
  // By what is asked for: "gpu:a100", "a100" or "gpu"; what an entry leaves empty is as above.
  std::map<std::string, SlurmChoice> accelerators;
  std::string template_file;  // of the batch script; empty: kBatchTemplate
  std::string bin;            // a folder with Slurm's commands that is not in PATH
  std::string conf;           // SLURM_CONF, where it is not the default
  SlurmPlacement placement = SlurmPlacement::engine;
  Duration poll = seconds(5);
  int64_t log_bytes_max = 64 << 20;  // per stream, of a task that does not say
};

}  // namespace atl::site
