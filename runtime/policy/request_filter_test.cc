#include "runtime/policy/request_filter.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "program/format/records.h"
#include "runtime/policy/test_policy_request.h"

namespace edge::runtime {
namespace {

using Texts = std::vector<std::string>;
using Headers = std::vector<std::pair<std::string, std::string>>;

class RequestFilterTest : public ::testing::Test {
 protected:
  struct Written {
    Texts methods{}, types{}, paths{}, queries{}, bodies{};
    Headers headers{};
    bool shadow = false;
  };

  RequestFilter make(const Written& from, program::RequestFilterRecord limits = without_limits()) {
    limits.methods = section_.strings(from.methods);
    limits.content_types = section_.strings(from.types);
    limits.paths = section_.strings(from.paths);
    limits.queries = section_.strings(from.queries);
    limits.bodies = section_.strings(from.bodies);
    if (!from.bodies.empty() && limits.inspected_body_size == 0) limits.inspected_body_size = 16;
    limits.shadow = from.shadow ? 1 : 0;
    limits.status = 403;
    std::vector<program::FieldRecord> headers;
    for (const auto& [name, pattern] : from.headers)
      headers.push_back({section_.string(name), section_.string(pattern)});
    limits.headers = section_.array(headers);
    return RequestFilter(section_.view(), limits, tally_);
  }
  static program::RequestFilterRecord without_limits() {
    program::RequestFilterRecord record{};
    record.max_query_parameters = program::kNone;
    return record;
  }
  /// The status; 0: it passes.
  static int ask(const RequestFilter& filter, const std::string& line, const std::string& fields = {}) {
    const testing::TestRequest request(line + " HTTP/1.1\nHost: x" + fields);
    EXPECT_TRUE(request.complete()) << line << fields;
    const auto answer = filter.pass(request.policy_request(), request.policy_request().head.method_text);
    return answer ? answer->status : 0;
  }
  static int ask_body(const RequestFilter& filter, const std::string& body) {
    const testing::TestRequest request("POST / HTTP/1.1\nHost: x\nContent-Length: 1");
    const auto answer = filter.pass_body(request.policy_request(), body);
    return answer ? answer->status : 0;
  }

