# cmake -DNODE= -DNPM= -DSOURCE= -DDIR= -P charts.cmake: makes DIR/charts.js and
# DIR/charts.css from SOURCE (viewer/report/assets/charts) and the libraries of its lock file, which
# npm puts into DIR. Where npm gets none, both files are empty and the report goes without; a fault in
# our own sources is one of the build. DIR is in the build tree, so that nothing is left in SOURCE.
file(MAKE_DIRECTORY ${DIR})
foreach(file package.json package-lock.json)
    file(COPY ${SOURCE}/${file} DESTINATION ${DIR})
endforeach()
file(SHA256 ${DIR}/package-lock.json lock)
set(stamp ${DIR}/node_modules/.lock.sha256)
set(have)
if(EXISTS ${stamp})
    file(READ ${stamp} have)
endif()
if(NOT have STREQUAL lock)
    # No package's own script runs. What the cache of npm holds is not asked for again.
    execute_process(
        COMMAND ${NPM} ci --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
            --no-update-notifier --fetch-retries=1 --fetch-timeout=60000
        WORKING_DIRECTORY ${DIR} RESULT_VARIABLE failed OUTPUT_FILE ${DIR}/npm.log
        ERROR_FILE ${DIR}/npm.log TIMEOUT 240)
    if(NOT failed EQUAL 0)
        foreach(file charts.js charts.css)
            file(WRITE ${DIR}/${file} "")
        endforeach()
        message(STATUS "npm got no libraries (${DIR}/npm.log): the report keeps its tables and "
            "static charts; remove ${DIR} to try again")
        return()
    endif()
    file(WRITE ${stamp} ${lock})
endif()
execute_process(COMMAND ${NODE} ${SOURCE}/build.js ${DIR} ${DIR} RESULT_VARIABLE failed)
if(NOT failed EQUAL 0)
    message(FATAL_ERROR "the report's charts could not be bundled")
endif()
