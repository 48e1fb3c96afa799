#include "cli/terminal.h"

#include <sys/ioctl.h>

#include <cstdlib>
#include <string>

#include <unistd.h>

namespace edge::cli {

Colour colour_for(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return Colour::kNo;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return Colour::kNo;
  return ::isatty(::fileno(stream)) == 1 ? Colour::kYes : Colour::kNo;
}

std::size_t columns_of(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool write_text(std::FILE* stream, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
}

void print_message(std::string_view program, std::string_view text) {
  write_text(stderr, std::string(program) + ": " + std::string(text) + "\n");
}

}  // namespace edge::cli
