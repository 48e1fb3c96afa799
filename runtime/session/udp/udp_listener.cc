#include "runtime/session/udp/udp_listener.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/session/udp/udp_batches.h"
#include "runtime/session/udp/udp_session.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

/// Batches that are received before others of the loop have their turn.
constexpr int kBatchesATurn = 4;
/// Of those that are received before a socket is closed: whoever floods it must not keep it open.
constexpr int kMostTurns = 100;
/// A flow that goes on keeps its session for so long, whoever else wants one.
constexpr net::Duration kLeastKept = std::chrono::seconds(5);

}  // namespace

void UdpSessionList::append(UdpSession& session) {
  session.previous_udp_ = last;
  session.next_udp_ = nullptr;
  (last == nullptr ? first : last->next_udp_) = &session;
  last = &session;
}

void UdpSessionList::remove(UdpSession& session) {
  (session.previous_udp_ == nullptr ? first : session.previous_udp_->next_udp_) = session.next_udp_;
  (session.next_udp_ == nullptr ? last : session.next_udp_->previous_udp_) = session.previous_udp_;
  session.previous_udp_ = session.next_udp_ = nullptr;
}

std::size_t UdpListener::FlowHash::operator()(const UdpFlow& flow) const {
  std::array<char, 34> bytes;
  std::memcpy(bytes.data(), flow.client.address.bytes.data(), 16);
  std::memcpy(bytes.data() + 16, flow.local.bytes.data(), 16);
  std::memcpy(bytes.data() + 32, &flow.client.port, 2);
  return sip_hash(key, {bytes.data(), bytes.size()});
}

UdpListener::UdpListener(Worker& worker, std::uint32_t slot, net::Fd socket, std::size_t most_sessions,
                         Receiving receiving)
    : worker_(worker),
      slot_(slot),
      bound_(net::local_address(socket.get())),
      most_sessions_(most_sessions),
      held_(receiving == Receiving::kHeld) {
  net::receive_joined(socket.get());
  net::widen_buffers(socket.get());
  IpAddress any_v4;
  any_v4.bytes[10] = any_v4.bytes[11] = 0xff;
  if (bound_.address == IpAddress{} || bound_.address == any_v4) net::tell_local_address(socket.get());
  stopped_ = std::move(socket);
  if (!held_) open(worker.loop(), std::move(stopped_));
}

UdpListener::~UdpListener() = default;

void UdpListener::unattended(std::uint8_t events) {
  if ((events & net::kRead) != 0 && is_open() && receive_some()) report_again();
}

void UdpListener::receive_all() {
  for (int turn = 0; turn < kMostTurns && is_open() && receive_some(); ++turn) {
  }
}

bool UdpListener::receive_some() {
  UdpBatches& batches = worker_.udp();
  net::DatagramBuffers& buffers = batches.requests();
  for (int batch = 0; batch < kBatchesATurn; ++batch) {
    int error = 0;
    const std::size_t count = buffers.receive(fd(), 0, UdpBatches::kRequests, error);
    if (count == 0) return false;
    std::array<net::Datagrams, UdpBatches::kRequests> received;
    std::array<UdpSession*, UdpBatches::kRequests> sessions;
    for (std::size_t i = 0; i < count; ++i) {
      received[i] = buffers.at(i);
      worker_.counters().udp_datagrams_up.add(received[i].count());
      worker_.counters().udp_bytes_up.add(received[i].bytes.size());
      sessions[i] = received[i].truncated ? nullptr : session_of(received[i]);
      if (received[i].truncated) worker_.counters().drop(UdpDrop::kOversized);
    }
    // Those of one flow go together, in their order.
    std::array<net::Datagrams, UdpBatches::kRequests> together;
    for (std::size_t i = 0; i < count; ++i) {
      UdpSession* const session = std::exchange(sessions[i], nullptr);
      if (session == nullptr) continue;
      std::size_t found = 0;
      together[found++] = received[i];
      for (std::size_t other = i + 1; other < count; ++other) {
        if (sessions[other] != session) continue;
        together[found++] = received[other];
        sessions[other] = nullptr;
      }
      session->forward({together.data(), found});
    }
    if (count < UdpBatches::kRequests) return false;
  }
  return true;
}

