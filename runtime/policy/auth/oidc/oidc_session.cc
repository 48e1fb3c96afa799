#include "runtime/policy/auth/oidc/oidc_session.h"

#include <algorithm>
#include <utility>

namespace edge::runtime::auth {
namespace {

constexpr char kIdentityForm = 2;
constexpr char kTokensForm = 1;
/// No digit of the sealed parts.
constexpr char kBetweenParts = '.';

/// Serializes numbers in big-endian order, texts after their size.
class Writer {
 public:
  explicit Writer(char form) { bytes_.push_back(form); }
  void number(std::uint64_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) bytes_.push_back(static_cast<char>(value >> shift));
  }
  void text(std::string_view text) {
    number(text.size(), 2);
    bytes_ += text;
  }
  void texts(const std::vector<std::string>& all) {
    number(all.size(), 2);
    for (const std::string& one : all) text(one);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Deserializes. After an error every read returns an empty value, and `whole` returns false.
class Reader {
 public:
  Reader(std::string_view bytes, char form) : rest_(bytes), sound_(!bytes.empty() && bytes.front() == form) {
    if (sound_) rest_.remove_prefix(1);
  }
  std::uint64_t number(std::size_t size) {
    const std::string_view bytes = take(size);
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }
  std::string text() { return std::string(take(number(2))); }
  std::size_t count(std::size_t most) {
    const std::size_t count = number(2);
    // Each takes two bytes at least, so that a count allocates no more than is there.
    if (count > most || count * 2 > rest_.size()) sound_ = false;
    return sound_ ? count : 0;
  }
  std::vector<std::string> texts(std::size_t most) {
    std::vector<std::string> all(count(most));
    for (std::string& one : all) one = text();
    return all;
  }
  bool whole() const { return sound_ && rest_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    if (!sound_ || size > rest_.size()) {
      sound_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view rest_;
  bool sound_;
};

std::string_view identity_part(std::string_view text) { return text.substr(0, text.find(kBetweenParts)); }

std::string with_part(std::string_view bound_to, std::string_view identity) {
  return std::string(bound_to).append("\n").append(identity);
}

}  // namespace

std::string_view OidcIdentity::claim(std::string_view name) const {
  const auto found = std::ranges::find_if(claims, [&](const ClaimText& claim) { return claim.name == name; });
  return found == claims.end() ? std::string_view{} : found->value;
}

std::string write_identity(const OidcIdentity& identity) {
  Writer out(kIdentityForm);
  out.number(static_cast<std::uint64_t>(identity.expires), 8);
  out.number(static_cast<std::uint64_t>(identity.refresh_from), 8);
  out.number(static_cast<std::uint64_t>(identity.ends), 8);
  out.number(identity.claims.size(), 2);
  for (const ClaimText& claim : identity.claims) {
    out.text(claim.name);
    out.text(claim.value);
  }
  out.texts(identity.roles);
  out.texts(identity.groups);
  return out.take();
}

std::optional<OidcIdentity> read_identity(std::string_view bytes) {
  Reader in(bytes, kIdentityForm);
  OidcIdentity identity;
  identity.expires = static_cast<std::int64_t>(in.number(8));
  identity.refresh_from = static_cast<std::int64_t>(in.number(8));
  identity.ends = static_cast<std::int64_t>(in.number(8));
  identity.claims.resize(in.count(OidcIdentity::kMaxClaims));
  for (ClaimText& claim : identity.claims) {
    claim.name = in.text();
    claim.value = in.text();
  }
  identity.roles = in.texts(OidcIdentity::kMaxMemberships);
  identity.groups = in.texts(OidcIdentity::kMaxMemberships);
  if (!in.whole()) return std::nullopt;
  return identity;
}

std::string write_tokens(const OidcTokens& tokens) {
  Writer out(kTokensForm);
  out.text(tokens.refresh);
  out.text(tokens.id);
  return out.take();
}

std::optional<OidcTokens> read_tokens(std::string_view bytes) {
  Reader in(bytes, kTokensForm);
  OidcTokens tokens;
  tokens.refresh = in.text();
  tokens.id = in.text();
  if (!in.whole()) return std::nullopt;
  return tokens;
}

std::optional<std::string> seal_session(const SessionKeys& keys, std::string_view bound_to,
                                        const OidcIdentity& identity, const OidcTokens& tokens) {
  std::optional<std::string> text = keys.seal(SealPurpose::kSession, bound_to, write_identity(identity));
  if (!text) return std::nullopt;
  const std::string binding = with_part(bound_to, *text);
  *text += kBetweenParts;
  std::optional<std::string> sealed = keys.seal(SealPurpose::kTokens, binding, write_tokens(tokens));
  if (sealed && text->size() + sealed->size() > kMaxSessionText) {
    sealed = keys.seal(SealPurpose::kTokens, binding, write_tokens({.refresh = tokens.refresh, .id = {}}));
  }
  if (!sealed || text->size() + sealed->size() > kMaxSessionText) return std::nullopt;
  *text += *sealed;
  return text;
}

std::optional<OidcIdentity> open_identity(const SessionKeys& keys, std::string_view bound_to, std::string_view text) {
  const std::optional<std::string> bytes = keys.open(SealPurpose::kSession, bound_to, identity_part(text));
  if (!bytes) return std::nullopt;
  return read_identity(*bytes);
}

std::optional<OidcTokens> open_tokens(const SessionKeys& keys, std::string_view bound_to, std::string_view text) {
  const std::string_view identity = identity_part(text);
  if (identity.size() == text.size()) return std::nullopt;
  const std::optional<std::string> bytes =
      keys.open(SealPurpose::kTokens, with_part(bound_to, identity), text.substr(identity.size() + 1));
  if (!bytes) return std::nullopt;
  return read_tokens(*bytes);
}

}  // namespace edge::runtime::auth
