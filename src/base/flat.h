// Containers that keep their elements side by side: what is walked over or looked up often is so
// quickly. Adding to a map moves others, so nobody keeps references into it.
#pragma once

#include <boost/container/flat_map.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

namespace atl {

template <class K, class V>
using FlatMap = boost::container::flat_map<K, V>;

// In no order: only to look things up.
template <class K, class V>
using HashMap = boost::unordered_flat_map<K, V>;

template <class T, size_t N>
using SmallVector = boost::container::small_vector<T, N>;

}  // namespace atl
