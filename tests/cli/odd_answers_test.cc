// edgectl before a server that answers what no API server would: each answer is shown as far as it is one, or refused,
// and no command ends by it.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

using test::Exchange;
using testing::HasSubstr;
using testing::Not;

std::string table(const std::string& columns, const std::string& rows) {
  return R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":)" + columns +
         R"(,"rows":)" + rows + "}";
}

/// Whoever reads or writes it by recursion is at the end of its stack before the end of it.
const std::string kDeep = std::string(100'000, '[') + std::string(100'000, ']');

class OddAnswers : public testing::Test {
 protected:
  void SetUp() override { dir_.put("kubeconfig", api_.kubeconfig()); }

  /// `edgectl <words>`, whose question for pods, or for one, is answered by `body`.
  Finished asked(const std::string& words, std::string body) {
    body_ = std::move(body);
    return run_command({"/bin/sh", "-c",
                        "export KUBECONFIG='" + dir_ / "kubeconfig' HOME='" + dir_.path().string() + "'; exec '" +
                            (bin_dir() / "edgectl").string() + "' " + words});
  }

  void answer(Exchange& exchange) const {
    const std::string path = exchange.target.substr(0, exchange.target.find('?'));
    if (path == "/api") return exchange.json(200, R"({"kind":"APIVersions","versions":["v1"]})");
    if (path == "/apis") return exchange.json(200, R"({"kind":"APIGroupList","groups":[]})");
    if (path == "/api/v1") {
      return exchange.json(200, R"({"kind":"APIResourceList","resources":[
        {"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list","delete"]}]})");
    }
    exchange.json(200, body_);
  }

  TempDir dir_;
  std::string body_;
  test::FakeApi api_{[this](Exchange& exchange) { answer(exchange); }};
};

TEST_F(OddAnswers, TablesAreShownAsFarAsTheyAreOnes) {
  const std::string name = R"([{"name":"Name","type":"string","priority":0},)";
  const std::vector<std::string> rows = {R"([{"cells":{"0":"x"}}])", R"([{"cells":"x"}])", R"([7,null,[]])",
                                         R"([{"cells":["x"],"object":[]}])",
                                         R"([{"cells":["x"],"object":{"metadata":3}}])"};
  for (const std::string& each : rows) {
    const Finished got = asked("get pods", table(name + R"({"name":["Age"],"priority":"high"},null])", each));
    EXPECT_EQ(got.code, 0) << each << got.err;
    EXPECT_THAT(got.out, HasSubstr("NAME")) << each << got.err;
  }
  EXPECT_THAT(asked("get pods", table(name + "3]", R"([{"cells":["x"],"object":[]}])")).out, HasSubstr("x"));
  EXPECT_EQ(asked("get pods", table("[]", R"({"a":1})")).code, 0);
}

TEST_F(OddAnswers, WhatIsNoTableIsRefused) {
  for (const std::string& body :
       {table(R"({"a":1})", "[]"), std::string(R"({"kind":["Table"],"columnDefinitions":[]})"), std::string("[]"),
        std::string("null"), std::string("\"Table\""), std::string("{"), kDeep,
        R"({"kind":"Table","columnDefinitions":)" + kDeep + "}"}) {
    const Finished got = asked("get pods", body);
    EXPECT_EQ(got.code, 3) << body.substr(0, 60) << got.err;
    EXPECT_THAT(got.err, HasSubstr("edgectl get")) << body.substr(0, 60);
  }
}

TEST_F(OddAnswers, NoCommandEndsByAnObject) {
  const std::string head = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"y","uid":"u")";
  const std::vector<std::string> objects = {
      head + "}}",
      head + R"(},"spec":"s","status":[1]})",
      head + R"(,"annotations":7,"managedFields":{"a":1}},"spec":{"template":[],"replicas":"many","containers":3},)" +
          R"("status":{"conditions":{"type":"Ready"},"readyReplicas":[]}})",
      head + R"(,"managedFields":[null,3]},"spec":{"parentRefs":[7,{"name":[]}],"vipRef":{}},)" +
          R"("status":{"conditions":[7,{"type":7,"status":"False"}],"parents":[null]}})",
      head + R"(},"spec":)" + kDeep + "}",
  };
  std::vector<std::string> bodies = {"[]", "null", "\"x\"", "{", kDeep};
  for (const std::string& object : objects) {
    bodies.push_back(object);
    bodies.push_back(R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)" + object +
                     "]}");
  }
  for (const char* words :
       {"get pods -o name", "get pods -o json", "get pods x -o name", "get pods x -o yaml", "get proxyvips",
        "describe pod x", "delete pod x --wait=false", "status", "logs agent", "version"}) {
    // Ended by a signal, or by an exception that nobody took, it is beyond 128.
    for (const std::string& body : bodies) EXPECT_LT(asked(words, body).code, 4) << words << " " << body.substr(0, 200);
  }
}

/// Whoever listens in an agent's place may name any file as the one with its token.
TEST(OddAgents, AreSentATokenOfAnAdminPortAndNoOtherFile) {
  const TempDir dir;
  dir.put("key.pem", "-----BEGIN PRIVATE KEY-----\nMIIsecret\n-----END PRIVATE KEY-----\n");
  dir.put("word", "edge-admin-secret and more of it\n");
  dir.put("long", "edge-admin-" + std::string(200, 's') + "\n");
  dir.put("token", "edge-admin-0123456789\n");
  std::string named;
  std::vector<std::string> shown;
  test::FakeApi agent([&](Exchange& exchange) {
    shown.push_back(exchange.field("Authorization"));
    const std::string field = "WWW-Authenticate: Bearer realm=\"edge\", token_file=\"" + named + "\"\r\n";
    exchange.json(401, "{}", field);
    test::meet();
  });
  const auto asks = [&](const std::string& file) {
    named = file;
    shown.clear();
    const Finished got =
        run_command({"edgectl", "log-level", "agent", "debug", "--agent", "127.0.0.1:" + std::to_string(agent.port())});
    test::meet();
    EXPECT_EQ(got.code, 3) << got.err;
    return got.err;
  };
  for (const char* file : {"key.pem", "word", "long", "not there", ""}) {
    const std::string reported = asks(*file == '\0' ? std::string() : dir / file);
    EXPECT_EQ(shown, std::vector<std::string>{""}) << file << reported;
    EXPECT_THAT(reported, Not(HasSubstr("secret"))) << file;
  }
  EXPECT_THAT(asks(dir / "token"), HasSubstr("does not take its own token"));
  EXPECT_EQ(shown, (std::vector<std::string>{"", "Bearer edge-admin-0123456789"})) << "asked once more, and no more";
}

}  // namespace
}  // namespace edge::test
