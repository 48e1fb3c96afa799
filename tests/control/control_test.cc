// What becomes of the others when one part of the control plane goes, and comes back.
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/os/file.h"
#include "program/format/file.h"
#include "tests/control/world.h"

namespace edge::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Control, WhatIsAppliedIsServedAndSaysSo) {
  auto proxy = standalone();
  ASSERT_TRUE(proxy->process.wait_out("ready program="));
  Api api(dir_ / "data/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  const int port = port_of(*proxy);
  EXPECT_TRUE(answers(port, "/a", "200 one got"));
  EXPECT_TRUE(api.says("ProxyRoute", "a", "Ready", "True"));
  EXPECT_TRUE(api.says("ProxyRoute", "a", "Programmed", "True"));
  EXPECT_TRUE(api.says("ProxyGateway", "gw", "Programmed", "True"));
  EXPECT_TRUE(eventually([&] {
    const Json status = api.get("ProxyGateway", "gw").value("status", Json::object());
    return status.contains("listeners") && status["listeners"][0]["attachedRoutes"] == 1;
  }));
  EXPECT_TRUE(eventually(
      [&] { return api.get("ProxyBackend", "be").value("status", Json::object()).value("healthyCount", 0) == 1; }));
  // Nothing is written at rest: what another resource goes through leaves its version as it is.
  const Json before = api.get("ProxyRoute", "a")["metadata"]["resourceVersion"];
  api.apply(route("b", "/b"));
  EXPECT_TRUE(api.says("ProxyRoute", "b", "Programmed", "True"));
  EXPECT_EQ(api.get("ProxyRoute", "a")["metadata"]["resourceVersion"], before);
  api.remove("ProxyRoute", "a");
  EXPECT_TRUE(answers(port, "/a", "404"));
  EXPECT_TRUE(answers(port, "/b", "200"));
}

TEST_F(Control, ALeakedKubeconfigIsRefusedOnceTheAdministratorIsReplaced) {
  auto proxy = standalone();
  ASSERT_TRUE(proxy->process.wait_out("ready program="));
  const std::string current = dir_ / "data/kubeconfig";
  const std::string leaked = dir_ / "leaked";
  const std::string leaked_admin = dir_ / "leaked-admin.pem";
  ASSERT_EQ(run_command({"cp", current, leaked}).code, 0);
  ASSERT_EQ(run_command({"cp", dir_ / "data/agents/admin.pem", leaked_admin}).code, 0);
  const auto reads = [](const std::string& kubeconfig) {
    return run_command({"edgectl", "get", "gateways", "--kubeconfig", kubeconfig}).code;
  };
  const auto lists = [&](const std::string& credentials) {
    return run_command({"edgectl", "agents", "list", "--kubeconfig", current, "--credentials", credentials}).code;
  };
  EXPECT_EQ(reads(leaked), 0);
  EXPECT_EQ(lists(leaked_admin), 0);
  const Finished replaced = run_command({"edgectl", "key", "replace-administrator", "--data-dir", dir_ / "data"});
  EXPECT_EQ(replaced.code, 0) << replaced.err;
  EXPECT_THAT(replaced.out, HasSubstr("those before are refused"));
  EXPECT_EQ(reads(leaked), 3);
  EXPECT_EQ(lists(leaked_admin), 3);
  EXPECT_EQ(lists(dir_ / "data/agents/admin.pem"), 0);
  ASSERT_TRUE(eventually([&] { return reads(current) == 0; }));
  // The controller in this process goes on.
  Api api(current);
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  EXPECT_TRUE(answers(port_of(*proxy), "/a", "200 one got"));
  EXPECT_TRUE(api.says("ProxyRoute", "a", "Programmed", "True"));

  proxy->process.send_signal(SIGTERM);
  proxy->process.wait_exit();
  proxy = standalone();
  ASSERT_TRUE(proxy->process.wait_out("ready program="));
  EXPECT_EQ(reads(leaked), 3);
  EXPECT_EQ(lists(leaked_admin), 3);
  EXPECT_EQ(reads(current), 0);
  EXPECT_EQ(run_command({"edgectl", "key", "replace-administrator", "--data-dir", dir_ / "nothing"}).code, 1);
}

TEST_F(Control, AFaultTakesNothingAwayEvenOverARestart) {
  {
    auto proxy = standalone();
    ASSERT_TRUE(proxy->process.wait_out("ready program="));
    Api api(dir_ / "data/kubeconfig");
    api.apply_world(backend_.port);
    api.apply(route("a", "/a"));
    const int port = port_of(*proxy);
    EXPECT_TRUE(api.says("ProxyRoute", "a", "Programmed", "True"));
    Json broken = route("a", "/wide");
    broken["spec"]["expression"] = "path exact";
    api.apply(broken);
    EXPECT_TRUE(api.says("ProxyRoute", "a", "Accepted", "False"));
    EXPECT_THAT(api.condition("ProxyRoute", "a", "Accepted")["message"].get<std::string>(),
                HasSubstr("generation 1 of it stays in force"));
    api.apply(route("b", "/b"));
    EXPECT_TRUE(api.says("ProxyRoute", "b", "Programmed", "True"));
    EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
    EXPECT_THAT(curl(port, "/wide"), StartsWith("404"));
    proxy->process.send_signal(SIGKILL);
    proxy->process.wait_exit();
  }
  auto proxy = standalone();
  ASSERT_TRUE(proxy->process.wait_out("ready program="));
  Api again(dir_ / "data/kubeconfig");
  const int port = port_of(*proxy);
  EXPECT_TRUE(answers(port, "/b", "200")) << port << "\n" << proxy->process.err_text();
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
  again.apply(route("c", "/c"));
  EXPECT_TRUE(again.says("ProxyRoute", "c", "Programmed", "True"));
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
  EXPECT_THAT(curl(port, "/wide"), StartsWith("404"));
}

TEST_F(Control, WhatLeavesTheFilesLeavesTheApiAndNothingElse) {
  dir_.put("config/base.yaml", base_config(backend_.port));
  dir_.put("config/a.yaml", route_config("a", "/a"));
  dir_.put("config/b.yaml", route_config("b", "/b"));
  {
    auto proxy = standalone({"--config", dir_ / "config"});
    ASSERT_NE(proxy->wait_ready(), "") << proxy->process.err_text();
    Api api(dir_ / "data/kubeconfig");
    api.apply(route("by-hand", "/by-hand"));
    EXPECT_TRUE(answers(proxy->port, "/by-hand", "200"));
    std::filesystem::remove(dir_ / "config/b.yaml");
    EXPECT_TRUE(answers(proxy->port, "/b", "404"));
    EXPECT_TRUE(api.get("ProxyRoute", "b").is_null());
    EXPECT_TRUE(api.get("ProxyRoute", "a").is_object());
  }
  // It is known over a restart what came from files; a folder that is gone for a moment takes nothing away.
  std::filesystem::remove(dir_ / "config/a.yaml");
  auto proxy = standalone({"--config", dir_ / "config"});
  ASSERT_NE(proxy->wait_ready(), "") << proxy->process.err_text();
  Api api(dir_ / "data/kubeconfig");
  // What served last serves at once; the files are looked at while it does.
  EXPECT_TRUE(eventually([&] { return api.get("ProxyRoute", "a").is_null(); }));
  EXPECT_TRUE(api.get("ProxyRoute", "by-hand").is_object());
  EXPECT_TRUE(answers(proxy->port, "/by-hand", "200"));
  std::filesystem::rename(dir_ / "config", dir_ / "elsewhere");
  EXPECT_TRUE(proxy->process.wait_err("correct the errors above")) << proxy->process.err_text();
  EXPECT_TRUE(api.get("ProxyBackend", "be").is_object());
  EXPECT_THAT(curl(proxy->port, "/by-hand"), StartsWith("200"));
}

TEST_F(Control, ListenersAreLoggedWhenTheyChangeOnly) {
  const auto gateway = [&](const std::string& more) {
    const std::string base = base_config(backend_.port);
    dir_.put("config/base.yaml",
             "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: gw}\nspec:\n  listeners:\n"
             "    - {name: http, port: 8080, protocol: HTTP}\n" +
                 more + base.substr(base.find("---\n")));
  };
  std::filesystem::create_directories(dir_ / "config");
  gateway({});
  dir_.put("config/routes.yaml", route_config("a", "/a"));
  auto proxy = standalone({"--config", dir_ / "config"});
  ASSERT_NE(proxy->wait_ready(), "") << proxy->process.err_text();
  for (const char* name : {"b", "c"}) {
    dir_.put("config/routes.yaml", route_config(name, std::string("/") + name));
    EXPECT_TRUE(answers(proxy->port, std::string("/") + name, "200"));
  }
  gateway("    - {name: more, port: 8081, protocol: HTTP}\n");
  ASSERT_TRUE(proxy->process.wait_err("listener more on ")) << proxy->process.err_text();
  const std::string log = proxy->process.err_text();
  const std::size_t first = log.find("listener http on ");
  EXPECT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("listener http on ", first + 1), std::string::npos) << log;
}

