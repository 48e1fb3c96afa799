#include "runtime/session/arrival.h"

#include <utility>

#include "base/hostname.h"
#include "base/path.h"
#include "program/evaluate/path_rules.h"
#include "program/scheme_redirect.h"
#include "runtime/match/decide.h"
#include "runtime/session/accept/client_address.h"
#include "runtime/session/accept/client_certificate.h"
#include "runtime/session/thread_program.h"

namespace edge::runtime {
namespace {

using net::http1::KnownField;
using net::http1::RequestHead;

// What the handshake asked of the client was one listener's (RFC 9110 §15.5.20); another may ask for more. Without SNI
// it was that of the listener for every other name.
bool misdirected(const LoadedProgram& program, std::uint32_t bind, std::string_view host,
                 std::string_view server_name) {
  return host != server_name && find_listener(program, bind, host) != find_listener(program, bind, server_name);
}

// The listener required less when the connection was made: a new one is asked for what it requires now.
Reply certificate_missing() {
  return {421, "misdirected", "The connection was made without the certificate that is required now.", {}, true};
}

// Host and path in the form that everything after this compares.
bool normalise(Scratch& scratch, Arrival& arrival, std::optional<Reply>& ending) {
  const RequestHead& head = scratch.request;
  if (!head.host.empty()) {
    const auto canonical = canonical_host(head.host, scratch.host);
    if (!canonical) return end_with(ending, bad_request("bad-host", "The host name is malformed."));
    arrival.host = *canonical;
  }
  arrival.path = head.path;
  if (head.form != net::http1::TargetForm::kAsterisk) {
    const auto normal = normalise_path(head.path, scratch.path());
    if (!normal) {
      return end_with(ending, bad_request("bad-path", "The path is malformed, or climbs above its root."));
    }
    arrival.path = *normal;
  }
  return true;
}

// What the listener's gateway makes of the path beyond that.
bool has_path_rules(const Arrival& arrival) {
  return arrival.listener != nullptr && arrival.listener->gateway->path_flags != 0;
}
bool apply_path_rules(Scratch& scratch, Arrival& arrival, std::optional<Reply>& ending) {
  const PathRules rules = program::path_rules_of(*arrival.listener->gateway);
  const auto path = edge::apply_path_rules(rules, arrival.path, scratch.path());
  if (!path) return end_with(ending, bad_request("bad-path", "The path is spelled in a way that is not served here."));
  arrival.path = *path;
  return true;
}

/// From the request line to the empty line, as it was received.
std::string_view text_of(const RequestHead& head) {
  const std::string_view lines = head.fields.lines(0, head.fields.size());
  const char* const begin = head.method_text.data();
  return {begin, static_cast<std::size_t>(lines.data() + lines.size() + std::string_view("\r\n").size() - begin)};
}

}  // namespace

Reply bad_request(std::string_view reason, std::string_view text) { return {400, reason, text, {}, true}; }

Reply no_route() { return {404, "no-route", "No route matches this request.", {}, false}; }

bool claims_https(const RequestHead& head) { return head.fields.value(KnownField::kXForwardedProto) == "https"; }

bool locate(const ThreadProgram& program, const ClientConnection& connection, Scratch& scratch, Arrival& arrival,
            std::optional<Reply>& ending) {
  arrival.source = connection.peer;
  if (!normalise(scratch, arrival, ending)) return false;
  arrival.bind = program.bind_of_slot[connection.slot];
  if (arrival.bind == program::kNone) return end_with(ending, no_route());

  const LoadedProgram& loaded = *program.program;
  if (connection.secure() && misdirected(loaded, arrival.bind, arrival.host, connection.tls->server_name)) {
    return end_with(ending,
                    {421, "misdirected", "The host is another listener's than the connection is of.", {}, false});
  }
  arrival.secure = connection.secure();
  if (program.listener_asks[arrival.bind]) {
    arrival.listener = find_listener(loaded, arrival.bind, arrival.host);
    if (arrival.listener != nullptr) {
      if (!fulfils(client_certificate_need(loaded, *arrival.listener), connection)) {
        return end_with(ending, certificate_missing());
      }
      const auto proxies = loaded.listeners_section().array(arrival.listener->gateway->trusted_proxies);
      arrival.peer_trusted = trusted(proxies, connection.peer);
      arrival.source = client_address(proxies, connection.peer, scratch.request.fields);
      arrival.secure = arrival.secure || (arrival.peer_trusted && claims_https(scratch.request));
    }
  }
  return !has_path_rules(arrival) || apply_path_rules(scratch, arrival, ending);
}

bool redirect_scheme(const LoadedProgram& program, const ClientConnection& connection, const RequestHead& head,
                     const Arrival& arrival, std::optional<Reply>& ending) {
  if (connection.secure() || claims_https(head)) return true;
  const program::SectionView& section = program.listeners_section();
  const auto& settings = section.array(arrival.listener->record->scheme_redirect)[0];
  auto to =
      program::scheme_redirect(section, settings, {head.host, head.path, arrival.path, head.query, head.has_query});
  if (!to) return true;
  if (head.host.empty()) return end_with(ending, bad_request("bad-host", "The request names no host to be sent to."));
  return end_with(ending, {to->status, "scheme-redirect", {}, std::move(to->location), false});
}

void HeadOverWaits::keep() {
  if (arrival_.kept == nullptr) {
    arrival_.kept = std::make_unique<net::Buffer>();
    arrival_.kept->append(text_of(scratch_.request));
  }
  inlet_.keep();
}

void HeadOverWaits::restore() {
  net::http1::ParseHint hint;
  net::http1::parse_request(arrival_.kept->view(), scratch_.limits, hint, scratch_.request);
  std::optional<Reply> none;
  normalise(scratch_, arrival_, none);
  if (has_path_rules(arrival_)) apply_path_rules(scratch_, arrival_, none);
}

}  // namespace edge::runtime
