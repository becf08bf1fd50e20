// Tasks handed to the warden in advance: each begins when the one before it has ended, and not a
// moment earlier.
#include <signal.h>

#include "site/local/files.h"
#include "site/local/local_fixture.h"
#include "site/local/task_line.h"

namespace atl::site {
namespace {

class LineTest : public LocalFixture {
 protected:
  StartOrder behind(const StartOrder& leader, const std::string& text) {
    StartOrder order = shell(text);
    order.behind = leader.attempt;
    return order;
  }
  std::string mark(const std::string& name) { return place_->home() + "/" + name; }
  std::string until(const std::string& name) {
    return "while [ ! -e " + mark(name) + " ]; do sleep 0.01; done";
  }
  void make(const std::string& name) { ASSERT_TRUE(write_file(mark(name), "")); }
};

TEST_F(LineTest, TheNextBeginsWhenTheOneBeforeHasEnded) {
  const StartOrder leader = shell(until("go"));
  const StartOrder next = behind(leader, "echo next");
  driver_->start({leader, next});
  ASSERT_TRUE(seen_->wait_started(leader.attempt));
  ::usleep(200000);
  EXPECT_FALSE(seen_->wait_started(next.attempt, 0));
  make("go");
  ASSERT_TRUE(seen_->wait_ended(next.attempt));
  EXPECT_EQ(output(next.attempt), "next\n");
  EXPECT_GE(seen_->result(next.attempt).usage.started, seen_->result(leader.attempt).usage.ended);
}

TEST_F(LineTest, BehindOneThatIsOverItBeginsAtOnce) {
  const StartOrder leader = shell("true");
  run(leader);
  EXPECT_EQ(run(behind(leader, "exit 3")).exit_code, 3);
  const StartOrder never = shell("true");
  EXPECT_EQ(run(behind(never, "exit 4")).exit_code, 4);
}

TEST_F(LineTest, ALeaderThatCannotBeginMakesRoomAllTheSame) {
  StartOrder leader = shell("true");
  leader.payload.directory = "/no/such/directory";
  const StartOrder next = behind(leader, "exit 5");
  driver_->start({leader, next});
  ASSERT_TRUE(seen_->wait_ended(next.attempt));
  EXPECT_EQ(seen_->result(next.attempt).exit_code, 5);
}

TEST_F(LineTest, OneInLineIsHandedBackAndOneThatBeganIsNot) {
  const StartOrder leader = shell(until("go"));
  const StartOrder next = behind(leader, "true");
  driver_->start({leader, next});
  ASSERT_TRUE(seen_->wait_started(leader.attempt));
  driver_->stop({{next.attempt, {}, true}, {leader.attempt, {}, true}});
  ASSERT_TRUE(seen_->wait_ended(next.attempt));
  EXPECT_EQ(seen_->result(next.attempt).cause, core::EndCause::recalled);
  make("go");
  ASSERT_TRUE(seen_->wait_ended(leader.attempt));
  EXPECT_EQ(seen_->result(leader.attempt).cause, core::EndCause::exited);
}

TEST_F(LineTest, OneInLineIsStoppedWithoutEverBeginning) {
  const StartOrder leader = shell(until("go"));
  const StartOrder next = behind(leader, "touch " + mark("began"));
  driver_->start({leader, next});
  driver_->stop({{next.attempt, seconds(1), false}});
  ASSERT_TRUE(seen_->wait_ended(next.attempt));
  EXPECT_EQ(seen_->result(next.attempt).cause, core::EndCause::stopped);
  make("go");
  ASSERT_TRUE(seen_->wait_ended(leader.attempt));
  EXPECT_FALSE(read_file(mark("began")));
}

TEST_F(LineTest, WithoutAServerTheLineMovesOnAndTheNextServerHearsOfIt) {
  const StartOrder leader = shell(until("go"));
  const StartOrder next = behind(leader, "exit 6");
  driver_->start({leader, next});
  ASSERT_TRUE(seen_->wait_started(leader.attempt));
  driver_->close();
  make("go");
  ::usleep(300000);
  open_driver(place_->options(), {leader.attempt, next.attempt});
  ASSERT_TRUE(seen_->wait_ended(next.attempt));
  EXPECT_EQ(seen_->result(next.attempt).exit_code, 6);
}

TEST_F(LineTest, ANewServerSaysAgainWhoIsInLine) {
  const StartOrder leader = shell(until("go"));
  StartOrder next = behind(leader, "echo once >> " + mark("count"));
  driver_->start({leader, next});
  ASSERT_TRUE(seen_->wait_started(leader.attempt));
  open_driver(place_->options(), {leader.attempt, next.attempt});
  next.repeated = true;
  next.placed = wall_now();
  driver_->start({next});
  make("go");
  ASSERT_TRUE(seen_->wait_ended(next.attempt));
  EXPECT_EQ(read_file(mark("count")).value_or(""), "once\n");
}

TEST_F(LineTest, SeveralInLineBeginOneAfterTheOther) {
  const StartOrder leader = shell(until("go"));
  std::vector<StartOrder> all = {leader};
  for (int i = 0; i < 8; ++i)
    all.push_back(behind(all.back(), "mkdir " + mark("alone") + " && rmdir " + mark("alone") +
                                         " && echo " + std::to_string(i) + " >> " + mark("order")));
  driver_->start(all);
  ASSERT_TRUE(seen_->wait_started(leader.attempt));
  make("go");
  for (const StartOrder& each : all) {
    ASSERT_TRUE(seen_->wait_ended(each.attempt));
    EXPECT_EQ(seen_->result(each.attempt).exit_code, 0);
  }
  EXPECT_EQ(read_file(mark("order")).value_or(""), "0\n1\n2\n3\n4\n5\n6\n7\n");
}

TEST_F(LineTest, OneThatLeavesTheLineLeavesItsPlaceToTheNext) {
  const StartOrder leader = shell(until("go"));
  const StartOrder second = behind(leader, "touch " + mark("second"));
  const StartOrder third = behind(second, "touch " + mark("third"));
  driver_->start({leader, second, third});
  ASSERT_TRUE(seen_->wait_started(leader.attempt));
  driver_->stop({{second.attempt, {}, true}});
  ASSERT_TRUE(seen_->wait_ended(second.attempt));
  EXPECT_EQ(run(shell("true")).exit_code, 0) << "time for the third to begin, if it could";
  EXPECT_FALSE(read_file(mark("third")));
  make("go");
  ASSERT_TRUE(seen_->wait_ended(third.attempt));
  EXPECT_TRUE(read_file(mark("third")));
  EXPECT_FALSE(read_file(mark("second")));
}

TEST(TaskLine, KeepsTheOrderWhoeverLeaves) {
  const auto attempt = [](uint32_t index) { return AttemptId{JobId{1}, index, 1}; };
  TaskLine line;
  for (uint32_t i = 1; i <= 4; ++i) line.add({attempt(i), "", attempt(i - 1)});
  EXPECT_TRUE(line.longer_than(attempt(0), 3));
  EXPECT_FALSE(line.longer_than(attempt(0), 4));
  EXPECT_TRUE(line.leave(attempt(2)));
  EXPECT_FALSE(line.leave(attempt(2)));
  EXPECT_FALSE(line.take_behind(attempt(2)));
  EXPECT_EQ(line.take_behind(attempt(0))->attempt, attempt(1));
  EXPECT_EQ(line.take_behind(attempt(1))->attempt, attempt(3));
  line.add({attempt(5), "", attempt(3)});
  EXPECT_EQ(line.take_behind(attempt(3))->attempt, attempt(4)) << "who was there already";
  EXPECT_EQ(line.take_behind(attempt(4))->attempt, attempt(5));
  EXPECT_FALSE(line.contains(attempt(5)));
}

TEST_F(LineTest, ANewServerThatForgotItNeverSeesItBegin) {
  const StartOrder leader = shell(until("go"));
  const StartOrder next = behind(leader, "touch " + mark("began"));
  driver_->start({leader, next});
  ASSERT_TRUE(seen_->wait_started(leader.attempt));
  open_driver(place_->options(), {leader.attempt});
  make("go");
  ASSERT_TRUE(seen_->wait_ended(leader.attempt));
  EXPECT_EQ(run(shell("true")).exit_code, 0);
  EXPECT_FALSE(read_file(mark("began")));
}

}  // namespace
}  // namespace atl::site
