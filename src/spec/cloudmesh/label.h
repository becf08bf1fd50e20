// The labels of Cloudmesh: "{name}\nProgress={progress}\nStart={tstart.%H--%M}".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "spec/cloudmesh/cc_time.h"

namespace atl::spec::cc {

// What a label can tell. Of times, zero is "not yet".
struct LabelValues {
  std::map<std::string, std::string> attributes;  // of the node: {name} {progress} {host} …
  Time created, modified;
  Time tstart, tend;                      // of the job
  Time t0, t1;                            // of the workflow
  std::map<std::string, std::string> os;  // {os.HOME}
  std::map<std::string, std::string> cm;  // {cm.debug}
};

// {now.FMT} {created.FMT} {modified.FMT} {tstart.FMT} {tend.FMT} {t0.FMT} {t1.FMT} are moments,
// {dt0.FMT} {dt1.FMT} {dt.FMT} spans; in FMT "--" stands for ":". What is not known yet is N/A,
// and what is no variable stays as it is. "\n" as two characters becomes a line break.
std::string render_label(std::string_view format, const LabelValues& values, Time now,
                         const Zone& zone);

}  // namespace atl::spec::cc
