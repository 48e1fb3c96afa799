#include "runtime/policy/concurrency_limit.h"

#include <array>
#include <atomic>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/hash.h"
#include "runtime/policy/test_policy_request.h"

namespace edge::runtime {
namespace {

using program::RateKey;
using testing::TestRequest;
using testing::TestSection;

ConcurrencyLimit place_limit(RateKey key, std::uint32_t most, std::uint64_t id = 1) {
  TestSection section;
  const std::vector<program::RateKeyRecord> keys = {{key, section.string({})}};
  const program::ConcurrencyRecord record{section.array(keys), most, 0};
  const program::PolicyRecord policy{id, {}, {}, program::PolicyType::kConcurrencyLimit, 0};
  return {section.view(), policy, record};
}

class Concurrency : public ::testing::Test {
 protected:
  std::optional<ConcurrencyPermit> begin(const ConcurrencyGroup& group, std::string_view source = "192.0.2.1") {
    const TestRequest request("GET / HTTP/1.1\nHost: a", source);
    std::optional<ConcurrencyPermit> permit;
    answer_ = group.pass(request.policy_request(), nullptr, table_, permit);
    EXPECT_NE(permit.has_value(), answer_.has_value());
    return permit;
  }

  ConcurrencyTable table_;
  std::optional<PolicyAnswer> answer_;
};

TEST_F(Concurrency, LetsAsManyInAsItMay) {
  const ConcurrencyLimit two = place_limit(RateKey::kSourceIp, 2);
  const ConcurrencyGroup group{{&two}, 503};
  auto one = begin(group);
  auto other = begin(group);
  EXPECT_TRUE(one && other);
  EXPECT_FALSE(begin(group));
  EXPECT_EQ(answer_->status, 503);
  EXPECT_EQ(answer_->reason, "concurrency-limited");
  EXPECT_EQ(answer_->fields, "Retry-After: 1\r\n");
  EXPECT_TRUE(begin(group, "192.0.2.2")) << "another key; ended at once";
  one.reset();
  EXPECT_TRUE(begin(group));
  other.reset();
  EXPECT_EQ(table_.keys(), 0U) << "nothing is kept of what has ended";
}

TEST_F(Concurrency, OfSeveralLimitsAllOrNoneCount) {
  const ConcurrencyLimit of_client = place_limit(RateKey::kSourceIp, 2);
  const ConcurrencyLimit of_host = place_limit(RateKey::kHost, 3, 2);
  const ConcurrencyGroup group{{&of_client, &of_host}, 429};
  const auto a = begin(group);
  const auto b = begin(group);
  EXPECT_FALSE(begin(group));
  auto c = begin(group, "192.0.2.2");
  EXPECT_TRUE(c);
  EXPECT_FALSE(begin(group, "192.0.2.2"));
  EXPECT_EQ(answer_->status, 429);
  c.reset();
  // The refused have left no place taken: not in the client's count, and not in the host's.
  auto d = begin(group, "192.0.2.2");
  EXPECT_TRUE(d);
  d.reset();
  EXPECT_EQ(table_.keys(), 2U);
}

TEST_F(Concurrency, AnotherNumberHoldsForTheSameCount) {
  const ConcurrencyLimit three = place_limit(RateKey::kHost, 3);
  const ConcurrencyLimit one = place_limit(RateKey::kHost, 1);
  auto before = begin({{&three}, 503});
  EXPECT_FALSE(begin({{&one}, 503})) << "what the program before has let in is still in progress";
  EXPECT_TRUE(begin({{&three}, 503}));
  before.reset();
  EXPECT_TRUE(begin({{&one}, 503}));
}

TEST_F(Concurrency, APermitMovesWithItsPlaces) {
  const ConcurrencyLimit one = place_limit(RateKey::kHost, 1);
  const ConcurrencyGroup group{{&one}, 503};
  auto first = begin(group);
  ASSERT_TRUE(first);
  ConcurrencyPermit held = std::move(*first);
  first.reset();
  EXPECT_FALSE(begin(group));
  held.release();
  held.release();
  EXPECT_TRUE(begin(group)) << "given up once";
}

// Never more than the limit are in, over threads, and in the end none is.
TEST_F(Concurrency, ThreadsTogetherKeepTheLimit) {
  constexpr std::uint64_t kMost = 3;
  constexpr std::uint64_t kKeys = 5;
  std::array<std::atomic<std::uint64_t>, kKeys> inside{};
  std::atomic<std::uint64_t> passed = 0;
  std::atomic<std::uint64_t> over = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 20'000; ++i) {
        const std::uint64_t of = (i + t) % kKeys;
        ConcurrencyPermit permit(table_);
        if (!permit.enter(hash_bytes(of, "key"), kMost)) continue;
        if (++inside[of] > kMost) ++over;
        ++passed;
        --inside[of];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(over, 0U);
  EXPECT_GE(passed, 20'000U);
  EXPECT_EQ(table_.keys(), 0U);
}

}  // namespace
}  // namespace edge::runtime
