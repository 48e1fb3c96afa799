// Any bytes as the value of an Authorization field of Basic: what is read has bounds and no control bytes, and means
// the same when it is written again.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/text/base64.h"
#include "runtime/policy/auth/basic/basic_credentials.h"
#include "runtime/policy/auth/basic/htpasswd.h"
#include "tests/fuzz/require.h"

using namespace edge::runtime::auth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto exact = std::make_unique<char[]>(size);
  std::copy(data, data + size, exact.get());
  BasicCredentials read;
  if (read_basic_credentials({exact.get(), size}, read) != CredentialsFault::kNone) return 0;
  require(!read.user.empty() && read.user.size() <= kMaxUserBytes && read.password.size() <= kMaxPasswordBytes);
  require(read.user.find(':') == std::string::npos);
  for (const std::string& text : {read.user, read.password}) {
    require(std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }));
  }
  BasicCredentials again;
  const std::string written = "Basic " + edge::to_base64(read.user + ":" + read.password);
  require(read_basic_credentials(written, again) == CredentialsFault::kNone);
  require(again.user == read.user && again.password == read.password);
  return 0;
}
