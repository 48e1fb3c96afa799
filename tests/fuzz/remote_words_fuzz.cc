// Any messages of another cluster: what is taken is within bounds, is written as it was read, and what a link says in
// return stays bounded.
//
// Input: messages, each after its size in two bytes, little-endian.
#include <cstdint>
#include <string_view>

#include "controller/remote/link.h"
#include "controller/remote/phase.h"
#include "schemas/remote.pb.h"
#include "tests/fuzz/require.h"

using namespace edge;
using namespace edge::controller::remote;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  net::Time now(std::chrono::hours(1));
  Link link({}, now);
  while (bytes.size() >= 2) {
    const std::size_t length = static_cast<std::uint8_t>(bytes[0]) | static_cast<std::size_t>(bytes[1] & 0xff) << 8;
    bytes.remove_prefix(2);
    const std::string_view one = bytes.substr(0, length);
    bytes.remove_prefix(one.size());
    remote::v1::Message message;
    if (!message.ParseFromArray(one.data(), static_cast<int>(one.size()))) continue;
    const auto word = read_word(message);
    if (!word) continue;
    remote::v1::Message again;
    write_word(*word, again);
    const auto same = read_word(again);
    require(same && *same == *word);
    now += std::chrono::milliseconds(length);
    const bool taken = link.hear(*word, now).ok();
    require(link.due({}, now).size() <= 66);
    require(!link.is_lost(now));
    const PhaseView phase = phase_of({.link = link.facts(), .report = link.report()}, link.heartbeat(), now);
    require(!taken || phase.phase == Phase::kConnecting || phase.phase == Phase::kConnected ||
            phase.phase == Phase::kDegraded);
  }
  return 0;
}
