// Completion of a program's command line, from the same table that the parser and the help are made from.
//
// The shells' scripts are a few lines each: they ask the program itself (`edgectl __complete WORD...`), so that what is
// offered is never older than the program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace edge::cli {

/// The word behind the program's name by which a shell asks; what follows are the words so far.
inline constexpr std::string_view kCompleteWord = "__complete";

struct Completions {
  enum class Then : std::uint8_t {
    kNothing,  ///< a space after the word
    kFiles,    ///< names of files are meant
    kNoSpace,  ///< the word may go on
  };
  struct Word {
    std::string text;
    std::string help{};
  };
  std::vector<Word> words{};
  Then then = Then::kNothing;
};

/// What may stand in the place of the last of `words`, which may be empty or begun. `words` are those after the
/// program's name.
Completions complete(const Program& program, const std::vector<std::string>& words);

/// `complete` as the scripts read it: `word TAB help` a line, then one line `:nothing`, `:files` or `:nospace`.
std::string completion_lines(const Completions& completions);

/// The script that makes a shell ask. nullopt: bash, zsh and fish are known.
std::optional<std::string> completion_script(std::string_view program, std::string_view shell);

}  // namespace edge::cli
