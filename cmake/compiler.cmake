# SPDX-License-Identifier: Apache-2.0
# Flags of every target. A part adds none of its own, except where its line in lib/CMakeLists.txt says why.
find_program(CUDAL1_CCACHE ccache)
if(CUDAL1_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CUDAL1_CCACHE}")
endif()

# Assertions stay in every build: a wrong number must stop the tool, not reach a report.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

add_library(cudal1_flags INTERFACE)
# Contraction would make host arithmetic differ between compilers; seeded inputs and the oracle must not.
target_compile_options(cudal1_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(cudal1_flags INTERFACE -Wno-restrict)  # false alarms on std::string (GCC bug 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC looks for memory that it can use again less often: a tenth less time for a quarter more memory (1.2 GB at most).
  target_compile_options(cudal1_flags INTERFACE --param=ggc-min-expand=1000 --param=ggc-min-heapsize=2000000)
endif()
if(CUDAL1_WARNINGS_AS_ERRORS)
  target_compile_options(cudal1_flags INTERFACE -Werror)
endif()
if(CUDAL1_SANITIZE)
  target_compile_options(cudal1_flags INTERFACE -fsanitize=${CUDAL1_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(cudal1_flags INTERFACE -fsanitize=${CUDAL1_SANITIZE})
  target_compile_definitions(cudal1_flags INTERFACE CUDAL1_SANITIZED=1)
endif()
if(CUDAL1_FUZZ)
  target_compile_options(cudal1_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
# Headers that are compiled to see whether they stand alone.
target_compile_options(cudal1_flags INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,OBJECT_LIBRARY>:-O0>)
