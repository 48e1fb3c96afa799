// The pages of docs/diagnostics, embedded at build time (cmake/EmbedPages.cmake).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace edge::edgectl {

struct Page {
  std::uint16_t code;
  std::string_view text;  ///< Markdown; its first line is `# EDGE0123: title`
};

/// By ascending code.
std::span<const Page> pages();

}  // namespace edge::edgectl
