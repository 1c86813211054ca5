# Everything we link comes from the system. GPUSTARVE_DEPS may name a prefix (Debian packages
# unpacked beside the tree) for machines without a network.
find_package(Threads REQUIRED)

set(GPUSTARVE_DEPS "" CACHE PATH "prefix of unpacked Debian packages, searched first")
if(GPUSTARVE_DEPS)
    list(PREPEND CMAKE_PREFIX_PATH ${GPUSTARVE_DEPS}/usr)
    list(PREPEND CMAKE_LIBRARY_PATH ${GPUSTARVE_DEPS}/usr/lib/x86_64-linux-gnu)
    list(PREPEND CMAKE_INCLUDE_PATH ${GPUSTARVE_DEPS}/usr/include)
    list(PREPEND CMAKE_PROGRAM_PATH ${GPUSTARVE_DEPS}/usr/bin)
endif()

# gs_library(name header file...): an imported target gs::name from the first library file found.
function(gs_library name header)
    find_path(GS_${name}_INCLUDE ${header})
    find_library(GS_${name}_LIBRARY NAMES ${ARGN})
    if(GS_${name}_INCLUDE AND GS_${name}_LIBRARY)
        add_library(gs::${name} UNKNOWN IMPORTED GLOBAL)
        set_target_properties(gs::${name} PROPERTIES IMPORTED_LOCATION ${GS_${name}_LIBRARY}
            INTERFACE_INCLUDE_DIRECTORIES ${GS_${name}_INCLUDE})
    else()
        message(STATUS "gpustarve: ${name} not found")
    endif()
endfunction()

# The static archives are for libprof.so, which must bring nothing into the host process.
gs_library(zstd_static zstd.h libzstd.a)
gs_library(protobuf_c_static protobuf-c/protobuf-c.h libprotobuf-c.a)
gs_library(sqlite3 sqlite3.h sqlite3)
gs_library(yajl yajl/yajl_parse.h yajl)
gs_library(z zlib.h z)
gs_library(elf libelf.h elf)
gs_library(curl curl/curl.h curl)
gs_library(microhttpd microhttpd.h microhttpd)
gs_library(gnutls gnutls/gnutls.h gnutls)
gs_library(ncurses curses.h ncursesw)
find_program(PROTOC_C NAMES protoc-c)

# The report's interactive charts are bundled from npm's packages, and need nothing of them at run
# time. Without npm, or with -DGPUSTARVE_CHARTS=OFF, reports have tables and static charts.
option(GPUSTARVE_CHARTS "bundle the report's interactive charts with npm" ON)
find_program(GS_NODE NAMES node nodejs)
find_program(GS_NPM NAMES npm)
if(GPUSTARVE_CHARTS AND NOT (GS_NODE AND GS_NPM))
    message(STATUS "gpustarve: no npm: reports keep their tables and static charts")
    set(GPUSTARVE_CHARTS OFF)
endif()
