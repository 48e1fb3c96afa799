// What /metrics said once, asked series by series.
#pragma once

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/proxy_process.h"

namespace edge::test {

class Scraped {
 public:
  explicit Scraped(int port) : text_("\n" + curl(port, "/metrics") + "\n") {}

  /// As it stands there, `none` where it does not. `series`: `name`, or `name{label="value"}`.
  std::string operator[](const std::string& series) const {
    const std::string begin = "\n" + series + " ";
    const std::size_t at = text_.find(begin);
    if (at == std::string::npos) return "none";
    return text_.substr(at + begin.size(), text_.find('\n', at + 1) - at - begin.size());
  }
  double number(const std::string& series) const { return std::strtod((*this)[series].c_str(), nullptr); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Scrapes until a series has this value: what is counted behind an answer's back comes soon. \returns what it said
/// last.
inline std::string comes_to(int port, const std::string& series, const std::string& wanted) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  std::string said = Scraped(port)[series];
  while (said != wanted && std::chrono::steady_clock::now() < end) said = Scraped(port)[series];
  return said;
}

/// Scrapes until a series, or the sum of several, is at least this. \returns what it was last.
inline double reaches(int port, const std::vector<std::string>& series, double least) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  for (;;) {
    const Scraped scraped(port);
    double sum = 0;
    for (const std::string& one : series) sum += scraped.number(one);
    if (sum >= least || std::chrono::steady_clock::now() >= end) return sum;
  }
}

/// What was counted by now. A text is up to a second old once making them took its share of one (daemon/scrapes.h), as
/// under a sanitizer; and a session counts what it did before it ends, and after its answer went out.
inline Scraped settled(int port) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  std::this_thread::sleep_for(std::chrono::milliseconds(1050));
  for (;;) {
    Scraped scraped(port);
    if (scraped["edge_connections_active"] == "0" || std::chrono::steady_clock::now() >= end) return scraped;
  }
}

}  // namespace edge::test
