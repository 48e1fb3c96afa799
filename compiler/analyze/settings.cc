#include "compiler/analyze/settings.h"

#include <chrono>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/units.h"
#include "compiler/analyze/explain_words.h"
#include "program/route_tree.h"

namespace edge::compiler::analyze {
namespace {

using program::kNone;

const char* balance_name(program::Balance balance) {
  switch (balance) {
    case program::Balance::kRoundRobin:
      return "RoundRobin";
    case program::Balance::kLeastConn:
      return "LeastConn";
    case program::Balance::kP2c:
      return "P2C";
    case program::Balance::kEwma:
      return "EWMA";
    case program::Balance::kRingHash:
      return "RingHash";
    case program::Balance::kMaglev:
      return "Maglev";
    case program::Balance::kRandom:
      return "Random";
  }
  return "unknown";
}

const char* protocol_name(program::Protocol protocol) {
  switch (protocol) {
    case program::Protocol::kHttp:
      return "HTTP";
    case program::Protocol::kHttps:
      return "HTTPS";
    case program::Protocol::kTcp:
      return "TCP";
    case program::Protocol::kTls:
      return "TLS";
  }
  return "unknown";
}

class Reader {
 public:
  explicit Reader(const program::ProgramView& program) : program_(program) {}

  Settings run() {
    const program::SectionView& view = program_.listeners().view;
    const auto binds = view.array(view.header<program::ListenersHeader>().binds);
    for (std::uint32_t i = 0; i < binds.size(); ++i) add_bind(i, binds[i]);
    const program::SectionView& backends = program_.backends().view;
    for (const auto& backend : backends.array(backends.header<program::BackendsHeader>().backends)) {
      add_backend(backends, backend);
    }
    return std::move(out_);
  }

 private:
  void add(const std::string& name, std::string value) {
    if (!value.empty()) out_.emplace(subject_ + name, std::move(value));
  }
  void add_count(const std::string& name, std::uint64_t value) {
    if (value != 0) add(name, std::to_string(value));
  }
  void add_duration(const std::string& name, std::uint64_t nanoseconds) {
    if (nanoseconds == 0) return;
    add(name, duration_text(std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds))));
  }

  static std::string joined(const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
  }

  // A listener is named by what reaches it: its own name, and its gateway's, are seen by no request.
  void add_bind(std::uint32_t index, const program::BindRecord& bind) {
    const program::SectionView& view = program_.listeners().view;
    const std::string place = bind_text(program_, index);
    subject_ = "listener " + place;
    add("", protocol_name(bind.protocol));
    for (const program::NameEntry& entry : view.array(bind.listeners.entries)) {
      const std::string name(view.string(entry.name));
      add_listener(place + " " + name, entry.exact);
      add_listener(place + " *." + name, entry.wildcard);
    }
    add_listener(place + " *", bind.listeners.fallback);
  }

  void add_listener(const std::string& place, std::uint32_t index) {
    if (index == kNone) return;
    const program::SectionView& view = program_.listeners().view;
    const auto& header = view.header<program::ListenersHeader>();
    const program::ListenerRecord& listener = view.array(header.listeners)[index];
    subject_ = "listener " + place;
    add("", "served");
    add_count(", request body at most", listener.max_request_body);
    std::vector<std::string> proxies;
    for (const program::CidrRecord& record :
         view.array(view.array(header.gateways)[listener.gateway].trusted_proxies)) {
      Cidr block;
      std::memcpy(block.address.bytes.data(), record.address, sizeof(record.address));
      block.prefix_length = record.prefix_length;
      proxies.push_back(to_string(block));
    }
    add(", trusted proxies", joined(proxies));
  }

  void add_backend(const program::SectionView& view, const program::BackendRecord& backend) {
    subject_ = "backend " + std::string(view.string(backend.name_space)) + "/" + std::string(view.string(backend.name));
    add("", "defined");
    add(", balance", balance_name(backend.balance));
    add_count(", connections at most", backend.max_connections);
    add_count(", pending requests at most", backend.max_pending_requests);
    add_count(", requests per connection at most", backend.max_requests_per_connection);
    add_count(", idle connections at most", backend.max_idle_connections);
    add(", retry on", joined(program::retry_names(static_cast<std::uint16_t>(backend.retry_on))));
    add_count(", retries at most", backend.max_retries);
    add_duration(", connect timeout", backend.connect_timeout_ns);
    add_duration(", request timeout", backend.request_timeout_ns);
    add_duration(", idle timeout", backend.idle_timeout_ns);
    add_duration(", timeout of one try", backend.per_try_timeout_ns);
    add_duration(", shortest backoff", backend.backoff_base_ns);
    add_duration(", longest backoff", backend.backoff_max_ns);
  }

  const program::ProgramView& program_;
  std::string subject_;
  Settings out_;
};

}  // namespace

Settings settings_of(const program::ProgramView& program) { return Reader(program).run(); }

}  // namespace edge::compiler::analyze
