// Fixed-width little-endian numbers inside byte strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace atl::journal {

template <class Int>
void put_fixed(std::string& out, Int value) {
  for (size_t i = 0; i < sizeof(Int); ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

template <class Int>
void set_fixed(std::string& out, size_t at, Int value) {
  for (size_t i = 0; i < sizeof(Int); ++i) out[at + i] = static_cast<char>(value >> (8 * i));
}

// The caller has made sure that the bytes are there.
template <class Int>
Int get_fixed(std::string_view in, size_t at) {
  Int value = 0;
  for (size_t i = 0; i < sizeof(Int); ++i) {
    value |= static_cast<Int>(static_cast<uint8_t>(in[at + i])) << (8 * i);
  }
  return value;
}

}  // namespace atl::journal
