# EDGE_COMMIT: what `--version` says the build was made of. A package gives it; a checkout is asked, again after each commit.
set(EDGE_COMMIT "" CACHE STRING "Commit that --version prints; empty: that of the checkout")
set(edge_commit "${EDGE_COMMIT}")
if(NOT edge_commit)
  execute_process(COMMAND git rev-parse --short=12 HEAD WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    OUTPUT_VARIABLE edge_commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git rev-parse --git-path logs/HEAD WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    OUTPUT_VARIABLE edge_head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(edge_head)
    file(REAL_PATH "${edge_head}" edge_head BASE_DIRECTORY "${CMAKE_SOURCE_DIR}")
    if(EXISTS "${edge_head}")
      set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${edge_head}")
    endif()
  endif()
endif()
if(NOT edge_commit)
  set(edge_commit "unknown")
endif()
