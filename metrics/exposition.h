// Writes /metrics in the Prometheus text format 0.0.4 or OpenMetrics 1.0, from the same calls.
//
//   begin(family), then its samples; the samples of a family are contiguous, and each family is begun once
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "metrics/family.h"

namespace edge::metrics {

enum class Format : std::uint8_t { kText, kOpenMetrics };

/// Selects by an Accept field (RFC 9110 §12.5.1): OpenMetrics where it is listed with at least the weight of plain
/// text.
Format format_for(std::string_view accept);
/// Returns the Content-Type of the response.
std::string_view content_type(Format format);

using Label = std::pair<std::string_view, std::string_view>;
/// Returns `gateway="default/gw",route="a"`: values are escaped, names are not.
std::string labels(std::initializer_list<Label> list);

/// A histogram as counted: `counts[i]` observations above bound i-1 and up to bound i, one more than bounds.
struct HistogramView {
  std::span<const double> bounds;
  std::span<const std::uint64_t> counts;
  double sum = 0;
};

class Exposition {
 public:
  explicit Exposition(Format format) : format_(format) {}

  /// Reserves memory for about so many bytes, to avoid reallocation.
  void reserve(std::size_t bytes) { text_.reserve(bytes); }

  void begin(Family family);
  /// `labels` as returned by `labels()`.
  void sample(std::uint64_t value, std::string_view labels = {});
  void sample(double value, std::string_view labels = {});
  /// `every`: writes only each n-th bound, counted from the last; other observations are in the next bound. 0: only
  /// `+Inf`.
  void histogram(const HistogramView& histogram, std::string_view labels = {}, std::size_t every = 1);

  /// Writes a family of one sample.
  template <typename Value>
  void one(Family family, Value value) {
    begin(family);
    sample(value);
  }

  /// Returns the number of samples so far.
  std::size_t series() const { return series_; }
  /// Returns the complete text. Nothing may be written afterwards.
  std::string finish();

 private:
  void line(std::string_view suffix, std::string_view labels, std::string_view more, std::string_view value);

  Format format_;
  std::string text_;
  const FamilyEntry* family_ = nullptr;
  std::size_t series_ = 0;
};

}  // namespace edge::metrics
