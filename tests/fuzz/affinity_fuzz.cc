// Any bytes as the cookies of a request, and as the field that takes their place: a session that was not sealed with
// the key is none, and what is sealed for an endpoint brings the client back there.
#include <cstdint>
#include <string>
#include <string_view>

#include "net/http1/parse.h"
#include "runtime/upstream/balance/affinity.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge;
using runtime::Affinity;
using runtime::SessionEndpoint;

constexpr std::uint64_t kNow = 1'800'000'000;

const net::tls::SealingKeys& keys() {
  static const auto made = net::tls::SealingKeys::derive(std::string(32, 'k'), {});
  return *made;
}

/// What the client would send back for the line of a response.
std::string sent_back(std::string_view line, bool by_header) {
  std::string_view value = line.substr(line.find(": ") + 2);
  value = value.substr(0, value.find_first_of(by_header ? "\r" : ";"));
  return (by_header ? "sticky: " : "Cookie: a=b; ") + std::string(value) + "\r\n";
}

void read(const std::string& lines, bool by_header, const SessionEndpoint* expected) {
  static net::http1::RequestHead head;
  net::http1::ParseHint hint;
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
  if (parse_request(text, {}, hint, head).state != net::http1::ParseState::kComplete) return;
  program::SessionSettings settings;
  settings.name = "sticky";
  settings.path = "/";
  settings.by_header = by_header;
  settings.timeout_s = 1000;
  settings.idle_s = 100;
  Affinity session(settings, keys(), head.fields, kNow, true);
  if (expected != nullptr) {
    require(session.remembered() && *session.remembered() == *expected);
    return;
  }
  require(!session.remembered());
  session.choose(7, true);
  require(session.wanted() == nullptr);
  SessionEndpoint endpoint{.backend_id = 7, .address = {}};
  endpoint.address.port = static_cast<std::uint16_t>(lines.size());
  const std::string line = session.line(endpoint);
  require(line.ends_with("\r\n") && line.find_first_of("\r\n") == line.size() - 2);
  read(sent_back(line, by_header), by_header, &endpoint);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const bool by_header : {false, true}) {
    const std::string_view name = by_header ? "sticky: " : "Cookie: ";
    read(std::string(name) + bytes + "\r\n", by_header, nullptr);
    read(std::string(name) + (by_header ? "" : "sticky=") + bytes + "\r\n", by_header, nullptr);
    read(bytes, by_header, nullptr);
  }
  return 0;
}
