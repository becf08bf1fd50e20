#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "spec/job_spec.h"

namespace {

// Whatever is accepted must survive being written and read again.
void try_json(std::string_view json) {
  const auto request = atl::spec::parse_job_request(json);
  if (!request) return;
  for (const atl::spec::JobSpec& job : request->jobs) {
    const auto again = atl::spec::parse_json<atl::spec::JobSpec>(atl::spec::to_json(job));
    if (!again || *again != job) std::abort();
    static_cast<void>(atl::spec::to_submission(job));
  }
}

// An object of known fields with odd values: each byte picks a field and what stands behind it, the
// rest is raw text.
std::string odd_job(std::string_view bytes) {
  constexpr const char* kValues[] = {
      "null",   "true", "-1",   "0.5",        "1e308",         "18446744073709551616",
      "[]",     "{}",   "\"\"", "[\"a\"]",    "{\"a\":\"b\"}", "\"1-10%2\"",
      "\"3d\"", "[{}]", "[7]",  "{\"max\":2}"};
  const auto fields = atl::spec::shape_of<atl::spec::JobSpec>().fields;
  std::string json = "{";
  for (size_t i = 0; i + 1 < bytes.size() && i < 16; i += 2) {
    const atl::spec::Field& field = fields[static_cast<uint8_t>(bytes[i]) % fields.size()];
    const auto pick = static_cast<uint8_t>(bytes[i + 1]);
    json += std::string(i ? "," : "") + "\"" + field.name + "\":";
    if (pick < 16)
      json += kValues[pick];
    else if (pick < 128)
      json += field.example;
    else
      json += "\"" + std::string(bytes.substr(i)) + "\"";
  }
  return json + "}";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try_json(bytes);
  try_json(odd_job(bytes));
  return 0;
}
