// edge-agent and edge-standalone as users start them, on one bridge: an upgrade of the one that holds an address, an
// edge-standalone alone, one without the rights, and a node that is lost.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "net/socket.h"
#include "tests/cli/process.h"
#include "tests/net/bridge.h"

namespace edge::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kAddress = "192.0.2.100";
constexpr std::uint16_t kWeb = 8080;
constexpr std::uint16_t kOpen = 8081;  ///< of a gateway of every address

/// One request by a connection of its own. \returns what went wrong; empty: it was answered with 200.
std::string request(const std::string& address, std::uint16_t port) {
  const auto failed = [](const char* what) {
    return std::string(what) + ": " + std::generic_category().message(errno);
  };
  const net::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = 30, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  ::inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return failed("connect");
  const std::string text = "GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n";
  if (::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    return failed("send");
  }
  std::string answer;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t size = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (size < 0) return failed("receive");
    if (size == 0) break;
    answer.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return answer.starts_with("HTTP/1.1 200 ") ? std::string() : "answer: " + answer.substr(0, answer.find('\r'));
}

class VipPrograms : public Bridge {
 protected:
  static constexpr std::array kNodes = {"a", "b", "c"};

  void SetUp() override {
    Bridge::SetUp();
    int number = 1;
    for (const char* const name : {"a", "b", "c", "control", "client"}) {
      if (!IsSkipped() && !HasFatalFailure()) attach(name, number++);
    }
    if (IsSkipped() || HasFatalFailure()) return;
    for (const char* const name : kNodes) {
      backends_.push_back(
          start(name, {"python3", std::string(EDGE_SOURCE_DIR) + "/examples/quick-start/backend.py", "one", "18080"}));
      ASSERT_TRUE(backends_.back()->wait_out("backend one on")) << backends_.back()->err_text();
    }
  }

  void TearDown() override {
    programs_.clear();
    control_.reset();
    backends_.clear();
    Bridge::TearDown();
  }

  static std::unique_ptr<Process> start(const std::string& node, std::vector<std::string> command) {
    std::vector<std::string> words = {"ip", "netns", "exec", space(node)};
    words.insert(words.end(), std::make_move_iterator(command.begin()), std::make_move_iterator(command.end()));
    return std::make_unique<Process>(words);
  }

