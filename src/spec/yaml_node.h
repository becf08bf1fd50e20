// A YAML document as it was written: values with the place where they stand. It is kept in two flat
// lists, so that a file of a million values is read in about a second.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atl::spec::yaml {

struct Mark {
  int line = 1;
  int column = 1;
};
std::string to_string(Mark mark);  // "7:3"

// What is wrong with a file, and where.
struct Wrong {
  Mark mark;
  std::string message;
};

class Document;

// A value of a document, which must outlive it.
class Node {
 public:
  Node(const Document& document, uint32_t at);

  bool is_null() const;  // nothing, or ~ or null without quotes
  bool is_scalar() const;
  bool is_sequence() const;
  bool is_map() const;

  std::string_view text() const;  // of a scalar
  bool is_quoted() const;         // a scalar that is a text, whatever it looks like
  Mark mark() const;              // of an alias: where what it stands for is written
  // Where that byte of a scalar's text stands; of a block its line.
  Mark mark_at(size_t byte) const;

  // Of a sequence its items; of a map its keys and values in turn.
  class Iterator {
   public:
    Iterator(const Document& document, uint32_t at) : document_(&document), at_(at) {}
    Node operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Document* document_;
    uint32_t at_;
  };
  Iterator begin() const;
  Iterator end() const { return {*document_, 0}; }

 private:
  const Document* document_;
  uint32_t at_;
};

// How much of a document is looked at: aliases of aliases stand for more than anybody could read.
struct Bounds {
  int depth = 16;
  size_t values = 400'000;
};

class Document {
 public:
  // Throws Wrong for what is no YAML, more than one document, or nested deeper. Going through its
  // values throws when that was done more often than the bounds allow.
  Document(std::string_view text, const Bounds& bounds);

  // Null for an empty file.
  Node root() const { return {*this, root_}; }

 private:
  friend class Node;
  friend class Builder;
  enum class Kind : uint8_t { null, scalar, sequence, map, alias };
  struct Item {
    Kind kind = Kind::null;
    bool block = false;   // of a scalar: | or >, and its text begins on the next line
    bool quoted = false;  // of a scalar
    Mark mark;
    uint32_t text = 0;  // where in texts_ it begins
    uint32_t size = 0;
    uint32_t first = 0;  // child; of an alias what it stands for
    uint32_t next = 0;   // of the same parent; zero: it is the last
  };
  std::string_view text_of(const Item& item) const {
    return std::string_view(texts_).substr(item.text, item.size);
  }

  void spend(uint32_t at) const;

  std::vector<Item> items_{1};  // the first one is nothing
  mutable size_t values_left_;
  std::string texts_;
  uint32_t root_ = 0;
};

}  // namespace atl::spec::yaml
