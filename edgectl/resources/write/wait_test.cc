#include "edgectl/resources/write/wait.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

std::string progress(const char* object, std::int64_t generation) {
  const Progress found = progress_of(Json::parse(object), generation);
  const char* state = found.state == Progress::State::kDone       ? "done"
                      : found.state == Progress::State::kRejected ? "rejected"
                                                                  : "waiting";
  return state + (found.reason.empty() ? "" : " " + found.reason);
}

TEST(Progress, IsWhatTheStatusSaysOfTheGeneration) {
  const char* done = R"({"kind":"ProxyRoute","status":{"observedGeneration":2,"conditions":[
    {"type":"Accepted","status":"True"},{"type":"Programmed","status":"True","reason":"Programmed"}]}})";
  EXPECT_EQ(progress(done, 2), "done");
  EXPECT_EQ(progress(done, 1), "done");
  EXPECT_EQ(progress(done, 3), "waiting no controller has looked at it yet");
  EXPECT_EQ(progress(R"({"kind":"ProxyRoute","status":{"conditions":[
    {"type":"Programmed","status":"False","reason":"Pending","message":"1 of 2","observedGeneration":1}]}})",
                     1),
            "waiting Pending: 1 of 2");
  EXPECT_EQ(progress(R"({"kind":"ProxyRoute","status":{"conditions":[
    {"type":"Accepted","status":"False","reason":"Invalid","observedGeneration":1}]}})",
                     1),
            "rejected Invalid");
  // Accepted alone is not programmed.
  EXPECT_EQ(progress(R"({"kind":"ProxyRoute","status":{"conditions":[
    {"type":"Accepted","status":"True","observedGeneration":1}]}})",
                     1)
                .substr(0, 7),
            "waiting");
}

TEST(Progress, OfARouteOfGatewayApiIsThatOfEveryParent) {
  EXPECT_EQ(progress(R"({"kind":"HTTPRoute","status":{"parents":[
    {"conditions":[{"type":"Accepted","status":"True","observedGeneration":1}]},
    {"conditions":[{"type":"Accepted","status":"False","reason":"NoMatchingParent","observedGeneration":1}]}]}})",
                     1),
            "rejected NoMatchingParent");
  EXPECT_EQ(progress(R"({"kind":"HTTPRoute","status":{"parents":[
    {"conditions":[{"type":"Accepted","status":"True","observedGeneration":1}]}]}})",
                     1),
            "done");
}

TEST(Progress, TakesWhateverAServerSends) {
  for (const char* odd : {"{}", "[]", "null", R"({"status":1})", R"({"status":{"conditions":[1,{}],"parents":[3]}})"}) {
    EXPECT_EQ(progress(odd, 1).substr(0, 7), "waiting") << odd;
  }
}

}  // namespace
}  // namespace edge::edgectl
