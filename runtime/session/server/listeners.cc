// Listening sockets of a Server: opened, shared out to its threads, closed, handed to another process.
#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "net/socket.h"
#include "program/values/certificate_file.h"
#include "runtime/session/server/impl.h"

namespace edge::runtime {
namespace {

std::string first_listener(const LoadedProgram& program, const program::BindRecord& bind) {
  const std::vector<std::uint32_t> all = listeners_of(program, bind);
  if (all.empty()) return {};
  return std::string(program.listeners_section().string(program.listener(all.front()).record->name));
}

/// Which secret, and why, stands in the agent's log.
/// `no certificate can be shown; every handshake is refused: file /etc/edge/site.crt`
std::string no_certificate(const program::SectionView& section, const program::ListenerRecord& listener) {
  constexpr std::size_t kMostNamed = 3;
  std::string text = "no certificate can be shown; every handshake is refused";
  std::size_t named = 0;
  for (const program::ListenerTlsRecord& tls : section.array(listener.tls)) {
    for (const program::SecretRecord& record : section.array(tls.certificates)) {
      if (named == kMostNamed) return text + ", ...";
      text += named++ == 0 ? ": " : ", ";
      text += program::certificate_text(section.string(record.name_space), section.string(record.name));
    }
  }
  return text;
}

}  // namespace

std::vector<OpeningSlot> Server::Impl::open_binds(std::vector<ListenerSlot>& next, const LoadedProgram& of) {
  std::vector<OpeningSlot> openings;
  for (ListenerSlot& slot : next) slot.bind = program::kNone;
  for (std::uint32_t i = 0; i < of.binds().size(); ++i) {
    const program::BindRecord& bind = of.binds()[i];
    const ListenerSlot wanted = ListenerSlot::of(bind);
    auto slot = std::ranges::find_if(next, [&](const ListenerSlot& s) {
      return (s.open || s.fault) && s.bind == program::kNone && s.is_like(wanted);
    });
    if (slot == next.end()) slot = next.insert(next.end(), wanted);
    if (!slot->open) {
      openings.push_back({static_cast<std::uint32_t>(slot - next.begin())});
      open(*slot, openings.back(), next);
    }
    slot->bind = i;
    slot->listener = first_listener(of, bind);
  }
  return openings;
}

std::vector<net::Fd> Server::Impl::adopted_sockets(const ListenerSlot& slot) {
  const auto found = std::find_if(adopted.begin(), adopted.end(), [&](const ListeningSockets& sockets) {
    return sockets.udp == slot.udp && sockets.any_address == slot.any_address && sockets.address == slot.address &&
           sockets.port == slot.port;
  });
  return found == adopted.end() ? std::vector<net::Fd>() : std::move(found->sockets);
}

void Server::Impl::open(ListenerSlot& slot, OpeningSlot& opening, const std::vector<ListenerSlot>& all) {
  if (const Status opened = open_sockets(slot, opening, all); !opened) {
    opening.sockets.clear();
    slot.fail(opened.error());
    return;
  }
  slot.open = true;
  slot.look_for_address();
}

Status Server::Impl::open_sockets(ListenerSlot& slot, OpeningSlot& opening, const std::vector<ListenerSlot>& all) {
  const std::optional<IpAddress> address = slot.any_address ? std::nullopt : std::optional(slot.address);
  std::uint16_t port = shared.options.ephemeral_ports ? 0 : slot.port;
  opening.sockets = adopted_sockets(slot);
  const bool taken_over = !opening.sockets.empty();
  if (taken_over) port = net::local_address(opening.sockets[0].get()).port;
  // The process before us may not have asked for it.
  if (!slot.udp) {
    for (const net::Fd& socket : opening.sockets) net::keep_alive(socket.get());
  }
  // SO_REUSEPORT would let us share the port with another process of this user, in silence. Our own sockets on other
  // addresses of this port are no such process.
  const bool shared_with_us = std::ranges::any_of(
      all, [&](const ListenerSlot& other) { return other.open && other.udp == slot.udp && other.port == slot.port; });
  const auto taken = slot.udp ? net::udp_port_taken : net::port_taken;
  if (!taken_over && port != 0 && !shared_with_us && taken(address, port)) {
    return Error{ErrorCode::kAlreadyExists, "cannot listen on " + slot.where() + ": in use by another process"};
  }
  // Another socket of UDP would move flows from the others.
  while (opening.sockets.size() < workers.size() && !(slot.udp && taken_over)) {
    const auto listen = slot.udp ? net::listen_udp : net::listen_tcp;
    Result<net::Fd> socket = listen(address, port, net::BindAhead::kYes);
    if (!socket.ok()) return socket.error();
    if (port == 0) port = net::local_address(socket->get()).port;
    opening.sockets.push_back(std::move(*socket));
  }
  slot.bound_port = port;
  opening.udp = slot.udp;
  opening.adopted = taken_over;
  return {};
}

void Server::Impl::listen(std::vector<OpeningSlot>& openings, std::size_t index, Worker& worker) const {
  for (OpeningSlot& opening : openings) {
    for (std::size_t i = index; i < opening.sockets.size(); i += workers.size()) {
      if (opening.udp) {
        worker.listen_udp(
            opening.slot, std::move(opening.sockets[i]),
            std::max<std::size_t>(1, shared.options.max_udp_sessions / opening.sockets.size()),
            opening.adopted && awaits_flows ? UdpListener::Receiving::kHeld : UdpListener::Receiving::kAtOnce);
      } else {
        worker.listen(opening.slot, std::move(opening.sockets[i]));
      }
    }
  }
}

void Server::Impl::close_unbound(std::vector<ListenerSlot>& all) {
  on_every_worker([&](std::size_t, Worker& worker) {
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (all[i].open && all[i].bind == program::kNone) worker.close_listener(i);
    }
  });
  for (ListenerSlot& slot : all) {
    if (slot.bind != program::kNone) continue;
    slot.open = false;
    slot.fault.reset();
  }
}

