#include "runtime/observe/trace/span_exporter.h"

#include <condition_variable>
#include <deque>
#include <mutex>

#include <gtest/gtest.h>

#include "base/text/protobuf_reader.h"
#include "runtime/observe/trace/span_text.h"

namespace edge::runtime::trace {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using How = Sent::How;

std::string_view field(std::string_view message, unsigned number) {
  ProtobufReader reader(message);
  while (const auto found = reader.next()) {
    if (found->number == number) return found->bytes;
  }
  return {};
}

/// As many fields `spans` as a message has.
std::size_t spans_in(std::string_view message) {
  ProtobufReader scope(field(field(message, 1), 2));
  std::size_t spans = 0;
  while (const auto found = scope.next()) spans += found->number == 2 ? 1 : 0;
  return spans;
}

/// What a collector would say, one word a message; the last one for ever.
class Script {
 public:
  explicit Script(std::deque<Sent> words) : words_(std::move(words)) {}

  Sent say(std::string_view message, SpanSender::Time until) {
    std::unique_lock lock(mutex_);
    sizes_.push_back(message.size());
    spans_.push_back(spans_in(message));
    changed_.notify_all();
    if (silent_) {
      const bool cancelled = changed_.wait_until(lock, until, [&] { return cancelled_; });
      return {How::kLater, 0, {}, cancelled ? "cancelled" : "timeout"};
    }
    Sent sent = words_.front();
    if (words_.size() > 1) words_.pop_front();
    return sent;
  }
  void cancel() {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }
  void fall_silent() { silent_ = true; }
  bool await(std::size_t messages) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(20), [&] { return spans_.size() >= messages; });
  }
  std::vector<std::size_t> spans() {
    const std::scoped_lock lock(mutex_);
    return spans_;
  }
  std::size_t largest() {
    const std::scoped_lock lock(mutex_);
    return sizes_.empty() ? 0 : *std::max_element(sizes_.begin(), sizes_.end());
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Sent> words_;
  std::vector<std::size_t> spans_;
  std::vector<std::size_t> sizes_;
  bool silent_ = false;
  bool cancelled_ = false;
};

class ScriptedSender final : public SpanSender {
 public:
  explicit ScriptedSender(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  Sent send(const Message& message, Time until) override {
    return script_->say(std::string(message.head).append(message.spans), until);
  }
  void cancel() override { script_->cancel(); }

 private:
  std::shared_ptr<Script> script_;
};

class SpanExporterTest : public testing::Test {
 protected:
  void start(std::deque<Sent> words) {
    script_ = std::make_shared<Script>(std::move(words));
    options_.tell = [this](const std::string& line) {
      const std::scoped_lock lock(mutex_);
      told_ += line + "\n";
    };
    exporter_ = std::make_unique<SpanExporter>(buffers_, std::make_unique<ScriptedSender>(script_), options_);
  }
  void leave(int spans, std::size_t size = 10) {
    Attributes attributes;
    for (std::size_t left = size; left > 0; left -= std::min(left, Attributes::kMaxText)) {
      attributes.add("a", std::string(std::min(left, Attributes::kMaxText), 'x'));
    }
    std::string text;
    append_span({{1, 2}, 3, 4, SpanKind::kServer, "GET", 1, 2, {}}, attributes, text);
    for (int i = 0; i < spans; ++i) buffer_.add(text, 1);
  }
  std::string reported() {
    const std::scoped_lock lock(mutex_);
    return told_;
  }

