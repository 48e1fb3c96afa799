// OCSP responses for certificates that name a responder (RFC 6960), as values beside them: agents staple them
// (RFC 6066 section 8), and no client needs to ask the CA. A certificate with must-staple (RFC 7633) is refused by
// clients without one.
#include <algorithm>
#include <ctime>
#include <limits>
#include <memory>
#include <utility>

#include <openssl/err.h>
#include <openssl/ocsp.h>

#include "controller/acme/round.h"
#include "net/client/url.h"
#include "net/tls/certificate.h"
#include "program/values/ordered_certificates.h"

namespace edge::controller::acme {
namespace {

using namespace std::chrono_literals;
using net::tls::Certificate;
using net::tls::Staple;

constexpr auto kResponderTime = 15s;
constexpr std::size_t kMostResponse = std::size_t{64} << 10;
constexpr std::int64_t kStapleAgain = 3600;
constexpr std::int64_t kNoStaple = std::numeric_limits<std::int64_t>::max();
/// Responses that hold for longer are renewed all the same.
constexpr std::int64_t kMostStapleAge = 4 * 24 * 3600;
constexpr std::int64_t kDaySeconds = 24 * 3600;
constexpr std::string_view kRequestType = "Content-Type: application/ocsp-request\r\n";

/// DER; empty: the chain has no issuer.
std::string request_for(const Certificate& certificate) {
  if (certificate.chain().empty()) return {};
  const std::unique_ptr<OCSP_REQUEST, decltype(&OCSP_REQUEST_free)> request(OCSP_REQUEST_new(), OCSP_REQUEST_free);
  OCSP_CERTID* const id = OCSP_cert_to_id(nullptr, certificate.leaf(), certificate.chain().front().get());
  if (request == nullptr || id == nullptr || OCSP_request_add0_id(request.get(), id) == nullptr) {
    OCSP_CERTID_free(id);
    ERR_clear_error();
    return {};
  }
  unsigned char* der = nullptr;
  const int size = i2d_OCSP_REQUEST(request.get(), &der);
  if (size <= 0) return {};
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return bytes;
}

std::int64_t seconds_since_1970(const ASN1_GENERALIZEDTIME* time) {
  std::tm parts{};
  return time != nullptr && ASN1_TIME_to_tm(time, &parts) == 1 ? ::timegm(&parts) : 0;
}

/// Of a response that Staple has read. One that tells no end holds for a day, as there.
std::pair<std::int64_t, std::int64_t> times_of(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const std::unique_ptr<OCSP_RESPONSE, decltype(&OCSP_RESPONSE_free)> response(
      d2i_OCSP_RESPONSE(nullptr, &at, static_cast<long>(der.size())), OCSP_RESPONSE_free);
  const std::unique_ptr<OCSP_BASICRESP, decltype(&OCSP_BASICRESP_free)> basic(
      response != nullptr ? OCSP_response_get1_basic(response.get()) : nullptr, OCSP_BASICRESP_free);
  OCSP_SINGLERESP* const single = basic != nullptr ? OCSP_resp_get0(basic.get(), 0) : nullptr;
  if (single == nullptr) return {0, 0};
  ASN1_GENERALIZEDTIME *from = nullptr, *until = nullptr;
  OCSP_single_get0_status(single, nullptr, nullptr, &from, &until);
  const std::int64_t begin = seconds_since_1970(from);
  return {begin, until != nullptr ? seconds_since_1970(until) : begin + kDaySeconds};
}

}  // namespace

/// Asks the responder that the certificate names for a response that holds now.
net::Task<Certificates::Fetched> Certificates::fetch_staple(Worker& worker, std::string chain, std::string key,
                                                            std::string responder) {
  const auto certificate = Certificate::read(chain, key);
  const auto url = net::client::parse_url(responder);
  const std::string request = certificate ? request_for(**certificate) : std::string();
  if (request.empty() || !url) {
    co_return Fetched{.fault = "the certificate names no responder that can be asked"};
  }
  const net::client::Call call{.url = *url,
                               .method = "POST",
                               .fields = kRequestType,
                               .body = request,
                               .until = client_.loop().now() + kResponderTime,
                               .max_body = kMostResponse,
                               .repeatable = true};
  const net::client::Answer answer = co_await http_.call(worker.waiter, call);
  if (!answer.ok() || answer.status != 200) {
    co_return Fetched{.fault = answer.ok() ? "status " + std::to_string(answer.status)
                                           : std::string(net::client::fault_word(answer.fault))};
  }
  const auto staple = Staple::read(answer.body, **certificate);
  if (!staple) {
    co_return Fetched{.fault = printable(staple.error().text),
                      .revoked = staple.error().code == ErrorCode::kFailedPrecondition};
  }
  if (!(*staple)->valid_at(now())) co_return Fetched{.fault = "it is over, or not yet valid"};
  co_return Fetched{.staple = answer.body};
}

/// Has the certificate's Secret keep a response that is at most half over. \returns when to look again.
net::Task<std::int64_t> Certificates::keep_staple(Worker& worker, const Round& round, const CertificateView& view) {
  if (view.responder.empty()) co_return kNoStaple;
  const std::string* const chain = round.kept.value(program::kCertificateKey);
  const std::string* const key = round.kept.value(program::kPrivateKeyKey);
  const std::string* const kept = round.kept.value(program::kStapleKey);
  const std::int64_t kept_due = staple_due(*chain, *key, kept);
  if (kept_due > now()) co_return kept_due;
  const Fetched fetched = co_await fetch_staple(worker, *chain, *key, view.responder);
  if (fetched.revoked) {
    const bool noted = co_await note_revoked(worker, round);
    co_return noted ? now() : now() + kStapleAgain;
  }
  if (fetched.staple.empty()) {
    note(round, "staple", "the OCSP response of " + printable(view.responder) + ": " + fetched.fault);
    co_return now() + kStapleAgain;
  }
  std::string staple = fetched.staple;
  const std::int64_t due = staple_due(*chain, *key, &staple);
  // A responder that has nothing younger is not asked, nor the Secret written, again and again.
  if (kept_due != 0 && due <= now()) co_return now() + kStapleAgain;
  SecretText text = certificate_text(round, round.kept.directory, *chain, *key);
  text.data[std::string(program::kStapleKey)] = std::move(staple);
  const std::string space = text.name_space, name = text.name;
  const kube::ObjectReply reply =
      co_await client_.update(worker.waiter, secrets_, space, name, write_secret(text, round.kept.resource_version));
  if (!reply.ok()) {
    if (!reply.failure.conflict()) note(round, "refused", "its Secret cannot be written: " + reply.failure.text());
    co_return now() + kSoon;
  }
  options_.log.info("an OCSP response for " + round.wanted.host + " is there",
                    {{"gateway", round.wanted.gateway}, {"secret", space + "/" + name}});
  co_return std::max(due, now() + kStapleAgain);
}

/// Has the certificate's Secret say that it is revoked, so that whoever leads replaces it; what is stapled says
/// otherwise, and goes. A CA that takes back whatever it issues is not asked for more than one a day, which the Secret
/// remembers. \returns whether it is to be replaced now.
net::Task<bool> Certificates::note_revoked(Worker& worker, const Round& round) {
  const std::int64_t last = round.kept.replaced_revoked;
  const bool again = last > now() - kDaySeconds;
  if (again) note(round, "staple", "it is revoked again, and is replaced a day after the last time");
  if (again && last <= now()) co_return false;
  const std::string* const chain = round.kept.value(program::kCertificateKey);
  const std::string* const key = round.kept.value(program::kPrivateKeyKey);
  SecretText text = certificate_text(round, round.kept.directory, *chain, *key);
  // Of a clock that was set back: the day counts from now, by what certificate_text() has written.
  if (!again) text.data[std::string(kRevokedKey)] = std::to_string(now());
  const std::string space = text.name_space, name = text.name;
  const kube::ObjectReply reply =
      co_await client_.update(worker.waiter, secrets_, space, name, write_secret(text, round.kept.resource_version));
  if (!reply.ok()) {
    if (!reply.failure.conflict()) note(round, "refused", "its Secret cannot be written: " + reply.failure.text());
    co_return false;
  }
  if (again) co_return false;
  {
    const std::lock_guard lock(mutex_);
    ++counts_.revoked;
  }
  options_.log.warn("the certificate for " + round.wanted.host + " is revoked, and is replaced",
                    {{"gateway", round.wanted.gateway}, {"secret", space + "/" + name}});
  (void)co_await record(worker, round, kube::EventLevel::kWarning, "CertificateRevoked",
                        round.wanted.host + ": its CA has revoked the certificate, which is replaced");
  co_return true;
}

/// When half of what the response holds for is over, seconds since 1970; 0: there is none that holds.
std::int64_t Certificates::staple_due(const std::string& chain, const std::string& key,
                                      const std::string* staple) const {
  if (staple == nullptr) return 0;
  const auto certificate = Certificate::read(chain, key);
  const auto read = certificate ? Staple::read(*staple, **certificate) : Error{ErrorCode::kInvalidArgument, {}};
  if (!read || !(*read)->valid_at(now())) return 0;
  const auto [from, until] = times_of(*staple);
  return from + std::min((until - from) / 2, kMostStapleAge);
}

}  // namespace edge::controller::acme
