// Source texts and positions in them. Every field of a resource has the span it was read from, so that a diagnostic of
// any later stage can point into the user's file.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace edge {

/// A half-open byte range of one source text. A default Span has no position: the resource came from a cluster, or the
/// value is a default.
struct Span {
  static constexpr std::uint32_t kNowhere = 0xffffffff;

  std::uint32_t source = kNowhere;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool somewhere() const { return source != kNowhere; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// A value with the position it was read from.
template <typename T>
struct Located {
  T value{};
  Span span{};

  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
};

/// 1-based line and column; columns count bytes.
struct LineColumn {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// One file, stream or string of resources. At most 4 GiB - 1.
class SourceText {
 public:
  SourceText(std::string name, std::string text);

  const std::string& name() const { return name_; }
  std::string_view text() const { return text_; }

  /// Precondition: offset <= text().size(). Logarithmic in the number of lines.
  LineColumn position(std::uint32_t offset) const;
  /// Returns the line's bytes without its line end. Empty when there is no such line.
  std::string_view line(std::uint32_t number) const;

 private:
  std::string name_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;
};

/// Owns the texts of one compilation; addresses and ids stay valid as texts are added.
class SourceMap {
 public:
  /// Returns the id that Spans carry.
  std::uint32_t add(std::string name, std::string text);
  const SourceText& operator[](std::uint32_t id) const { return texts_[id]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(texts_.size()); }

 private:
  std::deque<SourceText> texts_;
};

}  // namespace edge
