# How every room is built: one static library per folder, its unit tests beside it, arrows down only.
find_program(CCACHE ccache)
if(CCACHE)
  # Paths below the source directory are told to the compiler relative to where it runs, so that every checkout shares what
  # one has compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers -fno-omit-frame-pointer)
add_compile_definitions(ATOLL_VERSION="${ATOLL_VERSION}")
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp" -fdebug-compilation-dir=.)
  add_link_options(-fuse-ld=lld)
endif()
if(ATOLL_SANITIZE)
  add_compile_options(-fsanitize=${ATOLL_SANITIZE})
  add_link_options(-fsanitize=${ATOLL_SANITIZE})
endif()
if(ATOLL_SANITIZE MATCHES undefined)
  # A finding ends the program anyway, and going on after one doubles the code. A null pointer is the address sanitizer's
  # finding as well.
  add_compile_options(-fno-sanitize-recover=all -fno-sanitize=null,vptr)
endif()
if(CMAKE_BUILD_TYPE STREQUAL Release)
  # The tests and the shipped program are built the same; symbols stay for stack traces, sections are dropped when unused.
  add_compile_options(-ffunction-sections -fdata-sections)
  add_link_options(-Wl,--gc-sections)
endif()

find_package(Threads REQUIRED)
if(ATOLL_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_custom_target(unit_tests)
endif()

# atoll_fuzzed(TARGET): the fuzzers see which way its code went. That costs a third of its time to compile, so only what
# reads bytes from outside has it.
function(atoll_fuzzed target)
  if(ATOLL_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# atoll_batched(TARGET): its sources are compiled ATOLL_BATCH at a time, which halves a full build. CMake's own way to do
# so names them by absolute paths, which no other checkout could share.
function(atoll_batched target)
  if(NOT ATOLL_BATCH)
    return()
  endif()
  get_target_property(left ${target} SOURCES)
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(batches "")
  while(left)
    list(SUBLIST left 0 ${ATOLL_BATCH} batch)
    list(REMOVE_ITEM left ${batch})
    list(TRANSFORM batch REPLACE "(.+)" "#include \"${folder}/\\1\"\n")
    string(CONCAT text ${batch})
    list(LENGTH batches number)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_${number}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
    list(APPEND batches ${file})
  endwhile()
  set_target_properties(${target} PROPERTIES SOURCES "${batches}")
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
endfunction()

# atoll_room(NAME [FUZZED] [SOURCES ...] [DEPS ...] [PRECOMPILE ...] [TESTS ...] [TEST_DEPS ...])
# Makes library atoll_NAME, and from TESTS one gtest program NAME_tests that ctest runs under the label "unit".
# FUZZED: see atoll_fuzzed.
# PRECOMPILE names what nearly every source of the room includes; it is read once for the room and once for its tests.
function(atoll_room name)
  cmake_parse_arguments(ROOM "FUZZED" "" "SOURCES;DEPS;PRECOMPILE;TESTS;TEST_DEPS" ${ARGN})
  if(ROOM_SOURCES)
    add_library(atoll_${name} STATIC ${ROOM_SOURCES})
    target_include_directories(atoll_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(atoll_${name} PUBLIC ${ROOM_DEPS})
    target_precompile_headers(atoll_${name} PRIVATE ${ROOM_PRECOMPILE})
    if(ROOM_FUZZED)
      atoll_fuzzed(atoll_${name})
    endif()
    atoll_batched(atoll_${name})
  else()
    add_library(atoll_${name} INTERFACE)
    target_include_directories(atoll_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(atoll_${name} INTERFACE ${ROOM_DEPS})
  endif()
  if(ATOLL_TESTS AND ROOM_TESTS)
    atoll_test(${name}_tests SOURCES ${ROOM_TESTS} DEPS atoll_${name} ${ROOM_TEST_DEPS}
               PRECOMPILE ${ROOM_PRECOMPILE})
  endif()
endfunction()

# atoll_test(NAME SOURCES ... DEPS ... [PRECOMPILE ...]): one gtest program, run by ctest from the source directory.
function(atoll_test name)
  cmake_parse_arguments(T "" "" "SOURCES;DEPS;PRECOMPILE" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${T_DEPS} GTest::gtest_main)
  target_precompile_headers(${name} PRIVATE <gtest/gtest.h> ${T_PRECOMPILE})
  atoll_batched(${name})
  add_dependencies(unit_tests ${name})
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS unit)
endfunction()

# atoll_fuzzer(NAME SOURCE DEPS ...): a libFuzzer program named fuzz_NAME; built when the address sanitizer is on.
function(atoll_fuzzer name source)
  if(ATOLL_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_executable(fuzz_${name} ${source})
    target_include_directories(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_${name} PRIVATE ${ARGN})
    add_dependencies(unit_tests fuzz_${name})
  endif()
endfunction()
