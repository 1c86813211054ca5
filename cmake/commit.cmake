# cmake -DGIT= -DSOURCE= -DGIVEN= -DOUT=commit.c -P commit.cmake: the commit that is built, for --version: GIVEN
# where the source is no checkout, else what git says, with a + behind it where tracked files differ: by what is in
# them, for a copy of a checkout has files of other times. OUT is written only if that changed.
cmake_policy(VERSION 3.20)
set(commit ${GIVEN})
if(NOT commit AND GIT AND EXISTS ${SOURCE}/.git)
    execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE}
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${GIT} diff --quiet HEAD -- WORKING_DIRECTORY ${SOURCE}
        RESULT_VARIABLE differs ERROR_QUIET)
    if(commit AND differs EQUAL 1)
        string(APPEND commit "+")
    endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#include \"base/version.h\"\nconst char base_commit[] = \"@commit@\";\n" @ONLY)