/// What an older version kept, read by one with another format: it is compiled anew, and meanwhile nothing ends.
TEST_F(Control, StartsOverWhatAnotherVersionKept) {
  dir_.put("config/base.yaml", base_config(backend_.port));
  dir_.put("config/a.yaml", route_config("a", "/a"));
  const auto programs = {"data/program.edgeprog", "data/agent/program.edgeprog"};
  {
    auto proxy = standalone({"--config", dir_ / "config"});
    ASSERT_NE(proxy->wait_ready(), "") << proxy->process.err_text();
    EXPECT_TRUE(answers(proxy->port, "/a", "200"));
    // Both are written beside the traffic, by threads of their own; the end of the block kills the process.
    for (const char* kept : programs) {
      ASSERT_TRUE(eventually([&] { return std::filesystem::exists(dir_ / kept); })) << kept;
    }
  }
  for (const char* kept : programs) {
    std::fstream file(dir_ / kept, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(sizeof(program::FileHeader::magic)).put(1);
    ASSERT_TRUE(file.flush()) << kept;
  }
  auto proxy = standalone({"--config", dir_ / "config"});
  ASSERT_NE(proxy->wait_ready(), "") << proxy->process.err_text();
  EXPECT_THAT(proxy->process.err_text(), HasSubstr("the program was refused: "));
  EXPECT_TRUE(answers(proxy->port, "/a", "200"));
}

/// A kind and objects of it, in one file: both are there without another change of the files.
TEST_F(Control, FilesDefineAKindAndHaveObjectsOfIt) {
  dir_.put("config/base.yaml", base_config(backend_.port));
  dir_.put("config/toys.yaml", R"(
apiVersion: example.com/v1
kind: Toy
metadata: {name: ball}
spec: {size: 3}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toys.example.com}
spec:
  group: example.com
  names: {kind: Toy, plural: toys}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}
)");
  auto proxy = standalone({"--config", dir_ / "config"});
  ASSERT_NE(proxy->wait_ready(), "") << proxy->process.err_text();
  EXPECT_TRUE(eventually([&] {
    return run_command({"edgectl", "get", "toys", "-o", "name", "--kubeconfig", dir_ / "data/kubeconfig"}).out ==
           "toy.example.com/ball\n";
  })) << proxy->process.err_text();
}

