// The browser that looks at the page, and whether there is one.
#pragma once

#include <filesystem>
#include <string>

#include "edgectl/web/server/asset.h"

namespace edge::test {

inline constexpr const char* kChromium = "/usr/bin/chromium";

/// Returns why nothing can be seen of the page; empty: it can.
inline std::string why_no_browser() {
  if (!std::filesystem::exists("tests/web/node_modules/playwright-core/package.json"))
    return "playwright-core is not installed: npm ci --prefix tests/web";
  if (!std::filesystem::exists(kChromium)) return "chromium is not installed";
  return edgectl::web::assets().size() < 2 ? "edgectl was built without the page" : "";
}

}  // namespace edge::test
