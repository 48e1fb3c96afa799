#include "controller/acme/dns.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text/base64.h"
#include "controller/acme/order.h"

namespace edge::controller::acme {
namespace {

constexpr std::string_view kNsupdate = "nsupdate";
constexpr std::size_t kMostOutput = std::size_t{64} << 10;

/// `host:port`, `[v6]:port`; nsupdate has a blank between them.
std::pair<std::string, std::string> cut_server(const std::string& server) {
  const std::size_t colon = server.rfind(':');
  std::string host = server.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::move(host), colon == std::string::npos ? std::string() : server.substr(colon + 1)};
}

std::string script_of(const compiler::DnsUpdates& settings, std::string_view key, const std::string& record,
                      std::string_view value, DnsChange change) {
  std::string script;
  if (!settings.server.empty()) {
    const auto [host, port] = cut_server(settings.server);
    script += "server " + host + (port.empty() ? "" : " " + port) + "\n";
  }
  if (!settings.zone.empty()) script += "zone " + settings.zone + ".\n";
  if (!key.empty()) {
    script += "key " + settings.key_algorithm + ":" + settings.key_name + " " + std::string(key) + "\n";
  }
  // This value alone: of a name and its wildcard both may be there at once.
  script +=
      change == DnsChange::kAdd ? "update add " + record + ". 60 IN TXT \"" : "update delete " + record + ". TXT \"";
  return script + std::string(value) + "\"\nsend\n";
}

}  // namespace

std::string dns_record_of(std::string_view host) {
  if (host.starts_with("*.")) host.remove_prefix(2);
  return "_acme-challenge." + std::string(host);
}

bool is_dns_key(std::string_view text) {
  constexpr std::size_t kMost = 1024;
  return !text.empty() && text.size() <= kMost && text.find_first_of(" \t\r\n;\"") == std::string_view::npos &&
         from_base64(text).has_value();
}

net::ProgramCall dns_call(const compiler::DnsUpdates& settings, std::string_view key, const std::string& hook,
                          std::string_view host, std::string_view value, DnsChange change) {
  net::ProgramCall call{.words = {}, .environment = net::current_environment()};
  call.max_output = kMostOutput;
  const std::string record = dns_record_of(host);
  if (settings.hook) {
    call.words = {hook, change == DnsChange::kAdd ? "present" : "cleanup", record, std::string(value)};
    return call;
  }
  call.words = {std::string(kNsupdate), "-t", "20"};
  call.input = net::ProgramInput::kText;
  call.text = script_of(settings, key, record, value, change);
  return call;
}

std::string dns_fault(const net::ProgramOutcome& outcome, std::string_view program) {
  std::string text(program);
  switch (outcome.end) {
    case net::ProgramEnd::kExited:
      if (outcome.number == 0) return {};
      text += " ended with status " + std::to_string(outcome.number);
      break;
    case net::ProgramEnd::kSignal:
      return text + " was ended by signal " + std::to_string(outcome.number);
    case net::ProgramEnd::kNotStarted:
      return text + " cannot be run: " + std::strerror(outcome.number);
    case net::ProgramEnd::kTimeout:
      return text + " did not come to an end in time";
    case net::ProgramEnd::kTooMuchOutput:
      return text + " writes too much";
    case net::ProgramEnd::kCancelled:
      return "cancelled";
  }
  const std::string said = printable(outcome.output.substr(0, outcome.output.find('\n')));
  return said.empty() ? text : text + ": " + said;
}

}  // namespace edge::controller::acme