/// Of what edge-standalone's parts know each other by, one has lost it: nothing of that is for a user to mend.
class Lost : public Control, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, Lost,
                         testing::Values("agents", "agents/ca.pem", "agents/join", "agent", "agent/seal.key",
                                         "signing.key.pub", "api/ca.pem"));

TEST_P(Lost, IsMadeAnewAndChangesGoLiveAgain) {
  {
    auto proxy = standalone();
    ASSERT_TRUE(proxy->process.wait_out("ready program="));
    Api api(dir_ / "data/kubeconfig");
    api.apply_world(backend_.port);
    api.apply(route("a", "/a"));
    EXPECT_TRUE(answers(port_of(*proxy), "/a", "200")) << proxy->process.err_text();
    proxy->process.send_signal(SIGTERM);
    EXPECT_EQ(proxy->process.wait_exit(), 0) << proxy->process.err_text();
  }
  std::filesystem::remove_all(dir_ / ("data/" + std::string(GetParam())));
  auto proxy = standalone();
  ASSERT_TRUE(proxy->process.wait_out("ready program=")) << proxy->process.err_text();
  const int port = port_of(*proxy);
  EXPECT_TRUE(answers(port, "/a", "200")) << proxy->process.err_text();
  Api api(dir_ / "data/kubeconfig");
  api.apply(route("b", "/b"));
  EXPECT_TRUE(answers(port, "/b", "200")) << proxy->process.err_text();
}

