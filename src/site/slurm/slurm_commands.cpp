#include "site/slurm/slurm_commands.h"

#include "base/text.h"
#include "site/remote/shell.h"
#include "site/slurm/job_record.h"

namespace atl::site {
namespace {

std::string joined(const std::vector<uint64_t>& jobs, char separator) {
  std::string text;
  for (const uint64_t job : jobs)
    text += (text.empty() ? "" : std::string(1, separator)) + std::to_string(job);
  return text;
}

std::string accounting_options(bool json) {
  return json ? " --json" : " --noheader --parsable2 --format=" + shell_quote(kAccountingFields);
}

}  // namespace

std::string Sections::run(const std::string& name, const std::string& command, bool errors) const {
  const std::string tell = "printf '\\n%s %s %s\\n' " + mark_;
  return tell + " begin " + name + "\n{ " + command + "\n} </dev/null" + (errors ? " 2>&1" : "") +
         "\n" + tell + " $? " + name + "\n";
}

std::map<std::string, Sections::Answer> Sections::read(std::string_view out) const {
  std::map<std::string, Answer> answers;
  const std::string line = "\n" + mark_ + " ";
  std::string open;
  size_t body = 0;
  for (size_t at = out.find(line); at != std::string_view::npos; at = out.find(line, at + 1)) {
    const size_t words = at + line.size();
    const size_t end = out.find('\n', words);
    if (end == std::string_view::npos) break;
    const std::string_view rest = out.substr(words, end - words);
    const size_t space = rest.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string name(rest.substr(space + 1));
    if (rest.substr(0, space) == "begin") {
      open = name;
      body = end + 1;
    } else if (name == open) {
      const std::string_view said = body <= at ? out.substr(body, at - body) : std::string_view();
      answers[name] = {static_cast<int>(parse_int(rest.substr(0, space)).value_or(1)),
                       std::string(said)};
    }
  }
  return answers;
}

std::string slurm_prelude(const SlurmOptions& options) {
  std::string text = "SLURM_TIME_FORMAT=%s LC_ALL=C\nexport SLURM_TIME_FORMAT LC_ALL\n";
  if (!options.bin.empty()) text += "PATH=" + shell_quote(options.bin) + ":$PATH\nexport PATH\n";
  if (!options.conf.empty())
    text += "SLURM_CONF=" + shell_quote(options.conf) + "\nexport SLURM_CONF\n";
  return text;
}

std::string queue_command(bool json) {
  const std::string mine = "squeue --user=\"$(id -un)\" --states=all --array";
  return json ? mine + " --json" : mine + " --noheader --Format=" + shell_quote(kQueueFields);
}

std::string accounting_command(const std::vector<uint64_t>& jobs, bool json) {
  return "sacct --allocations --jobs=" + joined(jobs, ',') + accounting_options(json);
}

std::string accounting_by_name_command(const std::vector<std::string>& names, bool json) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return "sacct --allocations --starttime=now-1days --user=\"$(id -un)\" --name=" +
         shell_quote(list) + accounting_options(json);
}

std::string nodes_command(bool json) {
  return json ? "scontrol show nodes --json" : "scontrol --oneliner show nodes";
}
// The number is written under another name first, so that it is there as a whole or not at all.
std::string submit_command(const std::string& directory,
                           const std::vector<std::string>& arguments) {
  std::string sbatch = "sbatch";
  for (const std::string& argument : arguments) sbatch += " " + shell_quote(argument);
  return "cd " + directory + " && if test -s slurm.id; then cat slurm.id; else " + sbatch +
         " \"$PWD/batch\" >slurm.new && mv slurm.new slurm.id && cat slurm.id; fi";
}

// "12", or "12;cluster" where there are several; warnings may stand before it.
std::optional<uint64_t> submitted_job(std::string_view said) {
  std::optional<uint64_t> found;
  for (const std::string_view line : split(said, '\n')) {
    const std::string_view number = trim(line).substr(0, trim(line).find(';'));
    const std::optional<int64_t> id = parse_int(number);
    if (id && *id > 0) found = static_cast<uint64_t>(*id);
  }
  return found;
}

std::string cancel_waiting_command(const std::vector<uint64_t>& jobs) {
  return "scancel --quiet --state=PENDING " + joined(jobs, ' ');
}
std::string terminate_command(const std::vector<uint64_t>& jobs) {
  return "scancel --quiet --state=RUNNING --batch --signal=TERM " + joined(jobs, ' ');
}
std::string cancel_command(const std::vector<uint64_t>& jobs) {
  return "scancel --quiet " + joined(jobs, ' ');
}

}  // namespace atl::site
