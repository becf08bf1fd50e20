// Requests as people write them on the command line. The field table of src/spec reads them back; a
// test there holds the two together.
#pragma once

#include <string>

#include "core/types.h"

namespace atl::core::scheduling {

// The flags that make `asked` into `changed`: "--cpus 4 --gpus a100:1"; "no --site" where one is to
// be left out. Empty: nothing differs, or people have no words for it. Only resources, time, tier,
// gang and site count.
std::string flags_between(const Terms& asked, const Terms& changed);

// To the last byte, unlike format_bytes: "1536Mi".
std::string exact_bytes(int64_t bytes);

}  // namespace atl::core::scheduling
