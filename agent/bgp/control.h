// The control socket of BIRD: commands, and what it says of its sessions.
//
// A reply is lines `CODE-text` and a last one `CODE text`; a line that begins with a blank has the code of the one
// before. Codes of 8000 and above are refusals.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/socket.h"

namespace edge::agent::bgp {

/// What BIRD says of a session.
struct Heard {
  std::string state;            ///< `Established`, `Connect`, `Active`, `Idle`, ...; `Down` while it waits
  std::int64_t since_ms = 0;    ///< since 1970; 0: not known
  std::string last_error;       ///< empty: none
  std::uint64_t announced = 0;  ///< prefixes
};

/// Of one thread. Each call takes two seconds at most.
class Control {
 public:
  /// `directory`: of the socket, a descriptor. kUnavailable: nobody listens there.
  static Result<Control> open(int directory, const char* name);

  /// The lines of the reply, without their codes. kFailedPrecondition: BIRD refuses, with its words.
  Result<std::string> ask(std::string_view command);

 private:
  explicit Control(net::Fd fd) : fd_(std::move(fd)) {}
  Result<std::string> reply();

  net::Fd fd_;
  std::string read_;
};

/// Of the reply to `show protocols all`: by name of the protocol.
std::map<std::string, Heard> read_sessions(std::string_view reply);
/// Of the reply to `show bfd sessions`: `Up`, `Down`, `Init` or `AdminDown` by address of the peer.
std::map<std::string, std::string> read_bfd(std::string_view reply);

}  // namespace edge::agent::bgp
