# find_package(tach) defines tach::tach, the shared library, and tach::tach_static, the archive. Paths are relative to
# this file, so an installed tree can be moved as a whole.
get_filename_component(_tach_here "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_tach_here "${_tach_here}" DIRECTORY)
get_filename_component(_tach_lib "${_tach_here}/../.." ABSOLUTE)
get_filename_component(_tach_include "${_tach_here}/@include@" ABSOLUTE)

foreach(_tach_file "${_tach_lib}/@library@" "${_tach_lib}/libtach.a" "${_tach_include}/tach.h")
  if(NOT EXISTS "${_tach_file}")
    set(tach_FOUND FALSE)
    set(tach_NOT_FOUND_MESSAGE "${_tach_file} is missing: install tach again, or move its tree as a whole")
    return()
  endif()
endforeach()

if(NOT TARGET tach::tach)
  add_library(tach::tach SHARED IMPORTED)
  set_target_properties(tach::tach PROPERTIES
    IMPORTED_LOCATION "${_tach_lib}/@library@"
    IMPORTED_SONAME "@soname@"
    INTERFACE_INCLUDE_DIRECTORIES "${_tach_include}")
  add_library(tach::tach_static STATIC IMPORTED)
  set_target_properties(tach::tach_static PROPERTIES
    IMPORTED_LOCATION "${_tach_lib}/libtach.a"
    IMPORTED_LINK_INTERFACE_LANGUAGES C
    INTERFACE_LINK_LIBRARIES "@static@"
    INTERFACE_INCLUDE_DIRECTORIES "${_tach_include}")
endif()
unset(_tach_here)
unset(_tach_lib)
unset(_tach_include)
unset(_tach_file)
