# Everything we link comes from the system. GPUSTARVE_DEPS may name a prefix that holds it instead
# (include/ lib/ bin/, as scripts/gpu-check --prepare makes it) for machines without a network.
# What is needed and missing ends the configuration with one sentence that names the packages; what
# can be left out is left out, and it is said what is lost.
find_package(Threads REQUIRED)

set(GPUSTARVE_DEPS "" CACHE PATH "prefix of libraries carried along, searched first")
if(GPUSTARVE_DEPS)
    list(PREPEND CMAKE_PREFIX_PATH ${GPUSTARVE_DEPS})
    # RPATH, not RUNPATH: carried libraries find those that they need themselves in the same way.
    # Nothing is put into the environment, so a job that is wrapped has none of them.
    add_link_options(LINKER:--disable-new-dtags -L${GPUSTARVE_DEPS}/lib)
endif()

# gs_library(name "Debian packages" "what is lost without it" header file...): an imported target
# gs::name from the first library file found. Nothing can be lost ("") of what is needed.
function(gs_library name packages lost header)
    find_path(GS_${name}_INCLUDE ${header})
    find_library(GS_${name}_LIBRARY NAMES ${ARGN})
    if(GS_${name}_INCLUDE AND GS_${name}_LIBRARY)
        add_library(gs::${name} UNKNOWN IMPORTED GLOBAL)
        set_target_properties(gs::${name} PROPERTIES IMPORTED_LOCATION ${GS_${name}_LIBRARY}
            INTERFACE_INCLUDE_DIRECTORIES ${GS_${name}_INCLUDE})
    elseif(lost)
        message(STATUS "gpustarve: no ${packages}: ${lost}")
    else()
        set(GS_MISSING ${GS_MISSING} ${packages} PARENT_SCOPE)
    endif()
endfunction()

set(GS_MISSING)
# The static archives are for libprof.so, which must bring nothing into the host process.
gs_library(zstd_static libzstd-dev "" zstd.h libzstd.a)
gs_library(protobuf_c_static libprotobuf-c-dev "" protobuf-c/protobuf-c.h libprotobuf-c.a)
gs_library(sqlite3 libsqlite3-dev "" sqlite3.h sqlite3)
gs_library(yajl libyajl-dev "" yajl/yajl_parse.h yajl)
gs_library(z zlib1g-dev "" zlib.h z)
gs_library(elf libelf-dev "native functions have no names in reports" libelf.h elf)
gs_library(ncurses libncurses-dev "gpustarve top prints lines and has no screen"
    curses.h ncursesw)
set(no_collector "gpustarve-collector is not built; runs are written by the traced processes themselves")
gs_library(curl libcurl4-openssl-dev
    "no fleet on ClickHouse, gpustarve top asks no collector over HTTP, and ${no_collector}"
    curl/curl.h curl curl-gnutls)
gs_library(microhttpd libmicrohttpd-dev "${no_collector}" microhttpd.h microhttpd)
gs_library(gnutls libgnutls28-dev "${no_collector}" gnutls/gnutls.h gnutls)
gs_library(expat libexpat1-dev "runs in object storage (s3://) are not read" expat.h expat)

# GS_PROTOC_C: the command, with what it needs to run where it was carried along.
find_program(PROTOC_C NAMES protoc-c)
set(GS_PROTOC_C ${PROTOC_C})
if(NOT PROTOC_C)
    list(APPEND GS_MISSING protobuf-c-compiler)
elseif(PROTOC_C STREQUAL "${GPUSTARVE_DEPS}/bin/protoc-c")
    set(GS_PROTOC_C ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${GPUSTARVE_DEPS}/lib ${PROTOC_C})
endif()
if(GS_MISSING)
    list(JOIN GS_MISSING " " packages)
    message(FATAL_ERROR "gpustarve: missing Debian packages: ${packages}; "
        "scripts/setup --build installs them, and scripts/gpu-check --prepare carries them to a "
        "machine without a network")
endif()

# The report's interactive charts are bundled from npm's packages, and need nothing of them at run
# time. Without npm, or with -DGPUSTARVE_CHARTS=OFF, reports have tables and static charts.
option(GPUSTARVE_CHARTS "bundle the report's interactive charts with npm" ON)
find_program(GS_NODE NAMES node nodejs)
find_program(GS_NPM NAMES npm)
if(GPUSTARVE_CHARTS AND NOT (GS_NODE AND GS_NPM))
    message(STATUS "gpustarve: no npm: reports keep their tables and static charts")
    set(GPUSTARVE_CHARTS OFF)
endif()
