#include "runtime/policy/error_pages.h"

#include <algorithm>

#include "program/format/records.h"

namespace edge::runtime {

ErrorPages::ErrorPages(const program::SectionView& policies, const program::ErrorPagesRecord& settings) {
  for (const program::ErrorPageRecord& page : policies.array(settings.pages)) {
    pages_.push_back({page.first, page.last, policies.string(page.page.content_type), policies.string(page.page.body),
                      page.backend_errors != 0});
  }
}

const ErrorPages::Page* ErrorPages::find(int status) const {
  const auto wanted = static_cast<std::uint32_t>(status);
  const auto found =
      std::ranges::find_if(pages_, [&](const Page& page) { return page.first <= wanted && wanted <= page.last; });
  return found == pages_.end() ? nullptr : &*found;
}

const ErrorPages::Page* ErrorPages::find_for_backend(int status) const {
  const auto wanted = static_cast<std::uint32_t>(status);
  const auto found = std::ranges::find_if(
      pages_, [&](const Page& page) { return page.backend_errors && page.first <= wanted && wanted <= page.last; });
  return found == pages_.end() ? nullptr : &*found;
}

}  // namespace edge::runtime
