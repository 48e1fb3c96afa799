// The text of a file by which agents join: a token, whom to believe, and the authority's certificates. agent/sync reads
// it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::controller {

struct JoinFile {
  std::string_view about;  ///< one line, for who opens the file
  std::string_view token;
  std::string_view program_key;  ///< AuthorityOptions::program_key
  std::string_view roots;        ///< PEM
};
std::string text_of(const JoinFile& file);

/// Returns the rest of the line of `text` that begins with `key`; empty: there is none.
std::string line_of(std::string_view text, std::string_view key);
/// Returns the token in a join file; empty: there is none.
std::string token_in(std::string_view text);
/// kInternal: the system gives no random bytes.
Result<std::string> fresh_token();

}  // namespace edge::controller