  /// `count` addresses, and gateways of the first and of every address. `selector`: of nodes.
  void write_site(std::size_t count = 1, const std::string& selector = "{}") {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text += "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyVIP\nmetadata: {name: vip-" + std::to_string(i) +
              "}\nspec: {address: 192.0.2." + std::to_string(100 + i) + "/24, nodeSelector: " + selector + "}\n---\n";
    }
    const auto gateway = [&](const std::string& name, const std::string& vip, std::uint16_t port) {
      text += "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: " + name + "}\nspec: {" + vip +
              "listeners: [{name: http, port: " + std::to_string(port) + ", protocol: HTTP}]}\n---\n";
    };
    gateway("public", "vipRef: vip-0, ", kWeb);
    gateway("open", "", kOpen);
    text +=
        "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {name: be}\n"
        "spec: {endpoints: [{address: \"127.0.0.1:18080\"}]}\n---\n"
        "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: all}\n"
        "spec: {parentRefs: [{name: public}, {name: open}], rules: [{backendRef: {name: be}}]}\n";
    files_.put("site.yaml", text);
  }

  std::unique_ptr<Process> standalone(const std::string& node, const std::vector<std::string>& more = {},
                                      std::vector<std::string> before = {}) {
    std::vector<std::string> command = std::move(before);
    command.insert(command.end(), {"edge-standalone", "--config", files_.path().string(), "--data-dir",
                                   directory_ + "/" + node, "--metrics-listen", "127.0.0.1:9090", "--health-listen",
                                   "127.0.0.1:9091", "--api-listen", "127.0.0.1:6443", "--otlp-listen", "off",
                                   "--traces-listen", "127.0.0.1:9092", "--threads", "1", "--drain-timeout", "5s"});
    command.insert(command.end(), more.begin(), more.end());
    return start(node, std::move(command));
  }

  /// A controller for agents on the nodes.
  void start_control() {
    control_ = standalone("control", {"--agents-listen", "192.0.2.4:9443"});
    ASSERT_TRUE(control_->wait_out("ready program=")) << control_->err_text();
  }

  std::unique_ptr<Process> agent(const std::string& node) {
    return start(node, {"edge-agent",
                        "--controller",
                        "192.0.2.4:9443",
                        "--name",
                        node,
                        "--node",
                        "node-" + node,
                        "--token-file",
                        directory_ + "/control/agents/join",
                        "--data-dir",
                        directory_ + "/" + node,
                        "--label",
                        "edge=yes",
                        "--peer-listen",
                        "0.0.0.0:9095",
                        "--upgrade-socket",
                        directory_ + "/" + node + ".sock",
                        "--drain-timeout",
                        "5s",
                        "--metrics-listen",
                        "127.0.0.1:9090",
                        "--health-listen",
                        "127.0.0.1:9091",
                        "--threads",
                        "1"});
  }

  void start_agents() {
    for (const char* const name : kNodes) programs_[name] = agent(name);
    for (const char* const name : kNodes) {
      ASSERT_TRUE(programs_[name]->wait_out("ready program=")) << programs_[name]->err_text();
    }
    ASSERT_TRUE(await([] {
      for (const char* const name : kNodes) {
        if (page(name).value("liveAgents", Json::array()).size() < kNodes.size()) return false;
      }
      return true;
    }));
  }

  /// What a node says of its addresses.
  static Json page(const std::string& node) {
    const Json json =
        Json::parse(output(inside(node) + "curl -s -m 20 http://127.0.0.1:9091/debug/vips"), nullptr, false);
    return json.is_object() ? json : Json::object();
  }
  static Json vip(const std::string& node, const std::string& name) {
    const Json all = page(node).value("vips", Json::array());
    for (const Json& one : all) {
      if (one.value("name", "") == name) return one;
    }
    return Json::object();
  }

  /// The node that has an address; empty: none, or several.
  static std::string holder(const std::string& ip = kAddress) {
    std::string found;
    for (const char* const name : kNodes) {
      if (!has_address(name, ip)) continue;
      if (!found.empty()) return {};
      found = name;
    }
    return found;
  }

  /// Of a client, see `request`.
  static std::string ask(const std::string& address, std::uint16_t port) {
    std::string fault;
    in("client", [&] { fault = request(address, port); });
    return fault;
  }
  static bool served(const std::string& address, std::uint16_t port) { return ask(address, port).empty(); }

  static std::string ip_of(std::size_t number) { return "192.0.2." + std::to_string(100 + number); }

  /// What statuses say, by name: the holder, and the version of the object.
  std::map<std::string, std::pair<std::string, std::string>> statuses() const {
    std::map<std::string, std::pair<std::string, std::string>> all;
    const Json list = Json::parse(get("vips"), nullptr, false);
    for (const Json& one : list.is_object() ? list.value("items", Json::array()) : Json::array()) {
      const Json& about = one["metadata"];
      all[about.value("name", "")] = {one.value("status", Json::object()).value("currentNode", ""),
                                      about.value("resourceVersion", "")};
    }
    return all;
  }
  /// Whether each status names the node that holds the address.
  bool written(const std::vector<std::string>& holders) const {
    const auto all = statuses();
    for (std::size_t i = 0; i < holders.size(); ++i) {
      const auto found = all.find("vip-" + std::to_string(i));
      if (found == all.end() || found->second.first != "node-" + holders[i]) return false;
    }
    return true;
  }

  std::string edgectl(const std::string& words) const {
    return output("{ " + inside("control") + bin_dir().string() + "/edgectl " + words + " --kubeconfig " + directory_ +
                  "/control/kubeconfig 2>&1; }");
  }
  std::string get(const std::string& what) const { return edgectl("get " + what + " -o json"); }
  /// Until edgectl prints what an address is like.
  void shows(const std::string& words, const std::string& pattern) const {
    std::string out;
    EXPECT_TRUE(await([&] {
      out = edgectl(words);
      return std::regex_search(out, std::regex(pattern));
    })) << words
        << ":\n"
        << out;
  }

  TempDir files_;
  std::unique_ptr<Process> control_;
  std::map<std::string, std::unique_ptr<Process>> programs_;
  std::vector<std::unique_ptr<Process>> backends_;
};

