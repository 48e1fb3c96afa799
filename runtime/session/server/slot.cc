#include "runtime/session/server/slot.h"

#include <algorithm>
#include <iterator>

#include "net/socket.h"

namespace edge::runtime {
namespace {

ListenFault fault_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kPermissionDenied:
      return ListenFault::kPort;
    case ErrorCode::kNotFound:
      return ListenFault::kAddress;
    default:
      return ListenFault::kOther;
  }
}

}  // namespace

ListenerSlot ListenerSlot::of(const program::BindRecord& bind) {
  ListenerSlot slot{.udp = bind.protocol == program::Protocol::kUdp,
                    .any_address = bind.any_address != 0,
                    .address = {},
                    .port = bind.port};
  if (!slot.any_address) std::copy(std::begin(bind.address), std::end(bind.address), slot.address.bytes.begin());
  return slot;
}

bool ListenerSlot::is_like(const ListenerSlot& other) const {
  return udp == other.udp && any_address == other.any_address && address == other.address && port == other.port;
}

void ListenerSlot::fail(const Error& error) {
  fault = fault_of(error);
  fault_text = error.text;
}

void ListenerSlot::look_for_address() {
  fault.reset();
  fault_text.clear();
  if (any_address || net::address_present(address)) return;
  fault = ListenFault::kAddress;
  fault_text = "listens on " + where() + " ahead: the node does not have this address";
}

std::string ListenerSlot::where() const {
  return (any_address ? "every address" : to_string(address)) + (udp ? " UDP port " : " port ") + std::to_string(port);
}

std::vector<std::uint32_t> listeners_of(const LoadedProgram& program, const program::BindRecord& bind) {
  std::vector<std::uint32_t> all = {bind.listeners.fallback};
  for (const program::NameEntry& entry : program.listeners_section().array(bind.listeners.entries)) {
    all.push_back(entry.exact);
    all.push_back(entry.wildcard);
  }
  std::erase(all, program::kNone);
  std::ranges::sort(all);
  const auto doubles = std::ranges::unique(all);
  all.erase(doubles.begin(), doubles.end());
  return all;
}

std::vector<std::uint32_t> binds_of(const std::vector<ListenerSlot>& slots) {
  std::vector<std::uint32_t> binds;
  binds.reserve(slots.size());
  for (const ListenerSlot& slot : slots) binds.push_back(slot.bind);
  return binds;
}

}  // namespace edge::runtime
