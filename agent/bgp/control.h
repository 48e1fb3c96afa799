// The control socket of BIRD: sends commands, and reads the state of sessions.
//
// A reply consists of lines `CODE-text` and a last one `CODE text`; a line that begins with a blank continues the
// previous code. Codes of 8000 and above are errors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/socket.h"

namespace edge::agent::bgp {

/// The state of a session in BIRD.
struct Heard {
  std::string state;            ///< `Established`, `Connect`, `Active`, `Idle`, ...; `Down` while it is waiting
  std::int64_t since_ms = 0;    ///< since 1970; 0: unknown
  std::string last_error;       ///< empty: none
  std::uint64_t announced = 0;  ///< prefixes
};

/// For one thread. Each call takes two seconds at most.
class Control {
 public:
  /// Connects. `directory`: of the socket, a descriptor. kUnavailable: BIRD is not listening.
  static Result<Control> open(int directory, const char* name);

  /// Returns the lines of the reply, without codes. kFailedPrecondition: an error, with BIRD's text.
  Result<std::string> ask(std::string_view command);

 private:
  explicit Control(net::Fd fd) : fd_(std::move(fd)) {}
  Result<std::string> reply();

  net::Fd fd_;
  std::string read_;
};

/// Parses the reply to `show protocols all`, by name of the protocol.
std::map<std::string, Heard> read_sessions(std::string_view reply);
/// Parses the reply to `show bfd sessions`: `Up`, `Down`, `Init` or `AdminDown` by address of the peer.
std::map<std::string, std::string> read_bfd(std::string_view reply);

}  // namespace edge::agent::bgp