TEST_F(VipPrograms, AnUpgradeOfTheHolderKeepsTheAddressAndFailsNoRequest) {
  write_site(1, "{edge: \"yes\"}");
  start_control();
  start_agents();
  ASSERT_TRUE(await([] { return !holder().empty() && served(kAddress, kWeb); }));
  const std::string node = holder();
  const Json before = vip(node, "vip-0");
  std::atomic<bool> ending = false;
  std::vector<std::string> failures;
  int answered = 0;
  std::thread client([&] {
    if (!enter("client")) failures.emplace_back("no namespace");
    while (!ending && failures.size() < 10) {
      const std::string fault = request(kAddress, kWeb);
      fault.empty() ? void(++answered) : failures.push_back(fault);
    }
  });
  for (int i = 0; i < 2; ++i) {
    auto next = agent(node);
    EXPECT_TRUE(next->wait_out("ready program=")) << next->err_text();
    EXPECT_EQ(programs_[node]->wait_exit(), 0) << programs_[node]->err_text();
    EXPECT_THAT(programs_[node]->err_text(), HasSubstr("another process has taken over"));
    programs_[node] = std::move(next);
    EXPECT_TRUE(await([&] { return vip(node, "vip-0").value("held", false); })) << page(node).dump();
  }
  ending = true;
  client.join();
  EXPECT_THAT(failures, IsEmpty());
  EXPECT_GT(answered, 10);
  EXPECT_EQ(holder(), node);
  EXPECT_EQ(vip(node, "vip-0")["epoch"], before["epoch"]) << "the same hold goes on";
}

TEST_F(VipPrograms, AStandaloneAloneHoldsItsAddress) {
  write_site();
  auto program = standalone("a");
  ASSERT_TRUE(program->wait_out("ready program=")) << program->err_text();
  ASSERT_TRUE(await([] { return served(kAddress, kWeb); })) << page("a").dump();
  EXPECT_TRUE(has_address("a", kAddress));
  EXPECT_TRUE(vip("a", "vip-0").value("held", false));
  // Killed, it leaves nothing for long; the next one takes it anew.
  program->send_signal(SIGKILL);
  EXPECT_EQ(program->wait_exit(), 128 + SIGKILL);
  EXPECT_TRUE(await([] { return !has_address("a", kAddress); }));
  program = standalone("a");
  ASSERT_TRUE(program->wait_out("ready program=")) << program->err_text();
  ASSERT_TRUE(await([] { return served(kAddress, kWeb); }));
  program->send_signal(SIGTERM);
  EXPECT_EQ(program->wait_exit(), 0) << program->err_text();
  EXPECT_FALSE(has_address("a", kAddress));
}

TEST_F(VipPrograms, WithoutTheRightsTheRestIsServedAndTheAddressIsNamed) {
  write_site();
  for (const std::string right : {"net_admin", "net_raw"}) {
    auto program = standalone("a", {}, {"setpriv", "--bounding-set", "-" + right, "--inh-caps", "-" + right});
    ASSERT_TRUE(program->wait_out("ready program=")) << program->err_text();
    ASSERT_TRUE(await([] { return vip("a", "vip-0").value("unfit", "") == "NotPermitted"; })) << page("a").dump();
    const std::string missing = right == "net_raw" ? "CAP_NET_RAW" : "CAP_NET_ADMIN";
    EXPECT_THAT(vip("a", "vip-0").value("reason", ""), HasSubstr(missing));
    EXPECT_TRUE(program->wait_err("cannot hold a virtual address vip=default/vip-0 address=192.0.2.100"))
        << program->err_text();
    EXPECT_EQ(ask("192.0.2.1", kOpen), "");
    EXPECT_FALSE(has_address("a", kAddress));
    program->send_signal(SIGTERM);
    EXPECT_EQ(program->wait_exit(), 0) << program->err_text();
  }
}

