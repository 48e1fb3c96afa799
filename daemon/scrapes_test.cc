#include "daemon/scrapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/server/gzip.h"

namespace edge::daemon {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

class ScrapesTest : public testing::Test {
 protected:
  static AdminRequest asking(const std::string& accept, const std::string& coding = "") {
    AdminRequest request;
    request.method = "GET";
    request.path = "/metrics";
    request.fields = {{"Accept", accept}, {"Accept-Encoding", coding}};
    return request;
  }
  static std::string body_of(AdminReply& reply) {
    std::string body;
    while (reply.stream->next(body) == net::server::BodySource::Next::kMore) {
    }
    return body;
  }

  int written_ = 0;
  std::uint64_t routes_ = 5000;
  Scrapes::Clock::duration cost_{};
  Scrapes::Clock::time_point now_{std::chrono::hours(1)};
  Scrapes scrapes_{[this](metrics::Exposition& out) {
                     ++written_;
                     now_ += cost_;
                     out.begin(metrics::Family::kRequests);
                     for (std::uint64_t i = 0; i < routes_; ++i) {
                       out.sample(i, metrics::labels({{"route", std::to_string(i)}}));
                     }
                   },
                   [this] { return now_; }};
};

TEST_F(ScrapesTest, AnswersInTheFormatThatIsAskedFor) {
  AdminReply text = scrapes_.answer(asking("text/plain"));
  EXPECT_EQ(text.content_type, "text/plain; version=0.0.4; charset=utf-8");
  const std::string body = body_of(text);
  EXPECT_THAT(body, HasSubstr("edge_requests_total{route=\"4999\"} 4999\n"));
  AdminReply open = scrapes_.answer(asking("application/openmetrics-text"));
  EXPECT_EQ(open.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_TRUE(body_of(open).ends_with("# EOF\n"));
  EXPECT_EQ(scrapes_.answer_whole(asking("")).body, body);
}

TEST_F(ScrapesTest, CompressesForWhoAsks) {
  AdminReply plain = scrapes_.answer(asking(""));
  AdminReply coded = scrapes_.answer(asking("", "gzip"));
  EXPECT_THAT(coded.fields, Contains(Pair("Content-Encoding", "gzip")));
  const std::string text = body_of(plain);
  const std::string gzip = body_of(coded);
  EXPECT_LT(gzip.size(), text.size() / 5);
  EXPECT_EQ(net::server::decompress(gzip, text.size()).value(), text);
}

TEST_F(ScrapesTest, IsMadeAnewWhileThatIsCheap) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(scrapes_.answer(asking("")).status, 200);
  EXPECT_EQ(written_, 5);
}

TEST_F(ScrapesTest, GivesTheLastTextOutAgainOnceMakingThemTookItsShare) {
  cost_ = std::chrono::milliseconds(60);
  for (int i = 0; i < 5; ++i) scrapes_.answer(asking(""));
  EXPECT_EQ(written_, 2);
  scrapes_.answer(asking("", "gzip"));  // there is none yet
  EXPECT_EQ(written_, 3);
  now_ += std::chrono::seconds(1);
  scrapes_.answer(asking(""));
  EXPECT_EQ(written_, 4);
}

// What is being sent stays as it is while a newer one is made.
TEST_F(ScrapesTest, GoesOnWithTheTextThatItBegan) {
  AdminReply slow = scrapes_.answer(asking(""));
  now_ += std::chrono::seconds(1);
  scrapes_.answer(asking(""));
  EXPECT_THAT(body_of(slow), HasSubstr("edge_requests_total{route=\"4999\"} 4999\n"));
}

TEST_F(ScrapesTest, RefusesAStorm) {
  int answered = 0;
  while (answered < 10'000 && scrapes_.answer(asking("")).status == 200) ++answered;
  EXPECT_GT(answered, 100);
  EXPECT_LT(answered, 400);
  EXPECT_EQ(scrapes_.answer(asking("")).status, 429);
  EXPECT_EQ(scrapes_.answer_whole(asking("")).status, 429);
  now_ += std::chrono::seconds(1);
  EXPECT_EQ(scrapes_.answer(asking("")).status, 200);
}

// Each who reads slowly may hold a text of his own: of those of megabytes there are some, and the youngest is given out
// once more before anybody is refused.
TEST_F(ScrapesTest, BoundsWhatSlowReadersHold) {
  routes_ = 100'000;  // 4 MB
  std::vector<AdminReply> held;
  for (int i = 0; i < 7; ++i) held.push_back(scrapes_.answer(asking("")));
  EXPECT_THAT(held, testing::Each(testing::Field(&AdminReply::status, 200)));
  const int made = written_;
  EXPECT_LT(made, 7);
  now_ += std::chrono::seconds(1);
  EXPECT_EQ(scrapes_.answer(asking("")).status, 429);
  held.clear();
  EXPECT_EQ(scrapes_.answer(asking("")).status, 200);
  EXPECT_EQ(written_, made + 1);
}

TEST_F(ScrapesTest, IsReadOnly) {
  AdminRequest request = asking("");
  request.method = "POST";
  EXPECT_EQ(scrapes_.answer(request).status, 405);
}

}  // namespace
}  // namespace edge::daemon
