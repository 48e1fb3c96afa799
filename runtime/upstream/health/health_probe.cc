#include "runtime/upstream/health/health_probe.h"

#include <algorithm>
#include <cstring>

#include "net/http2/client_channel.h"
#include "runtime/upstream/health/grpc_health.h"

namespace edge::runtime {
namespace {

using net::Transfer;
using net::Wake;
using net::http1::BodyKind;
using net::http1::ChunkedDecoder;
using net::http1::ParseState;
using net::tls::RecordLayer;
using program::ProbeProtocol;

constexpr net::http1::HeadLimits kAnswerLimits = {.max_bytes = 16 * 1024, .max_fields = 100, .max_target = 1};
/// Of an answer to a gRPC check; that of an HTTP check is not read.
constexpr std::size_t kMostBody = 4096;
constexpr int kMostInterims = 8;

/// Written once for each endpoint: names and values come from a checked program.
std::string request_text(const CheckSettings& settings, const net::SocketAddress& address) {
  const std::string host = settings.host.empty() ? address_text(address) : settings.host;
  if (settings.protocol == ProbeProtocol::kGrpc) {
    const std::string body = grpc_check_request(settings.grpc_service);
    return "POST " + std::string(kGrpcCheckPath) + " HTTP/1.1\r\nhost: " + host +
           "\r\ncontent-type: application/grpc\r\nuser-agent: edge-health-check\r\ncontent-length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  std::string text = "GET " + settings.path + " HTTP/1.1\r\nhost: " + host + "\r\nuser-agent: edge-health-check\r\n";
  for (const auto& [name, value] : settings.headers) {
    if (name != "host" && name != "connection") text += name + ": " + value + "\r\n";
  }
  return text + "connection: close\r\n\r\n";
}

std::string grpc_status_of(std::string_view lines) {
  constexpr std::string_view kName = "grpc-status:";
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find("\r\n", at), lines.size());
    const std::string_view line = lines.substr(at, end - at);
    if (line.starts_with(kName)) {
      const std::size_t value = line.find_first_not_of(' ', kName.size());
      return value == std::string_view::npos ? std::string() : std::string(line.substr(value));
    }
    at = end + 2;
  }
  return {};
}

}  // namespace

std::string address_text(const net::SocketAddress& address) {
  const std::string host = to_string(address.address);
  const std::string port = std::to_string(address.port);
  return address.address.is_v4() ? host + ":" + port : "[" + host + "]:" + port;
}

HealthProbe::HealthProbe(ProbeRoom& room, net::Waiter& waiter, const CheckSettings& settings,
                         const net::SocketAddress& address)
    : room_(room),
      waiter_(waiter),
      settings_(settings),
      address_(address),
      grpc_(settings.protocol == ProbeProtocol::kGrpc),
      request_(request_text(settings, address)) {}

net::Task<std::string> HealthProbe::ask() {
  const net::Time until = room_.loop.now() + settings_.timeout;
  std::string fault = co_await connect(until);
  // An endpoint that expects a header takes a connection without one for a fault, even one that asks nothing.
  if (fault.empty() && !settings_.announcement.empty()) fault = co_await send(settings_.announcement, until);
  if (fault.empty() && settings_.encrypted) fault = co_await secure(until);
  if (fault.empty() && settings_.protocol != ProbeProtocol::kTcp) fault = co_await exchange(until);
  channel_.close();
  co_return fault;
}

net::Task<std::string> HealthProbe::connect(net::Time until) {
  Result<net::Fd> fd = net::connect_tcp(address_);
  if (!fd.ok()) co_return "connect: " + fd.error().text;
  channel_.open(room_.loop, std::move(*fd), net::kRead | net::kWrite);
  const Wake wake = co_await waiter_.wait(until, channel_, net::kWrite);
  if (wake != Wake::kReady) co_return std::string("connect: timeout");
  const int error = net::connect_error(channel_.fd());
  co_return error == 0 ? std::string() : std::string("connect: ") + std::strerror(error);
}

net::Task<std::string> HealthProbe::secure(net::Time until) {
  using Step = RecordLayer::Handshake;
  if (settings_.tls == nullptr) co_return std::string("tls: whom to trust is not known");
  auto made = RecordLayer::connect(settings_.tls, nullptr, room_.records);
  RecordLayer& layer = *made;
  channel_.put(std::move(made));
  Step step = layer.handshake(channel_);
  while (step == Step::kRead || step == Step::kWrite) {
    const std::uint8_t interest = step == Step::kRead ? net::kRead : net::kRead | net::kWrite;
    const Wake wake = co_await waiter_.wait(until, channel_, interest);
    if (wake != Wake::kReady) co_return std::string("tls: timeout");
    step = layer.handshake(channel_);
    if (channel_.hung_up() && step != Step::kDone) step = Step::kFailed;
  }
  co_return step == Step::kDone ? std::string() : "tls: " + layer.fault();
}

