// edgectl logs where the daemons run as pods: against a server that speaks Kubernetes' API.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

using test::Exchange;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::map<std::string, std::string> kDiscovery = {{"/api", R"({"kind":"APIVersions","versions":["v1"]})"},
                                                       {"/api/v1", R"({"kind":"APIResourceList","resources":[
       {"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list"],"shortNames":["po"]}]})"},
                                                       {"/apis", R"({"kind":"APIGroupList","groups":[]})"}};

std::string pod(const std::string& name, const std::string& node) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"edge"},"spec":{"nodeName":")" + node + "\"}}";
}

class PodLogs : public testing::Test {
 protected:
  void SetUp() override { dir_.put("kubeconfig", api_.kubeconfig()); }

  std::vector<std::string> command(const std::string& words) const {
    return {"/bin/sh", "-c",
            "export KUBECONFIG='" + dir_ / "kubeconfig' HOME='" + dir_.path().string() + "'; exec '" +
                (bin_dir() / "edgectl").string() + "' logs " + words};
  }
  Finished logs(const std::string& words) const { return run_command(command(words)); }

  void answer(Exchange& exchange) {
    const std::string path = exchange.target.substr(0, exchange.target.find('?'));
    if (const auto found = kDiscovery.find(path); found != kDiscovery.end()) return exchange.json(200, found->second);
    if (path == "/api/v1/pods") {
      const bool agents = exchange.target.find("component%3Dagent") != std::string::npos;
      return exchange.json(200, R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)" +
                                    (agents ? pod("agent-a", "n1") + "," + pod("agent-b", "n2") : "") + "]}");
    }
    if (path == "/api/v1/namespaces/edge/pods/agent-a/log") {
      const bool again = exchange.target.find("sinceTime=2026-11-22T03%3A00%3A02Z") != std::string::npos;
      return exchange.json(200, again
                                    ? "2026-11-22T03:00:02.5Z info second\n2026-11-22T03:00:02.6Z info third\n"
                                    : "2026-11-22T03:00:01.0Z info first\x1b[2J\n2026-11-22T03:00:02.5Z info second\n");
    }
    if (path == "/api/v1/namespaces/edge/pods/agent-b/log")
      return exchange.json(200, "2026-11-22T03:00:03Z info other\n");
    exchange.refuse(404, "NotFound");
  }

  TempDir dir_;
  test::FakeApi api_{[this](Exchange& exchange) { answer(exchange); }};
};

TEST_F(PodLogs, AreOfAllPodsOfThePart) {
  const Finished got = logs("agent");
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_THAT(got.out, AllOf(HasSubstr("agent-a info first"), HasSubstr("agent-a info second\n"),
                             HasSubstr("agent-b info other\n"), Not(HasSubstr("\x1b"))));
  EXPECT_EQ(api_.count("labelSelector=app.kubernetes.io%2Fpart-of%3Dedge%2Capp.kubernetes.io%2Fcomponent%3Dagent"), 1U);
}

TEST_F(PodLogs, ANodeChoosesAndTimesAreShownWhereTheyAreWanted) {
  const Finished got = logs("agent --node n2 --timestamps");
  EXPECT_EQ(got.out, "2026-11-22T03:00:03Z info other\n") << got.err;
  EXPECT_EQ(api_.count("agent-a/log"), 0U);
}

TEST_F(PodLogs, AsDataEachLineSaysWhosePodItIs) {
  EXPECT_EQ(logs("agent --node n2 -o json").out,
            "{\"time\":\"2026-11-22T03:00:03Z\",\"msg\":\"info other\",\"pod\":\"agent-b\"}\n");
  EXPECT_EQ(logs("agent --node n2 -o yaml").out, "---\ntime: '2026-11-22T03:00:03Z'\nmsg: info other\npod: agent-b\n");
}

TEST_F(PodLogs, TailAndSinceAreTheServers) {
  EXPECT_EQ(logs("agent --node n1 --tail 7 --since 90s").code, 0);
  EXPECT_EQ(api_.count("agent-a/log?timestamps=true&tailLines=7&sinceSeconds=90"), 1U);
}

// Asked for again from the last second on: each line once.
TEST_F(PodLogs, AreFollowedWithoutALineTwice) {
  Process follow(command("agent --node n1 --follow"));
  ASSERT_TRUE(follow.wait_out("info first")) << follow.err_text();
  EXPECT_EQ(follow.wait_out("info"), "info second");
  EXPECT_EQ(follow.wait_out("info"), "info third");
}

TEST_F(PodLogs, WhereThePartHasNoPodItsOwnLinesAreAskedFor) {
  const Finished got = logs("controller");
  EXPECT_NE(got.code, 0);
  EXPECT_EQ(api_.count("/log"), 0U);
  EXPECT_THAT(got.err, HasSubstr("edgectl logs"));
}

}  // namespace
}  // namespace edge::test
