# One function per kind of room. A room is a folder of src/ whose .cpp files all belong to the library; a seam is a room in which each file may define
# entries of one type, which are collected into a generated list: adding a file edits nothing.

# stepscope_room(folder [target]): adds the folder's sources to the library, or to another target.
function(stepscope_room folder)
  set(target stepscope ${ARGN})
  list(GET target -1 target)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  target_sources(${target} PRIVATE ${sources})
endfunction()

# stepscope_seam(folder Type header.h all_entries [target]): a room whose files define `extern const Type name` at namespace level; generates all_entries().
function(stepscope_seam folder type header list_function)
  stepscope_room(${folder} ${ARGN})
  set(target stepscope ${ARGN})
  list(GET target -1 target)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  # An entry that is added to a file which is there already must reach the list too.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  set(entries "")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} found REGEX "^extern const ${type} [a-z0-9_]+")
    foreach(line IN LISTS found)
      string(REGEX REPLACE "^extern const ${type} ([a-z0-9_]+).*" "\\1" entry "${line}")
      string(REGEX REPLACE "_[a-z]+$" "" name "${entry}")
      list(APPEND entries "${name}!${entry}")  # "!" sorts before every letter of a name: gemm before gemm_grouped
    endforeach()
  endforeach()
  list(SORT entries)
  set(declarations "")
  set(addresses "")
  foreach(entry IN LISTS entries)
    string(REGEX REPLACE "^.*!" "" entry "${entry}")
    string(APPEND declarations "extern const ${type} ${entry};\n")
    string(APPEND addresses "      &${entry},\n")
  endforeach()
  if(addresses STREQUAL "")
    set(body "  return {};")
  else()
    set(body "  static constexpr const ${type}* entries[] = {\n${addresses}  };\n  return entries;")
  endif()
  set(text "// Generated from the files of src/${folder}.\n#include \"${header}\"\n\nnamespace stepscope {\n\n${declarations}\nstd::span<const ${type}* const> ${list_function}() {\n${body}\n}\n\n}  // namespace stepscope\n")
  set(generated ${CMAKE_BINARY_DIR}/generated/${folder}/${list_function}.cpp)
  file(CONFIGURE OUTPUT ${generated} CONTENT "${text}" @ONLY)
  target_sources(${target} PRIVATE ${generated})
endfunction()

# stepscope_embed(variable_prefix output.cpp files...): the files' bytes as a generated table: std::span<const EmbeddedFile> PREFIX().
function(stepscope_embed list_function output)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${list_function} "-DFILES=${ARGN}" -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
    VERBATIM)
  target_sources(stepscope PRIVATE ${output})
endfunction()
