// Any frames of another cluster: what is read is written as it was read, and a session with whoever says it stays
// within bounds, and says nothing that cannot be read.
//
// Input: frames, each after its size in two bytes, little-endian. Their numbers are put in order; signatures hold.
#include <cstdint>
#include <string>
#include <string_view>

#include "controller/federation/session.h"
#include "tests/fuzz/require.h"

using namespace edge;
using namespace edge::federation;

namespace {

constexpr std::int64_t kNow = 1'700'000'000'000;

Signatures any_signatures() {
  return {.sign = [](std::string_view, std::string_view) -> Result<std::string> { return std::string(64, 's'); },
          .verify = [](const std::string&, std::string_view, std::string_view, std::string_view) { return true; }};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Replica replica("own", {}, any_signatures());
  replica.begin_life(kNow, 1);
  replica.add_member({.cluster = "peer"});
  replica.set_peer("peer", {.name = "peer", .hub = size % 2 == 0, .quota = {.objects = 8, .bytes = 1 << 20}});
  require(replica.write({"ProxyRoute", "shop", "cart"}, "{}", kNow).ok());
  Session session(replica, "peer", {.sync_interval = 1}, kNow);
  std::uint64_t number = 0;
  while (bytes.size() >= 2) {
    const std::size_t length = static_cast<std::uint8_t>(bytes[0]) | static_cast<std::size_t>(bytes[1] & 0xff) << 8;
    bytes.remove_prefix(2);
    const std::string_view one = bytes.substr(0, length);
    bytes.remove_prefix(one.size());
    auto frame = decode_frame(one);
    if (!frame) continue;
    const std::string written = encode(*frame);
    const auto again = decode_frame(written);
    require(again.ok() && encode(*again) == written);
    frame->number = ++number;
    if (!session.receive(std::move(*frame), kNow + static_cast<std::int64_t>(number))) break;
    for (const Frame& said : session.take(kNow + 10 * static_cast<std::int64_t>(number))) {
      const std::string text = encode(said);
      require(text.size() <= kMostFrame && decode_frame(text).ok());
    }
    require(replica.counts().objects <= 10);
  }
  return 0;
}
