#include "runtime/session/accept/client_certificate.h"

#include "program/format/records.h"

namespace edge::runtime {
namespace {

constexpr std::string_view kVerified = "SUCCESS";
constexpr std::string_view kNotPresented = "NONE";
constexpr std::string_view kFailed = "FAILED:";

std::string_view known_of(const ClientConnection& connection) {
  return connection.tls == nullptr ? std::string_view() : std::string_view(connection.tls->client_verification);
}

}  // namespace

program::ClientCertificateNeed client_certificate_need(const LoadedProgram& program, const LoadedListener& listener) {
  const auto* const tls = program::optional_of(program.listeners_section(), listener.record->tls);
  return tls == nullptr ? program::kNoClientCertificate : tls->client_certificate;
}

std::string client_verification(const net::tls::PeerVerification& peer) {
  if (!peer.presented) return std::string(kNotPresented);
  return peer.verified() ? std::string(kVerified) : std::string(kFailed).append(peer.fault);
}

bool fulfils(program::ClientCertificateNeed need, const ClientConnection& connection) {
  switch (need) {
    case program::kNoClientCertificate:
    case program::kUnverifiedClientCertificate:
      return true;
    case program::kOptionalClientCertificate:
      return !known_of(connection).starts_with(kFailed);
    case program::kNeedsClientCertificate:
      break;
  }
  return known_of(connection) == kVerified;
}

std::string_view verification_field(program::ClientCertificateNeed need, const ClientConnection& connection) {
  if (need == program::kNoClientCertificate) return {};
  // A connection from before the listener requested certificates has presented none.
  const std::string_view known = known_of(connection);
  return known.empty() ? kNotPresented : known;
}

bool verification_varies(program::ClientCertificateNeed need) {
  return need == program::kOptionalClientCertificate || need == program::kUnverifiedClientCertificate;
}

}  // namespace edge::runtime
