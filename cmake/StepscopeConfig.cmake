# find_package(stepscope): the target stepscope::stepscope.
include(${CMAKE_CURRENT_LIST_DIR}/StepscopeDependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/stepscopeTargets.cmake)
