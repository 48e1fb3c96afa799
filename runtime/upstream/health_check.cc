#include "runtime/upstream/health_check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <latch>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <thread>

#include "base/hash.h"
#include "net/http1/parse.h"
#include "net/http1/write.h"
#include "net/loop.h"
#include "net/task.h"
#include "program/records.h"

namespace edge::runtime {
namespace {

using net::Wake;
using program::ProbeProtocol;
using std::chrono::milliseconds;

/// No configuration makes us flood an endpoint.
constexpr net::Duration kShortestInterval = milliseconds(10);
/// Connections of checks at one time; what would be more waits.
constexpr std::uint32_t kMostAtOnce = 256;
constexpr net::http1::HeadLimits kAnswerLimits = {.max_bytes = 16 * 1024, .max_fields = 100, .max_target = 1};

std::string address_text(const net::SocketAddress& address) {
  const std::string host = to_string(address.address);
  const std::string port = std::to_string(address.port);
  return address.address.is_v4() ? host + ":" + port : "[" + host + "]:" + port;
}

/// Written once for each endpoint: names and values come from a checked program.
std::string request_text(const CheckSettings& settings, const net::SocketAddress& address) {
  const std::string host = settings.host.empty() ? address_text(address) : settings.host;
  std::string text = "GET " + settings.path + " HTTP/1.1\r\nhost: " + host + "\r\nuser-agent: edge-health-check\r\n";
  for (const auto& [name, value] : settings.headers) {
    if (name != "host" && name != "connection") text += name + ": " + value + "\r\n";
  }
  return text + "connection: close\r\n\r\n";
}

}  // namespace

std::shared_ptr<const CheckSettings> check_settings(const program::BackendRecord& record,
                                                    const program::SectionView& section) {
  const program::HealthCheckRecord* check = program::optional_of(section, record.health_check);
  if (check == nullptr) return nullptr;
  auto settings = std::make_shared<CheckSettings>();
  settings->protocol = check->protocol;
  settings->http2 = record.protocol == program::BackendProtocol::kHttp2;
  settings->interval = std::max(kShortestInterval, net::Duration(check->interval_ns));
  settings->timeout = net::Duration(check->timeout_ns);
  settings->initial_delay = net::Duration(check->initial_delay_ns);
  settings->path = section.string(check->path);
  settings->host = section.string(check->host);
  settings->grpc_service = section.string(check->grpc_service);
  const auto expected = section.array(check->expected_status);
  settings->expected.assign(expected.begin(), expected.end());
  for (const program::HeaderRecord& header : section.array(check->headers)) {
    settings->headers.emplace_back(section.string(header.name), section.string(header.value));
  }
  return settings;
}

/// Belongs to the checking thread, but for `set` and the end.
struct HealthChecks::Impl {
  class Check;

  void apply(std::vector<Target> targets);
  /// [0, below)
  net::Duration random(net::Duration below);

  net::Loop loop;
  std::map<const EndpointState*, Check*> checks;
  std::uint32_t under_way = 0;
  std::uint64_t seed = std::random_device()();
  net::http1::ResponseHead head;
  std::array<char, 16 * 1024> scratch{};
  std::thread thread;
};

/// The checks of one endpoint, one after the other.
class HealthChecks::Impl::Check final : public net::Retirable {
 public:
  Check(Impl& owner, Target target)
      : owner_(owner),
        target_(std::move(target)),
        request_(request_text(*target_.settings, target_.endpoint->address)),
        waiter_(owner.loop) {}

  const CheckSettings& settings() const { return *target_.settings; }
  void start() { run(); }
  void cancel() { waiter_.cancel(); }

 private:
  net::Detached run();
  net::Task<std::string> ask();
  net::Task<std::string> ask_http(net::Time until);
  std::optional<std::string> read_answer();

