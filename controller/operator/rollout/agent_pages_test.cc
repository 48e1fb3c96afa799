#include "controller/operator/rollout/agent_pages.h"

#include <atomic>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

namespace edge::cluster_operator {
namespace {

using controller::AgentAnswer;

class AgentPagesTest : public testing::Test {
 protected:
  net::Detached ask(AgentPages& pages, net::Waiter& waiter, std::vector<PageRequest> requests) {
    PageAnswers answers = co_await pages.ask(waiter, {.addresses = {"c"}, .administrator = "a"}, std::move(requests));
    answers_ = std::move(answers);
  }
  void run_until_answered() {
    while (!answers_) {
      loop_.poll();
      std::this_thread::yield();
    }
  }

  net::Loop loop_;
  std::optional<PageAnswers> answers_;
};

TEST_F(AgentPagesTest, AnswerInTheOrderOfTheRequests) {
  AgentPages pages(loop_, [](const Controllers& controllers, const PageRequest& request) -> Result<AgentAnswer> {
    EXPECT_EQ(controllers.addresses.front(), "c");
    if (request.agent == "gone") return Error{ErrorCode::kUnavailable, "gone"};
    return AgentAnswer{200, "text/plain", request.agent + request.question.target};
  });
  net::Waiter waiter(loop_);
  ask(pages, waiter, {{"n1", {.target = "/a"}}, {"gone", {.target = "/a"}}, {"n2", {.target = "/b"}}});
  run_until_answered();
  ASSERT_EQ(answers_->size(), 3u);
  EXPECT_EQ((*answers_)[0]->body, "n1/a");
  EXPECT_EQ((*answers_)[1].error().code, ErrorCode::kUnavailable);
  EXPECT_EQ((*answers_)[2]->body, "n2/b");
}

TEST_F(AgentPagesTest, AreNotWaitedForByWhoIsCancelled) {
  std::atomic<bool> asked = false;
  std::atomic<bool> released = false;
  {
    AgentPages pages(loop_, [&](const Controllers&, const PageRequest&) -> Result<AgentAnswer> {
      asked = true;
      while (!released) std::this_thread::yield();
      return AgentAnswer{200, "text/plain", "late"};
    });
    net::Waiter waiter(loop_);
    ask(pages, waiter, {{"n1", {.target = "/a"}}});
    while (!asked) std::this_thread::yield();
    waiter.cancel();
    run_until_answered();
    EXPECT_TRUE(answers_->empty());
    released = true;
  }
  // What came afterwards finds nobody.
  loop_.poll();
}

}  // namespace
}  // namespace edge::cluster_operator
