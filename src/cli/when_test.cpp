// Calendar, reservations and nodes against a scripted server.
#include <gtest/gtest.h>

#include "cli/exit.h"
#include "cli/test_server.h"

namespace atl::cli {
namespace {

using testing::Ran;
using testing::TestServer;

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kCalendar = R"({"now":"2026-09-21T14:13:20Z","utc_offset_minutes":60,
"next_change":"2026-09-21T18:00:00Z","entries":[
{"name":"days","tier":"batch","days":"mon-fri","from":"08:00","until":"18:00","share":0.3,"limit":{},"holds":true},
{"name":"nights","tier":"batch","days":"sun","from":"22:30","until":"02:00","share":0,"limit":{},"holds":false},
{"name":"quarter","tier":"opportunistic","days":"sat","from":"00:00","until":"12:00","share":0.25,"limit":{},"holds":false},
{"name":"shut","tier":"opportunistic","days":"sun","from":"00:00","until":"24:00","share":null,"limit":{"memory":0},"holds":false},
{"name":"both","tier":"interactive","days":"mon","from":"00:00","until":"02:00","share":0.3,"limit":{"cpus":8},"holds":false},
{"name":"beside","tier":"interactive","days":"mon","from":"01:00","until":"04:00","share":null,"limit":{"cpus":2},"holds":false},
{"name":"third","tier":"interactive","days":"mon","from":"03:00","until":"06:00","share":0.3,"limit":{},"holds":false},
{"name":"some","tier":"service","days":"daily","from":"00:00","until":"24:00","share":null,"limit":{"cpus":2},"holds":true}]})";

TEST(CalendarVerb, ShowsTheWeekOfEachTier) {
  TestServer server;
  server.on("GET", "/api/v1/calendar", kCalendar);
  server.start();
  const std::string out = server.run({"calendar"}).out;
  EXPECT_TRUE(says(out, "days     batch          mon-fri  08:00  18:00   30 %")) << out;
  EXPECT_TRUE(says(out, "mon xx······3333333333······\n")) << out;
  EXPECT_TRUE(says(out, "sat ························\n")) << out;
  EXPECT_TRUE(says(out, "sun ······················xx\n")) << out;
  EXPECT_TRUE(says(out, "mon ------------------------\n")) << out;
  EXPECT_TRUE(says(out, "sat aaaaaaaaaaaa············\n")) << out;
  EXPECT_TRUE(says(out, "mon bb-b33··················\n")) << out;
  EXPECT_TRUE(says(out, "sun xxxxxxxxxxxxxxxxxxxxxxxx\n")) << out;
  EXPECT_TRUE(says(out,
                   "· open, x shut, a at most 25 %, 3 at most 30 %, b at most 30 % and limited in "
                   "amounts, - limited in amounts"))
      << out;
  EXPECT_TRUE(says(out, "UTC+01:00")) << out;
  EXPECT_FALSE(says(out, "\x1b[")) << out;
  EXPECT_EQ(server.run({"calendar", "-q"}).out,
            "days\nnights\nquarter\nshut\nboth\nbeside\nthird\nsome\n");
  EXPECT_TRUE(says(server.run({"calendar", "-o", "json"}).out, "\"utc_offset_minutes\": 60"));
}

TEST(CalendarVerb, SetsAndRemovesEntries) {
  TestServer server;
  server.on("PUT", "/api/v1/calendar/{entry}",
            R"({"name":"days","tier":"batch","days":"mon-fri",)"
            R"("from":"08:00","until":"18:00","share":0.3,"limit":{"cpus":16}})");
  server.on("DELETE", "/api/v1/calendar/{entry}", "", 204);
  server.start();
  const Ran set =
      server.run({"calendar", "set", "days", "--tier", "batch", "--days", "mon-fri", "--from",
                  "08:00", "--until", "18:00", "--share", "0.3", "--limit", "cpu=16,gpu=2"});
  EXPECT_EQ(set.code, kExitOk) << set.err;
  EXPECT_EQ(set.out,
            "set calendar entry days: batch may have at most 30 % of everything, cpu 16, mon-fri "
            "from 08:00 until 18:00\n");
  EXPECT_EQ(server.requests().back(),
            R"(PUT /api/v1/calendar/days {"tier":"batch","days":"mon-fri","from":"08:00",)"
            R"("until":"18:00","share":0.3,"limit":{"cpus":16,"devices":{"gpu":2}}})");
  EXPECT_EQ(server.run({"calendar", "remove", "days"}).out, "removed calendar entry days\n");
  const auto refusal = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"calendar", "set", "x"});
    const Ran ran = server.run(std::move(args));
    EXPECT_EQ(ran.code, kExitUsage);
    return ran.err;
  };
  EXPECT_TRUE(says(refusal({"--days", "work"}), "write mon-fri"));
  EXPECT_TRUE(
      says(refusal({"--from", "8"}), "--from: \"8\" is not a time of the day: write 08:00"));
  EXPECT_TRUE(says(refusal({"--from", "10:00", "--until", "10:00", "--share", "0.5"}),
                   "--until 10:00 is when it begins; for the whole day leave out"));
  EXPECT_TRUE(says(refusal({"--until", "00:00", "--share", "0.5"}),
                   "--until 00:00 is when it begins; for the whole day leave out"));
  EXPECT_TRUE(says(refusal({"--share", "30"}), "from 0 to 1, in steps of 0.001, such as 0.3"));
  EXPECT_TRUE(says(refusal({"--limit", "many"}), "write cpu=64"));
}