/// Nothing can have been deleted while nothing ran: what is not there is lost, and is no wish to serve nothing.
/// A limit on the size of files stands for a disk that is full.
TEST_F(Control, AStartOnAFullDiskServesAndTakesChangesOnceThereIsSpace) {
  dir_.put("config/base.yaml", base_config(backend_.port));
  dir_.put("config/a.yaml", route_config("a", "/a"));
  const auto start = [this] { return standalone({"--config", dir_ / "config"}); };
  {
    auto proxy = start();
    ASSERT_NE(proxy->wait_ready(), "") << proxy->process.err_text();
    proxy->process.send_signal(SIGTERM);
    EXPECT_EQ(proxy->process.wait_exit(), 0);
  }
  // Traces are not what traffic waits for.
  for (const char* file : {"traces.db", "traces.db-wal", "traces.db-shm"})
    std::filesystem::remove(dir_ / ("data/" + std::string(file)));
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  auto proxy = start();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  ASSERT_TRUE(proxy->process.wait_out("ready program=")) << proxy->process.err_text();
  const int port = port_of(*proxy);
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
  EXPECT_TRUE(proxy->process.wait_err("no change is taken until there is space")) << proxy->process.err_text();
  dir_.put("config/a.yaml", route_config("a", "/b"));
  ASSERT_EQ(::prlimit(proxy->process.pid(), RLIMIT_FSIZE, &usual, nullptr), 0);
  EXPECT_TRUE(answers(port, "/b", "200")) << proxy->process.err_text();
}

TEST_F(Control, AnEmptyDatabaseClosesNoListener) {
  {
    auto proxy = standalone();
    ASSERT_TRUE(proxy->process.wait_out("ready program="));
    Api api(dir_ / "data/kubeconfig");
    api.apply_world(backend_.port);
    api.apply(route("a", "/a"));
    EXPECT_TRUE(answers(port_of(*proxy), "/a", "200")) << proxy->process.err_text();
    proxy->process.send_signal(SIGTERM);
    EXPECT_EQ(proxy->process.wait_exit(), 0) << proxy->process.err_text();
  }
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(dir_ / ("data/resources.db" + std::string(end)));
  dir_.put("data/resources.db", "");
  auto proxy = standalone();
  ASSERT_TRUE(proxy->process.wait_out("ready program=")) << proxy->process.err_text();
  EXPECT_TRUE(proxy->process.wait_err("resources.db was lost or emptied")) << proxy->process.err_text();
  const int port = port_of(*proxy);
  Api api(dir_ / "data/kubeconfig");
  api.apply(own("ProxyBackend", "late", {{"serviceRef", {{"name", "late"}, {"port", 80}}}}));
  // Its status comes behind the program of which it is a part.
  EXPECT_TRUE(eventually([&] { return !api.condition("ProxyBackend", "late", "Accepted").is_null(); }));
  EXPECT_TRUE(answers(port, "/a", "200")) << proxy->process.err_text();
  api.apply_world(backend_.port);
  api.apply(route("b", "/b"));
  EXPECT_TRUE(answers(port, "/b", "200")) << proxy->process.err_text();
  EXPECT_THAT(curl(port, "/a"), StartsWith("404"));
}

