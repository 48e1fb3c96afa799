// Settings with two alternative forms. Both are read into one value; two different values are an error, because it is
// unclear which applies.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "compiler/model/metadata.h"
#include "compiler/model/validate.h"

namespace edge::compiler::model {

/// Reports that two forms of one setting differ. The fields are full paths in the resource.
void two_forms(Span first, std::string_view first_field, Span second, std::string_view second_field, Report& report);

/// Returns the value of the form that is given.
template <typename T>
Maybe<T> either(Maybe<T> first, std::string_view first_field, Maybe<T> second, std::string_view second_field,
                Report& report) {
  if (first && second && !(first->value == second->value)) {
    two_forms(first->span, first_field, second->span, second_field, report);
  }
  return first ? std::move(first) : std::move(second);
}

}  // namespace edge::compiler::model
