// Completion of a program's command line, from the same table as parser and help.
//
// The shells' scripts are a few lines each: they call the program itself (`edgectl __complete WORD...`), so that
// completions always match its version.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace edge::cli {

/// The first argument of a shell's request; the words so far follow.
inline constexpr std::string_view kCompleteWord = "__complete";

struct Completions {
  enum class Then : std::uint8_t {
    kNothing,  ///< a space after the word
    kFiles,    ///< file names are expected
    kNoSpace,  ///< the word may be continued
  };
  struct Word {
    std::string text;
    std::string help{};
  };
  std::vector<Word> words{};
  Then then = Then::kNothing;
};

/// Returns completions of the last of `words`, which may be empty or partial. `words` are those after the program's
/// name.
Completions complete(const Program& program, const std::vector<std::string>& words);

/// Returns them in the scripts' format: lines `word TAB help`, then one line `:nothing`, `:files` or `:nospace`.
std::string completion_lines(const Completions& completions);

/// Returns the shell's script. nullopt: only bash, zsh and fish are supported.
std::optional<std::string> completion_script(std::string_view program, std::string_view shell);

}  // namespace edge::cli
