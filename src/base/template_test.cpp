#include "base/template.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

TEST(Template, OnlyReferencesAreReplaced) {
  const auto filled = [](std::string_view text) {
    return expand(text, [](const Reference& each) -> std::optional<std::string> {
      if (each.root == "params") return "<" + each.path + ">";
      return std::nullopt;
    });
  };
  EXPECT_EQ(filled("{params.a}/{params.b-c}.txt"), "<a>/<b-c>.txt");
  EXPECT_EQ(filled("awk '{print $1}' ${HOME} {1..3} {params} {params.} {param.x} {params.a b}"),
            "awk '{print $1}' ${HOME} {1..3} {params} {params.} {param.x} {params.a b}");
  EXPECT_EQ(filled("{{params.a}} {{{params.a}}} {{params.a} {steps.x.outputs.y} {"),
            "{params.a} {{params.a}} {<a> {steps.x.outputs.y} {");
  EXPECT_EQ(filled(""), "");
}

}  // namespace
}  // namespace atl
