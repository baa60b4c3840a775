# Build options and the flags that all of our own code is compiled with.
option(STEPSCOPE_TESTS "Build the tests" ON)
option(STEPSCOPE_BENCHMARKS "Build the benchmarks" OFF)
option(STEPSCOPE_FUZZ "Build the fuzzers (needs clang)" OFF)
option(STEPSCOPE_WERROR "Warnings are errors" ON)
option(STEPSCOPE_ONLY_READING "Only the rooms up to read/, with their tests" OFF)
set(STEPSCOPE_SANITIZE "" CACHE STRING "Sanitizers: 'address,undefined' or 'thread'")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(precompile OFF)  # ccache does better, and does not go with precompiled headers
else()
  set(precompile ON)
endif()
option(STEPSCOPE_PRECOMPILE "Precompile the standard library's headers: a quarter less compile time" ${precompile})
set(stepscope_precompiled <algorithm> <array> <atomic> <cstdint> <expected> <functional> <map> <memory> <optional> <span> <string> <string_view> <unordered_map>
                          <variant> <vector> <fmt/core.h>)

add_library(stepscope_flags INTERFACE)
target_compile_options(stepscope_flags INTERFACE -Wall -Wextra -Wconversion)
if(STEPSCOPE_WERROR)
  # g++ 12 sees bounds broken inside its own std::string (moves, resize) that are sound, depending on what was inlined: those warnings stay warnings.
  target_compile_options(stepscope_flags INTERFACE -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(stepscope_flags INTERFACE -Wno-error=array-bounds -Wno-error=stringop-overflow -Wno-error=stringop-overread -Wno-error=restrict)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Debian's fmt was compiled with g++, which calls one of its templates differently. And clang warns inside g++'s headers.
  add_compile_definitions(FMT_HEADER_ONLY)
  add_compile_options(-Wno-deprecated-declarations)
endif()
if(STEPSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${STEPSCOPE_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${STEPSCOPE_SANITIZE})
  if(STEPSCOPE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(STEPSCOPE_SANITIZE MATCHES "thread")
    add_compile_definitions(STEPSCOPE_SANITIZE_THREAD)  # compilers say it in different ways
  endif()
  # Under sanitizers our own asserts run as well.
  add_compile_options(-UNDEBUG)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 sees uninitialised values in its own <regex> and <variant> once sanitizers are on; the plain build keeps the warning.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
