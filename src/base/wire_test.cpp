#include "base/wire.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

enum class Colour : uint8_t { red, green };
struct Leaf {
  std::string text;
  int32_t number = 0;
  int32_t seven = 7;
  bool operator==(const Leaf&) const = default;
};
ATOLL_DESCRIBE(Leaf, text, number, seven)
struct Tree {
  uint64_t id = 0;
  Colour colour = Colour::red;
  std::optional<int64_t> maybe;
  std::vector<Leaf> leaves;
  std::map<std::string, uint32_t> counts;
  std::variant<Leaf, Time> choice;
  IntervalSet indices;
  std::array<uint64_t, 3> tally{};
  bool operator==(const Tree&) const = default;
};
ATOLL_DESCRIBE(Tree, id, colour, maybe, leaves, counts, choice, indices, tally)
// What a later version of Leaf could look like.
struct NewerLeaf {
  std::string text;
  int32_t number = 0;
  int32_t seven = 7;
  std::vector<std::string> more;
  int64_t extra = 0;
  bool operator==(const NewerLeaf&) const = default;
};
ATOLL_DESCRIBE(NewerLeaf, text, number, seven, more, extra)

Tree sample() {
  Tree tree{.id = 1ull << 60,
            .colour = Colour::green,
            .maybe = 0,
            .leaves = {{"a", -1}, {"", 0}, {"c", INT32_MIN, 0}}};
  tree.counts = {{"x", 1}, {"y", UINT32_MAX}};
  tree.choice = Time{-5};
  tree.indices.add({3, 9});
  tree.indices.add({100, UINT32_MAX});
  tree.tally = {0, 7, 1ull << 63};
  return tree;
}

TEST(Wire, RoundTripsEveryShape) {
  EXPECT_EQ(wire::decode<Tree>(wire::encode(sample())).value(), sample());
  EXPECT_EQ(wire::decode<Tree>(wire::encode(Tree{})).value(), Tree{});
}

TEST(Wire, DefaultsCostNothingAndZeroIsNotOne) {
  EXPECT_TRUE(wire::encode(Leaf{}).empty());
  EXPECT_EQ(wire::decode<Leaf>(wire::encode(Leaf{"", 0, 0}))->seven, 0);
}

TEST(Wire, LongStructsCarryTheirLength) {
  Tree tree;
  tree.leaves.assign(100, {std::string(300, 'x'), 1});
  EXPECT_EQ(wire::decode<Tree>(wire::encode(tree)).value(), tree);
}

TEST(Wire, UnknownFieldsAreSkipped) {
  const NewerLeaf newer{"hello", 7, 1, {"new", "fields"}, 12};
  EXPECT_EQ(wire::decode<Leaf>(wire::encode(newer)).value(), (Leaf{"hello", 7, 1}));
  EXPECT_EQ(wire::decode<NewerLeaf>(wire::encode(Leaf{"old", 1})).value(),
            (NewerLeaf{"old", 1, 7, {}, 0}));
}

TEST(Wire, EveryCutOrFlippedByteIsRefusedOrDecodesToSomething) {
  const std::string bytes = wire::encode(sample());
  for (size_t cut = 0; cut < bytes.size(); ++cut) (void)wire::decode<Tree>(bytes.substr(0, cut));
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      (void)wire::decode<Tree>(damaged);
    }
  }
  EXPECT_FALSE(wire::decode<Tree>(bytes.substr(0, bytes.size() - 1)));
}

TEST(Wire, AListThatClaimsMoreThanThereIsIsRefused) {
  std::string bytes;
  wire::put_varint(bytes, 4 * 2 + 1);
  wire::put_sized(bytes, [&] { wire::put_varint(bytes, 1ull << 40); });
  EXPECT_FALSE(wire::decode<Tree>(bytes));
}

}  // namespace
}  // namespace atl
