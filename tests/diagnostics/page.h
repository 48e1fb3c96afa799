// One page of docs/diagnostics, taken apart.
//
//   # EDGE0101: unknown field
//   (what it means)
//   ## Example
//   ```yaml
//   (a configuration that produces it)
//   ```
//   ```text
//   (the diagnostic, as it is printed)
//   ```
//   ## How to mend it
//   (the remedy)
//
// A code that no small configuration produces has a line `<!-- shown by: tests/x_test.cc -->` instead of the two
// blocks: the test that does.
#pragma once

#include <string>
#include <string_view>

namespace edge::diagnostics {

struct Page {
  std::string title_line;
  std::string meaning;   ///< between the title and the example
  std::string yaml;      ///< empty when there is none
  std::string shown;     ///< the text block after it
  std::string mend;      ///< below "## How to mend it"
  std::string shown_by;  ///< the path in the comment
};

Page parse_page(std::string_view text);

/// `text` with another text block.
std::string with_shown(std::string_view text, std::string_view shown);

/// What the compiler says of `yaml`, in a file `example.yaml`, under `code` (as in `EDGE0101`): the first one rendered.
/// Empty when it does not say so.
std::string diagnose(const std::string& yaml, std::string_view code);

}  // namespace edge::diagnostics
