#include "controller/remote/words.h"

#include <algorithm>

#include "base/ip.h"
#include "controller/distribute/protocol.h"
#include "program/values/endpoints.h"
#include "schemas/remote.pb.h"

namespace edge::controller::remote {
namespace {

namespace v1 = edge::remote::v1;
using std::chrono::milliseconds;

constexpr std::size_t kMaxUid = 64;
constexpr std::size_t kMaxVersion = 64;
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kMaxAuthorities = 32 << 10;
constexpr std::uint32_t kMaxAgents = 1'000'000;
constexpr milliseconds kShortest{100};
constexpr milliseconds kLongest = std::chrono::hours(1);
constexpr milliseconds kMaxLag = std::chrono::hours(24 * 365);

Error malformed(const char* what) { return {ErrorCode::kInvalidArgument, std::string("the other side's ") + what}; }

bool is_hex(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Result<Word> read_hello(const v1::Hello& hello) {
  Hello read;
  read.protocol = std::min(hello.protocol(), kNewestProtocol);
  if (read.protocol < std::max(hello.oldest_protocol(), kOldestProtocol)) {
    return Error{ErrorCode::kFailedPrecondition,
                 "no protocol in common: the other side speaks " + std::to_string(hello.oldest_protocol()) + " to " +
                     std::to_string(hello.protocol()) + ", this one " + std::to_string(kOldestProtocol) + " to " +
                     std::to_string(kNewestProtocol)};
  }
  read.cluster_uid = hello.cluster_uid();
  if (read.cluster_uid.empty() || read.cluster_uid.size() > kMaxUid || !is_hex(read.cluster_uid)) {
    return malformed("hello has no cluster's UID");
  }
  read.version = printable(hello.version(), kMaxVersion);
  read.heartbeat = bounded({milliseconds(hello.interval_ms()), milliseconds(hello.timeout_ms())});
  return Word(std::move(read));
}

Result<Word> read_report(const v1::Report& report) {
  const std::string& program = report.program();
  if (report.agents() > kMaxAgents || report.ready() > report.agents() ||
      (!program.empty() && (program.size() != kHashDigits || !is_hex(program)))) {
    return malformed("report is none");
  }
  const auto lag = std::min<std::uint64_t>(report.lag_ms(), static_cast<std::uint64_t>(kMaxLag.count()));
  return Word(Report{report.agents(), report.ready(), program, milliseconds(lag)});
}

bool is_service(const std::string& text) {
  // namespace, name and port, as program/cluster_traffic.h writes them: a header's value.
  return text.size() <= 300 && text.find('/') != std::string::npos &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != '\\' && c != '"'; });
}

Result<Exports> read_exports(const v1::Exports& exports) {
  Exports read;
  if (exports.gateways_size() > static_cast<int>(Exports::kMostGateways) ||
      exports.services_size() > static_cast<int>(Exports::kMostServices)) {
    return malformed("exports are too many");
  }
  for (const std::string& gateway : exports.gateways()) {
    const std::size_t colon = gateway.rfind(':');
    std::string_view host = std::string_view(gateway).substr(0, std::min(colon, gateway.size()));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (colon == std::string::npos || !parse_ip(host)) return malformed("gateway has no address");
    read.gateways.push_back(gateway);
  }
  for (const v1::ExportedService& service : exports.services()) {
    if (!is_service(service.service())) return malformed("exported service is none");
    read.services[service.service()] = static_cast<std::uint8_t>(std::min(100U, service.healthy_percent()));
  }
  return read;
}

Result<Word> read_news(const v1::ClusterNews& news) {
  if (!program::is_cluster_name(news.cluster())) return malformed("news are of no cluster");
  auto exports = read_exports(news.exports());
  if (!exports) return exports.error();
  return Word(ClusterNews{.cluster = news.cluster(),
                          .gone = news.gone(),
                          .region = printable(news.region(), kMaxUid),
                          .connected = news.connected(),
                          .issued_after_ms = news.issued_after_ms(),
                          .exports = std::move(*exports)});
}

void write_exports(const Exports& exports, v1::Exports& out) {
  for (const std::string& gateway : exports.gateways) out.add_gateways(gateway);
  for (const auto& [service, percent] : exports.services) {
    auto& one = *out.add_services();
    one.set_service(service);
    one.set_healthy_percent(percent);
  }
}

std::uint32_t count_of(milliseconds time) { return static_cast<std::uint32_t>(time.count()); }

struct Writer {
  v1::Message& message;