TEST_F(VipPrograms, CommandsMoveAnAddressAndShowWhoHoldsIt) {
  write_site(1, "{edge: \"yes\"}");
  start_control();
  start_agents();
  ASSERT_TRUE(await([] { return !holder().empty() && served(kAddress, kWeb); }));
  const std::string first = holder();
  const std::string second = first == "c" ? "a" : "c";
  // The controller may not have heard yet who holds it.
  shows("vip move vip-0 --to " + second, "^agent " + first + " gives default/vip-0 away to " + second);
  ASSERT_TRUE(await([&] { return holder() == second && served(kAddress, kWeb); }));
  const std::string node = "node-" + second;
  shows("get vips -o wide", "default +vip-0 +192\\.0\\.2\\.100/24 +L2ARP +True +" + node);
  // A status that was not written before the move says nothing of the node before.
  shows("describe vip vip-0",
        "Moved[^\\n]* node " + node + " holds it(, node node-" + first + " did before)?: Offered, epoch 2");
  shows("agent vips " + second, "default +vip-0 +192\\.0\\.2\\.100 +yes +2 +eth0 +Offered");
  shows("agent vips " + first, "default +vip-0 +192\\.0\\.2\\.100 +no +2 +<none> +Taken");
  shows("agents describe " + second, "VIPs:\nNAMESPACE[^\n]*\ndefault +vip-0 +192\\.0\\.2\\.100 +yes +2");
  shows("status", second + " +" + node + " [^\n]* 192\\.0\\.2\\.100 ");
  shows("metrics vips", "default/vip-0 +192\\.0\\.2\\.100/24 +default/public");
  shows("explain http://shop.example:8080/", "node +" + node + " \\(ProxyVIP default/vip-0\\)");

  EXPECT_THAT(edgectl("agents drain " + second), HasSubstr("takes none until `edgectl agents undrain`"));
  ASSERT_TRUE(await([&] { return !holder().empty() && holder() != second && served(kAddress, kWeb); }));
  programs_[second]->send_signal(SIGTERM);
  EXPECT_EQ(programs_[second]->wait_exit(), 0) << programs_[second]->err_text();
  programs_[second] = agent(second);
  ASSERT_TRUE(programs_[second]->wait_out("ready program=")) << programs_[second]->err_text();
  ASSERT_TRUE(await([&] { return page(second).value("liveAgents", Json::array()).size() >= kNodes.size(); }));
  EXPECT_TRUE(page(second).value("drained", false)) << "over a restart, too";
  edgectl("vip move vip-0 --to " + second);
  EXPECT_NE(holder(), second) << "it takes none";
  EXPECT_THAT(edgectl("agents undrain " + second), HasSubstr("may hold addresses again"));
  ASSERT_TRUE(await([&] { return !page(second).value("drained", true); }));
  ASSERT_TRUE(await([&] {
    if (holder() != second) edgectl("vip move vip-0 --to " + second);
    return holder() == second && served(kAddress, kWeb);
  }));
}

TEST_F(VipPrograms, TheLossOfANodeMovesItsAddressesAlone) {
  constexpr std::size_t kAddresses = 6;
  write_site(kAddresses, "{edge: \"yes\"}");
  start_control();
  start_agents();
  std::vector<std::string> before(kAddresses);
  const auto even = [&] {
    for (std::size_t i = 0; i < kAddresses; ++i) before[i] = holder(ip_of(i));
    return std::ranges::all_of(kNodes, [&](const char* node) { return std::ranges::count(before, node) == 2; });
  };
  // Agents that were thought lost on a busy machine are given their share ten seconds later.
  ASSERT_TRUE(await(even) || await(even)) << page("a").dump() << page("b").dump();
  ASSERT_TRUE(await([&] { return written(before); })) << get("vips");
  const auto statuses_before = statuses();

  programs_["b"]->send_signal(SIGKILL);
  EXPECT_EQ(programs_["b"]->wait_exit(), 128 + SIGKILL);
  std::vector<std::string> after(kAddresses);
  ASSERT_TRUE(await([&] {
    for (std::size_t i = 0; i < kAddresses; ++i) after[i] = holder(ip_of(i));
    return std::ranges::none_of(after, [](const std::string& node) { return node.empty() || node == "b"; });
  }));
  ASSERT_TRUE(await([&] { return written(after); })) << get("vips");
  const auto statuses_after = statuses();
  for (std::size_t i = 0; i < kAddresses; ++i) {
    const std::string name = "vip-" + std::to_string(i);
    if (before[i] == "b") {
      // The controller may have seen before that nobody holds it. An event may follow its status later.
      std::string events;
      EXPECT_TRUE(await([&] {
        events = get("events");
        return has(events, "node node-" + after[i] + " holds it: NodeLost") ||
               has(events, "node node-" + after[i] + " holds it, node node-b did before: NodeLost");
      })) << name
          << events;
      continue;
    }
    EXPECT_EQ(after[i], before[i]) << name;
    EXPECT_EQ(statuses_after.at(name), statuses_before.at(name)) << name << " was written though nothing moved";
  }
}

}  // namespace
}  // namespace edge::test