TEST(ReservationVerb, SaysWhenAndHowMuch) {
  TestServer server;
  server.on("POST", "/api/v1/reservations", R"({"name":"course"})", 201);
  server.start();
  const auto sent = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"reservation", "create", "course", "--ns", "course,lab"});
    const Ran ran = server.run(std::move(args));
    EXPECT_EQ(ran.code, kExitOk) << ran.err;
    return server.requests().back().substr(sizeof "POST /api/v1/reservations");
  };
  EXPECT_EQ(sent({"--from", "2026-11-17T10:00:00Z", "--for", "2h", "--nodes", "2"}),
            R"({"name":"course","from":"2026-11-17T10:00:00Z","until":"2026-11-17T12:00:00Z",)"
            R"("namespaces":["course","lab"],"nodes":2})");
  EXPECT_TRUE(
      says(sent({"--from", "2026-11-17T10:00:00Z", "--until", "2026-11-17T12:00:00Z", "--count",
                 "10", "--cpus", "2", "--mem", "4Ki", "--gpus", "a100:2", "--site", "local"}),
           R"("count":10,"cpus":2,"memory":4096,"devices":{"gpu:a100":2},"site":"local"})"));
  EXPECT_FALSE(says(sent({"--for", "2h", "--nodes", "1"}), "from")) << "now is the server's";
  const auto refusal = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"reservation", "create", "course", "--ns", "course"});
    const Ran ran = server.run(std::move(args));
    EXPECT_EQ(ran.code, kExitUsage);
    return ran.err;
  };
  EXPECT_TRUE(says(refusal({"--nodes", "1"}), "--until 12:00 or --for 2h"));
  EXPECT_TRUE(says(refusal({"--from", "tomorrow 10:00", "--until", "10:00", "--nodes", "1"}),
                   "--until 10:00 is when it begins; write a later time, or --for 1d"));
  EXPECT_TRUE(says(refusal({"--from", "tue 10:00", "--until", "tue 9:00", "--nodes", "1"}),
                   "--until \"tue 9:00\" is not after it begins, tue 20"));
  EXPECT_TRUE(says(refusal({"--from", "tue 10:00", "--until", "Tuesday 10:00", "--nodes", "1"}),
                   "write a later time, or with its date"));
  EXPECT_TRUE(says(sent({"--from", "tue 10:00", "--until", "wed 9:00", "--nodes", "1"}), "until"));
  EXPECT_TRUE(says(sent({"--from", "tue 10:00", "--until", "tue 10:30", "--nodes", "1"}), "until"));
  for (const char* day : {"mon", "tue", "wed", "thu", "fri", "sat", "sun"})
    EXPECT_TRUE(says(sent({"--until", std::string(day) + " 10:00", "--nodes", "1"}), "until"));
  EXPECT_TRUE(says(refusal({"--for", "0s", "--nodes", "1"}), "\"0s\" is no time at all"));
  EXPECT_TRUE(says(refusal({"--for", "1h", "--count", "9", "--gpus", "a100"}),
                   "how many cores? add --cpus 1"));
  EXPECT_TRUE(says(refusal({"--nodes", "1", "--for", "1h", "--until", "12:00"}), "either"));
  EXPECT_TRUE(says(refusal({"--for", "1h"}), "--nodes 1"));
  EXPECT_TRUE(says(refusal({"--for", "2", "--nodes", "1"}), "\"2\" has no unit: write 2h"));
  EXPECT_TRUE(says(refusal({"--for", "1h", "--nodes", "1", "--cpus", "2"}), "either --nodes"));
  EXPECT_TRUE(says(refusal({"--for", "1h", "--nodes", "0"}), "write 1 or more"));
  EXPECT_TRUE(says(refusal({"--for", "1h", "--cpus", "1", "--gpus", "0.5"}), "only whole devices"));
  EXPECT_TRUE(says(refusal({"--from", "soon", "--for", "1h", "--nodes", "1"}),
                   "--from: \"soon\" is not a time: write"));
}

