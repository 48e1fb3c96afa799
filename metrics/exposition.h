// Writes what /metrics answers: the Prometheus text format 0.0.4 or OpenMetrics 1.0, from the same calls.
//
//   begin(family), then its samples; a family's samples stand together, and each family is begun once
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

/// By an Accept field (RFC 9110 §12.5.1): OpenMetrics where it is named with at least the weight of plain text.
Format format_for(std::string_view accept);
/// The Content-Type of an answer.
std::string_view content_type(Format format);

using Label = std::pair<std::string_view, std::string_view>;
/// `gateway="default/gw",route="a"`: values are escaped, names are not.
std::string labels(std::initializer_list<Label> list);

/// A histogram as it is counted: `counts[i]` observations over bound i-1 and up to bound i, one more than bounds.
struct HistogramView {
  std::span<const double> bounds;
  std::span<const std::uint64_t> counts;
  double sum = 0;
};

class Exposition {
 public:
  explicit Exposition(Format format) : format_(format) {}

  /// About so many bytes will be written: none of them is moved then.
  void reserve(std::size_t bytes) { text_.reserve(bytes); }

  void begin(Family family);
  /// `labels` as `labels()` makes them.
  void sample(std::uint64_t value, std::string_view labels = {});
  void sample(double value, std::string_view labels = {});
  /// `every`: only each so-manieth bound is told, counted from the last; the others' observations are in the next that
  /// is. 0: none but `+Inf`.
  void histogram(const HistogramView& histogram, std::string_view labels = {}, std::size_t every = 1);

  /// A family of one sample.
  template <typename Value>
  void one(Family family, Value value) {
    begin(family);
    sample(value);
  }

  /// Samples so far.
  std::size_t series() const { return series_; }
  /// The whole text. Nothing may be written afterwards.
  std::string finish();

 private:
  void line(std::string_view suffix, std::string_view labels, std::string_view more, std::string_view value);

  Format format_;
  std::string text_;
  const FamilyEntry* family_ = nullptr;
  std::size_t series_ = 0;
};

}  // namespace edge::metrics
