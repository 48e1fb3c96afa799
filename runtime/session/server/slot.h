// The listening slots of a server: one for each address and port that a program has a bind for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "program/format/format.h"
#include "runtime/match/load.h"
#include "runtime/session/server.h"

namespace edge::runtime {

/// A listener's slot. Slots are never reused, so that a session can refer to its own for ever.
struct ListenerSlot {
  bool udp = false;
  bool any_address = false;
  IpAddress address;
  std::uint16_t port = 0;
  std::uint16_t bound_port = 0;
  bool open = false;
  std::uint32_t bind = program::kNone;
  std::string listener{};
  std::optional<ListenFault> fault{};  ///< why clients do not reach it; with kAddress it may be open all the same
  std::string fault_text{};

  /// Returns a new one, which is not open.
  static ListenerSlot of(const program::BindRecord& bind);
  /// Returns whether it is one of the same protocol, address and port.
  bool is_like(const ListenerSlot& other) const;
  /// Sets its fault to the reason why it cannot be opened.
  void fail(const Error& error);
  /// Of an open one: sets or clears its fault by whether its address, which may have been bound ahead, is there.
  void look_for_address();
  /// `10.0.0.1 port 443`, for messages.
  std::string where() const;
};

/// Sockets of a slot that is being opened: at least one a thread, more where a process with more of them was there.
struct OpeningSlot {
  std::uint32_t slot;
  std::vector<net::Fd> sockets{};
  bool udp = false;
  bool adopted = false;
};

/// Returns the indices of the bind's listeners, ascending.
std::vector<std::uint32_t> listeners_of(const LoadedProgram& program, const program::BindRecord& bind);

/// By slot: the bind that it has in the program, kNone where it has none.
std::vector<std::uint32_t> binds_of(const std::vector<ListenerSlot>& slots);

}  // namespace edge::runtime
