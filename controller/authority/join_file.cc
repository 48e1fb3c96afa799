#include "controller/authority/join_file.h"

#include <algorithm>
#include <cstddef>

#include <openssl/rand.h>

#include "base/text/base64.h"

namespace edge::controller {
namespace {

constexpr std::size_t kTokenBytes = 32;
constexpr std::string_view kTokenLine = "token: ";
/// base/text/base64.h of the PEM.
constexpr std::string_view kJoinKeyLine = "program-key: ";

}  // namespace

std::string text_of(const JoinFile& file) {
  std::string text = "# " + std::string(file.about) + "\n" + std::string(kTokenLine) + std::string(file.token) + "\n";
  if (!file.program_key.empty()) text += std::string(kJoinKeyLine) + to_base64(file.program_key) + "\n";
  return text + std::string(file.roots);
}

std::string line_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.starts_with(key)) return std::string(text.substr(key.size(), end - key.size()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::string token_in(std::string_view text) { return line_of(text, kTokenLine); }

Result<std::string> fresh_token() {
  std::string bytes(kTokenBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), kTokenBytes) != 1) {
    return Error{ErrorCode::kInternal, "the system gives no random bytes"};
  }
  return to_base64url(bytes);
}

}  // namespace edge::controller
