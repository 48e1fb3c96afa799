# cmake -DINPUT=FILE -DOUTPUT=FILE.cc -DHEADER=room/name.h -DNAMESPACE=edge::room -DFUNCTION=name -P EmbedText.cmake
# Writes a file as a C++ string that FUNCTION returns.
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"

namespace ${NAMESPACE} {

std::string_view ${FUNCTION}() { return R\"edge_text(${text})edge_text\"; }

}  // namespace ${NAMESPACE}
")
