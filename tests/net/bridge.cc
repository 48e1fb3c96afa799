#include "tests/net/bridge.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include "net/socket.h"

namespace edge::test {

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

std::string output(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> buffer{};
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), size);
  ::pclose(pipe);
  return text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool await(const std::function<bool()>& there) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!there()) {
    if (std::chrono::steady_clock::now() > until) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

void Bridge::SetUp() {
  if (!run("ip netns add " + space("switch"))) GTEST_SKIP() << "needs ip, and the right to make network namespaces";
  names_.emplace_back("switch");
  std::string pattern = "/tmp/edge-bridge-XXXXXX";
  directory_ = ::mkdtemp(pattern.data());
  // Routers run as users of their own.
  ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
  ASSERT_TRUE(run("ip -n " + space("switch") + " link add bridge type bridge"));
  ASSERT_TRUE(run("ip -n " + space("switch") + " link set bridge up"));
}

void Bridge::TearDown() {
  for (const std::string& name : names_) {
    run("kill -KILL $(ip netns pids " + space(name) + ")");
    run("ip netns del " + space(name));
  }
  if (!directory_.empty()) std::filesystem::remove_all(directory_);
}

void Bridge::node(const std::string& name) {
  ASSERT_TRUE(run("ip netns add " + space(name)));
  names_.push_back(name);
  ASSERT_TRUE(run("ip -n " + space(name) + " link set lo up"));
}

bool Bridge::has_node(const std::string& name) const { return std::ranges::find(names_, name) != names_.end(); }

void Bridge::attach(const std::string& name, int number) {
  const std::string own = space(name);
  const std::string last = std::to_string(number);
  ASSERT_NO_FATAL_FAILURE(node(name));
  ASSERT_TRUE(run("ip -n " + space("switch") + " link add port-" + name + " type veth peer name eth0 netns " + own));
  ASSERT_TRUE(run("ip -n " + space("switch") + " link set port-" + name + " master bridge up"));
  ASSERT_TRUE(run("ip -n " + own + " link set eth0 up"));
  ASSERT_TRUE(run("ip -n " + own + " addr add 192.0.2." + last + "/24 dev eth0"));
  has_v6_ = run("ip -n " + own + " addr add fd00:2::" + last + "/64 dev eth0 nodad");
}

std::string Bridge::space(const std::string& name) {
  // A child that a test forks means those of its parent.
  static const std::string prefix = "edge-net-" + std::to_string(::getpid()) + "-";
  return prefix + name;
}

bool Bridge::cable(const std::string& name, const std::string& state) {
  return run("ip -n " + space("switch") + " link set port-" + name + " " + state);
}

bool Bridge::enter(const std::string& name) {
  const net::Fd fd(::open(("/var/run/netns/" + space(name)).c_str(), O_RDONLY | O_CLOEXEC));
  return ::setns(fd.get(), CLONE_NEWNET) == 0;
}

void Bridge::in(const std::string& name, const std::function<void()>& work) {
  std::thread([&] {
    ASSERT_TRUE(enter(name));
    work();
  }).join();
}

bool Bridge::has_address(const std::string& name, const std::string& ip, const std::string& link) {
  return has(output("ip -n " + space(name) + " -o addr show dev " + link), " " + ip + "/");
}

}  // namespace edge::test