bool Server::recheck_listeners() {
  Impl& impl = *impl_;
  if (impl.draining) return false;
  std::vector<ListenerSlot> slots = impl.slots;
  std::vector<OpeningSlot> openings;
  bool changed = false;
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    ListenerSlot& slot = slots[i];
    if (slot.bind == program::kNone) continue;
    const auto before = std::pair(slot.fault, slot.fault_text);
    if (slot.open) {
      slot.look_for_address();
    } else {
      openings.push_back({i});
      impl.open(slot, openings.back(), slots);
    }
    changed |= before != std::pair(slot.fault, slot.fault_text);
  }
  if (!changed) return false;
  impl.on_every_worker([&](std::size_t index, Worker& worker) { impl.listen(openings, index, worker); });
  const std::lock_guard lock(impl.mutex);
  impl.slots = std::move(slots);
  return true;
}

std::vector<UnboundListener> Server::unbound() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<UnboundListener> all;
  for (const ListenerSlot& slot : impl_->slots) {
    if (slot.bind == program::kNone) continue;
    const program::SectionView& section = impl_->running.program->listeners_section();
    for (const std::uint32_t index :
         listeners_of(*impl_->running.program, impl_->running.program->binds()[slot.bind])) {
      const bool refuses = impl_->running.tls->shows_nothing(index);
      if (!slot.fault && !refuses) continue;
      const LoadedListener& listener = impl_->running.program->listener(index);
      all.push_back({.gateway_id = listener.gateway->id,
                     .name_space = std::string(section.string(listener.gateway->name_space)),
                     .gateway = std::string(section.string(listener.gateway->name)),
                     .listener = std::string(section.string(listener.record->name)),
                     .any_address = slot.any_address,
                     .address = slot.address,
                     .port = slot.port,
                     .fault = slot.fault.value_or(ListenFault::kCertificate),
                     .reason = slot.fault ? slot.fault_text : no_certificate(section, *listener.record)});
    }
  }
  return all;
}

std::vector<ListeningSockets> Server::share_listeners() {
  std::vector<ListeningSockets> all;
  for (std::uint32_t i = 0; i < impl_->slots.size(); ++i) {
    const ListenerSlot& slot = impl_->slots[i];
    if (!slot.open) continue;
    ListeningSockets listening{slot.udp, slot.any_address, slot.address, slot.port, {}};
    std::mutex mutex;
    impl_->on_every_worker([&](std::size_t, Worker& worker) {
      const std::lock_guard lock(mutex);
      worker.share_listener(i, listening.sockets);
    });
    all.push_back(std::move(listening));
  }
  return all;
}

void Server::adopt(std::vector<ListeningSockets> sockets) {
  impl_->adopted = std::move(sockets);
  impl_->awaits_flows = true;
}

std::vector<BoundAddress> Server::addresses() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<BoundAddress> result;
  for (const ListenerSlot& slot : impl_->slots) {
    if (slot.open) result.push_back({slot.bind, slot.address, slot.bound_port, slot.listener});
  }
  return result;
}

}  // namespace edge::runtime
