#include "runtime/observe/notes.h"

#include "runtime/observe/redact.h"

namespace edge::runtime {
namespace {

/// What a line takes of each text.
constexpr std::array<std::size_t, Notes::kTexts> kMost = {32, 255, 2048, 2048, 1024, 512};

}  // namespace

void Notes::keep(Text which, std::string_view text) {
  const std::size_t most = kMost[static_cast<std::size_t>(which)];
  const std::size_t at = bytes_.size();
  if (which == Text::kQuery) {
    append_redacted_query(text, bytes_);
  } else if (which == Text::kReferer) {
    append_redacted_url(text, bytes_);
  } else {
    bytes_.append(text.substr(0, most));
  }
  if (bytes_.size() - at > most) bytes_.resize(at + most);
  pieces_[static_cast<std::size_t>(which)] = {static_cast<std::uint32_t>(at),
                                              static_cast<std::uint32_t>(bytes_.size() - at)};
}

}  // namespace edge::runtime
