#define EDGE_SHARED template
#include "cmake/shared_templates.h"
