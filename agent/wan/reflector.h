// The session-reflector of STAMP (RFC 8762 section 4.3), stateful: it answers the sessions that it is told of, and
// nobody else.
//
// What is no query of a session is dropped before its HMAC is computed; a query that was seen before, or is older than
// those seen, is dropped; and a session is answered so many times a second at most, with as many octets as it sent.
// So a recorded or forged packet costs at most its reading.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/wan/probe_socket.h"

namespace edge::agent::wan {

struct AnswerSession {
  std::uint16_t number = 0;
  std::string key{};  ///< 32 bytes; empty: open mode
  friend bool operator==(const AnswerSession&, const AnswerSession&) = default;
};

/// Packets of one session that are answered in a second, and at once.
inline constexpr double kAnswersASecond = 500;
inline constexpr double kAnswersAtOnce = 100;
/// A query that is so much older than the newest is not answered.
inline constexpr std::int64_t kOldestQuery = 2'000'000'000;
/// After so long without a query the first one may have any time: the clock of its sender may have been set.
inline constexpr Time kForgetsTime = std::chrono::seconds(60);

struct ReflectorFigures {
  std::uint64_t answered = 0;
  std::uint64_t unknown = 0;   ///< of no session, or no packets of STAMP
  std::uint64_t forged = 0;    ///< with a wrong HMAC
  std::uint64_t replayed = 0;  ///< seen before, or too old
  std::uint64_t limited = 0;   ///< beyond kAnswersASecond
};

/// For one thread.
class Reflector {
 public:
  static Result<Reflector> open(std::uint16_t port);

  /// What is known of a session that stays is kept.
  void set_sessions(const std::vector<AnswerSession>& sessions);
  /// Answers what waits, up to a number of packets; the rest is for the next call.
  void work();

  int fd() const { return fd_.get(); }
  const ReflectorFigures& figures() const { return figures_; }

 private:
  static constexpr std::size_t kSeen = 64;
  struct Session {
    std::string key;
    std::uint32_t count = 0;
    std::int64_t newest = 0;  ///< time of sending, of those answered
    std::array<std::int64_t, kSeen> seen{};
    std::size_t next_seen = 0;
    Time last{};    ///< answered
    Time filled{};  ///< `tokens`, until then
    double tokens = kAnswersAtOnce;
  };

  explicit Reflector(net::Fd fd) : fd_(std::move(fd)) {}
  void answer(const ReceivedProbe& probe, std::string_view packet);
  static bool is_fresh(Session& session, std::int64_t sent, Time now);
  static bool may_answer(Session& session, Time now);

  net::Fd fd_;
  std::unordered_map<std::uint16_t, Session> sessions_;
  ReflectorFigures figures_;
};

}  // namespace edge::agent::wan
