// An ordered map for ids that come from a counter. They lie close together, so 64 in a row share a
// chunk and are found by their place in it: among a million jobs one is found in two steps, where a
// tree would wait for memory at each of twenty. Values stay where they are as long as they live;
// iterators do as long as nothing is added or erased.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/flat.h"

namespace atl {

template <class K, class V>
class IdMap {
 public:
  using key_type = K;
  using mapped_type = V;
  using value_type = std::pair<const K, V>;

 private:
  static constexpr unsigned kSlots = 64;
  struct Chunk {
    uint64_t used = 0;  // a bit for each
    std::array<std::unique_ptr<value_type>, kSlots> slots;
  };
  using Chunks = FlatMap<uint64_t, std::unique_ptr<Chunk>>;  // none of them is empty

  template <class Value>
  class Iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = IdMap::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = Value*;
    using reference = Value&;

    Iterator() = default;
    Iterator(const Chunks* chunks, size_t chunk, unsigned slot)
        : chunks_(chunks), chunk_(chunk), slot_(slot) {}
    operator Iterator<const Value>() const { return {chunks_, chunk_, slot_}; }

    reference operator*() const { return *chunk(chunk_).slots[slot_]; }
    pointer operator->() const { return chunk(chunk_).slots[slot_].get(); }
    Iterator& operator++() {
      const uint64_t after = chunk(chunk_).used & ~((uint64_t{2} << slot_) - 1);
      if (after == 0) ++chunk_;
      slot_ = after ? low(after) : chunk_ < chunks_->size() ? low(chunk(chunk_).used) : 0;
      return *this;
    }
    Iterator& operator--() {
      const uint64_t all = chunk_ < chunks_->size() ? chunk(chunk_).used : 0;
      const uint64_t before = all & ((uint64_t{1} << slot_) - 1);
      if (before == 0) --chunk_;
      slot_ = high(before ? before : chunk(chunk_).used);
      return *this;
    }
    Iterator operator++(int) { return std::exchange(*this, std::next(*this)); }
    Iterator operator--(int) { return std::exchange(*this, std::prev(*this)); }
    bool operator==(const Iterator&) const = default;

   private:
    friend IdMap;
    static unsigned low(uint64_t bits) { return static_cast<unsigned>(std::countr_zero(bits)); }
    static unsigned high(uint64_t bits) { return static_cast<unsigned>(std::bit_width(bits)) - 1; }
    const Chunk& chunk(size_t at) const { return *chunks_->nth(at)->second; }

    const Chunks* chunks_ = nullptr;
    size_t chunk_ = 0;
    unsigned slot_ = 0;
  };

 public:
  using iterator = Iterator<value_type>;
  using const_iterator = Iterator<const value_type>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  IdMap() = default;
  IdMap(const IdMap& other) {
    for (const value_type& each : other) emplace(each.first, each.second);
  }
  IdMap(IdMap&& other) noexcept
      : chunks_(std::move(other.chunks_)), size_(std::exchange(other.size_, 0)) {}
  IdMap& operator=(IdMap other) noexcept {
    std::swap(chunks_, other.chunks_);
    std::swap(size_, other.size_);
    return *this;
  }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  iterator begin() { return first_of<iterator>(0); }
  iterator end() { return first_of<iterator>(chunks_.size()); }
  const_iterator begin() const { return first_of<const_iterator>(0); }
  const_iterator end() const { return first_of<const_iterator>(chunks_.size()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }

  iterator find(const K& key) { return find_as<iterator>(key); }
  const_iterator find(const K& key) const { return find_as<const_iterator>(key); }
  bool contains(const K& key) const { return value_of(key) != nullptr; }
  size_t count(const K& key) const { return contains(key); }
  const V& at(const K& key) const {
    const value_type* value = value_of(key);
    if (!value) throw std::out_of_range("IdMap::at");
    return value->second;
  }
  V& at(const K& key) { return const_cast<V&>(std::as_const(*this).at(key)); }
  V& operator[](const K& key) { return emplace(key, V{}).first->second; }

  const_iterator lower_bound(const K& key) const {
    const auto chunk = chunks_.lower_bound(chunk_of(key));
    const auto at = static_cast<size_t>(chunk - chunks_.begin());
    if (chunk == chunks_.end() || chunk->first != chunk_of(key))
      return first_of<const_iterator>(at);
    const uint64_t rest = chunk->second->used & ~(bit_of(key) - 1);
    if (rest == 0) return first_of<const_iterator>(at + 1);
    return {&chunks_, at, const_iterator::low(rest)};
  }
  const_iterator upper_bound(const K& key) const {
    auto at = lower_bound(key);
    if (at != end() && at->first == key) ++at;
    return at;
  }

  // Whoever is there already stays.
  template <class Arg>
  std::pair<iterator, bool> emplace(const K& key, Arg&& value) {
    const auto chunk = chunks_.emplace_hint(chunks_.end(), chunk_of(key), nullptr);
    if (!chunk->second) chunk->second = std::make_unique<Chunk>();
    auto& slot = chunk->second->slots[slot_of(key)];
    const bool added = !slot;
    if (added) {
      slot = std::make_unique<value_type>(key, std::forward<Arg>(value));
      chunk->second->used |= bit_of(key);
      ++size_;
    }
    return {{&chunks_, static_cast<size_t>(chunk - chunks_.begin()), slot_of(key)}, added};
  }
  template <class Arg>
  iterator emplace_hint(const const_iterator&, const K& key, Arg&& value) {
    return emplace(key, std::forward<Arg>(value)).first;
  }

  size_t erase(const K& key) {
    const auto at = find(key);
    if (at == end()) return 0;
    erase(at);
    return 1;
  }
  void erase(const iterator& at) {
    const auto chunk = chunks_.nth(at.chunk_);
    chunk->second->used &= ~(uint64_t{1} << at.slot_);
    --size_;
    const auto gone = std::move(chunk->second->slots[at.slot_]);
    if (chunk->second->used == 0) chunks_.erase(chunk);
  }

  friend bool operator==(const IdMap& a, const IdMap& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  static uint64_t chunk_of(const K& key) { return key.value / kSlots; }
  static unsigned slot_of(const K& key) { return static_cast<unsigned>(key.value % kSlots); }
  static uint64_t bit_of(const K& key) { return uint64_t{1} << slot_of(key); }

  // As long as none is missing between the first and it, its number tells where it is.
  typename Chunks::const_iterator find_chunk(uint64_t number) const {
    const uint64_t place = chunks_.empty() ? 0 : number - chunks_.begin()->first;
    if (place < chunks_.size() && chunks_.nth(place)->first == number) return chunks_.nth(place);
    return chunks_.find(number);
  }
  template <class It>
  It first_of(size_t chunk) const {
    const bool any = chunk < chunks_.size();
    return {&chunks_, chunk, any ? It::low(chunks_.nth(chunk)->second->used) : 0};
  }
  template <class It>
  It find_as(const K& key) const {
    const auto chunk = find_chunk(chunk_of(key));
    if (chunk == chunks_.end() || !chunk->second->slots[slot_of(key)])
      return first_of<It>(chunks_.size());
    return {&chunks_, static_cast<size_t>(chunk - chunks_.begin()), slot_of(key)};
  }
  const value_type* value_of(const K& key) const {
    const auto chunk = find_chunk(chunk_of(key));
    return chunk == chunks_.end() ? nullptr : chunk->second->slots[slot_of(key)].get();
  }

  Chunks chunks_;
  size_t size_ = 0;
};

}  // namespace atl
