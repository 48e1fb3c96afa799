#include "compiler/analyze/explain/handshake.h"

#include <algorithm>
#include <utility>

#include "program/evaluate/evaluate.h"
#include "program/format/records.h"
#include "program/values/certificate_file.h"
#include "program/values/ordered_certificates.h"

namespace edge::compiler::analyze {
namespace {

using program::kNone;
using Answer = ExplainedHandshake::Answer;

constexpr std::string_view kUnrecognizedName = "unrecognized_name";
constexpr std::string_view kHandshakeFailure = "handshake_failure";

ExplainedHandshake refused(std::string_view server_name, std::string_view alert, const std::string& why) {
  ExplainedHandshake out{.server_name = std::string(server_name), .alert = std::string(alert)};
  out.text = "refused by the alert " + out.alert + ": " + why;
  return out;
}

/// A client without SNI is told of by what it lacks.
std::string name_text(std::string_view server_name) {
  return server_name.empty() ? "a client that names no host" : std::string(server_name);
}

/// The host of the certificate that answers, as agents choose: the name itself, else its wildcard, which stands for one
/// label (RFC 6125 §6.4.3). Empty: none of these.
std::string ordered_host(const OrderedBundle& bundle, std::string_view server_name) {
  const auto has = [&bundle](const std::string& host) {
    return std::ranges::find(bundle.hosts, host) != bundle.hosts.end();
  };
  if (std::string name(server_name); has(name)) return name;
  const std::size_t dot = server_name.find('.');
  const std::string wildcard = dot == std::string_view::npos ? "" : "*" + std::string(server_name.substr(dot));
  return has(wildcard) ? wildcard : std::string();
}

ExplainedHandshake of_own(const program::SectionView& section, const program::ListenerTlsRecord& tls,
                          std::string_view server_name) {
  ExplainedHandshake out{.answer = Answer::kCertificate, .server_name = std::string(server_name)};
  for (const program::SecretRecord& record : section.array(tls.certificates)) {
    out.certificates.push_back(
        program::certificate_text(section.string(record.name_space), section.string(record.name)));
  }
  if (out.certificates.empty()) return refused(server_name, kHandshakeFailure, "the listener has no certificate");
  if (out.certificates.size() == 1) {
    out.text = "certificate of the " + out.certificates.front();
    return out;
  }
  for (const std::string& one : out.certificates) out.text += (out.text.empty() ? "the " : ", the ") + one;
  out.text = server_name.empty()
                 ? "certificate of the " + out.certificates.front() + ", as the client names no host"
                 : "of " + out.text + " the certificate that is for " + out.server_name + ", else the first";
  return out;
}

ExplainedHandshake on_demand(const OrderedBundle& bundle, ExplainedHandshake out) {
  const OnDemandSettings& settings = *bundle.on_demand;
  out.certificates = {program::certificate_text(bundle.name_space, program::certificate_secret_of(out.server_name))};
  out.pattern = bundle.listed_by(out.server_name);
  if (!out.pattern.empty()) {
    out.answer = Answer::kOnDemand;
    out.text = "certificate on demand, as " + out.pattern + " of onDemand.allow has the name (" +
               out.certificates.front() + ")";
    return out;
  }
  out.answer = Answer::kAsked;
  out.ask_url = settings.ask_url.substr(0, settings.ask_url.find('?'));
  out.text = "certificate on demand if " + out.ask_url + " allows the name (" + out.certificates.front() +
             "), else refused by the alert " + out.alert;
  return out;
}

ExplainedHandshake of_ordered(const OrderedBundle& bundle, std::string_view server_name) {
  ExplainedHandshake out{.answer = Answer::kOrdered, .server_name = std::string(server_name)};
  out.alert = bundle.on_demand && !server_name.empty() ? kUnrecognizedName : kHandshakeFailure;
  if (server_name.empty()) {
    if (bundle.hosts.empty() && !bundle.on_demand) {
      return refused(server_name, out.alert, "no certificate is ordered for the listener");
    }
    out.text = "the first ordered certificate that is there, as the client names no host";
    return out;
  }
  if (const std::string host = ordered_host(bundle, server_name); !host.empty()) {
    out.certificates = {program::certificate_text(bundle.name_space, program::certificate_secret_of(host))};
    out.text = "certificate ordered for " + host + " (" + out.certificates.front() + ")";
    return out;
  }
  if (bundle.may_have(out.server_name)) return on_demand(bundle, std::move(out));
  return refused(server_name, out.alert,
                 bundle.on_demand ? "onDemand does not allow " + out.server_name
                                  : "no certificate is ordered for " + out.server_name);
}

}  // namespace

std::optional<ExplainedHandshake> explain_handshake(const program::ProgramView& program, std::uint32_t bind,
                                                    const Handshake& handshake) {
  const program::SectionView& section = program.listeners().view;
  const auto& header = section.header<program::ListenersHeader>();
  if (section.array(header.binds)[bind].protocol != program::Protocol::kHttps) return std::nullopt;
  const std::uint32_t index = program::listener_of(program, bind, handshake.server_name);
  if (index == kNone) {
    return refused(handshake.server_name, kUnrecognizedName, "no listener takes " + name_text(handshake.server_name));
  }
  const program::ListenerRecord& listener = section.array(header.listeners)[index];
  const program::ListenerTlsRecord* const tls = program::optional_of(section, listener.tls);
  if (tls == nullptr || tls->mode != program::TlsMode::kTerminate) return std::nullopt;
  const auto certificates = section.array(tls->certificates);
  if (certificates.empty() || !program::is_ordered_secret(section.string(certificates.front().name))) {
    return of_own(section, *tls, handshake.server_name);
  }
  const program::SecretRecord& name = certificates.front();
  if (handshake.ordered != nullptr) {
    for (const OrderedBundle& bundle : handshake.ordered->bundles) {
      if (bundle.name_space == section.string(name.name_space) && bundle.name == section.string(name.name)) {
        return of_ordered(bundle, handshake.server_name);
      }
    }
  }
  ExplainedHandshake out{.answer = Answer::kUnknown, .server_name = std::string(handshake.server_name)};
  out.text = "an ordered certificate, if there is one for " + name_text(handshake.server_name) +
             ": the names are in the configuration, not in a program";
  return out;
}

}  // namespace edge::compiler::analyze
