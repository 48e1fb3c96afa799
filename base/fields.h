// Iterates over the fields of any plain struct: for operations on all fields, including ones added later, such as
// hashing. Structs are aggregates without bases and C arrays, of at most 32 fields that each can be made from `{}`.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace edge {

namespace fields_detail {

/// Returns the number of fields of an aggregate. Tried from the largest: too many initialisers are an error, too few
/// are not.
template <typename T>
consteval std::size_t count() {
#define EDGE_TRY(number, ...)                   \
  if constexpr (requires { T{__VA_ARGS__}; }) { \
    return number;                              \
  } else
#define EDGE_FOUR \
  {}, {}, {}, {}
#define EDGE_EIGHT EDGE_FOUR, EDGE_FOUR
  EDGE_TRY(33, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT, {})
  EDGE_TRY(32, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT)
  EDGE_TRY(31, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT, EDGE_FOUR, {}, {}, {})
  EDGE_TRY(30, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT, EDGE_FOUR, {}, {})
  EDGE_TRY(29, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT, EDGE_FOUR, {})
  EDGE_TRY(28, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT, EDGE_FOUR)
  EDGE_TRY(27, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT, {}, {}, {})
  EDGE_TRY(26, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT, {}, {})
  EDGE_TRY(25, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT, {})
  EDGE_TRY(24, EDGE_EIGHT, EDGE_EIGHT, EDGE_EIGHT)
  EDGE_TRY(23, EDGE_EIGHT, EDGE_EIGHT, EDGE_FOUR, {}, {}, {})
  EDGE_TRY(22, EDGE_EIGHT, EDGE_EIGHT, EDGE_FOUR, {}, {})
  EDGE_TRY(21, EDGE_EIGHT, EDGE_EIGHT, EDGE_FOUR, {})
  EDGE_TRY(20, EDGE_EIGHT, EDGE_EIGHT, EDGE_FOUR)
  EDGE_TRY(19, EDGE_EIGHT, EDGE_EIGHT, {}, {}, {})
  EDGE_TRY(18, EDGE_EIGHT, EDGE_EIGHT, {}, {})
  EDGE_TRY(17, EDGE_EIGHT, EDGE_EIGHT, {})
  EDGE_TRY(16, EDGE_EIGHT, EDGE_EIGHT)
  EDGE_TRY(15, EDGE_EIGHT, EDGE_FOUR, {}, {}, {})
  EDGE_TRY(14, EDGE_EIGHT, EDGE_FOUR, {}, {})
  EDGE_TRY(13, EDGE_EIGHT, EDGE_FOUR, {})
  EDGE_TRY(12, EDGE_EIGHT, EDGE_FOUR)
  EDGE_TRY(11, EDGE_EIGHT, {}, {}, {})
  EDGE_TRY(10, EDGE_EIGHT, {}, {})
  EDGE_TRY(9, EDGE_EIGHT, {})
  EDGE_TRY(8, EDGE_EIGHT)
  EDGE_TRY(7, EDGE_FOUR, {}, {}, {})
  EDGE_TRY(6, EDGE_FOUR, {}, {})
  EDGE_TRY(5, EDGE_FOUR, {})
  EDGE_TRY(4, EDGE_FOUR)
  EDGE_TRY(3, {}, {}, {})
  EDGE_TRY(2, {}, {})
  EDGE_TRY(1, {})
  return 0;
#undef EDGE_TRY
#undef EDGE_FOUR
#undef EDGE_EIGHT
}

}  // namespace fields_detail

/// Returns a tuple of references to the fields of `value`, in the order of declaration.
template <typename T>
  requires std::is_aggregate_v<std::remove_const_t<T>>
constexpr auto fields_of(T& value) {
  constexpr std::size_t kCount = fields_detail::count<std::remove_const_t<T>>();
  static_assert(kCount <= 32, "more fields than fields.h knows of");
#define EDGE_TIE(number, ...)            \
  else if constexpr (kCount == number) { \
    auto& [__VA_ARGS__] = value;         \
    return std::tie(__VA_ARGS__);        \
  }
  if constexpr (kCount == 0) {
    return std::tuple<>();
  }
  EDGE_TIE(1, a)
  EDGE_TIE(2, a, b)
  EDGE_TIE(3, a, b, c)
  EDGE_TIE(4, a, b, c, d)
  EDGE_TIE(5, a, b, c, d, e)
  EDGE_TIE(6, a, b, c, d, e, f)
  EDGE_TIE(7, a, b, c, d, e, f, g)
  EDGE_TIE(8, a, b, c, d, e, f, g, h)
  EDGE_TIE(9, a, b, c, d, e, f, g, h, i)
  EDGE_TIE(10, a, b, c, d, e, f, g, h, i, j)
  EDGE_TIE(11, a, b, c, d, e, f, g, h, i, j, k)
  EDGE_TIE(12, a, b, c, d, e, f, g, h, i, j, k, l)
  EDGE_TIE(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  EDGE_TIE(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  EDGE_TIE(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
  EDGE_TIE(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
  EDGE_TIE(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
  EDGE_TIE(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
  EDGE_TIE(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
  EDGE_TIE(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
  EDGE_TIE(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
  EDGE_TIE(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
  EDGE_TIE(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
  EDGE_TIE(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
  EDGE_TIE(25, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)
  EDGE_TIE(26, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z)
  EDGE_TIE(27, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A)
  EDGE_TIE(28, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B)
  EDGE_TIE(29, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C)
  EDGE_TIE(30, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D)
  EDGE_TIE(31, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E)
  EDGE_TIE(32, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F)
#undef EDGE_TIE
}

}  // namespace edge