/// What it needs of its disk is there; a limit on the size of files stands for a disk that is full.
TEST_F(Parts, AControllerStartsOnAFullDiskAndStoresOnceThereIsSpace) {
  auto server = serve_api();
  Api api(dir_ / "api/kubeconfig");
  std::unique_ptr<ProxyProcess> proxy;
  int port = 0;
  {
    auto control = controller();
    proxy = agent();
    api.apply_world(backend_.port);
    api.apply(route("a", "/a"));
    port = port_of(*proxy);
    EXPECT_TRUE(answers(port, "/a", "200"));
    control->send_signal(SIGTERM);
    EXPECT_EQ(control->wait_exit(), 0) << control->err_text();
  }
  const auto stored = [this] { return read_file(dir_ / "controller/program.edgeprog", 1 << 20); };
  const auto before = stored();
  ASSERT_TRUE(before.ok());
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  auto control = controller();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  api.apply(route("b", "/b"));
  EXPECT_TRUE(answers(port, "/b", "200")) << control->err_text();
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
  EXPECT_TRUE(api.says("ProxyRoute", "b", "Programmed", "True")) << control->err_text();
  auto late = agent("two");
  EXPECT_TRUE(answers(port_of(*late), "/b", "200")) << control->err_text() << late->process.err_text();
  EXPECT_TRUE(control->wait_err("endpoints and secrets could not be stored")) << control->err_text();
  EXPECT_EQ(*stored(), *before);

  // Nothing changes meanwhile.
  ASSERT_EQ(::prlimit(control->pid(), RLIMIT_FSIZE, &usual, nullptr), 0);
  EXPECT_TRUE(control->wait_err("are stored again")) << control->err_text();
  EXPECT_NE(*stored(), *before);
}

/// Endpoints come and go beside the program: what is told of them follows them.
TEST_F(Parts, ABackendWithTooFewEndpointsForEjectionSaysSo) {
  auto server = serve_api();
  auto control = controller();
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(own("ProxyBackend", "be",
                {{"serviceRef", {{"name", "be"}, {"port", 80}}}, {"passiveHealthCheck", {{"consecutiveErrors", 3}}}}));
  EXPECT_TRUE(api.says("ProxyBackend", "be", "NoEjection", "True")) << control->err_text();
  EXPECT_EQ(api.condition("ProxyBackend", "be", "NoEjection")["message"],
            "no endpoint is ever ejected: 50% of 1 endpoint is less than one");
  const auto slice = [&](std::vector<std::string> addresses) -> Json {
    Json endpoints = Json::array();
    for (std::string& address : addresses) endpoints.push_back({{"addresses", {std::move(address)}}});
    return {{"apiVersion", "discovery.k8s.io/v1"},
            {"kind", "EndpointSlice"},
            {"metadata", {{"name", "be-1"}, {"labels", {{"kubernetes.io/service-name", "be"}}}}},
            {"addressType", "IPv4"},
            {"ports", {{{"name", "http"}, {"port", backend_.port}}}},
            {"endpoints", std::move(endpoints)}};
  };
  api.apply(slice({"127.0.0.1", "127.0.0.2"}));
  EXPECT_TRUE(eventually([&] { return api.condition("ProxyBackend", "be", "NoEjection").empty(); }))
      << api.get("ProxyBackend", "be").dump();
  api.apply(slice({"127.0.0.1"}));
  EXPECT_TRUE(api.says("ProxyBackend", "be", "NoEjection", "True")) << api.get("ProxyBackend", "be").dump();
}

TEST_F(Parts, TheApiAndTheControllerMayGoAndComeBack) {
  auto server = serve_api();
  auto control = controller();
  auto proxy = agent();
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  const int port = port_of(*proxy);
  EXPECT_TRUE(answers(port, "/a", "200"));
  EXPECT_TRUE(api.says("ProxyRoute", "a", "Programmed", "True"));

  server->send_signal(SIGKILL);
  server->wait_exit();
  EXPECT_TRUE(control->wait_err("the last known state stays in force")) << control->err_text();
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
  server = serve_api();
  api.apply(route("b", "/b"));
  EXPECT_TRUE(answers(port, "/b", "200"));

  control->send_signal(SIGKILL);
  control->wait_exit();
  api.apply(route("c", "/c"));
  EXPECT_THAT(curl(port, "/b"), StartsWith("200"));
  EXPECT_THAT(curl(port, "/c"), StartsWith("404"));
  control = controller();
  EXPECT_TRUE(answers(port, "/c", "200")) << control->err_text();
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
  EXPECT_TRUE(api.says("ProxyRoute", "c", "Programmed", "True"));

  control->send_signal(SIGTERM);
  EXPECT_EQ(control->wait_exit(), 0) << control->err_text();
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
}

}  // namespace
}  // namespace edge::test
