#include "runtime/policy/cors.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/policy/test_policy_request.h"

namespace edge::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::TestRequest;
using testing::TestSection;
using testing::written;

struct Written {
  std::vector<std::string> origins;
  std::vector<std::string> headers = {"x-a", "x-b"};
  std::vector<std::string> exposed{};
  bool credentials = false;
  std::uint64_t max_age_ns = 0;
  std::vector<std::string> methods = {"GET", "PUT"};

  Cors cors() const {
    TestSection section;
    program::CorsRecord record{};
    record.max_age_ns = max_age_ns;
    record.allow_origins = section.strings(origins);
    record.allow_methods = section.strings(methods);
    record.allow_headers = section.strings(headers);
    record.expose_headers = section.strings(exposed);
    record.allow_credentials = credentials ? 1 : 0;
    return {section.view(), record};
  }
};

std::string fields_for(const Cors& cors, const std::string& origin) {
  const TestRequest request("GET / HTTP/1.1\nHost: a" + (origin.empty() ? "" : "\nOrigin: " + origin));
  EXPECT_TRUE(request.complete());
  AddedFields added;
  cors.decorate(request.policy_request(), added);
  EXPECT_FALSE(cors.pass(request.policy_request())) << "not a preflight";
  EXPECT_TRUE(added.replaces("access-control-allow-ORIGIN")) << "the backend has no say";
  return written(added);
}

TEST(CorsPolicy, AllowsOriginsAsTheyAreWritten) {
  const Cors cors = Written{.origins = {"https://A.example"}, .exposed = {"x-c"}, .credentials = true}.cors();
  EXPECT_EQ(fields_for(cors, "https://a.example"),
            "Access-Control-Allow-Origin: https://a.example\r\nAccess-Control-Allow-Credentials: true\r\n"
            "Access-Control-Expose-Headers: x-c\r\nVary: Origin\r\n");
  for (const char* other : {"http://a.example", "https://a.example:8443", "https://b.example", "null",
                            "https://a.example.evil.example", "https://xa.example", ""}) {
    EXPECT_EQ(fields_for(cors, other), "Vary: Origin\r\n") << other;
  }
}

TEST(CorsPolicy, AllowsSubdomainsOfAPattern) {
  const Cors cors = Written{.origins = {"https://*.example.com"}}.cors();
  for (const char* origin : {"https://a.example.com", "https://a.b.example.com"}) {
    EXPECT_EQ(fields_for(cors, origin), std::string("Access-Control-Allow-Origin: ") + origin + "\r\nVary: Origin\r\n");
  }
  for (const char* other : {"https://example.com", "https://.example.com", "https://evil.com/.example.com",
                            "https://evil.com#.example.com", "https://u@a.example.com", "https://a.example.com:1",
                            "http://a.example.com", "https://a:1.example.com", "https://evilexample.com"}) {
    EXPECT_EQ(fields_for(cors, other), "Vary: Origin\r\n") << other;
  }
}

TEST(CorsPolicy, EverybodyNeverHasCredentials) {
  const Cors everybody = Written{.origins = {"*"}, .credentials = true}.cors();
  EXPECT_EQ(fields_for(everybody, "https://evil.example"), "Access-Control-Allow-Origin: *\r\n");
  EXPECT_EQ(fields_for(everybody, ""), "") << "all are answered alike, so nothing varies";
  const Cors both = Written{.origins = {"*", "https://a.example"}, .credentials = true}.cors();
  EXPECT_THAT(fields_for(both, "https://a.example"), HasSubstr("Credentials: true"));
  EXPECT_EQ(fields_for(both, "https://evil.example"), "Access-Control-Allow-Origin: *\r\nVary: Origin\r\n");
}

TEST(CorsPolicy, TwoOriginsAreNone) {
  const Cors cors = Written{.origins = {"https://a.example"}}.cors();
  EXPECT_EQ(fields_for(cors, "https://a.example\nOrigin: https://a.example"), "Vary: Origin\r\n");
}

TEST(CorsPolicy, AnswersPreflights) {
  const Cors cors = Written{.origins = {"https://a.example"}, .max_age_ns = 600'000'000'000}.cors();
  const TestRequest request(
      "OPTIONS / HTTP/1.1\nHost: a\nOrigin: https://a.example\nAccess-Control-Request-Method: PUT\n"
      "Access-Control-Request-Headers: x-a");
  EXPECT_EQ(preflight_method(request.policy_request().head), "PUT");
  const auto answer = cors.pass(request.policy_request());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 204);
  EXPECT_EQ(answer->fields,
            "Access-Control-Allow-Methods: GET, PUT\r\nAccess-Control-Allow-Headers: x-a, x-b\r\n"
            "Access-Control-Max-Age: 600\r\n"
            "Vary: Access-Control-Request-Method, Access-Control-Request-Headers\r\n");
}

TEST(CorsPolicy, RefusesPreflightsOfOthers) {
  const Cors cors = Written{.origins = {"https://a.example"}}.cors();
  const TestRequest request("OPTIONS / HTTP/1.1\nHost: a\nOrigin: null\nAccess-Control-Request-Method: PUT");
  const auto answer = cors.pass(request.policy_request());
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 403);
  EXPECT_EQ(answer->fields, "");
}

TEST(CorsPolicy, SaysBackHeadersWhereAnyAreAllowed) {
  const Cors cors = Written{.origins = {"*"}, .headers = {"*"}}.cors();
  const auto preflight = [&](const std::string& wanted) {
    const TestRequest request(
        "OPTIONS / HTTP/1.1\nHost: a\nOrigin: https://b\nAccess-Control-Request-Method: "
        "GET\nAccess-Control-Request-Headers: " +
        wanted);
    return cors.pass(request.policy_request())->fields;
  };
  EXPECT_THAT(preflight("authorization, x-z"), HasSubstr("Access-Control-Allow-Headers: authorization, x-z\r\n"));
  EXPECT_THAT(preflight("<script>"), Not(HasSubstr("script")));
}

TEST(CorsPolicy, SaysBackTheMethodWhereAnyIsAllowed) {
  const Cors cors = Written{.origins = {"https://b"}, .credentials = true, .methods = {"*"}}.cors();
  const auto preflight = [&](const std::string& method) {
    const TestRequest request("OPTIONS / HTTP/1.1\nHost: a\nOrigin: https://b\nAccess-Control-Request-Method: " +
                              method);
    return cors.pass(request.policy_request())->fields;
  };
  EXPECT_THAT(preflight("PURGE"), HasSubstr("Access-Control-Allow-Methods: PURGE\r\n"));
  EXPECT_THAT(preflight("A, B"), HasSubstr("Access-Control-Allow-Methods: *\r\n"));
  EXPECT_THAT(preflight("<b>"), Not(HasSubstr("<b>")));
}

TEST(CorsPolicy, PlainOptionsPass) {
  const Cors cors = Written{.origins = {"*"}}.cors();
  EXPECT_FALSE(cors.pass(TestRequest("OPTIONS / HTTP/1.1\nHost: a\nOrigin: https://b").policy_request()));
  EXPECT_FALSE(
      cors.pass(TestRequest("OPTIONS / HTTP/1.1\nHost: a\nAccess-Control-Request-Method: PUT").policy_request()));
  EXPECT_FALSE(cors.pass(
      TestRequest("GET / HTTP/1.1\nHost: a\nOrigin: https://b\nAccess-Control-Request-Method: PUT").policy_request()));
}

}  // namespace
}  // namespace edge::runtime
