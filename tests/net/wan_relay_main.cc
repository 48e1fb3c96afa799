// The relay as a program, for tests that are not in C++:
//
//   wan_relay [--seed N] [--offload-off INTERFACE]... [--line NAME=INNER,OUTER]...
//
// Commands are lines of standard input; each is answered by a line: `ok`, JSON, or `error: ...`. The end of the input
// ends it. `--offload-off` alone does only that.
//
//   set LINE up|down|both [delay=40ms] [jitter=5ms] [loss=0.5%] [burst=4] [rate=10mbit] [queue=100ms] [mtu=1400]
//   [blackhole] figures LINE up|down forget
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/net/wan_relay.h"

namespace edge::test {
namespace {

std::string to_json(const WanFigures& figures) {
  std::ostringstream out;
  out << "{\"arrived\": " << figures.arrived << ", \"forwarded\": " << figures.forwarded
      << ", \"lost\": " << figures.lost << ", \"overflowed\": " << figures.overflowed
      << ", \"tooLong\": " << figures.too_long << ", \"swallowed\": " << figures.swallowed
      << ", \"bytes\": " << figures.bytes << ", \"delayNs\": " << figures.delay.count()
      << ", \"jitterNs\": " << figures.jitter.count() << "}";
  return out.str();
}

std::string obey(WanRelay& relay, const std::string& command) {
  std::istringstream words(command);
  std::string verb;
  std::string line;
  std::string way;
  words >> verb >> line >> way;
  if (verb == "forget") {
    relay.forget();
    return "ok";
  }
  if (way != "up" && way != "down" && way != "both") return "error: " + command;
  const Way one = way == "down" ? Way::kDown : Way::kUp;
  if (verb == "figures") return to_json(relay.figures(line, one));
  std::string rest;
  std::getline(words, rest);
  const auto path = parse_wan_path(rest);
  if (verb != "set" || !path) return "error: " + (path ? command : path.error().text);
  const bool known = way == "both" ? relay.set(line, *path) : relay.set(line, one, *path);
  return known ? "ok" : "error: no line " + line;
}

int relay(const std::vector<std::string>& arguments) {
  std::vector<WanLine> lines;
  std::uint64_t seed = 1;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const std::string& value = arguments[i + 1];
    if (arguments[i] == "--seed") seed = std::stoull(value);
    if (arguments[i] == "--offload-off") {
      if (const Status done = turn_off_offloads(value); !done) return std::cerr << done.error().text << "\n", 1;
    }
    if (arguments[i] != "--line") continue;
    const std::size_t equals = value.find('=');
    const std::size_t comma = value.find(',', equals);
    if (equals == std::string::npos || comma == std::string::npos) return std::cerr << "NAME=INNER,OUTER: " << value, 2;
    lines.push_back({value.substr(0, equals), value.substr(equals + 1, comma - equals - 1), value.substr(comma + 1)});
  }
  if (lines.empty()) return 0;
  const auto started = WanRelay::start(lines, seed);
  if (!started) return std::cerr << started.error().text << "\n", 1;
  std::cout << "ready" << std::endl;
  for (std::string command; std::getline(std::cin, command);) std::cout << obey(**started, command) << std::endl;
  return 0;
}

}  // namespace
}  // namespace edge::test

int main(int count, char** arguments) { return edge::test::relay({arguments + 1, arguments + count}); }
