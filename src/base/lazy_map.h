// An ordered map that costs one pointer while it is empty. A queued job has several maps that only
// running ones fill; a million queued jobs feel the difference.
#pragma once

#include <map>
#include <memory>
#include <utility>

namespace atl {

template <class K, class V>
class LazyMap {
 public:
  using Map = std::map<K, V>;
  using key_type = K;
  using mapped_type = V;
  using iterator = typename Map::iterator;
  using const_iterator = typename Map::const_iterator;

  LazyMap() = default;
  LazyMap(const LazyMap& other) : map_(other.map_ ? std::make_unique<Map>(*other.map_) : nullptr) {}
  LazyMap(LazyMap&&) noexcept = default;
  LazyMap& operator=(LazyMap other) noexcept {
    map_ = std::move(other.map_);
    return *this;
  }

  bool empty() const { return !map_ || map_->empty(); }
  size_t size() const { return map_ ? map_->size() : 0; }
  size_t count(const K& key) const { return map_ ? map_->count(key) : 0; }
  const V& at(const K& key) const { return map().at(key); }

  const_iterator begin() const { return map().begin(); }
  const_iterator end() const { return map().end(); }
  const_iterator find(const K& key) const { return map().find(key); }
  iterator begin() { return own().begin(); }
  iterator end() { return own().end(); }
  iterator find(const K& key) { return own().find(key); }
  iterator lower_bound(const K& key) { return own().lower_bound(key); }
  iterator upper_bound(const K& key) { return own().upper_bound(key); }
  V& operator[](const K& key) { return own()[key]; }

  template <class... Args>
  std::pair<iterator, bool> emplace(Args&&... args) {
    return own().emplace(std::forward<Args>(args)...);
  }
  template <class... Args>
  iterator emplace_hint(const_iterator hint, Args&&... args) {
    return own().emplace_hint(hint, std::forward<Args>(args)...);
  }
  size_t erase(const K& key) { return map_ ? map_->erase(key) : 0; }
  iterator erase(iterator at) { return own().erase(at); }
  iterator erase(iterator first, iterator last) { return own().erase(first, last); }
  void clear() { map_.reset(); }

  friend bool operator==(const LazyMap& a, const LazyMap& b) { return a.map() == b.map(); }

 private:
  const Map& map() const {
    static const Map kEmpty;
    return map_ ? *map_ : kEmpty;
  }
  Map& own() {
    if (!map_) map_ = std::make_unique<Map>();
    return *map_;
  }

  std::unique_ptr<Map> map_;
};

}  // namespace atl
