package activity

import (
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/web/templates"
)

// changed is how many ranges of a collection changed in one way; a dash for a
// collection that is not the same one any more.
func changed(c api.CollectionChange, n int) templates.Figure {
	if c.Label != "" {
		return templates.Figure{Text: format.Unknown, Title: c.Label}
	}
	return templates.Exact(n)
}

// signed writes a difference with its sign.
func signed(n int64, write func(int64) string) string {
	switch {
	case n > 0:
		return "+" + write(n)
	case n < 0:
		return write(n)
	}
	return "0"
}

func signedBytes(n *int64) string {
	if n == nil {
		return format.Unknown
	}
	return signed(*n, format.Bytes)
}
