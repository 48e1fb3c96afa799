// Our ends of STAMP as a program, for script/check-stamp:
//
//   stamp_peer reflect PORT SESSION [KEY]           answers until its standard input ends, then says what it has
//   answered stamp_peer ask ADDRESS PORT SESSION COUNT [KEY] asks every 20 ms, then says what was answered, in JSON
//
// KEY: 32 bytes in hex; without it the packets are in open mode.
#include <sys/epoll.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "agent/wan/probe_path.h"
#include "agent/wan/reflector.h"

namespace edge::agent::wan {
namespace {

std::string key_of(const std::string& hex) {
  std::string key;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    key += static_cast<char>(std::strtoul(hex.substr(i, 2).c_str(), nullptr, 16));
  }
  return key;
}

std::uint16_t number_of(const std::string& text) {
  return static_cast<std::uint16_t>(std::strtoul(text.c_str(), nullptr, 10));
}

int reflect(const std::vector<std::string>& words) {
  auto reflector = Reflector::open(number_of(words[1]));
  if (!reflector) return std::fprintf(stderr, "%s\n", reflector.error().text.c_str()), 1;
  reflector->set_sessions({{number_of(words[2]), words.size() > 3 ? key_of(words[3]) : std::string()}});
  std::printf("ready\n");
  std::fflush(stdout);
  for (;;) {
    std::array<pollfd, 2> polled{{{reflector->fd(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    ::poll(polled.data(), polled.size(), -1);
    reflector->work();
    char byte = 0;
    if (polled[1].revents != 0 && ::read(STDIN_FILENO, &byte, 1) <= 0) break;
  }
  const ReflectorFigures& figures = reflector->figures();
  std::printf("{\"answered\": %llu, \"forged\": %llu, \"unknown\": %llu, \"replayed\": %llu}\n",
              static_cast<unsigned long long>(figures.answered), static_cast<unsigned long long>(figures.forged),
              static_cast<unsigned long long>(figures.unknown), static_cast<unsigned long long>(figures.replayed));
  return 0;
}

int ask(const std::vector<std::string>& words) {
  const auto address = parse_ip(words[1]);
  if (!address) return 2;
  const auto count = static_cast<std::uint32_t>(std::strtoul(words[4].c_str(), nullptr, 10));
  const net::Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  PathSpec spec;
  spec.route.to = {*address, number_of(words[2])};
  spec.session = number_of(words[3]);
  spec.key = words.size() > 5 ? key_of(words[5]) : std::string();
  spec.probe = {.interval = std::chrono::milliseconds(20), .timeout = std::chrono::milliseconds(500), .window = count};
  ProbePath path(spec, {}, epoll.get(), 1);
  const auto hear = [&](Time until) {
    for (Time now = boot_now(); now < until; now = boot_now()) {
      epoll_event event{};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
      if (::epoll_wait(epoll.get(), &event, 1, static_cast<int>(left.count())) == 1) {
        path.ready(static_cast<int>(event.data.u64 & 0xffff'ffffU));
      }
    }
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    path.send(boot_now());
    hear(boot_now() + spec.probe.interval);
  }
  hear(boot_now() + spec.probe.timeout);
  // The figures are computed when they are due.
  hear(boot_now() + std::chrono::milliseconds(1));
  path.advance(boot_now() + std::chrono::seconds(10));
  const Quality& found = path.quality();
  std::printf("{\"probes\": %u, \"answered\": %u, \"latencyUs\": %lld}\n", found.probes, found.answered,
              static_cast<long long>(found.latency.count() / 1000));
  return 0;
}

int run(const std::vector<std::string>& words) {
  if (words.size() >= 3 && words[0] == "reflect") return reflect(words);
  if (words.size() >= 5 && words[0] == "ask") return ask(words);
  return 2;
}

}  // namespace
}  // namespace edge::agent::wan

int main(int count, char** arguments) { return edge::agent::wan::run({arguments + 1, arguments + count}); }
