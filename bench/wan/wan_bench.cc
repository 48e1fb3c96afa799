// What the SD-WAN costs: the CPU of a probe (sent, and counted when a reflector in another process has answered), that
// of an answer, and the time of a plan for 200 sites with 1,000 links.
//
//   wan_bench [LINKS [SECONDS]]
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <unistd.h>

#include "agent/wan/measurer.h"
#include "compiler/link/wan/steering.h"
#include "controller/sdwan/wan_plan.h"

namespace edge {
namespace {

using std::chrono::milliseconds;

double cpu_seconds(int who) {
  rusage used{};
  ::getrusage(who, &used);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + time.tv_usec / 1e6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Every link has one tunnel, over the loopback.
agent::wan::Measured loop(unsigned links, agent::wan::Time interval) {
  agent::wan::Measured measured;
  measured.reflector_port = 18'620;
  agent::wan::MeasuredPolicy all{.id = "all", .settings = {}, .limits = {.loss = 0.005, .latency = milliseconds(80)}};
  for (unsigned i = 1; i <= links; ++i) {
    const std::string id = "n/link-" + std::to_string(i);
    measured.links.push_back({.id = id, .interface = "lo", .probe = {interval, milliseconds(500), 1000}});
    all.links.push_back(id);
    const std::string key = std::string(28, 'k') + std::to_string(1000 + i);
    measured.tunnels.push_back({.link = id,
                                .peer_site = "n/peer-" + std::to_string(i % 200),
                                .peer_link = "n/far",
                                .interface = "lo",
                                .peer_overlay = *parse_ip("127.0.0.1"),
                                .query_session = static_cast<std::uint16_t>(i),
                                .query_key = key,
                                .answer_session = static_cast<std::uint16_t>(i),
                                .answer_key = key});
  }
  measured.policies.push_back(std::move(all));
  return measured;
}

constexpr std::chrono::seconds kSettle(5);

/// In a process of its own: answers for as long as the other one asks.
int answer(unsigned links, unsigned seconds) {
  auto measurer = agent::wan::Measurer::start({});
  if (!measurer) return 1;
  (*measurer)->set(loop(links, std::chrono::hours(1)));
  std::this_thread::sleep_for(kSettle);
  const auto before = (*measurer)->state().reflector;
  const double began = cpu_seconds(RUSAGE_SELF);
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const double used = cpu_seconds(RUSAGE_SELF) - began;
  const double answered = static_cast<double>((*measurer)->state().reflector.answered - before.answered);
  std::printf("answers: %.0f a second, %.2f us of CPU each\n", answered / seconds, used / answered * 1e6);
  std::fflush(stdout);
  // Longer than the other one asks.
  std::this_thread::sleep_for(kSettle);
  return 0;
}

int probes(unsigned links, unsigned seconds) {
  std::fflush(stdout);
  const pid_t other = ::fork();
  if (other == 0) std::_Exit(answer(links, seconds));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  auto measurer = agent::wan::Measurer::start({});
  if (!measurer) return std::fprintf(stderr, "%s\n", measurer.error().text.c_str()), 1;
  // The port of its own reflector is taken: it asks alone.
  (*measurer)->set(loop(links, milliseconds(100)));
  std::this_thread::sleep_for(kSettle);
  const double began = cpu_seconds(RUSAGE_SELF);
  std::this_thread::sleep_for(std::chrono::seconds(seconds - 2));
  const double used = (cpu_seconds(RUSAGE_SELF) - began) / (seconds - 2);
  unsigned alive = 0;
  for (const auto& tunnel : (*measurer)->state().tunnels) alive += tunnel.alive ? 1 : 0;
  std::printf("probes: %u links, 10 a second each, %u alive, %.2f us of CPU a probe, %.1f%% of a core\n", links, alive,
              used / (links * 10) * 1e6, used * 100);
  int status = 0;
  ::waitpid(other, &status, 0);
  return status;
}

int plan() {
  compiler::LinkedWan wan;
  for (std::uint32_t site = 0; site < 200; ++site) {
    auto& one = wan.sites.emplace_back();
    one.id = {.kind = "Site", .name_space = "n", .name = "site-" + std::to_string(site), .span = {}};
    one.hub = site < 2;
    one.overlay = {.address = *parse_ip("100.64." + std::to_string(site) + ".1"), .prefix_length = 120};
    one.node_selector = {{"site", one.id.name}};
    one.prefixes = {*parse_cidr("10." + std::to_string(site) + ".0.0/16")};
    for (int link = 0; link < 5; ++link) {
      auto& uplink = wan.links.emplace_back();
      uplink.id = {.kind = "WANLink", .name_space = "n", .name = one.id.name + "-" + std::to_string(link), .span = {}};
      uplink.site = site;
      uplink.address = *parse_ip("198.51.100." + std::to_string(site));
    }
  }
  for (int policy = 0; policy < 10; ++policy) {
    auto& one = wan.policies.emplace_back();
    one.id = {.kind = "WANPolicy", .name_space = "n", .name = "policy-" + std::to_string(policy), .span = {}};
    for (std::uint32_t site = 0; site < 200; ++site) one.sites.push_back(site);
    one.matches = {{.ports = {static_cast<std::uint16_t>(5000 + policy)}}};
    one.strategy = "LowestLatency";
  }
  const auto cpu = [](const auto& work) {
    const double began = cpu_seconds(RUSAGE_THREAD);
    work();
    return (cpu_seconds(RUSAGE_THREAD) - began) * 1000;
  };
  const double table = cpu([&] { compiler::make_steering(wan); });
  std::size_t bytes = 0;
  const double whole = cpu([&] {
    const controller::sdwan::WanFacts facts{.master = std::string(32, 'm'), .now = std::chrono::system_clock::now()};
    for (const auto& site : controller::sdwan::plan_wan(wan, facts)) bytes += site.message.size();
  });
  std::printf("plan: 200 sites, 1,000 links, 10 policies: table %.1f ms, all assignments %.1f ms of CPU, %zu KiB\n",
              table, whole, bytes >> 10);
  return 0;
}

}  // namespace
}  // namespace edge

int main(int count, char** arguments) {
  const unsigned links = count > 1 ? static_cast<unsigned>(std::atoi(arguments[1])) : 1000;
  const unsigned seconds = count > 2 ? static_cast<unsigned>(std::max(5, std::atoi(arguments[2]))) : 20;
  return edge::plan() + edge::probes(links, seconds);
}
