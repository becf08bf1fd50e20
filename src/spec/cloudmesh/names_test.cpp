#include "spec/cloudmesh/names.h"

#include <gtest/gtest.h>

namespace atl::spec::cc {
namespace {

using Names = std::vector<std::string>;

TEST(CcNames, ExpandAsCloudmeshDoes) {
  const std::pair<const char*, Names> cases[] = {
      {"a", {"a"}},
      {"a,b[1-3],c", {"a", "b1", "b2", "b3", "c"}},
      {"a[1-3,5],b", {"a1", "a2", "a3", "a5", "b"}},
      {"n[9-11]", {"n9", "n10", "n11"}},
      {"d[01-03]", {"d01", "d02", "d03"}},
      {"d[098-101]", {"d098", "d099", "d100", "d101"}},
      {"x[1-2]y[1,3]z", {"x1y1z", "x1y3z", "x2y1z", "x2y3z"}},
      {"[1-2][7]", {"17", "27"}},
      {"local:a,b", {"local:a", "local:b"}},
      {"local:a[1-2]", {"local:a1", "local:a2"}},
      {"local:a,far:b,c", {"local:a", "far:b", "c"}},
      {"a,far:b", {"a", "far:b"}},
      {" a , b ", {"a", "b"}},
      {"a,\nb\n", {"a", "b"}},
      {"a,b,a", {"a", "b"}},
      {"b[1-2],b2", {"b1", "b2"}},
  };
  for (const auto& [text, names] : cases) {
    const auto found = expand_names(text);
    ASSERT_TRUE(found) << text << ": " << found.error().message;
    EXPECT_EQ(*found, names) << text;
  }
}

TEST(CcNames, EveryMistakeIsNamedWithItsColumn) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "\"\", column 1: expected a name here"},
      {"a,,b", "\"a,,b\", column 3: expected a name here"},
      {"a,b,", "\"a,b,\", column 5: expected a name here"},
      {"a, ,b", "\"a, ,b\", column 4: expected a name here"},
      {"a[1-3", "\"a[1-3\", column 2: this bracket is not closed"},
      {"a]", "\"a]\", column 2: this bracket closes none"},
      {"a[[1]]", "\"a[[1]]\", column 3: a bracket inside"},
      {"a[]", "\"a[]\", column 3: \"\" is no range"},
      {"a[1,x]", "\"a[1,x]\", column 5: \"x\" is no range of numbers; write [1-3,7]"},
      {"a[1-]", "\"a[1-]\", column 3: \"1-\" is no range"},
      {"a[-3]", "\"a[-3]\", column 3: \"-3\" is no range"},
      {"a[3-1]", "\"a[3-1]\", column 3: \"3-1\" runs backwards; write [1-3]"},
      {"b,a[0-100000]", "\"b,a[0-100000]\", column 5: this stands for more than 100000 names"},
      {"a[1-1000][1-1000]", "\"a[1-1000][1-1000]\", column 1: this stands for more than"},
      {"a[1-60000],b[1-60000]", "\"a[1-60000],b[1-60000]\", column 12: this stands for more than"},
      {"a[99999999999999999999]", "\"a[99999999999999999999]\", column 3: \"9999"},
  };
  for (const auto& [text, message] : cases) {
    const auto found = expand_names(text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().message.substr(0, std::string(message).size()), message);
  }
}

TEST(CcNames, AHundredThousandAreFineAndLongOnesAreNot) {
  EXPECT_EQ(expand_names("a[1-100000]")->size(), 100'000u);
  const auto found = expand_names(std::string(1000, 'x') + "[1-100000]");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("too long"), std::string::npos);
}

}  // namespace
}  // namespace atl::spec::cc
