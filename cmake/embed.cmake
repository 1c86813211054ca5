# cmake -DIN=file -DOUT=file.c -DNAME=symbol -P embed.cmake: a file as a C array, with its SHA-256. Of a style sheet without
# its comments and indentation, which every page would carry.
if(IN MATCHES "\\.css$")
    file(READ ${IN} text)
    string(REGEX REPLACE "[ \n\t]*/\\*[^*]*\\*/" "" text "${text}")
    string(REGEX REPLACE "[\n\t]+" "\n" text "${text}")
    string(REGEX REPLACE "\n?([{},;])\n" "\\1" text "${text}")
    string(REPLACE ": " ":" text "${text}")
    string(REPLACE " {" "{" text "${text}")
    string(REPLACE ";}" "}" text "${text}")
    string(STRIP "${text}" text)
    set(IN ${OUT}.css)
    file(WRITE ${IN} "${text}")
endif()
file(READ ${IN} hex HEX)
file(SHA256 ${IN} sum)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," sum "${sum}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "#include <stddef.h>\nextern const unsigned char ${NAME}[];\n"
    "extern const size_t ${NAME}_len;\nextern const unsigned char ${NAME}_sha256[];\n"
    "const unsigned char ${NAME}_sha256[] = { ${sum} };\nconst unsigned char ${NAME}[] = {\n${bytes}0};\n"
    "const size_t ${NAME}_len = sizeof(${NAME}) - 1;\n")