  void operator()(const Hello& hello) const {
    auto& out = *message.mutable_hello();
    out.set_protocol(kNewestProtocol);
    out.set_oldest_protocol(kOldestProtocol);
    out.set_cluster_uid(hello.cluster_uid);
    out.set_version(hello.version);
    out.set_interval_ms(count_of(hello.heartbeat.interval));
    out.set_timeout_ms(count_of(hello.heartbeat.timeout));
  }
  void operator()(const Probe& probe) const {
    message.mutable_probe()->set_number(probe.number);
    message.mutable_probe()->set_answered(probe.answered);
  }
  void operator()(const ProbeReply& reply) const { message.mutable_reply()->set_number(reply.number); }
  void operator()(const Report& report) const {
    auto& out = *message.mutable_report();
    out.set_agents(report.agents);
    out.set_ready(report.ready);
    out.set_program(report.program);
    out.set_lag_ms(static_cast<std::uint64_t>(report.lag.count()));
  }
  void operator()(const Trust& trust) const { message.mutable_trust()->set_authorities(trust.authorities); }
  void operator()(const Leaving&) const { message.mutable_leaving(); }
  void operator()(const Exports& exports) const { write_exports(exports, *message.mutable_exports()); }
  void operator()(const ClusterNews& news) const {
    auto& out = *message.mutable_news();
    out.set_cluster(news.cluster);
    out.set_gone(news.gone);
    out.set_region(news.region);
    out.set_connected(news.connected);
    out.set_issued_after_ms(news.issued_after_ms);
    write_exports(news.exports, *out.mutable_exports());
  }
  void operator()(const NewsEnd&) const { message.mutable_news_end(); }
  void operator()(const Unknown&) const {}
};

}  // namespace

Heartbeat bounded(Heartbeat asked) {
  const Heartbeat usual;
  if (asked.interval.count() == 0) asked.interval = usual.interval;
  if (asked.timeout.count() == 0) asked.timeout = usual.timeout;
  asked.interval = std::clamp(asked.interval, kShortest, kLongest / 2);
  asked.timeout = std::clamp(asked.timeout, 2 * asked.interval, kLongest);
  return asked;
}

Result<Word> read_word(const v1::Message& message) {
  switch (message.word_case()) {
    case v1::Message::kHello:
      return read_hello(message.hello());
    case v1::Message::kProbe:
      if (message.probe().number() == 0) return malformed("probe has no number");
      return Word(Probe{message.probe().number(), message.probe().answered()});
    case v1::Message::kReply:
      return Word(ProbeReply{message.reply().number()});
    case v1::Message::kReport:
      return read_report(message.report());
    case v1::Message::kTrust:
      if (message.trust().authorities().size() > kMaxAuthorities) return malformed("authorities are too many");
      return Word(Trust{message.trust().authorities()});
    case v1::Message::kLeaving:
      return Word(Leaving{});
    case v1::Message::kExports: {
      auto exports = read_exports(message.exports());
      if (!exports) return exports.error();
      return Word(std::move(*exports));
    }
    case v1::Message::kNews:
      return read_news(message.news());
    case v1::Message::kNewsEnd:
      return Word(NewsEnd{});
    case v1::Message::WORD_NOT_SET:
      break;
  }
  return Word(Unknown{});
}

void write_word(const Word& word, v1::Message& message) { std::visit(Writer{message}, word); }

}  // namespace edge::controller::remote
