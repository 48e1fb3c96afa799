// Character classes of YAML for code that scans a text without parsing it.
#pragma once

namespace edge::compiler::yaml {

inline bool blank(char c) { return c == ' ' || c == '\t'; }
inline bool ends_line(char c) { return c == '\n' || c == '\r'; }
inline bool opens(char c) { return c == '{' || c == '['; }
inline bool closes(char c) { return c == '}' || c == ']'; }
inline char closing_of(char c) { return c == '{' ? '}' : ']'; }

}  // namespace edge::compiler::yaml
