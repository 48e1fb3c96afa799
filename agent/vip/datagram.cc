#include "agent/vip/datagram.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace edge::agent::vip {
namespace {

constexpr std::string_view kMagic = "EVW2";
constexpr std::size_t kMac = 32;
constexpr std::uint8_t kDrained = 1;
constexpr std::uint8_t kLeaving = 2;
constexpr std::uint8_t kServesBits = 3;
constexpr std::uint8_t kMoved = 4;
constexpr std::uint8_t kKeeps = 8;
constexpr std::uint8_t kHasMac = 16;
constexpr std::uint8_t kNobody = 0xff;

template <typename Number>
void put(std::string& out, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) out.push_back(static_cast<char>(number >> (8 * i)));
}

void put_name(std::string& out, std::string_view name) {
  put(out, static_cast<std::uint8_t>(name.size()));
  out += name;
}

/// Reads fields from the front; after a field that is missing, all further reads fail.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  template <typename Number>
  Number number() {
    Number number = 0;
    if (rest_.size() < sizeof number) return fail<Number>();
    for (std::size_t i = 0; i < sizeof number; ++i) {
      number = static_cast<Number>(number | static_cast<Number>(static_cast<std::uint8_t>(rest_[i])) << (8 * i));
    }
    rest_.remove_prefix(sizeof number);
    return number;
  }
  std::string name() {
    const auto size = number<std::uint8_t>();
    if (size > kMaxNodeName || rest_.size() < size) return fail<std::string>();
    std::string name(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return name;
  }
  bool at_end() const { return rest_.empty() && !failed_; }

 private:
  template <typename Value>
  Value fail() {
    failed_ = true;
    rest_ = {};
    return {};
  }

  std::string_view rest_;
  bool failed_ = false;
};

std::optional<std::string> mac_of(std::string_view bytes, std::string_view key) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
  if (key.empty() ||
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data, bytes.size(), mac.data(), &size) == nullptr) {
    return std::nullopt;
  }
  return std::string(reinterpret_cast<const char*>(mac.data()), size);
}

}  // namespace

std::string write_datagram(const Word& word, std::string_view key) {
  std::vector<std::string_view> offered;
  for (const AddressWord& address : word.addresses) {
    if (address.offered_to.empty() || std::ranges::find(offered, address.offered_to) != offered.end()) continue;
    // What is offered to more nodes than there is room for is offered to these later.
    if (offered.size() < kMaxOffered && address.offered_to.size() <= kMaxNodeName)
      offered.push_back(address.offered_to);
  }
  if (word.addresses.size() > kMaxAddresses || word.node.size() > kMaxNodeName) return {};
  std::string out(kMagic);
  put(out, word.instance);
  put(out, word.number);
  put(out, static_cast<std::uint8_t>((word.drained ? kDrained : 0) | (word.leaving ? kLeaving : 0)));
  put_name(out, word.node);
  put(out, static_cast<std::uint8_t>(offered.size()));
  for (const std::string_view name : offered) put_name(out, name);
  put(out, static_cast<std::uint16_t>(word.addresses.size()));
  for (const AddressWord& address : word.addresses) {
    const auto position = std::ranges::find(offered, address.offered_to);
    put(out, address.id);
    put(out, address.epoch);
    const bool has_mac = address.mac != decltype(address.mac){};
    put(out, static_cast<std::uint8_t>(static_cast<std::uint8_t>(address.serves) | (address.moved ? kMoved : 0) |
                                       (address.keeps ? kKeeps : 0) | (has_mac ? kHasMac : 0)));
    put(out, position == offered.end() ? kNobody : static_cast<std::uint8_t>(position - offered.begin()));
    if (has_mac) out.append(address.mac.begin(), address.mac.end());
  }
  const auto mac = mac_of(out, key);
  return mac ? out + *mac : std::string();
}

std::optional<Word> read_datagram(std::string_view datagram, std::string_view key) {
  if (datagram.size() > kMaxDatagram || datagram.size() < kMagic.size() + kMac) return std::nullopt;
  const std::string_view body = datagram.substr(0, datagram.size() - kMac);
  const auto mac = mac_of(body, key);
  if (!mac || CRYPTO_memcmp(mac->data(), datagram.data() + body.size(), kMac) != 0) return std::nullopt;
  if (!body.starts_with(kMagic)) return std::nullopt;
  Reader reader(body.substr(kMagic.size()));
  Word word;
  word.instance = reader.number<std::uint64_t>();
  word.number = reader.number<std::uint64_t>();
  const auto flags = reader.number<std::uint8_t>();
  word.drained = (flags & kDrained) != 0;
  word.leaving = (flags & kLeaving) != 0;
  word.node = reader.name();
  std::vector<std::string> offered(std::min<std::size_t>(reader.number<std::uint8_t>(), kMaxOffered));
  for (std::string& name : offered) name = reader.name();
  const std::size_t count = reader.number<std::uint16_t>();
  if (count > kMaxAddresses) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    AddressWord& address = word.addresses.emplace_back();
    address.id = reader.number<std::uint64_t>();
    address.epoch = reader.number<std::uint64_t>();
    const auto bits = reader.number<std::uint8_t>();
    address.serves = static_cast<Serves>(bits & kServesBits);
    address.moved = (bits & kMoved) != 0;
    address.keeps = (bits & kKeeps) != 0;
    const auto to = reader.number<std::uint8_t>();
    if (to < offered.size()) address.offered_to = offered[to];
    if ((bits & kHasMac) == 0) continue;
    for (std::uint8_t& byte : address.mac) byte = reader.number<std::uint8_t>();
  }
  const bool ascending = std::ranges::is_sorted(word.addresses, std::ranges::less_equal(), &AddressWord::id);
  if (!reader.at_end() || word.node.empty() || !ascending) return std::nullopt;
  return word;
}

}  // namespace edge::agent::vip
