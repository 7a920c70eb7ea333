package templates

import (
	"github.com/a-h/templ"

	"shardboard/internal/answer"
	"shardboard/internal/format"
)

// Key is a bound or another long name: short for the eye, full for the clipboard.
type Key struct {
	Short, Full string
}

// Cut is a text of which at most n characters are seen.
func Cut(s string, n int) Key { return Key{Short: format.Middle(s, n), Full: s} }

// BoundKey is a bound as a table shows it.
func BoundKey(text string) Key { return Cut(text, answer.BoundWidth) }

// longProject is how many bytes of a project's name stand beside a key.
const longProject = 40

// ChunkAttr names the chunk that a row is about, for a script to find it.
func ChunkAttr(name string) templ.Attributes {
	if name == "" {
		return nil
	}
	return templ.Attributes{"data-chunk": name}
}
