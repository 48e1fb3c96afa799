#include "runtime/upstream/balance/affinity.h"

#include <array>
#include <cstring>

#include "base/text/ascii.h"
#include "net/http1/cookies.h"

namespace edge::runtime {
namespace {

/// The encrypted content: of fixed size, so that the value's length reveals nothing.
struct Sealed {
  std::uint64_t backend_id;
  std::uint64_t began;
  std::uint64_t used;
  std::array<std::uint8_t, 16> address;
  std::uint16_t port;
  std::array<std::uint8_t, 6> reserved;
};
static_assert(sizeof(Sealed) == 48);

/// 48 bytes with what SealingKeys adds, in base64url.
constexpr std::size_t kMostText = 120;

}  // namespace

Affinity::Affinity(const program::SessionSettings& settings, const net::tls::SealingKeys& keys,
                   const net::http1::HeadFields& fields, std::uint64_t now, bool secure)
    : settings_(settings), keys_(keys), now_(now), secure_(secure) {
  const auto try_one = [this](std::string_view value) {
    if (!remembered_ && tried_++ < kMaxTried) read(value);
  };
  if (!settings_.by_header) {
    net::http1::for_each_cookie(fields, [&](std::string_view pair, std::string_view name) {
      if (name == settings_.name && name.size() < pair.size()) try_one(trim_blanks(pair.substr(pair.find('=') + 1)));
    });
    return;
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (equals_ignoring_case(fields[i].name, settings_.name)) try_one(fields[i].value);
  }
}

void Affinity::read(std::string_view sealed) {
  if (sealed.size() > kMostText) return;
  const std::optional<std::string> plain = keys_.open(net::tls::SealPurpose::kAffinity, settings_.name, sealed);
  if (!plain || plain->size() != sizeof(Sealed)) return;
  Sealed session{};
  std::memcpy(&session, plain->data(), sizeof session);
  // Clocks of agents differ: what is of the future counts as of now.
  const auto age = [this](std::uint64_t since) { return now_ > since ? now_ - since : 0; };
  if (settings_.timeout_s != 0 && age(session.began) >= settings_.timeout_s) return;
  if (settings_.idle_s != 0 && age(session.used) >= settings_.idle_s) return;
  remembered_.emplace();
  remembered_->backend_id = session.backend_id;
  remembered_->address.address.bytes = session.address;
  remembered_->address.port = session.port;
  began_ = session.began;
  used_ = session.used;
}

std::string Affinity::line(const SessionEndpoint& answered) const {
  const bool same = remembered_ == answered;
  if (same && (settings_.idle_s == 0 || used_ >= now_)) return {};
  Sealed session{
      answered.backend_id, same ? began_ : now_, now_, answered.address.address.bytes, answered.address.port, {}};
  std::string plain(sizeof session, '\0');
  std::memcpy(plain.data(), &session, sizeof session);
  const std::optional<std::string> value = keys_.seal(net::tls::SealPurpose::kAffinity, settings_.name, plain);
  if (!value) return {};
  if (settings_.by_header) return std::string(settings_.name) + ": " + *value + "\r\n";
  net::http1::CookieManner manner{.secure = secure_, .path = settings_.path};
  if (settings_.cookie_age_s != 0) {
    const std::uint64_t age = now_ > session.began ? now_ - session.began : 0;
    manner.max_age = static_cast<int>(settings_.cookie_age_s > age ? settings_.cookie_age_s - age : 0);
  }
  return net::http1::set_cookie_line(settings_.name, *value, manner);
}

}  // namespace edge::runtime
