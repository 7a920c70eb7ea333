package static

import (
	"bytes"
	"regexp"
)

// inlineType is a type in front of an expression, for the type checker alone.
var inlineType = regexp.MustCompile(`/\*\* ?@(type|const)[^*]*\*/ ?`)

// withoutComments leaves out of a module what only people and the type checker read: lines of comments,
// types and indentation. They are a third of what would be sent. Comments behind code stay, because finding
// them would take a parser: a string may hold two slashes too. A line of a template literal must therefore
// not begin with a comment's sign.
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
			out.Write(line)
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}
