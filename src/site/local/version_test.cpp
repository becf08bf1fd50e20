// A server and a warden of different releases.
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "base/overloaded.h"
#include "site/local/files.h"
#include "site/local/local_fixture.h"
#include "site/local/remains.h"

namespace atl::site {
namespace {

TEST(WardenVersion, IsUnderstoodTwoBackAndNeverAhead) {
  const auto fits = [](uint32_t theirs, uint32_t ours) {
    return check_warden({.version = theirs, .pid = 7}, ours).has_value();
  };
  EXPECT_TRUE(fits(3, 5));
  EXPECT_TRUE(fits(4, 5));
  EXPECT_TRUE(fits(5, 5));
  EXPECT_FALSE(fits(2, 5));
  EXPECT_FALSE(fits(6, 5));
  EXPECT_TRUE(fits(1, 1));
  EXPECT_FALSE(fits(0, 1));  // a Welcome that does not say
  EXPECT_TRUE(fits(kProtocolVersion, kProtocolVersion));
  const std::string old = check_warden({.version = 2, .pid = 7}, 5).error().message;
  EXPECT_NE(old.find("too old"), std::string::npos) << old;
  EXPECT_NE(old.find("speaks protocol 2, the server 3 to 5"), std::string::npos) << old;
  EXPECT_NE(old.find("work goes on"), std::string::npos) << old;
  const std::string newer = check_warden({.version = 6}, 5).error().message;
  EXPECT_NE(newer.find("Start the newer Atoll"), std::string::npos) << newer;
}

// A server from before there was progress skips what it does not know and hears the rest.
TEST(WardenVersion, NewNoticesAreSkippedByOlderServers) {
  using OldNotice = std::variant<Welcome, TaskStarted, TaskEnded, Listed, ExecEnded>;
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  Link warden(ends[0]), server(ends[1]);
  warden.send(Notice(TaskProgressed{{JobId{1}, 0, 1}, {.percent_milli = 5000, .message = "x"}}));
  warden.send(Notice(TaskStarted{{JobId{2}, 0, 1}, {7}}));
  ASSERT_TRUE(warden.flush());
  ASSERT_TRUE(server.fill());
  const std::optional<OldNotice> heard = server.receive<OldNotice>();
  ASSERT_TRUE(heard && std::holds_alternative<TaskStarted>(*heard));
  EXPECT_EQ(std::get<TaskStarted>(*heard).started, Time{7});
}

// Holds the lock and the socket of a directory as a warden does, says a version, lists one ended
// attempt, and remembers what it was told.
class FakeWarden {
 public:
  FakeWarden(const std::string& directory, uint32_t version, AttemptId ended)
      : path_(directory + "/warden.sock"), version_(version), ended_(ended) {
    EXPECT_TRUE(make_directories(directory, 0700));
    lock_ = take_lock(directory + "/warden.lock", 0).value_or(-1);
    sockaddr_un address = {.sun_family = AF_UNIX};
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 4), 0);
    thread_ = std::thread([this] { run(); });
  }
  ~FakeWarden() { leave(); }

  void leave() {
    if (!thread_.joinable()) return;
    leaving_ = true;
    thread_.join();
    ::close(listener_);
    ::unlink(path_.c_str());
    ::close(lock_);
  }
  int greetings() const { return greetings_; }
  int other_orders() const { return other_orders_; }
  bool connected() const { return connected_; }

 private:
  void run() {
    while (!leaving_) {
      pollfd fds[2] = {{listener_, POLLIN, 0}, {server_.fd(), POLLIN, 0}};
      ::poll(fds, server_.open() ? 2 : 1, 10);
      if (fds[0].revents) server_ = Link(::accept(listener_, nullptr, nullptr));
      if (server_.open() && !server_.fill()) server_.close();
      while (std::optional<Order> order = server_.receive<Order>()) answer(*order);
      if (server_.open() && !server_.flush()) server_.close();
      connected_ = server_.open();
    }
  }
  void answer(const Order& order) {
    if (!std::holds_alternative<Hello>(order)) {
      ++other_orders_;
      return;
    }
    ++greetings_;
    server_.send(Notice(Welcome{.version = version_, .pid = ::getpid(), .abilities = {"fake"}}));
    server_.send(Notice(TaskEnded{ended_, {.exit_code = 5}}));
    server_.send(Notice(Listed{}));
  }

  const std::string path_;
  const uint32_t version_;
  const AttemptId ended_;
  int lock_ = -1, listener_ = -1;
  Link server_;
  std::atomic<bool> leaving_ = false, connected_ = false;
  std::atomic<int> greetings_ = 0, other_orders_ = 0;
  std::thread thread_;
};

template <class Ready>
bool eventually(Ready ready) {
  for (int i = 0; i < 2000 && !ready(); ++i) ::usleep(10000);
  return ready();
}

class Versions : public testing::Test {
 protected:
  // A program in the warden's place that only leaves a sign that it was started.
  LocalOptions options(uint32_t protocol) {
    LocalOptions options = place_.options();
    options.protocol = protocol;
    options.warden = place_.home() + "/instead";
    std::ofstream(options.warden) << "#!/bin/sh\ntouch " + started_ + "\n";
    ::chmod(options.warden.c_str(), 0755);
    return options;
  }
  bool second_started() const { return std::filesystem::exists(started_); }

