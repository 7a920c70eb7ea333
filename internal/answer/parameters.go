package answer

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Limits of a request.
const (
	RequestWait  = 20 * time.Second // for a whole answer, reads included
	MaxPathParam = 512              // bytes; MongoDB's own names end at 255
	MaxBody      = 64 << 10         // bytes
	MaxLocate    = 256 << 10        // bytes: the body of POST locate
)

// dotted are the names that no part of a path can be, even escaped, as browsers take them for steps up
// and down; and those that stand for one.
var dotted = regexp.MustCompile(`^~*\.\.?$`)

// PathPart is a name as a part of a path, escaped. Before "." and ".." comes a "~".
func PathPart(name string) string {
	if dotted.MatchString(name) {
		name = "~" + name
	}
	return url.PathEscape(name)
}

// PathName is the name that a part of a path stands for, unescaped before.
func PathName(part string) string {
	if dotted.MatchString(part) {
		return strings.TrimPrefix(part, "~")
	}
	return part
}

// CursorOf wraps the sort key of the next item. Keys and not positions:
// a list that grows or shrinks between two pages then neither repeats nor
// skips what stayed.
func CursorOf(key string) api.Cursor {
	return api.Cursor(base64.RawURLEncoding.EncodeToString([]byte(key)))
}

// InternalParam is the parameter that shows the server's own collections in lists
// that leave them out. Pages keep it in their links.
const InternalParam = "internal"

// ShowInternal is InternalParam as a parameter that is declared.
func ShowInternal(to *bool) param.Param {
	return param.Of(InternalParam,
		"1: with the server's own collections too (databases config, admin and local, system.* but not system.buckets.*); default 0. "+
			"hidden says how many were left out",
		func(typed string) error {
			if typed != "0" && typed != "1" {
				return fault.New(fault.Invalid, "internal must be 1 or 0, not %q.", sanitize.Truncate(typed, 40))
			}
			*to = typed == "1"
			return nil
		})
}

// ParseInternal reads InternalParam alone; absent is false.
func ParseInternal(q url.Values) (internal bool, err error) {
	err = param.List{ShowInternal(&internal)}.Read(q)
	return internal, err
}

// AsksInternal tells that a filter names what is internal: who asks for it by name
// sees it.
func AsksInternal(ns string) bool {
	return ns != "" && topology.IsInternal(topology.Namespace(ns))
}

const (
	// PageRows is how many rows a page of a list has.
	PageRows = 50
	// EventRows is how many entries a page of the changelog has: each says much, below a picture.
	EventRows = 30
)

// PageOf is the page of a list of n rows that is shown, and its rows [from, to): a page
// beyond the end is the last one, as rows may have gone since the link was made.
func PageOf(n, page int) (shown, from, to int) { return PageOfRows(n, page, PageRows) }

// EventPageOf is the same of the changelog.
func EventPageOf(n, page int) (shown, from, to int) { return PageOfRows(n, page, EventRows) }

// PageOfRows is the same of a list with pages of so many rows.
func PageOfRows(n, page, rows int) (shown, from, to int) {
	last := max((n+rows-1)/rows, 1)
	shown = min(max(page, 1), last)
	return shown, (shown - 1) * rows, min(shown*rows, n)
}

// ByPlace begins a cursor that is a place in a list.
const ByPlace = "place "

// ListPlace reads the key of a cursor that is a place in a list.
func ListPlace(key string) (int, error) {
	text, ok := strings.CutPrefix(key, ByPlace)
	at, err := strconv.Atoi(text)
	if !ok || err != nil || at < 0 {
		return 0, fault.New(fault.Invalid, "This cursor is not from this list.")
	}
	return at, nil
}

// Place is a cursor that is a place in a list: how many items come before the page.
func Place(to *int) param.Param {
	return param.CursorBy(func(key string) (err error) {
		*to, err = ListPlace(key)
		return err
	})
}
