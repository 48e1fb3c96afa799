// Which tries are made again, and when: rule D10 and the budget.
#include "runtime/upstream/retry.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

using std::chrono::milliseconds;

RetryPolicy policy(std::uint32_t on, std::uint32_t max_retries = 1) {
  return {.on = on,
          .max_retries = max_retries,
          .try_time = {},
          .backoff = milliseconds(25),
          .longest_backoff = milliseconds(250),
          .max_concurrent_retries = 1000,
          .budget_percent = 20,
          .min_concurrent_retries = 3};
}

TEST(Retry, EachConditionStandsForWhatItSays) {
  BackendState state(1);
  const auto again = [&](std::uint32_t on, auto what) { return Retries(policy(on), state).again(what); };
  EXPECT_TRUE(again(program::kRetryConnectFailure, RetryCause::kConnectFailure));
  EXPECT_FALSE(again(program::kRetryConnectFailure, RetryCause::kReset));
  EXPECT_TRUE(again(program::kRetryReset, RetryCause::kReset));
  EXPECT_FALSE(again(program::kRetryReset, RetryCause::kRefused));
  EXPECT_TRUE(again(program::kRetryRefusedStream, RetryCause::kRefused));
  EXPECT_FALSE(again(program::kRetryRefusedStream, RetryCause::kConnectFailure));
  for (const auto cause : {RetryCause::kConnectFailure, RetryCause::kReset, RetryCause::kRefused}) {
    EXPECT_TRUE(again(program::kRetry5xx, cause)) << "our own answer would be one";
    EXPECT_FALSE(again(program::kRetryRetriable4xx, cause));
  }
  for (const int status : {500, 502, 503, 504, 599}) EXPECT_TRUE(again(program::kRetry5xx, status));
  for (const int status : {200, 404, 409, 429, 499}) EXPECT_FALSE(again(program::kRetry5xx, status));
  EXPECT_TRUE(again(program::kRetryRetriable4xx, 409));
  for (const int status : {400, 408, 410, 429, 500}) EXPECT_FALSE(again(program::kRetryRetriable4xx, status));
  const std::pair<std::uint32_t, int> alone[] = {{program::kRetry429, 429},
                                                 {program::kRetry500, 500},
                                                 {program::kRetry502, 502},
                                                 {program::kRetry503, 503},
                                                 {program::kRetry504, 504}};
  for (const auto& [on, wanted] : alone) {
    for (const int status : {409, 429, 500, 501, 502, 503, 504}) EXPECT_EQ(again(on, status), status == wanted);
    EXPECT_FALSE(again(on, RetryCause::kReset)) << "no answer has no status";
  }
}

TEST(Retry, TheRouteReplacesTheBackendWhole) {
  program::BackendRecord backend{};
  backend.retry_on = program::kRetry5xx;
  backend.max_retries = 4;
  backend.per_try_timeout_ns = 1'000'000;
  program::TreatmentRecord treatment{};
  treatment.max_retries = program::kRetriesOfBackend;
  EXPECT_EQ(retry_policy(treatment, backend).on, program::kRetry5xx);
  EXPECT_EQ(retry_policy(treatment, backend).max_retries, 4u);
  treatment.max_retries = 2;
  treatment.retry_on = program::kRetryReset;
  EXPECT_EQ(retry_policy(treatment, backend).on, program::kRetryReset);
  EXPECT_EQ(retry_policy(treatment, backend).max_retries, 2u);
  EXPECT_EQ(retry_policy(treatment, backend).try_time, net::Duration(0));
  treatment.try_timeout_ns = 5;
  EXPECT_EQ(retry_policy(treatment, backend).try_time, net::Duration(5));
  treatment.max_retries = 0;
  EXPECT_FALSE(retry_policy(treatment, backend)) << "none";
}

