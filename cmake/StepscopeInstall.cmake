# cmake --install and the .deb: the program, its data files, the manual page, and the library with its public headers and a CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The public headers are the faces named here and everything that they include, in their rooms.
set(public_headers verbs/stepscope.h report/report.h timeline/timeline.h timeline/builder.h timeline/check.h)
set(unread ${public_headers})
while(unread)
  list(POP_FRONT unread header)
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} includes REGEX "^#include \"")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${header})
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
    if(NOT included IN_LIST public_headers)
      list(APPEND public_headers ${included})
      list(APPEND unread ${included})
    endif()
  endforeach()
endwhile()
foreach(header IN LISTS public_headers)
  get_filename_component(room ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stepscope/${room})
endforeach()

install(TARGETS stepscope EXPORT stepscopeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/stepscope)
install(EXPORT stepscopeTargets NAMESPACE stepscope:: DESTINATION ${package})
configure_file(cmake/StepscopeConfig.cmake ${CMAKE_BINARY_DIR}/package/stepscope-config.cmake COPYONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/stepscope-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/stepscope-config.cmake ${CMAKE_BINARY_DIR}/package/stepscope-config-version.cmake
              cmake/StepscopeDependencies.cmake DESTINATION ${package})

if(TARGET stepscope_program)
  install(TARGETS stepscope_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/stepscope FILES_MATCHING PATTERN "*.yaml")
install(FILES docs/stepscope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES LICENSE README.md CHANGELOG.md THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stepscope)
set(CPACK_PACKAGE_VENDOR "The Stepscope authors")
set(CPACK_PACKAGE_CONTACT "The Stepscope authors <stepscope@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Where did the time of a training step go, and what to do about it.
 Reads traces of AI training (torch.profiler) and reports step times, idle by
 cause, communication, kernels, operators, rooflines and slow steps as text, JSON
 or one HTML page. Contains the program and the C++ library.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Only those who compile against the library need these.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, libfmt-dev, libyaml-cpp-dev, libsimdjson-dev, libisal-dev, libzstd-dev")
include(CPack)
