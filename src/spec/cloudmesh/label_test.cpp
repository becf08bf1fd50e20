#include "spec/cloudmesh/label.h"

#include <gtest/gtest.h>

namespace atl::spec::cc {
namespace {

// 2022-07-29 01:22:04.583760 UTC
constexpr Time kLabelAt{1'659'057'724'583'760};

Duration two_hours_ahead(Time) { return hours(2); }

std::string label(std::string_view format, const Zone& zone = {}) {
  LabelValues values;
  values.attributes = {{"name", "fetch"}, {"progress", "40"}, {"output", "{name}"}, {"a.b", "dot"}};
  values.created = kLabelAt;
  values.tstart = kLabelAt;
  values.tend = kLabelAt + seconds(61);
  values.t0 = kLabelAt - hours(30);
  values.os = {{"HOME", "/home/ada"}};
  values.cm = {{"debug", "on"}};
  return render_label(format, values, kLabelAt + seconds(5), zone);
}

TEST(CcLabel, FillsInAttributesOnce) {
  EXPECT_EQ(label("{name}\\nProgress={progress}%"), "fetch\nProgress=40%");
  EXPECT_EQ(label("{output} {a.b}"), "{name} dot");
  EXPECT_EQ(label("home={os.HOME} {os.NONE} {cm.debug} {cm.x}"), "home=/home/ada N/A on N/A");
}

TEST(CcLabel, UnknownVariablesStay) {
  EXPECT_EQ(label("{start.} {nme} {} { name } {name"), "{start.} {nme} {} { name } {name");
  EXPECT_EQ(label("{{name}} \\"), "{fetch} \\");
}

TEST(CcLabel, TimesHaveFormatsAndDefaults) {
  EXPECT_EQ(label("{created.}"), "07/29/2022, 01:22:04");
  EXPECT_EQ(label("{created.%Y/%m/%d, %H--%M--%S}"), "2022/07/29, 01:22:04");
  EXPECT_EQ(label("{created.%H:%M:%S.%f %s %%s}"), "01:22:04.583760 1659057724 %s");
  EXPECT_EQ(label("{now.%S}"), "09");
  EXPECT_EQ(label("{now.%H %z}", two_hours_ahead), "03 +0200");
  EXPECT_EQ(label("{tstart.%S} {tend.%M--%S} {t0.%d}"), "04 23:05 27");
  EXPECT_EQ(label("{modified.} {t1.%S}"), "N/A N/A");
  EXPECT_EQ(label("a -- b {now.%Q%}"), "a -- b %Q%");
}

TEST(CcLabel, SpansCountAllTheirHours) {
  EXPECT_EQ(label("{dt.}"), "00:01:01");
  EXPECT_EQ(label("{dt.%M--%S}"), "01:01");
  EXPECT_EQ(label("{dt0.}"), "30:00:05");
  EXPECT_EQ(label("{dt0.%T}"), "30:00:05");
  EXPECT_EQ(label("{dt1.}"), "N/A");
}

TEST(CcTime, ReadsBothOfItsFormats) {
  EXPECT_EQ(parse_cc_time("2022-07-29 01:22:04.583760", {}), kLabelAt);
  EXPECT_EQ(parse_cc_time("07/29/2022, 03:22:04", two_hours_ahead),
            kLabelAt - microseconds(583'760));
  EXPECT_EQ(parse_cc_time(node_time(kLabelAt, two_hours_ahead), two_hours_ahead), kLabelAt);
  for (const char* bad : {"", "today", "2022-13-29 01:22:04", "2022-07-29 01:22:04x",
                          "2022-07-29 01:22:04.5x3760", "2022-07-29"})
    EXPECT_FALSE(parse_cc_time(bad, {})) << bad;
}

}  // namespace
}  // namespace atl::spec::cc