  testing::TestSection section_;
  std::shared_ptr<RateLimitTally> tally_ = std::make_shared<RateLimitTally>();
};

TEST_F(RequestFilterTest, MethodsAreTakenAsTheyAreWritten) {
  const RequestFilter filter = make({.methods = {"GET", "POST"}});
  EXPECT_EQ(ask(filter, "GET /"), 0);
  EXPECT_EQ(ask(filter, "DELETE /"), 405);
  EXPECT_EQ(ask(filter, "get /"), 405);
  const testing::TestRequest request("PUT / HTTP/1.1\nHost: x");
  EXPECT_EQ(filter.pass(request.policy_request(), request.policy_request().head.method_text)->fields,
            "Allow: GET, POST\r\n");
  EXPECT_EQ(tally_->passed(), 1U);
  EXPECT_EQ(tally_->limited(), 3U);
}

TEST_F(RequestFilterTest, FieldsAreCountedAtTheirLimits) {
  program::RequestFilterRecord limits = without_limits();
  limits.max_headers = 3;
  limits.max_header_size = 20;
  limits.max_headers_size = 40;
  const RequestFilter filter = make({}, limits);
  EXPECT_EQ(ask(filter, "GET /", "\nA: 1\nB: 2"), 0);
  EXPECT_EQ(ask(filter, "GET /", "\nA: 1\nB: 2\nC: 3"), 431);
  EXPECT_EQ(ask(filter, "GET /", "\nA: " + std::string(19, 'x')), 0);
  EXPECT_EQ(ask(filter, "GET /", "\nA: " + std::string(20, 'x')), 431);
  EXPECT_EQ(ask(filter, "GET /", "\nA: " + std::string(16, 'x') + "\nB: " + std::string(17, 'x')), 0) << "5 + 17 + 18";
  EXPECT_EQ(ask(filter, "GET /", "\nA: " + std::string(17, 'x') + "\nB: " + std::string(17, 'x')), 431);
}

TEST_F(RequestFilterTest, ParametersOfTheQueryAreCounted) {
  program::RequestFilterRecord limits = without_limits();
  limits.max_query_parameters = 2;
  const RequestFilter two = make({}, limits);
  EXPECT_EQ(ask(two, "GET /"), 0);
  EXPECT_EQ(ask(two, "GET /?"), 0);
  EXPECT_EQ(ask(two, "GET /?a&b=1"), 0);
  EXPECT_EQ(ask(two, "GET /?a&b&c"), 400);
  EXPECT_EQ(ask(two, "GET /?a;b;c"), 400);
  EXPECT_EQ(ask(two, "GET /?&&"), 400);
}

TEST_F(RequestFilterTest, NoParameterMayBeAllowed) {
  program::RequestFilterRecord limits = without_limits();
  limits.max_query_parameters = 0;
  const RequestFilter none = make({}, limits);
  EXPECT_EQ(ask(none, "GET /"), 0);
  EXPECT_EQ(ask(none, "GET /?a"), 400);
}

TEST_F(RequestFilterTest, MediaTypesAreOfBodiesAlone) {
  const RequestFilter filter = make({.types = {"application/json", "text/*"}});
  const std::string body = "\nContent-Length: 2";
  EXPECT_EQ(ask(filter, "GET /", "\nContent-Type: image/png"), 0);
  EXPECT_EQ(ask(filter, "POST /", "\nContent-Length: 0"), 0);
  EXPECT_EQ(ask(filter, "POST /", body), 415);
  EXPECT_EQ(ask(filter, "POST /", body + "\nContent-Type: Application/JSON; charset=utf-8"), 0);
  EXPECT_EQ(ask(filter, "POST /", "\nTransfer-Encoding: chunked\nContent-Type: text/plain"), 0);
  EXPECT_EQ(ask(filter, "POST /", body + "\nContent-Type: text/"), 415);
  EXPECT_EQ(ask(filter, "POST /", body + "\nContent-Type: image/png"), 415);
  EXPECT_EQ(ask(filter, "POST /", body + "\nContent-Type: text/plain\nContent-Type: image/png"), 415);
  EXPECT_EQ(ask(filter, "POST /", body + "\nContent-Type: text/plain\nContent_Type: image/png"), 415);
}

TEST_F(RequestFilterTest, ALengthAboveTheLimitIsRefusedAtOnce) {
  program::RequestFilterRecord limits = without_limits();
  limits.max_body_size = 10;
  const RequestFilter filter = make({}, limits);
  EXPECT_EQ(ask(filter, "POST /", "\nContent-Length: 10"), 0);
  EXPECT_EQ(ask(filter, "POST /", "\nContent-Length: 11"), 413);
}

TEST_F(RequestFilterTest, PatternsAreFoundAsWrittenAndAsDecoded) {
  const RequestFilter filter = make({.paths = {"(?i)/wp-admin"},
                                     .queries = {"(?i)union\\s+select"},
                                     .headers = {{"user-agent", "sqlmap"}, {"", "\\$\\{jndi:"}}});
  EXPECT_EQ(ask(filter, "GET /shop?q=union"), 0);
  EXPECT_EQ(ask(filter, "GET /x/WP-admin"), 403);
  EXPECT_EQ(ask(filter, "GET /x/wp%2dadmin"), 403);
  EXPECT_EQ(ask(filter, "GET /?q=1%20UNION%0ASELECT"), 403);
  EXPECT_EQ(ask(filter, "GET /?q=1+union+select"), 403);
  EXPECT_EQ(ask(filter, "GET /", "\nUser-Agent: sqlmap/1"), 403);
  EXPECT_EQ(ask(filter, "GET /", "\nReferer: sqlmap/1"), 0);
  EXPECT_EQ(ask(filter, "GET /", "\nX-Any: a${jndi:ldap}"), 403);
}

TEST_F(RequestFilterTest, TheBeginningOfABodyIsSearched) {
  const RequestFilter filter = make({.bodies = {"bad"}});
  EXPECT_EQ(filter.inspected(), 16U);
  EXPECT_EQ(ask_body(filter, "a bad one"), 403);
  EXPECT_EQ(ask_body(filter, std::string(13, ' ') + "bad"), 403);
  EXPECT_EQ(ask_body(filter, std::string(14, ' ') + "bad"), 0) << "behind what is inspected";
}

TEST_F(RequestFilterTest, AShadowCountsAndLetsPass) {
  const RequestFilter filter = make({.methods = {"GET"}, .bodies = {"bad"}, .shadow = true});
  EXPECT_EQ(ask(filter, "PUT /"), 0);
  EXPECT_EQ(ask_body(filter, "bad"), 0);
  EXPECT_EQ(tally_->limited(), 2U);
}

TEST_F(RequestFilterTest, APatternThatCannotBeSearchedForRefusesAll) {
  EXPECT_EQ(ask(make({.paths = {"("}}), "GET /"), 503);
}

TEST(PercentDecoded, OnceAndOnlyWhatIsAnEncoding) {
  EXPECT_EQ(program::percent_decoded("a%2Fb%2", false), "a/b%2");
  EXPECT_EQ(program::percent_decoded("%252e+%zz", false), "%2e+%zz");
  EXPECT_EQ(program::percent_decoded("a+b", true), "a b");
}

}  // namespace
}  // namespace edge::runtime
