# What the library stands on, found the same way by the build and by whoever uses the installed package.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(yaml-cpp)
find_dependency(simdjson)
find_dependency(Threads)

# ISA-L and zstd bring no CMake packages in Debian 12.
foreach(name isal zstd)
  if(NOT TARGET stepscope::${name})
    find_library(STEPSCOPE_${name}_LIBRARY ${name})
    if(NOT STEPSCOPE_${name}_LIBRARY)
      message(FATAL_ERROR "lib${name} was not found. On Debian: apt-get install lib${name}-dev")
    endif()
    mark_as_advanced(STEPSCOPE_${name}_LIBRARY)
    add_library(stepscope::${name} INTERFACE IMPORTED)
    target_link_libraries(stepscope::${name} INTERFACE ${STEPSCOPE_${name}_LIBRARY})
  endif()
endforeach()
