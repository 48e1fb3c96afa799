// Output as tests and documents write it down.
#pragma once

#include <string>
#include <vector>

namespace edge::test {

std::vector<std::string> lines_of(const std::string& text);

/// Whether `got` is what `wanted` describes: a line `~ REGEX` matches by regular expression, a line `...` any number of
/// lines, `…` within a line any text, everything else itself.
bool fits(const std::vector<std::string>& wanted, const std::vector<std::string>& got);

}  // namespace edge::test
