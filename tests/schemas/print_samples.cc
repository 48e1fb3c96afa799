// Prints every sample as one line of JSON, for the cluster's own validator (tests/crds).
#include <iostream>

#include "tests/schemas/samples.h"

int main() {
  for (const edge::test::Sample& sample : edge::test::all_samples()) {
    const edge::test::Json line = {{"valid", sample.valid}, {"what", sample.what}, {"resource", sample.resource}};
    std::cout << line << "\n";
  }
  return 0;
}
