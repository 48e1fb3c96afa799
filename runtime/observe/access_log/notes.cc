#include "runtime/observe/access_log/notes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "runtime/observe/access_log/copy.h"
#include "runtime/observe/redact.h"

namespace edge::runtime {
namespace {

/// What a line takes of each text.
constexpr std::array<std::size_t, Notes::kTexts> kMost = {32, 255, 2048, 2048, 1024, 512};

static_assert(std::accumulate(kMost.begin(), kMost.end(), std::size_t{0}) <= std::numeric_limits<std::uint16_t>::max());

std::size_t write(Notes::Text which, std::string_view text, std::span<char> into) {
  if (which == Notes::Text::kQuery) return write_redacted_query(text, into);
  if (which == Notes::Text::kReferer) return write_redacted_url(text, into);
  copy_text(text.substr(0, into.size()), into.data());
  return std::min(text.size(), into.size());
}

}  // namespace

void Notes::keep(Text which, std::string_view text) {
  if (text.empty()) return;
  const std::size_t most = kMost[static_cast<std::size_t>(which)];
  const bool redacted = which == Text::kQuery || which == Text::kReferer;
  const std::size_t room = std::min(most, redacted ? most_redacted(text.size()) : text.size());
  Piece piece{.at = used_, .outside = kInside - used_ < room};
  if (piece.outside) {
    piece.at = static_cast<std::uint16_t>(outside_.size());
    outside_.resize(outside_.size() + room);
  }
  const std::span<char> into((piece.outside ? outside_.data() : inside_.data()) + piece.at, room);
  piece.size = static_cast<std::uint16_t>(write(which, text, into));
  if (!piece.outside) used_ = static_cast<std::uint16_t>(used_ + piece.size);
  pieces_[static_cast<std::size_t>(which)] = piece;
}

}  // namespace edge::runtime
