package static

import (
	"bytes"
	"regexp"
)

// inlineType is a type in front of an expression, for the type checker alone.
var inlineType = regexp.MustCompile(`/\*\* ?@(type|const)[^*]*\*/ ?`)

// withoutComments leaves out of a module what only people and the type checker read: lines of comments,
// types and indentation. They are a third of what would be sent. A comment behind code goes too, if it cannot
// be part of a string: see codeOf. In a template literal of several lines, no line may begin with
// a comment's sign or have one after a space.
func withoutComments(module []byte) []byte {
	var out bytes.Buffer
	within := false // a comment of several lines
	for line := range bytes.Lines(inlineType.ReplaceAll(module, nil)) {
		line = bytes.TrimSpace(line)
		if !within && bytes.HasPrefix(line, []byte("/*")) {
			within = true
		}
		if within {
			within = !bytes.HasSuffix(line, []byte("*/"))
			continue
		}
		if len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			out.Write(codeOf(line))
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

var behindCode = regexp.MustCompile(" +// [^\"'`]*$")

// codeOf is a line without the comment behind its code. Where quotes follow the sign, or one is open before
// it, the line stays as it is: the sign may be in a string.
func codeOf(line []byte) []byte {
	at := behindCode.FindIndex(line)
	if at == nil {
		return line
	}
	code := line[:at[0]]
	for _, quote := range []byte("\"'`") {
		if bytes.Count(code, []byte{quote})%2 != 0 {
			return line
		}
	}
	return code
}