  Impl& owner_;
  Target target_;
  std::string request_;
  net::Waiter waiter_;
  net::Channel channel_;
  std::string received_;
  net::http1::ParseHint hint_;
};

net::Detached HealthChecks::Impl::Check::run() {
  const net::Duration interval = settings().interval;
  // Not all endpoints at once: the first check comes within a tenth of the interval, the others drift by as much.
  net::Time next = owner_.loop.now() + settings().initial_delay + owner_.random(interval / 10);
  for (;;) {
    const Wake wake = co_await waiter_.wait(next);
    if (wake == Wake::kCancelled) break;
    if (owner_.under_way >= kMostAtOnce) {
      next = owner_.loop.now() + owner_.random(interval / 10);
      continue;
    }
    ++owner_.under_way;
    std::string error = co_await ask();
    --owner_.under_way;
    channel_.close();
    if (waiter_.cancelled()) break;
    target_.backend->checked(*target_.endpoint, std::move(error), owner_.loop.now());
    next = owner_.loop.now() + interval - interval / 20 + owner_.random(interval / 10);
  }
  owner_.loop.retire(std::unique_ptr<Check>(this));
}

/// \returns what is wrong with the endpoint, empty when nothing is.
net::Task<std::string> HealthChecks::Impl::Check::ask() {
  const net::Time until = owner_.loop.now() + settings().timeout;
  Result<net::Fd> fd = net::connect_tcp(target_.endpoint->address);
  if (!fd.ok()) co_return "connect: " + fd.error().text;
  channel_.open(owner_.loop, std::move(*fd), net::kRead | net::kWrite);
  const Wake wake = co_await waiter_.wait(until, channel_, net::kWrite);
  if (wake != Wake::kReady) co_return "connect: timeout";
  if (const int error = net::connect_error(channel_.fd()); error != 0) {
    co_return std::string("connect: ") + std::strerror(error);
  }
  if (settings().protocol == ProbeProtocol::kTcp) co_return std::string();
  std::string error = co_await ask_http(until);
  co_return error;
}

net::Task<std::string> HealthChecks::Impl::Check::ask_http(net::Time until) {
  std::string_view left = request_;
  while (!left.empty()) {
    const iovec piece{const_cast<char*>(left.data()), left.size()};
    const net::Transfer sent = channel_.send({&piece, 1});
    if (sent.kind == net::Transfer::Kind::kDone) {
      left.remove_prefix(sent.bytes);
      continue;
    }
    if (sent.kind != net::Transfer::Kind::kWouldBlock) co_return std::string("connection lost");
    const Wake wake = co_await waiter_.wait(until, channel_, net::kWrite);
    if (wake != Wake::kReady) co_return std::string("timeout");
  }
  received_.clear();
  hint_ = {};
  for (;;) {
    std::optional<std::string> verdict = read_answer();
    if (verdict) co_return std::move(*verdict);
    const Wake wake = co_await waiter_.wait(until, channel_, net::kRead);
    if (wake != Wake::kReady) co_return std::string("timeout");
  }
}

/// \returns nothing while there is no final head yet. Of the body nothing is read.
std::optional<std::string> HealthChecks::Impl::Check::read_answer() {
  for (;;) {
    const net::Transfer got = channel_.receive(owner_.scratch);
    if (got.kind == net::Transfer::Kind::kWouldBlock && !channel_.hung_up()) return std::nullopt;
    if (got.kind != net::Transfer::Kind::kDone) return "connection closed without an answer";
    received_.append(owner_.scratch.data(), got.bytes);
    for (;;) {
      const auto parsed =
          net::http1::parse_response(received_, net::http1::Method::kGet, kAnswerLimits, hint_, owner_.head);
      if (parsed.state == net::http1::ParseState::kIncomplete) break;
      if (parsed.state == net::http1::ParseState::kFault) return "malformed answer";
      const std::uint32_t status = owner_.head.status;
      if (status >= 200) {
        const bool expected = std::ranges::binary_search(settings().expected, status);
        return expected ? std::string() : "status " + std::to_string(status);
      }
      // An interim answer; a hostile endpoint's come to an end with the time of the check.
      received_.erase(0, parsed.consumed);
      hint_ = {};
    }
  }
}

net::Duration HealthChecks::Impl::random(net::Duration below) {
  seed += 0x9e3779b97f4a7c15;
  const std::uint64_t number = hash_mix(seed, seed ^ 0xd1342543de82ef95);
  const auto range = static_cast<unsigned __int128>(std::max<std::int64_t>(0, below.count()));
  return net::Duration(static_cast<std::int64_t>(number * range >> 64));
}

void HealthChecks::Impl::apply(std::vector<Target> targets) {
  std::map<const EndpointState*, Check*> next;
  for (Target& target : targets) {
    const EndpointState* endpoint = target.endpoint.get();
    const auto known = checks.find(endpoint);
    if (known != checks.end() && known->second->settings() == *target.settings) {
      next.insert(*known);
      checks.erase(known);
      continue;
    }
    auto* check = new Check(*this, std::move(target));
    next.emplace(endpoint, check);
    check->start();
  }
  for (const auto& [endpoint, check] : checks) check->cancel();
  checks.swap(next);
}

HealthChecks::HealthChecks() = default;

HealthChecks::~HealthChecks() {
  if (impl_ == nullptr) return;
  std::latch done(1);
  impl_->loop.post([&] {
    impl_->apply({});
    done.count_down();
  });
  done.wait();
  impl_->loop.stop();
  impl_->thread.join();
}

void HealthChecks::set(std::vector<Target> targets) {
  if (impl_ == nullptr) {
    if (targets.empty()) return;
    impl_ = std::make_unique<Impl>();
    impl_->thread = std::thread([&loop = impl_->loop] { loop.run(); });
  }
  impl_->loop.post([&impl = *impl_, next = std::move(targets)]() mutable { impl.apply(std::move(next)); });
}

}  // namespace edge::runtime
