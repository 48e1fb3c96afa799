#include "cli/completion.h"

#include <algorithm>
#include <span>

namespace edge::cli {
namespace {

using Words = std::span<const std::string>;

/// Whether what a placeholder stands for is the name of a file.
bool names_file(std::string_view placeholder) {
  constexpr std::string_view kFiles[] = {"PATH", "FILE", "DIR", "PEM", "PROGRAM"};
  return std::ranges::find(kFiles, placeholder) != std::end(kFiles);
}

std::string_view first_word(std::string_view& name) {
  const std::size_t space = std::min(name.find(' '), name.size());
  const std::string_view word = name.substr(0, space);
  name.remove_prefix(std::min(space + 1, name.size()));
  return word;
}

/// The words of `name` that `given` begins with are taken away; nullopt when they differ.
std::optional<std::string_view> below(std::string_view name, Words given) {
  for (const std::string& word : given) {
    if (name.empty() || first_word(name) != word) return std::nullopt;
  }
  return name;
}

const Flag* find_flag(const Command& command, std::string_view word) {
  for (const Flag& flag : command.flags) {
    const bool is_long = word.starts_with("--") && word.substr(2) == flag.name;
    const bool is_short = word.size() == 2 && word[0] == '-' && flag.letter != '\0' && word[1] == flag.letter;
    if (is_long || is_short) return &flag;
  }
  return nullptr;
}

class Completer {
 public:
  Completer(const Program& program, Words given, std::string_view typed)
      : program_(program), given_(given), typed_(typed) {}

  Completions run() {
    if (const Command* command = command_of()) {
      arguments(*command);
    } else {
      commands(given_);
    }
    return std::move(out_);
  }

 private:
  void offer(std::string_view text, std::string_view help) {
    if (!text.starts_with(typed_)) return;
    if (std::ranges::find(out_.words, text, &Completions::Word::text) != out_.words.end()) return;
    out_.words.push_back({std::string(text), std::string(help)});
  }

  /// The command whose words were all typed, the longest; `rest_` is what stands behind them.
  const Command* command_of() {
    const Command* found = nullptr;
    std::size_t most = 0;
    for (const Command& command : program_.commands) {
      const std::size_t count = command.name.empty() ? 0 : 1 + std::ranges::count(command.name, ' ');
      if (count > given_.size() || (found != nullptr && count <= most)) continue;
      const auto rest = below(command.name, given_.first(count));
      if (!rest || !rest->empty()) continue;
      found = &command;
      most = count;
    }
    rest_ = given_.subspan(most);
    return found;
  }

  void commands(Words given) {
    for (const Command& command : program_.commands) {
      auto rest = below(command.name, given);
      if (!rest || rest->empty()) continue;
      const std::string_view word = first_word(*rest);
      offer(word, rest->empty() ? command.summary : std::string_view());
    }
  }

  void arguments(const Command& command) {
    // A group's own command may have others below it: `key` and `key generate`.
    if (rest_.empty()) commands(given_);
    // A flag that waits for its value; bash hands `--flag=value` over as three words.
    if (!rest_.empty()) {
      std::size_t last = rest_.size() - 1;
      if (rest_[last] == "=" && last > 0) --last;
      const Flag* flag = find_flag(command, rest_[last]);
      if (flag != nullptr && !flag->value.empty()) return value(*flag);
    }
    const std::size_t equals = typed_.find('=');
    if (typed_.starts_with("--") && equals != std::string_view::npos) {
      return joined_value(command, typed_.substr(0, equals));
    }
    if (typed_.starts_with("-")) return flags(command);
    positional(command);
  }

  void value(const Flag& flag) {
    for (const std::string_view choice : flag.choices) offer(choice, "");
    if (flag.choices.empty() && names_file(flag.value)) out_.then = Completions::Then::kFiles;
  }

  /// `--output=te`: the candidates carry the flag.
  void joined_value(const Command& command, std::string_view name) {
    const Flag* flag = find_flag(command, name);
    if (flag == nullptr) return;
    for (const std::string_view choice : flag->choices) offer(std::string(name) + "=" + std::string(choice), "");
  }

