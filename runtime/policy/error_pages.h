// ErrorPages: bodies for errors, of the proxy itself and of backends. docs/error-pages.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "program/read.h"

namespace edge::runtime {

/// Views point into the program's section, which must outlive it.
class ErrorPages {
 public:
  struct Page {
    std::uint32_t first;
    std::uint32_t last;
    std::string_view content_type;
    std::string_view body;
    bool backend_errors;
  };

  ErrorPages(const program::SectionView& policies, const program::ErrorPagesRecord& settings);

  /// Null: the proxy's usual text is sent with this status. Linear in the pages, of which there are few.
  const Page* find(int status) const;
  /// The same for the answer of a backend. Null: it is sent as it is.
  const Page* find_for_backend(int status) const;

 private:
  std::vector<Page> pages_;
};

}  // namespace edge::runtime
