package answer

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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

// MaxInput bounds every text that a page accepts; names and ids are far below.
const MaxInput = 4096

// TextParameter reads a query parameter. It refuses what nobody can have stored: a text that is
// too long, has a NUL character or is not UTF-8.
func TextParameter(in url.Values, name string) (string, error) {
	return CheckText(name, strings.TrimSpace(in.Get(name)))
}

// TextParameters reads several parameters into their variables.
func TextParameters(in url.Values, into map[string]*string) (err error) {
	for name, to := range into {
		if *to, err = TextParameter(in, name); err != nil {
			return err
		}
	}
	return nil
}

// CheckText is a text that somebody sent, refused for the same reasons.
func CheckText(name, s string) (string, error) {
	switch {
	case len(s) > MaxInput:
		return "", fault.New(fault.Invalid, "%s is longer than %d bytes.", name, MaxInput)
	case !utf8.ValidString(s):
		return "", fault.New(fault.Invalid, "%s is not valid UTF-8.", name)
	case strings.ContainsRune(s, 0):
		return "", fault.New(fault.Invalid, "%s contains a NUL character.", name)
	}
	return s, nil
}

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

// NumberParameter reads a number from least to most.
func NumberParameter(q url.Values, name string, least, most, absent int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, fault.New(fault.Invalid, "%s must be a number from %d to %d, not %q.", name, least, most, sanitize.Truncate(text, 40))
	}
	return n, nil
}

// ParsePage reads ?page=, counted from 1; absent is 1.
func ParsePage(q url.Values) (int, error) { return NumberParameter(q, "page", 1, 1_000_000, 1) }

// ParseLimit reads ?limit=, how many items a list may have.
func ParseLimit(q url.Values) (int, error) {
	return NumberParameter(q, "limit", 1, api.MaxLimit, api.DefaultLimit)
}

// timeLayouts are the ways to write a time; those without a zone are UTC, as what
// a form's field sends.
var timeLayouts = [...]string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04"}

// ParseTime reads a time in RFC 3339 or milliseconds since 1970.
func ParseTime(name, text string) (time.Time, error) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) <= 14 {
		return time.UnixMilli(ms).UTC(), nil
	}
	for _, layout := range timeLayouts {
		// A plus sign that was not escaped has become a space.
		if t, err := time.Parse(layout, strings.ReplaceAll(text, " ", "+")); err == nil && !t.IsZero() {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fault.New(fault.Invalid,
		"%s must be a time such as 2026-03-01T12:00:00Z, or milliseconds since 1970, not %q.", name, sanitize.Truncate(text, 40))
}

// TimeParameter reads a time from a query.
func TimeParameter(q url.Values, name string, absent time.Time) (time.Time, error) {
	if text := q.Get(name); text != "" {
		return ParseTime(name, text)
	}
	return absent, nil
}

// CursorOf wraps the sort key of the next item. Keys and not positions:
// a list that grows or shrinks between two pages then neither repeats nor
// skips what stayed.
func CursorOf(key string) api.Cursor {
	return api.Cursor(base64.RawURLEncoding.EncodeToString([]byte(key)))
}

// CursorKey is the sort key that ?cursor= wraps.
func CursorKey(q url.Values) (key string, given bool, err error) {
	text := q.Get("cursor")
	if text == "" {
		return "", false, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", false, fault.New(fault.Invalid, "This cursor is not from this list: %q.", sanitize.Truncate(text, 80))
	}
	return string(b), true, nil
}

// FlagParameter reads a yes-or-no filter; nil when it is absent.
func FlagParameter(q url.Values, name string) (*bool, error) {
	text := q.Get(name)
	if text == "" {
		return nil, nil
	}
	b, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil {
		return nil, fault.New(fault.Invalid, "%s must be true or false, not %q.", name, sanitize.Truncate(text, 40))
	}
	return &b, nil
}

// InternalParam is the parameter that shows the server's own collections in lists
// that leave them out. Pages keep it in their links.
const InternalParam = "internal"

// ParseInternal reads InternalParam; absent is false.
func ParseInternal(q url.Values) (bool, error) {
	switch q.Get(InternalParam) {
	case "", "0":
		return false, nil
	case "1":
		return true, nil
	}
	return false, fault.New(fault.Invalid, "internal must be 1 or 0, not %q.", sanitize.Truncate(q.Get(InternalParam), 40))
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

// ListPlace reads a cursor that is a place in a list.
func ListPlace(q url.Values) (int, error) {
	key, given, err := CursorKey(q)
	if err != nil || !given {
		return 0, err
	}
	text, ok := strings.CutPrefix(key, ByPlace)
	at, err := strconv.Atoi(text)
	if !ok || err != nil || at < 0 {
		return 0, fault.New(fault.Invalid, "This cursor is not from this list.")
	}
	return at, nil
}
