// The files of the page, embedded: made by ui/embed.py at build time.
#pragma once

#include <span>
#include <string_view>

namespace edge::edgectl::web {

struct Asset {
  std::string_view path;  ///< `/index.html`, `/assets/index-3f9c1b2a.js`
  std::string_view content_type;
  std::string_view etag;  ///< with its quotes
  std::string_view gzip;  ///< the content, compressed
};

/// Returns the files, ascending by path; `/index.html` is one of them.
std::span<const Asset> assets();

}  // namespace edge::edgectl::web