  LocalPlace place_;
  const std::string directory_ = place_.home() + "/site/local";
  const std::string started_ = place_.home() + "/started";
  const AttemptId ended_{JobId{1}, 0, 1}, wanted_{JobId{2}, 0, 1};
};

TEST_F(Versions, AnOlderWardenIsUsedAsItIs) {
  for (const uint32_t version : {5u, 6u, 7u}) {
    FakeWarden warden(directory_, version, ended_);
    Recorder seen;
    LocalDriver driver(options(7));
    driver.adopt({ended_}, seen.sink());
    ASSERT_TRUE(seen.wait_probed()) << version;
    ASSERT_TRUE(seen.wait_ended(ended_)) << version;
    EXPECT_EQ(seen.result(ended_).exit_code, 5);
    EXPECT_EQ(driver.refusal(), "");
    EXPECT_EQ(driver.progress({&ended_, 1}).at(0), std::nullopt) << "it knows of none";
    EXPECT_TRUE(eventually([&] { return warden.other_orders() > 0; }));  // Adopted
    EXPECT_FALSE(second_started());
  }
}

TEST_F(Versions, ATooOldOrNewerWardenIsLetGoAndNotReplacedWhileItLives) {
  for (const uint32_t version : {0u, 4u, 8u}) {
    std::filesystem::remove(started_);
    FakeWarden warden(directory_, version, ended_);
    Recorder seen;
    LocalDriver driver(options(7));
    driver.adopt({ended_}, seen.sink());
    ASSERT_TRUE(eventually([&] { return !driver.refusal().empty(); })) << version;
    driver.start({{.attempt = wanted_,
                   .uid = ::geteuid(),
                   .payload = {.argv = {"true"}, .directory = "/"}}});
    driver.stop({{ended_, seconds(1)}});
    const Result<ExecResult> beside = driver.exec({.attempt = ended_, .argv = {"true"}});
    ASSERT_FALSE(beside.has_value());
    EXPECT_EQ(beside.error().message, driver.refusal());
    // The connection is closed, so that the warden may leave, and it is not made again.
    EXPECT_TRUE(eventually([&] { return !warden.connected(); }));
    ::usleep(600000);
    EXPECT_EQ(warden.greetings(), 1);
    EXPECT_EQ(warden.other_orders(), 0);
    EXPECT_FALSE(second_started());
    EXPECT_EQ(seen.ends(ended_) + seen.ends(wanted_), 0u) << "it may be running there";
    warden.leave();
    EXPECT_TRUE(eventually([&] { return second_started(); }));
    EXPECT_EQ(driver.refusal(), "");
  }
}

class Upgrade : public LocalFixture {};

TEST_F(Upgrade, WorkOfARefusedWardenGoesOnAndIsCollectedByAServerThatFits) {
  const std::string gate = place_->home() + "/gate";
  const AttemptId id = start(shell("while [ ! -e " + gate + " ]; do sleep 0.02; done; exit 9"));
  ASSERT_TRUE(seen_->wait_started(id));
  const int64_t warden = driver_->warden_pid();
  driver_.reset();
  {
    LocalOptions later = place_->options();
    later.protocol = kProtocolVersion + kProtocolVersionsBack + 1;
    Recorder seen;
    LocalDriver driver(later);
    driver.adopt({id}, seen.sink());
    ASSERT_TRUE(eventually([&] { return !driver.refusal().empty(); }));
    std::ofstream(gate) << "";
    ::usleep(300000);
    EXPECT_EQ(seen.ends(id), 0u);
    EXPECT_NE(process_start(static_cast<int>(warden)), 0u);
  }
  open_driver(place_->options(), {id});
  ASSERT_TRUE(seen_->wait_ended(id));
  EXPECT_EQ(seen_->result(id).exit_code, 9);
  EXPECT_EQ(driver_->warden_pid(), warden);
}

TEST_F(Upgrade, ARefusedWardenLeavesWhenItIsDoneAndItsResultsAreTakenOver) {
  LocalOptions options = place_->options();
  driver_->shutdown();
  options.warden_idle_exit = seconds(1);
  open_driver(options);
  const AttemptId id = start(shell("sleep 0.5; exit 9"));
  ASSERT_TRUE(seen_->wait_started(id));
  const int64_t warden = driver_->warden_pid();
  driver_.reset();
  // What this server starts in its place is of the same release and refused as well.
  LocalOptions later = options;
  later.protocol = kProtocolVersion + kProtocolVersionsBack + 1;
  {
    Recorder seen;
    LocalDriver driver(later);
    driver.adopt({id}, seen.sink());
    ASSERT_TRUE(eventually([&] { return !driver.refusal().empty(); }));
    ASSERT_TRUE(eventually([&] { return process_start(static_cast<int>(warden)) == 0; }));
  }
  open_driver(options, {id});
  ASSERT_TRUE(seen_->wait_ended(id));
  EXPECT_EQ(seen_->result(id).exit_code, 9);
}

}  // namespace
}  // namespace atl::site