  void flags(const Command& command) {
    for (const Flag& flag : command.flags) {
      const std::string text = "--" + std::string(flag.name);
      const std::string letter = std::string("-") + flag.letter;
      const bool given = std::ranges::any_of(rest_, [&](const auto& word) { return word == text || word == letter; });
      if (!given || flag.repeatable) offer(text, flag.help);
    }
    offer("--help", "Print the help text");
  }

  void positional(const Command& command) {
    if (!command.positional || has_positional(command)) return;
    const Positional& positional = *command.positional;
    for (const std::string_view choice : positional.choices) offer(choice, "");
    if (positional.complete != nullptr) {
      for (const std::string& text : positional.complete(typed_)) offer(text, "");
      out_.then = Completions::Then::kNoSpace;
    } else if (positional.choices.empty() && names_file(positional.name)) {
      out_.then = Completions::Then::kFiles;
    }
  }

  bool has_positional(const Command& command) const {
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (!rest_[i].starts_with("-")) return true;
      const Flag* flag = find_flag(command, rest_[i]);
      if (flag == nullptr || flag->value.empty()) continue;
      if (i + 1 < rest_.size() && rest_[i + 1] == "=") ++i;
      ++i;
    }
    return false;
  }

  const Program& program_;
  Words given_;
  Words rest_{};
  std::string_view typed_;
  Completions out_;
};

constexpr std::string_view kBash = R"(# bash completion for %PROGRAM%. Load it: source <(%PROGRAM% completion bash)
_%PROGRAM%() {
  local line words=()
  # The words themselves are data: nothing of them is evaluated.
  while IFS= read -r line; do words+=("$line"); done < <(
    "${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  [ "${#words[@]}" -gt 0 ] || return
  for line in "${words[@]::${#words[@]}-1}"; do COMPREPLY+=("${line%%$'\t'*}"); done
  case "${words[-1]}" in
    :files) compopt -o default 2>/dev/null ;;
    :nospace) compopt -o nospace 2>/dev/null ;;
  esac
}
complete -F _%PROGRAM% %PROGRAM%
)";

constexpr std::string_view kZsh = R"(#compdef %PROGRAM%
# zsh completion for %PROGRAM%. Load it: source <(%PROGRAM% completion zsh)
_%PROGRAM%() {
  local -a lines words_with_help
  local line next
  lines=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  next=${lines[-1]}
  for line in "${(@)lines[1,-2]}"; do
    words_with_help+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  case $next in
    :files) _files ;;
    :nospace) _describe '%PROGRAM%' words_with_help -S '' ;;
    *) _describe '%PROGRAM%' words_with_help ;;
  esac
}
compdef _%PROGRAM% %PROGRAM%
)";

constexpr std::string_view kFish = R"(# fish completion for %PROGRAM%. Load it: %PROGRAM% completion fish | source
function __%PROGRAM%_complete
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -l lines ($words[1] __complete $words[2..-1] "$typed" 2>/dev/null)
  if test "$lines[-1]" = ":files"
    __fish_complete_path "$typed"
  else
    printf '%s\n' $lines | string match -v ':*'
  end
end
complete -c %PROGRAM% -f -a '(__%PROGRAM%_complete)'
)";

}  // namespace

Completions complete(const Program& program, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  // bash calls the sign of `--flag=` a word of its own.
  const std::string_view typed = words.back() == "=" ? std::string_view() : std::string_view(words.back());
  return Completer(program, Words(words).first(words.size() - 1), typed).run();
}

std::string completion_lines(const Completions& completions) {
  std::string out;
  for (const Completions::Word& word : completions.words) out += word.text + "\t" + word.help + "\n";
  switch (completions.then) {
    case Completions::Then::kNothing:
      return out + ":nothing\n";
    case Completions::Then::kFiles:
      return out + ":files\n";
    case Completions::Then::kNoSpace:
      return out + ":nospace\n";
  }
  return out;
}

std::optional<std::string> completion_script(std::string_view program, std::string_view shell) {
  const std::string_view script = shell == "bash"   ? kBash
                                  : shell == "zsh"  ? kZsh
                                  : shell == "fish" ? kFish
                                                    : std::string_view();
  if (script.empty()) return std::nullopt;
  constexpr std::string_view kPlace = "%PROGRAM%";
  std::string out(script);
  for (std::size_t at = out.find(kPlace); at != std::string::npos; at = out.find(kPlace, at)) {
    out.replace(at, kPlace.size(), program);
  }
  return out;
}

}  // namespace edge::cli