TEST(Retry, ARoutesFiltersAddStatusesAndALeastPause) {
  BackendState state(1);
  const std::vector<program::FilterRecord> filters = {{program::FilterOp::kRequestHeaderSet, 404, {}, {}},
                                                      {program::FilterOp::kRetryStatus, 425, {}, {}},
                                                      {program::FilterOp::kRetryPause, 100, {}, {}}};
  program::BackendRecord backend{};
  backend.backoff_base_ns = 25'000'000;
  backend.backoff_max_ns = 250'000'000;
  backend.max_concurrent_retries = 1000;
  backend.min_concurrent_retries = 3;
  program::TreatmentRecord treatment{};
  treatment.max_retries = 2;
  treatment.retry_on = program::kRetryReset | program::kRetryDetails;
  const RetryPolicy policy = retry_policy(treatment, backend);
  for (const int status : {200, 404, 424, 425, 500, 503}) {
    Retries retries(policy, state);
    EXPECT_FALSE(retries.again(status)) << status;
    retries.add_details(filters);
    EXPECT_EQ(retries.again(status), status == 425) << status;
  }
  Retries retries(policy, state);
  retries.add_details(filters);
  ASSERT_TRUE(retries.again(425));
  EXPECT_EQ(retries.backoff(0), milliseconds(100));
  EXPECT_LE(retries.backoff(~std::uint64_t{0}), milliseconds(125));
}

TEST(Retry, EndsWithItsNumber) {
  BackendState state(1);
  Retries retries(policy(program::kRetry5xx, 3), state);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(retries.again(503));
  EXPECT_FALSE(retries.again(503));
}

TEST(Retry, AFifthOfTheRequestsUnderWayMayBeTriedAgain) {
  BackendState state(1);
  std::vector<std::unique_ptr<Retries>> live;
  for (int i = 0; i < 50; ++i) live.push_back(std::make_unique<Retries>(policy(program::kRetry5xx), state));
  int allowed = 0;
  for (const auto& one : live) allowed += one->again(500) ? 1 : 0;
  EXPECT_EQ(allowed, 10);
  EXPECT_EQ(state.status({}).retries, 10u);
  EXPECT_EQ(state.status({}).retries_refused, 40u);
  live.clear();
  EXPECT_EQ(state.live().value(), 0u);
  EXPECT_EQ(state.retrying().value(), 0u);
  Retries lonely(policy(program::kRetry5xx), state);
  EXPECT_TRUE(lonely.again(500)) << "some, where few are under way";
}

TEST(Retry, TheBudgetIsASetting) {
  BackendState state(1);
  RetryPolicy half = policy(program::kRetry5xx);
  half.budget_percent = 50;
  half.min_concurrent_retries = 0;
  std::vector<std::unique_ptr<Retries>> live;
  for (int i = 0; i < 51; ++i) live.push_back(std::make_unique<Retries>(half, state));
  int allowed = 0;
  for (const auto& one : live) allowed += one->again(500) ? 1 : 0;
  EXPECT_EQ(allowed, 25);
  live.clear();
  Retries lonely(half, state);
  EXPECT_FALSE(lonely.again(500)) << "half of one is none";
  program::BackendRecord backend{};
  backend.retry_budget_percent = 7;
  backend.min_concurrent_retries = 9;
  program::TreatmentRecord treatment{};
  treatment.max_retries = 1;
  EXPECT_EQ(retry_policy(treatment, backend).budget_percent, 7u) << "the backend's, also for a route's own";
  EXPECT_EQ(retry_policy(treatment, backend).min_concurrent_retries, 9u);
}

TEST(Retry, NoMoreAtOnceThanTheLimit) {
  BackendState state(1);
  for (const std::uint32_t limit : {0u, 1u, 2u}) {
    RetryPolicy limited = policy(program::kRetry5xx, 5);
    limited.max_concurrent_retries = limit;
    std::vector<std::unique_ptr<Retries>> live;
    std::uint32_t allowed = 0;
    for (int i = 0; i < 5; ++i) {
      live.push_back(std::make_unique<Retries>(limited, state));
      allowed += live.back()->again(500) ? 1 : 0;
    }
    EXPECT_EQ(allowed, limit);
    if (limit != 0) {
      EXPECT_TRUE(live.front()->again(500)) << "its further tries are within what it holds";
    }
  }
}

TEST(Retry, TheWaitGrowsToItsBoundAndMayBeAnythingBelow) {
  BackendState state(1);
  Retries retries(policy(program::kRetry5xx, 10), state);
  for (const int most : {25, 50, 100, 200, 250, 250}) {
    ASSERT_TRUE(retries.again(500));
    EXPECT_EQ(retries.backoff(0), net::Duration(0));
    EXPECT_EQ(retries.backoff(~std::uint64_t{0}), milliseconds(most));
    EXPECT_EQ(retries.backoff(std::uint64_t{1} << 63) / milliseconds(1), most / 2);
  }
}

}  // namespace
}  // namespace edge::runtime