UdpSession* UdpListener::session_of(const net::Datagrams& datagrams) {
  const UdpFlow flow{datagrams.peer, datagrams.local};
  // Nobody could be answered at port 0, and answers to ourselves would be forwarded for ever.
  const bool ours =
      flow.client == net::SocketAddress{flow.local == IpAddress{} ? bound_.address : flow.local, bound_.port};
  if (flow.client.port == 0 || ours) {
    worker_.counters().drop(UdpDrop::kNoRoute, datagrams.count());
    return nullptr;
  }
  const auto found = flows_.find(flow);
  return found != flows_.end() ? found->second : begin(flow, datagrams.count());
}

UdpSession* UdpListener::begin(const UdpFlow& flow, std::size_t datagrams) {
  const auto refuse = [&](UdpDrop why) {
    worker_.counters().drop(why, datagrams);
    return nullptr;
  };
  if (flows_.size() >= most_sessions_ && !evict()) return refuse(UdpDrop::kLimit);
  auto session = std::make_unique<UdpSession>(worker_, shared_from_this(), flow);
  if (const auto why = session->open()) return refuse(*why);
  UdpSession* const kept = keep(std::move(session));
  return kept == nullptr ? refuse(UdpDrop::kLimit) : kept;
}

UdpSession* UdpListener::keep(std::unique_ptr<UdpSession> session) {
  const IpAddress source = session->flow().client.address;
  UdpSession* const kept = worker_.keep_udp(std::move(session), source, slot_);
  if (kept == nullptr) return nullptr;
  flows_.emplace(kept->flow(), kept);
  exchanges_.append(*kept);
  worker_.counters().udp_sessions.add();
  worker_.counters().udp_sessions_active.add();
  return kept;
}

void UdpListener::give(std::vector<HandedFlow>& flows) {
  worker_.udp().flush();
  stop();
  const std::uint64_t listening = net::socket_cookie(socket());
  while (!flows_.empty()) {
    UdpSession& session = *flows_.begin()->second;
    if (auto flow = session.give(listening)) flows.push_back(std::move(*flow));
    session.end({});
  }
}

bool UdpListener::take(HandedFlow& flow) {
  if (socket() < 0 || net::socket_cookie(socket()) != flow.listening) return false;
  const UdpFlow taken{flow.client, flow.local};
  if (flows_.size() >= most_sessions_ || flows_.contains(taken)) return true;
  auto session = std::make_unique<UdpSession>(worker_, shared_from_this(), taken);
  if (!session->resume(std::move(flow))) return true;
  if (UdpSession* const kept = keep(std::move(session))) touched(*kept);
  return true;
}

void UdpListener::resume() {
  if (std::exchange(held_, false)) open(worker_.loop(), std::move(stopped_));
}

bool UdpListener::evict() {
  UdpSession* oldest = exchanges_.first;
  if (oldest == nullptr && streams_.first != nullptr && worker_.loop().now() - streams_.first->last() >= kLeastKept) {
    oldest = streams_.first;
  }
  if (oldest == nullptr) return false;
  worker_.counters().udp_sessions_evicted.add();
  oldest->end("overloaded");
  return true;
}

void UdpListener::touched(UdpSession& session) {
  UdpSessionList& from = session.in_streams_ ? streams_ : exchanges_;
  from.remove(session);
  session.in_streams_ = session.goes_on();
  (session.in_streams_ ? streams_ : exchanges_).append(session);
}

void UdpListener::ended(UdpSession& session) {
  const auto found = flows_.find(session.flow());
  if (found == flows_.end() || found->second != &session) return;
  flows_.erase(found);
  (session.in_streams_ ? streams_ : exchanges_).remove(session);
  worker_.counters().udp_sessions_active.subtract();
}

void UdpListener::stop() {
  held_ = false;
  if (is_open()) stopped_ = std::move(release().fd);
}

void UdpListener::shut(std::string_view reason) {
  while (!flows_.empty()) flows_.begin()->second->end(reason);
  worker_.udp().flush();
  stop();
  stopped_.reset();
}

void UdpListener::send(net::DatagramQueue& answers) {
  if (socket() < 0) return answers.clear();
  const net::DatagramQueue::Outcome outcome = answers.flush(socket());
  answers.clear();
  Counters& counters = worker_.counters();
  counters.udp_datagrams_down.add(outcome.sent);
  counters.udp_bytes_down.add(outcome.bytes);
  if (outcome.dropped != 0) counters.drop(UdpDrop::kSend, outcome.dropped);
  if (outcome.oversized != 0) counters.drop(UdpDrop::kOversized, outcome.oversized);
}

}  // namespace edge::runtime
