// One path that is measured: its socket, its meter, and whether it keeps each of the limits that somebody asks for.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/wan/choice.h"
#include "agent/wan/fitness.h"
#include "agent/wan/path_meter.h"
#include "agent/wan/probe_socket.h"

namespace edge::agent::wan {

enum class ProbeKind : std::uint8_t { kStamp, kIcmp, kTcp };

struct PathSpec {
  ProbeKind kind = ProbeKind::kStamp;
  ProbeRoute route{};
  bool there = true;          ///< false: it is not there now, and every probe of it is lost
  std::uint16_t session = 0;  ///< of STAMP
  std::string key{};          ///< likewise; empty: open mode
  ProbeSettings probe{};
};

/// For one thread.
class ProbePath {
 public:
  /// `epoll`: where its descriptors are registered, with `id` in the upper and the descriptor in the lower half of the
  /// data. Outlives it.
  ProbePath(PathSpec spec, std::vector<Limits> limits, int epoll, std::uint32_t id);
  ~ProbePath();
  ProbePath(const ProbePath&) = delete;
  ProbePath& operator=(const ProbePath&) = delete;

  /// What was measured is kept, unless how is another.
  void change(PathSpec spec, std::vector<Limits> limits);
  /// Sends the next probe, and decides about those before.
  void send(Time now);
  /// Called when a descriptor of it is ready.
  void ready(int fd);
  /// Decides, and computes the quality anew when it is due.
  void advance(Time now);

  const PathSpec& spec() const { return spec_; }
  const PathMeter& meter() const { return meter_; }
  /// Of the limits at `index`.
  const Fitness& fitness(std::size_t index) const { return fitness_[index].second; }
  PathState state(std::size_t index) const { return path_state(meter_, fitness(index), quality_); }
  const Quality& quality() const { return quality_; }
  /// Since 1970; 0: never.
  std::int64_t last_answer_ms() const { return last_answer_ms_; }
  /// Why nothing can be sent; empty: it can.
  const std::string& fault() const { return fault_; }

 private:
  struct Connecting {
    net::Fd fd;
    std::uint32_t number = 0;
    Time sent{};
  };

  bool open();
  void close();
  void watch(int fd, std::uint32_t events) const;
  void send_query(std::uint32_t number);
  void send_echo(std::uint32_t number);
  void connect(std::uint32_t number, Time now);
  void take_reply(std::string_view packet, Time arrived);
  void take_echo(std::string_view packet, Time arrived);
  void connected(int fd);
  void answered(std::uint32_t number, Time arrived);
  void fail(const Error& why) { fault_ = why.text; }

  PathSpec spec_;
  const int epoll_;
  const std::uint32_t id_;
  PathMeter meter_;
  std::vector<std::pair<Limits, Fitness>> fitness_;
  Quality quality_{};
  Time quality_due_{};
  net::Fd fd_;
  bool raw_ = false;
  std::map<int, Connecting> connecting_;  ///< of TCP
  std::uint64_t secret_ = 0;              ///< in echo requests, so that nobody answers who has not seen one
  std::int64_t last_answer_ms_ = 0;
  std::string fault_;
};

}  // namespace edge::agent::wan
