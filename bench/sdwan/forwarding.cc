// Packets that an agent's node forwards from a host to one at another site, against the same with two bare
// wireguard-go: without marks, table of connections, policies and compared state. docs/benchmarks.md. Needs root.
//
//   host 10.20.1.2 -- a ==== tunnel ==== b 10.30.0.1
#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "agent/wan/node/node.h"
#include "agent/wan/tunnel/wireguard.h"

namespace edge::bench {
namespace {

using namespace agent::wan;
using Clock = std::chrono::steady_clock;

constexpr auto kRound = std::chrono::seconds(3);
constexpr std::uint16_t kSink = 9000;

std::string space(const std::string& name) { return "edge-sdwan-" + std::to_string(::getpid()) + "-" + name; }

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

void must(const std::string& command) {
  if (run(command)) return;
  std::fprintf(stderr, "failed: %s\n", command.c_str());
  std::exit(1);
}

void in(const std::string& name, const std::function<void()>& work) {
  std::thread([&] {
    const net::Fd fd(::open(("/var/run/netns/" + space(name)).c_str(), O_RDONLY | O_CLOEXEC));
    if (::setns(fd.get(), CLONE_NEWNET) != 0) std::exit(1);
    work();
  }).join();
}

/// The namespaces and their links; gone at the end.
class World {
 public:
  World() {
    for (const char* const name : {"host", "a", "b"}) {
      must("ip netns add " + space(name));
      must("ip -n " + space(name) + " link set lo up");
    }
    link("host", "10.20.1.2/24", "a", "10.20.1.1/24", "lan0");
    link("a", "10.77.1.1/24", "b", "10.77.1.2/24", "wan0");
    must("ip -n " + space("host") + " route add default via 10.20.1.1");
    must("ip -n " + space("b") + " addr add 10.30.0.1/32 dev lo");
    for (const char* const name : {"a", "b"}) must("ip netns exec " + space(name) + " sysctl -w net.ipv4.ip_forward=1");
  }
  ~World() {
    for (const char* const name : {"host", "a", "b"}) run("ip netns del " + space(name));
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

 private:
  static void link(const std::string& one, const std::string& of_one, const std::string& other,
                   const std::string& of_other, const std::string& name) {
    must("ip -n " + space(one) + " link add " + name + " type veth peer name " + name + " netns " + space(other));
    must("ip -n " + space(one) + " addr add " + of_one + " dev " + name);
    must("ip -n " + space(other) + " addr add " + of_other + " dev " + name);
    for (const std::string& end : {one, other}) must("ip -n " + space(end) + " link set " + name + " up");
  }
};

WireGuardKey key_of(const std::string& site) {
  WireGuardKey key{};
  key.fill(static_cast<std::uint8_t>(site.front()));
  return key;
}

std::string other_of(const std::string& site) { return site == "a" ? "b" : "a"; }
Cidr network_of(const std::string& site) { return *parse_cidr(site == "a" ? "10.20.0.0/16" : "10.30.0.0/16"); }
IpAddress overlay_of(const std::string& site) { return *parse_ip(site == "a" ? "100.64.0.1" : "100.64.0.2"); }
IpAddress outside_of(const std::string& site) { return *parse_ip(site == "a" ? "10.77.1.1" : "10.77.1.2"); }

WantedNode node_of(const std::string& site) {
  const std::string other = other_of(site);
  const std::string own_id = "bench-" + std::to_string(::getpid()) + "/" + site;
  WantedNode node;
  node.tunnels.site = own_id;
  node.tunnels.overlay = {overlay_of(site), 128};
  node.tunnels.prefixes = {network_of(site)};
  node.tunnels.private_keys = {{1, key_of(site)}};
  node.tunnels.uplinks = {{.id = "wan", .interface = "wan0"}};
  node.tunnels.peers = {{.id = other,
                         .overlay = overlay_of(other),
                         .prefixes = {network_of(other)},
                         .keys = {{1, public_key(key_of(other)).value_or(WireGuardKey{})}}}};
  node.tunnels.tunnels = {{"wan", other, "wan", 51820, {{outside_of(other), 51820}}}};
  node.policies = {{.id = "voice", .drops = true, .links = {"wan"}}, {.id = "", .links = {"wan"}}};
  node.rules = {{.policy = 0, .protocols = {SteerProtocol::kUdp}, .ports = {5060}}};
  return node;
}

/// Megabits a second of one TCP connection from the host to b, for one round.
double throughput() {
  net::Fd listener;
  in("b", [&] {
    listener = net::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(kSink);
    ::inet_pton(AF_INET, "10.30.0.1", &at.sin_addr);
    if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
        ::listen(listener.get(), 8) != 0)
      std::exit(1);
  });
  net::Fd sender;
  in("host", [&] {
    sender = net::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(kSink);
    ::inet_pton(AF_INET, "10.30.0.1", &to.sin_addr);
    const auto until = Clock::now() + std::chrono::seconds(60);
    while (::connect(sender.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      if (Clock::now() > until) std::exit(1);
      sender = net::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    }
  });
  const net::Fd receiver(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  std::atomic<bool> over = false;
  std::thread writer([&] {
    std::vector<char> block(256 << 10);
    while (!over && ::send(sender.get(), block.data(), block.size(), MSG_NOSIGNAL) > 0) {
    }
    ::shutdown(sender.get(), SHUT_RDWR);
  });
  std::vector<char> block(256 << 10);
  std::uint64_t bytes = 0;
  const auto began = Clock::now();
  while (Clock::now() - began < kRound) {
    const ssize_t size = ::recv(receiver.get(), block.data(), block.size(), 0);
    if (size <= 0) break;
    bytes += static_cast<std::uint64_t>(size);
  }
  const std::chrono::duration<double> took = Clock::now() - began;
  over = true;
  ::shutdown(receiver.get(), SHUT_RDWR);
  writer.join();
  return static_cast<double>(bytes) * 8 / 1e6 / took.count();
}

double by_agents() {
  std::array<std::unique_ptr<WanNode>, 2> nodes;
  for (const std::string site : {"a", "b"}) {
    in(site, [&] {
      auto node = WanNode::start({.log = {}, .changed = {}});
      if (!node) std::exit(1);
      (*node)->set(node_of(site));
      nodes[site == "a" ? 0 : 1] = std::move(*node);
    });
  }
  const auto ready = [](const std::unique_ptr<WanNode>& node) {
    const auto tunnels = node->state().tunnels.tunnels;
    return tunnels.size() == 1 && tunnels[0].up && tunnels[0].mtu == 1420;
  };
  while (!std::ranges::all_of(nodes, ready)) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return throughput();
}

double by_bare_programs() {
  const std::string name = "ewb" + std::to_string(::getpid() % 100'000);
  for (const std::string site : {"a", "b"}) {
    const std::string link = name + site;
    const std::string other = other_of(site);
    must("ip netns exec " + space(site) + " wireguard-go " + link);
    WireGuard wireguard(link, "/var/run/wireguard/" + link + ".sock");
    const WireGuardSettings settings{.private_key = key_of(site),
                                     .peer_key = public_key(key_of(other)).value_or(WireGuardKey{}),
                                     .port = 51820,
                                     .mark = 0,
                                     .keepalive = 25,
                                     .allowed = {network_of(other)}};
    if (!wireguard.set(settings, net::SocketAddress{outside_of(other), 51820})) std::exit(1);
    must("ip -n " + space(site) + " link set " + link + " mtu 1420 up");
    must("ip -n " + space(site) + " route add " + (site == "a" ? "10.30.0.0/16" : "10.20.0.0/16") + " dev " + link +
         " src " + (site == "a" ? "10.20.1.1" : "10.30.0.1"));
  }
  const double result = throughput();
  // The program ends with its interface.
  for (const std::string site : {"a", "b"}) must("ip -n " + space(site) + " link del " + name + site);
  return result;
}

int measure(int pairs) {
  const World world;
  std::vector<double> ratios;
  for (int pair = 0; pair < pairs; ++pair) {
    // Which comes first takes turns: the load beside it may change.
    double own = 0;
    double bare = 0;
    if (pair % 2 == 0) own = by_agents();
    bare = by_bare_programs();
    if (pair % 2 != 0) own = by_agents();
    ratios.push_back(own / bare);
    std::printf("%2d  agents %7.1f  bare %7.1f Mbit/s  ratio %.3f\n", pair + 1, own, bare, own / bare);
    std::fflush(stdout);
  }
  std::ranges::sort(ratios);
  std::printf("median of the ratios %.3f\n", ratios[ratios.size() / 2]);
  return 0;
}

}  // namespace
}  // namespace edge::bench

int main(int argc, char** argv) { return edge::bench::measure(argc > 1 ? std::max(1, std::atoi(argv[1])) : 9); }
