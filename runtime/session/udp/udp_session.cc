#include "runtime/session/udp/udp_session.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "net/marked_socket.h"
#include "net/proxy_protocol.h"
#include "runtime/session/accept/client_address.h"
#include "runtime/session/udp/udp_batches.h"
#include "runtime/session/worker.h"
#include "runtime/upstream/balance/split.h"

namespace edge::runtime {
namespace {

/// Endpoints that are tried before datagrams are dropped.
constexpr int kMostTries = 3;
/// Batches of answers before others of the loop have their turn.
constexpr int kAnswerBatches = 4;
/// While draining: how long an answer is waited for, and for more of it.
constexpr net::Duration kLastAnswer = std::chrono::seconds(2);
constexpr net::Duration kMoreAnswers = std::chrono::milliseconds(250);

std::string_view reason_of(UdpDrop why) { return why == UdpDrop::kNoRoute ? "no-route" : "no-endpoint"; }

}  // namespace

void UdpSession::Upstream::unattended(std::uint8_t events) {
  if ((events & net::kRead) != 0 && is_open()) session_.receive_answers();
}

UdpSession::UdpSession(Worker& worker, std::shared_ptr<UdpListener> listener, const UdpFlow& flow)
    : worker_(worker),
      listener_(std::move(listener)),
      flow_(flow),
      connection_(flow.client, listener_->slot()),
      upstream_(*this),
      began_(worker.loop().now()),
      last_(began_) {
  connection_.local = listener_->bound();
  if (flow.local != IpAddress{}) connection_.local.address = flow.local;
}

UdpSession::~UdpSession() { leave_endpoint(); }

std::optional<UdpDrop> UdpSession::open() {
  if (const auto why = decide_route()) return why;
  if (const auto why = choose_backend()) return why;
  worker_.loop().timers().set(*this, began_ + idle_timeout());
  return std::nullopt;
}

bool UdpSession::resume(HandedFlow flow) {
  if (decide_route() || !keeps_backend(flow.backend_id)) return false;
  BackendState& state = pool_->state();
  if (!state.room().take(pool_->settings().max_connections)) {
    state.count_overflow();
    return false;
  }
  has_room_ = true;
  Wanted wanted{.prefers_first = true};
  wanted.avoid.push_back(flow.endpoint);
  BackendPool::ChosenEndpoint chosen = pool_->choose_endpoint(wanted);
  if (chosen.endpoint != nullptr) {
    endpoint_ = std::move(chosen.endpoint);
    probe_ = chosen.probe;
  }
  if (endpoint_ == nullptr || endpoint_->address != flow.endpoint) {
    leave_endpoint();
    return false;
  }
  address_ = flow.endpoint;
  use_socket(std::move(flow.socket));
  // When its first answer was due is not known here.
  answered_ = !probe_;
  goes_on_ = flow.goes_on;
  worker_.loop().timers().set(*this, began_ + idle_timeout());
  return true;
}

std::optional<HandedFlow> UdpSession::give(std::uint64_t listening) {
  if (ended_ || !upstream_.is_open()) return std::nullopt;
  return HandedFlow{.listening = listening,
                    .client = flow_.client,
                    .local = flow_.local,
                    .backend_id = pool_->state().id(),
                    .endpoint = address_,
                    .goes_on = goes_on_ || datagrams_down_ != 0,
                    .socket = std::move(upstream_.release().fd)};
}

net::Duration UdpSession::idle_timeout() const {
  const std::uint64_t asked = decision_->treatment().idle_timeout_ns;
  return net::Duration(asked == 0 ? program::kUsualUdpIdleNs : asked);
}

std::optional<UdpDrop> UdpSession::decide_route() {
  decision_.reset();
  backend_ = nullptr;
  program_ = worker_.pin();
  const std::uint32_t bind = program_->entrances[connection_.slot].bind;
  if (bind == program::kNone) return UdpDrop::kNoRoute;
  const program::RequestView view{{}, {}, "/", {}, {}, connection_.peer};
  decision_ = decide(*program_->program, bind, view, worker_.match_scratch());
  if (!decision_ || (decision_->treatment().flags & program::kDenied) != 0) return UdpDrop::kNoRoute;
  const PolicyChain& chain = program_->policies->chain(*decision_->host, decision_->treatment());
  if (pass_address(chain, connection_.peer, *program_->ip_accesses)) return UdpDrop::kNoRoute;
  return std::nullopt;
}

bool UdpSession::use_backend(std::uint64_t id) {
  const std::uint32_t index = program_->program->backend_index(id);
  if (index == program::kNone) return false;
  const program::BackendRecord& record = program_->program->backends()[index];
  if (record.protocol != program::BackendProtocol::kUdp) return false;
  backend_ = &record;
  pool_ = program_->pools[index];
  return true;
}

bool UdpSession::keeps_backend(std::uint64_t id) {
  const program::Split split = program::split_of(decision_->host->view, *decision_->action);
  const bool named = std::ranges::any_of(
      split.backends, [&](const program::BackendRefRecord& one) { return one.backend_id() == id && one.weight != 0; });
  return named && use_backend(id);
}

std::optional<UdpDrop> UdpSession::choose_backend() {
  const program::Split split = program::split_of(decision_->host->view, *decision_->action);
  const std::uint32_t chosen = runtime::choose_backend(split, false, worker_.split());
  if (chosen == program::kNone || !use_backend(split.backends[chosen].backend_id())) return UdpDrop::kNoEndpoint;
  return connect(nullptr);
}

std::optional<UdpDrop> UdpSession::connect(const net::SocketAddress* avoid) {
  Wanted wanted{.key = pool_->keyed() ? client_key(connection_.peer) : 0};
  if (avoid != nullptr) wanted.avoid.push_back(*avoid);
  BackendState& state = pool_->state();
  if (!state.room().take(pool_->settings().max_connections)) {
    state.count_overflow();
    return UdpDrop::kLimit;
  }
  has_room_ = true;
  // A flow keeps the mark, and with it its way, for as long as it lasts.
  const RouteMarks& marks = pool_->marks();
  const std::uint32_t mark =
      marks.any() ? RouteMarks::mark_of(marks.way_of(decision_->listener->gateway->id)) : std::uint32_t{0};
  for (int tries = 0; tries < kMostTries; ++tries) {
    ++attempts_;
    BackendPool::ChosenEndpoint chosen = pool_->choose_endpoint(wanted);
    if (chosen.endpoint == nullptr) break;
    endpoint_ = std::move(chosen.endpoint);
    address_ = endpoint_->address;
    probe_ = chosen.probe;
    state.count_connect();
    Result<net::Fd> socket = net::connect_udp_marked(address_, mark);
    if (socket.ok()) {
      use_socket(std::move(*socket));
      return std::nullopt;
    }
    state.count_connect_failure();
    // What the process has run out of is no fault of the endpoint.
    const bool exhausted = socket.error().code == ErrorCode::kResourceExhausted;
    const RequestResult result = exhausted ? RequestResult::kUnknown : RequestResult::kNoAnswer;
    state.observe(*endpoint_->state, result, std::exchange(probe_, false), worker_.loop().now());
    wanted.avoid.push_back(address_);
    endpoint_.reset();
    if (exhausted) break;
  }
  leave_endpoint();
  return UdpDrop::kNoEndpoint;
}

void UdpSession::use_socket(net::Fd socket) {
  net::receive_joined(socket.get());
  upstream_.open(worker_.loop(), std::move(socket));
  counted_ = pool_->weighs_load();
  if (counted_) endpoint_->state->in_flight.fetch_add(1, std::memory_order_relaxed);
  seen_ = pool_->seen();
  chosen_at_ = worker_.loop().now();
  answered_ = refused_ = false;
  if (pool_->settings().proxy_protocol == program::ProxyProtocol::kNone) {
    header_.clear();
  } else if (header_.empty()) {  // what waits to be sent points into it
    header_ = net::write_proxy_header(net::ProxyVersion::kV2, {connection_.peer, connection_.peer_port},
                                      connection_.local, net::ProxyTransport::kDatagram);
  }
}

void UdpSession::leave_endpoint() {
  upstream_.close();
  if (endpoint_ != nullptr) {
    if (counted_) endpoint_->state->in_flight.fetch_sub(1, std::memory_order_relaxed);
    if (probe_) pool_->state().nothing_met(true, worker_.loop().now());
  }
  counted_ = probe_ = false;
  if (std::exchange(has_room_, false)) pool_->state().room().give();
  endpoint_.reset();
}

bool UdpSession::follow_program() {
  if (const auto why = decide_route()) {
    end(reason_of(*why));
    return false;
  }
  if (keeps_backend(pool_->state().id())) return true;
  leave_endpoint();
  if (const auto why = choose_backend()) {
    end(reason_of(*why));
    return false;
  }
  return true;
}

bool UdpSession::move_from(const net::SocketAddress& endpoint) {
  leave_endpoint();
  if (!connect(&endpoint)) return true;
  end("no-endpoint");
  return false;
}

bool UdpSession::up_to_date() {
  const ProgramPin current = worker_.pin();
  if (&*current != &*program_ && !follow_program()) return false;
  pool_->up_to_date();
  const net::SocketAddress at = address_;
  if (endpoint_->gone) return move_from(at);
  const bool changed = std::exchange(seen_, pool_->seen()) != pool_->seen();
  const bool unwanted = std::exchange(refused_, false) || (changed && !pool_->serves(at));
  // Where all have failed, the one that it has is as good as any.
  return !unwanted || !pool_->has_other({&at, 1}) || move_from(at);
}

void UdpSession::forward(std::span<const net::Datagrams> datagrams) {
  const auto lose = [&](std::span<const net::Datagrams> lost) {
    std::size_t count = 0;
    for (const net::Datagrams& one : lost) count += one.count();
    worker_.counters().drop(UdpDrop::kNoEndpoint, count);
  };
  if (ended_ || !up_to_date()) return lose(datagrams);
  last_ = worker_.loop().now();
  awaits_ = true;
  goes_on_ |= datagrams_down_ != 0;
  net::DatagramQueue& queue = worker_.udp().to_endpoint();
  for (std::size_t i = 0; i < datagrams.size(); ++i) {
    datagrams_up_ += datagrams[i].count();
    bytes_up_ += datagrams[i].bytes.size();
    if ((queue.full() || (datagrams[i].segment != 0 && !queue.empty())) && !send(queue)) {
      return lose(datagrams.subspan(i));
    }
    queue.add({}, datagrams[i], header_);
  }
  if (!send(queue)) return;
  worker_.loop().timers().set(*this, last_ + idle_timeout());
  listener_->touched(*this);
}

bool UdpSession::send(net::DatagramQueue& queue) {
  Counters& counters = worker_.counters();
  // What was refused before is told now, and what is sent now has not been.
  for (int tries = 0; tries < 2 && !queue.empty(); ++tries) {
    const net::DatagramQueue::Outcome outcome = queue.flush(upstream_.fd());
    if (outcome.dropped != 0) counters.drop(UdpDrop::kSend, outcome.dropped);
    if (outcome.oversized != 0) counters.drop(UdpDrop::kOversized, outcome.oversized);
    if (!outcome.refused) break;
    refused();
    if (!up_to_date()) break;
  }
  counters.drop(UdpDrop::kSend, queue.count());
  queue.clear();
  return !ended_;
}

void UdpSession::refused() {
  pool_->state().observe(*endpoint_->state, RequestResult::kNoAnswer, std::exchange(probe_, false),
                         worker_.loop().now());
  answered_ = false;
  refused_ = true;
}

void UdpSession::receive_answers() {
  // An answer that is due is passed on. A backend that sends unasked does so only where the program still leads to it.
  if (!draining_ && !awaits_ && &*worker_.pin() != &*program_ && !follow_program()) return;
  UdpBatches& batches = worker_.udp();
  for (int batch = 0; batch < kAnswerBatches; ++batch) {
    const UdpBatches::Received received = batches.receive_answers(upstream_.fd());
    if (received.count == 0) {
      if (!net::tells_of_refusal(received.error)) return;
      refused();
      continue;
    }
    for (std::size_t i = 0; i < received.count; ++i) answered(batches.answer_at(received.first + i));
    if (received.count < UdpBatches::kAnswers) return;
  }
  upstream_.again();
}

void UdpSession::answered(const net::Datagrams& datagrams) {
  if (datagrams.truncated) return worker_.counters().drop(UdpDrop::kOversized);
  last_ = worker_.loop().now();
  awaits_ = false;
  datagrams_down_ += datagrams.count();
  bytes_down_ += datagrams.bytes.size();
  if (!std::exchange(answered_, true)) {
    if (counted_) endpoint_->latency.observe(last_ - chosen_at_, last_);
    pool_->state().observe(*endpoint_->state, RequestResult::kSuccess, std::exchange(probe_, false), last_);
  }
  worker_.udp().answer(listener_, {flow_.client, flow_.local}, datagrams);
  worker_.loop().timers().set(*this, last_ + (draining_ ? kMoreAnswers : idle_timeout()));
  listener_->touched(*this);
}

void UdpSession::drain() {
  draining_ = true;
  // One that is never answered would be waited for in vain.
  const bool answer_due = awaits_ && (datagrams_down_ != 0 || datagrams_up_ == 1);
  if (!answer_due) return end({});
  worker_.loop().timers().set(*this, worker_.loop().now() + kLastAnswer);
}

void UdpSession::end(std::string_view reason) {
  if (std::exchange(ended_, true)) return;
  worker_.loop().timers().drop(*this);
  leave_endpoint();
  listener_->ended(*this);
  if (program_->logged.any()) log(reason);
  worker_.forget(*this);
}

void UdpSession::log(std::string_view reason) {
  const LoadedProgram& program = *program_->program;
  const std::uint32_t bind = program_->entrances[connection_.slot].bind;
  if (bind == program::kNone) return;
  RouteTaken taken{.listener = decision_ ? decision_->listener : find_listener(program, bind, {}), .backend = backend_};
  if (decision_) {
    taken.host = decision_->host;
    taken.action = decision_->action;
  }
  LogEntry entry;
  if (!begin_entry(program_->logged_bind(connection_.slot), {connection_, {}, taken}, entry)) return;
  entry[LogText::kReason] = reason;
  entry.facts.unix_milliseconds = worker_.unix_milliseconds();
  entry.facts.total = (worker_.loop().now() - began_).count();
  entry.facts.endpoint = address_;
  entry.facts.attempts = attempts_;
  entry.facts.received = bytes_up_;
  entry.facts.sent = bytes_down_;
  worker_.access_log().write(entry);
}

}  // namespace edge::runtime
