// Any bytes as packets of STAMP: read in bounds in both modes, and what a reader takes is what a writer would have
// sent. Without the key nothing authenticates.
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/wan/stamp.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge::agent::wan;

void read_all(std::string_view packet, std::string_view key) {
  const auto query = read_query(packet, key);
  const auto reply = read_reply(packet, key);
  const bool fits = packet.size() >= stamp_base(key) && packet.size() <= kStampLongest;
  require(fits || (!query && !reply));
  if (query) {
    // A reflector answers with the length of the question, and what it says of it is read as the same.
    const StampReply answer{.number = query->number, .sent = {}, .received = {}, .query = *query, .ttl = 64};
    const std::string written = write_reply(answer, packet.substr(stamp_base(key)), key);
    require(written.size() == packet.size());
    const auto again = read_reply(written, key);
    require(again && again->number == query->number && again->ttl == 64);
    require(again->query.number == query->number && again->query.session == query->session);
    require(again->query.sent.synchronized == query->sent.synchronized);
  }
  if (reply) {
    const auto again = read_reply(write_reply(*reply, {}, key), key);
    require(again && again->number == reply->number && again->ttl == reply->ttl);
    require(again->query.number == reply->query.number && again->query.session == reply->query.session);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string key(32, 'k');
  const std::string_view packet(reinterpret_cast<const char*>(data), size);
  require(session_number(packet).has_value() == (size >= kStampOpen));
  read_all(packet, {});
  require(!read_query(packet, key) && !read_reply(packet, key));
  // The same bytes as the fields of a packet that is authentic.
  if (size >= 12) {
    std::uint64_t time = 0;
    for (int i = 0; i < 8; ++i) time = time << 8 | data[i];
    const StampQuery query{.number = std::uint32_t{data[8]} << 24 | data[9],
                           .sent = {static_cast<std::int64_t>(time >> 2), (time & 1) != 0},
                           .session = static_cast<std::uint16_t>(data[10] << 8 | data[11])};
    std::string written = write_query(query, key);
    require(session_number(written) == query.session);
    read_all(written, key);
    written[data[8] % 96] = static_cast<char>(written[data[8] % 96] ^ 1);
    require(!read_query(written, key));
  }
  return 0;
}
