// Runs payloads on a real warden and looks at what came out.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include "site/local/local_place.h"

namespace atl::site {

class LocalFixture : public testing::Test {
 protected:
  void SetUp() override { make_place(true); }
  void TearDown() override {
    driver_.reset();
    place_.reset();
  }

  void make_place(bool cgroups) {
    driver_.reset();
    place_ = std::make_unique<LocalPlace>(cgroups);
    open_driver(place_->options());
  }
  void open_driver(LocalOptions options, std::vector<AttemptId> expected = {}) {
    driver_.reset();
    seen_ = std::make_unique<Recorder>();
    driver_ = std::make_unique<LocalDriver>(std::move(options));
    driver_->adopt(std::move(expected), seen_->sink());
    ASSERT_TRUE(seen_->wait_probed());
  }

  StartOrder order(core::Payload payload) {
    if (payload.directory.empty()) payload.directory = "/tmp";
    return {.attempt = {JobId{next_job_++}, 0, 1},
            .name = "job",
            .ns = "default",
            .uid = ::geteuid(),
            .grace = seconds(1),
            .payload = std::move(payload)};
  }
  StartOrder shell(const std::string& text) { return order({.argv = {"sh", "-c", text}}); }

  AttemptId start(StartOrder one) {
    const AttemptId id = one.attempt;
    driver_->start({std::move(one)});
    return id;
  }
  core::AttemptResult run(StartOrder one) {
    last_ = start(std::move(one));
    EXPECT_TRUE(seen_->wait_ended(last_, 40));
    return seen_->result(last_);
  }
  std::string output(AttemptId id, LogStream stream = LogStream::out) {
    const Result<LogChunk> chunk = driver_->logs(id, stream, 0, 100 << 20);
    return chunk ? chunk->bytes : "no log";
  }

  std::unique_ptr<LocalPlace> place_;
  std::unique_ptr<Recorder> seen_;
  std::unique_ptr<LocalDriver> driver_;
  AttemptId last_;
  uint64_t next_job_ = 1;
};

}  // namespace atl::site