TEST(ReservationVerb, TellsWhoMayStillBeThere) {
  TestServer server;
  server.on("POST", "/api/v1/reservations",
            R"({"name":"course","nodes":1,"parts":[{"site":"local","node":"n1"}],"occupied":[
{"task":"12","namespace":"bio","site":"local","node":"n1","until":"2026-11-17T12:00:00Z"},
{"task":"13[4]","namespace":"lab","site":"local","node":"n1","until":null}]})",
            201);
  server.start();
  const Ran ran = server.run({"reservation", "create", "course", "--ns", "course", "--nodes", "1",
                              "--from", "2026-11-17T10:00:00Z", "--for", "2h"});
  EXPECT_EQ(ran.code, kExitOk);
  EXPECT_TRUE(says(ran.out, ": 1 node on local/n1\n")) << ran.out;
  EXPECT_TRUE(says(ran.err,
                   "warning: others may still have some of this room when it begins: 12 of bio on "
                   "local/n1 until tue 2026-11-17"))
      << ran.err;
  EXPECT_TRUE(says(ran.err, "at the latest; 13[4] of lab on local/n1 without a time limit\n"))
      << ran.err;
  const Ran quiet = server.run(
      {"reservation", "create", "course", "--ns", "course", "--nodes", "1", "--for", "2h", "-q"});
  EXPECT_EQ(quiet.out, "course\n");
  EXPECT_EQ(quiet.err, ran.err);
}

TEST(ReservationVerb, ListsWhatIsKeptForWhom) {
  TestServer server;
  server.on("GET", "/api/v1/reservations", R"({"reservations":[
{"name":"course","from":"2026-11-17T10:00:00Z","until":"2026-11-17T12:00:00Z","active":false,"namespaces":["course","lab"],"nodes":null,"count":2,"cpus":4,"memory_bytes":3000000000,"devices":{"gpu":1},"site":"","parts":[{"site":"local","node":"n1"},{"site":"local","node":"n1"}]}]})");
  server.on("DELETE", "/api/v1/reservations/{reservation}", "", 204);
  server.start();
  const std::string out = server.run({"reservation", "list"}).out;
  EXPECT_TRUE(says(out, "to come  course, lab  2 x cpu 4, memory 3G, gpu 1  local/n1")) << out;
  EXPECT_EQ(server.run({"reservation", "cancel", "course"}).out, "cancelled reservation course\n");
}

TEST(NodeVerb, TheSiteMayBeLeftOutWhereOnlyOneHasSuchANode) {
  TestServer server;
  server.on("GET", "/api/v1/sites", R"({"sites":[
{"name":"a","nodes":[{"name":"n1","draining":true,"cpus":4,"cpus_used":1},{"name":"n2"}]},
{"name":"b","nodes":[{"name":"n2"}]}]})");
  server.on("POST", "/api/v1/sites/{site}/nodes/{node}/drain", R"({"name":"a"})");
  server.on("POST", "/api/v1/sites/{site}/nodes/{node}/undrain", R"({"name":"a"})");
  server.start();
  const std::string out = server.run({"node", "list"}).out;
  EXPECT_TRUE(says(out, "n1    a     draining  1 of 4")) << out;
  EXPECT_EQ(server.run({"node", "list", "-q"}).out, "a/n1\na/n2\nb/n2\n");
  EXPECT_TRUE(says(server.run({"node", "list", "-o", "json"}).out, "\"path\": \"a/n1\""));
  EXPECT_EQ(server.run({"node", "drain", "n1"}).out, "a/n1 takes no more work\n");
  EXPECT_EQ(server.requests().back(), "POST /api/v1/sites/a/nodes/n1/drain");
  EXPECT_EQ(server.run({"node", "undrain", "b/n2"}).out, "b/n2 takes work again\n");
  TestServer drained;
  drained.on("POST", "/api/v1/sites/{site}/nodes/{node}/undrain",
             R"({"name":"a","draining":true})");
  drained.start();
  EXPECT_TRUE(
      says(drained.run({"node", "undrain", "a/n1"}).out, "`atoll site undrain a` ends that"));
  EXPECT_TRUE(says(server.run({"node", "drain", "n2"}).err, "write a/n2 or b/n2"));
  EXPECT_TRUE(says(server.run({"node", "drain", "nn1"}).err, "no node \"nn1\"; did you mean n1?"));
}

}  // namespace
}  // namespace atl::cli