  std::shared_ptr<SpanBuffers> buffers_ = std::make_shared<SpanBuffers>();
  SpanBuffer& buffer_ = buffers_->add_thread();
  ExporterOptions options_{.resource = {{"service.name", "s"}},
                           .interval = milliseconds(1),
                           .first_pause = milliseconds(1),
                           .longest_pause = milliseconds(4),
                           .longest_asked = milliseconds(5)};
  std::shared_ptr<Script> script_;
  std::mutex mutex_;
  std::string told_;
  std::unique_ptr<SpanExporter> exporter_;
};

TEST_F(SpanExporterTest, SendsWhatIsThereAndAtTheEndTheRest) {
  start({{How::kTaken}});
  leave(3);
  ASSERT_TRUE(script_->await(1));
  leave(2);
  exporter_->stop();
  EXPECT_EQ(exporter_->counts().exported, 5U);
  EXPECT_EQ(exporter_->counts().recorded, 5U);
  EXPECT_EQ(reported(), "");
}

TEST_F(SpanExporterTest, MessagesAreBounded) {
  options_.interval = seconds(60);
  start({{How::kTaken}});
  // What there is much of does not wait for the interval.
  leave(35, 100'000);
  ASSERT_TRUE(script_->await(1));
  exporter_->stop();
  EXPECT_EQ(exporter_->counts().exported, 35U);
  EXPECT_LT(script_->largest(), SpanExporter::kMaxBatch + 1000);
  EXPECT_GE(script_->spans().size(), 4U);
}

TEST_F(SpanExporterTest, TriesAgainAndLosesNothing) {
  start({{How::kLater, 0, {}, "status 503"}, {How::kLater, 0, seconds(3600), "status 429"}, {How::kTaken}});
  leave(2);
  ASSERT_TRUE(script_->await(3));
  exporter_->stop();
  EXPECT_EQ(exporter_->counts().exported, 2U);
  EXPECT_EQ(exporter_->counts().unreachable, 0U);
  EXPECT_EQ(reported(), "spans cannot be exported: status 503\nthe collector of traces takes spans again\n");
}

TEST_F(SpanExporterTest, CountsWhatIsRefused) {
  start({{How::kTaken, 1, {}, "too old"}, {How::kRefused, 0, {}, "status 400"}, {How::kTaken}});
  leave(1);
  ASSERT_TRUE(script_->await(1));
  leave(3);
  ASSERT_TRUE(script_->await(2));
  exporter_->stop();
  const SpanCounts counts = exporter_->counts();
  EXPECT_EQ(counts.refused + counts.exported, 4U);
  EXPECT_GE(counts.refused, 2U);
  EXPECT_EQ(reported().find("the collector of traces refuses spans: too old\n"), 0U);
}

TEST_F(SpanExporterTest, ACollectorCannotRefuseMoreThanItGot) {
  start({{How::kTaken, 1000, {}, ""}});
  leave(2);
  ASSERT_TRUE(script_->await(1));
  exporter_->stop();
  EXPECT_EQ(exporter_->counts().refused, 2U);
  EXPECT_EQ(exporter_->counts().exported, 0U);
}

TEST_F(SpanExporterTest, WhatNobodyTakesMakesRoom) {
  options_.keep = milliseconds(20);
  start({{How::kLater, 0, {}, "connect-failed"}});
  leave(2);
  const auto end = std::chrono::steady_clock::now() + seconds(20);
  while (exporter_->counts().unreachable == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(exporter_->counts().unreachable, 2U);
  // It is said once, however often it is tried.
  EXPECT_EQ(reported(), "spans cannot be exported: connect-failed\n");
}

// After a long time without a collector, what is newer does not wait for each message of what is old.
TEST_F(SpanExporterTest, WhatWasFetchedAtOnceIsGivenUpAtOnce) {
  options_.keep = milliseconds(20);
  leave(35, 100'000);
  start({{How::kLater, 0, {}, "connect-failed"}});
  const auto end = std::chrono::steady_clock::now() + seconds(20);
  while (exporter_->counts().unreachable < 35 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(exporter_->counts().unreachable, 35U);
  // Of four messages only the first was tried.
  for (const std::size_t spans : script_->spans()) EXPECT_EQ(spans, 10U);
}

TEST_F(SpanExporterTest, ASilentCollectorCostsSpansAndNothingElse) {
  options_.patience = seconds(60);
  options_.at_end = milliseconds(50);
  start({{How::kTaken}});
  script_->fall_silent();
  leave(1);
  ASSERT_TRUE(script_->await(1));
  // Nobody who serves waits: what finds no room is dropped and counted.
  leave(60, 100'000);
  const SpanCounts stalled = exporter_->counts();
  EXPECT_GT(stalled.full, 0U);
  EXPECT_EQ(stalled.recorded, 61U);
  EXPECT_EQ(stalled.exported, 0U);
  // Its silence does not hold the end up.
  const auto begin = std::chrono::steady_clock::now();
  exporter_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(20));
  const SpanCounts counts = exporter_->counts();
  EXPECT_EQ(counts.full + counts.at_end, 61U);
}

TEST(Otlp, ReadsPartialSuccess) {
  EXPECT_EQ(read_answer("").rejected, 0U);
  const PartialSuccess some = read_answer(std::string_view("\x0a\x07\x08\x05\x12\x03why", 9));
  EXPECT_EQ(some.rejected, 5U);
  EXPECT_EQ(some.why, "why");
  EXPECT_EQ(read_answer("\xff\xff\xff").rejected, 0U);
}

}  // namespace
}  // namespace edge::runtime::trace
