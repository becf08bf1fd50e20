// The shell of this machine, for an engine whose commands are here (Slurm on its login node).
#pragma once

#include "site/remote/shell.h"

namespace atl::site {

class LocalShell : public Shell {
 public:
  explicit LocalShell(std::string program = "/bin/sh") : program_(std::move(program)) {}
  Result<Said> run(const ShellCommand& command) override;
  std::string name() const override { return "this machine"; }

 private:
  const std::string program_;
};

}  // namespace atl::site