net::Task<std::string> HealthProbe::exchange(net::Time until) {
  if (settings_.http2 || grpc_) {
    net::Transport transport = channel_.release();
    channel_.open(room_.loop,
                  net::http2::over_http2(room_.loop, room_.http2, std::move(transport), settings_.encrypted));
  }
  std::string fault = co_await send(request_, until);
  if (!fault.empty()) co_return fault;
  received_.clear();
  body_.clear();
  grpc_status_.clear();
  hint_ = {};
  chunks_ = ChunkedDecoder();
  head_taken_ = false;
  for (Progress progress = read(); progress == Progress::kMore; progress = read()) {
    const Wake wake = co_await waiter_.wait(until, channel_, net::kRead);
    if (wake != Wake::kReady) co_return std::string("timeout");
  }
  co_return std::move(fault_);
}

net::Task<std::string> HealthProbe::send(std::string_view text, net::Time until) {
  while (!text.empty()) {
    const iovec piece{const_cast<char*>(text.data()), text.size()};
    const Transfer sent = channel_.send({&piece, 1});
    if (sent.kind == Transfer::Kind::kDone) {
      text.remove_prefix(sent.bytes);
      continue;
    }
    if (sent.kind != Transfer::Kind::kWouldBlock) co_return std::string("connection lost");
    const Wake wake = co_await waiter_.wait(until, channel_, net::kWrite);
    if (wake != Wake::kReady) co_return std::string("timeout");
  }
  co_return std::string();
}

HealthProbe::Progress HealthProbe::end(std::string fault) {
  fault_ = std::move(fault);
  return Progress::kDone;
}

/// Takes what there is; sets the fault when it is done.
HealthProbe::Progress HealthProbe::read() {
  for (;;) {
    const Transfer got = channel_.receive(room_.scratch);
    if (got.kind == Transfer::Kind::kWouldBlock && !channel_.hung_up()) return Progress::kMore;
    if (got.kind != Transfer::Kind::kDone) return end("connection closed without an answer");
    received_.append(room_.scratch.data(), got.bytes);
    const Progress progress = head_taken_ ? take_body() : take_head();
    if (progress == Progress::kDone) return progress;
  }
}

HealthProbe::Progress HealthProbe::take_head() {
  for (int interims = 0; interims <= kMostInterims; ++interims) {
    const auto method = grpc_ ? net::http1::Method::kPost : net::http1::Method::kGet;
    const auto parsed = net::http1::parse_response(received_, method, kAnswerLimits, hint_, room_.head);
    if (parsed.state == ParseState::kIncomplete) return Progress::kMore;
    if (parsed.state == ParseState::kFault) break;
    const std::uint32_t status = room_.head.status;
    if (status >= 200) {
      const bool expected = grpc_ ? status == 200 : std::ranges::binary_search(settings_.expected, status);
      if (!expected) return end("status " + std::to_string(status));
      if (!grpc_) return end({});
      for (const Field& field : room_.head.fields.all()) {
        if (field.name == "grpc-status") grpc_status_ = field.value;
      }
      if (room_.head.body.kind != BodyKind::kChunked) return end(grpc_check_fault({}, grpc_status_));
      head_taken_ = true;
      received_.erase(0, parsed.consumed);
      return take_body();
    }
    received_.erase(0, parsed.consumed);
    hint_ = {};
  }
  return end("malformed answer");
}

/// Of gRPC: a message and trailers. The layer of HTTP/2 gives what has no length in chunks.
HealthProbe::Progress HealthProbe::take_body() {
  std::string_view input = received_;
  while (!input.empty()) {
    const ChunkedDecoder::Step step = chunks_.next(input);
    body_ += step.data;
    input.remove_prefix(step.consumed);
    if (step.state == ChunkedDecoder::State::kFault || body_.size() > kMostBody) return end("malformed answer");
    if (step.state == ChunkedDecoder::State::kEnd) {
      if (grpc_status_.empty()) grpc_status_ = grpc_status_of(chunks_.trailer_lines());
      return end(grpc_check_fault(body_, grpc_status_));
    }
  }
  received_.clear();
  return Progress::kMore;
}

}  // namespace edge::runtime
