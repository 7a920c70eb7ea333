package answer

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// limitOf reads ?limit=.
func LimitOf(q url.Values) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return api.DefaultLimit, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > api.MaxLimit {
		return 0, fault.New(fault.Invalid, "limit must be a number from 1 to %d, not %q.", api.MaxLimit, sanitize.Truncate(text, 40))
	}
	return n, nil
}

// integer reads a small number between bounds; absent is 0.
func Integer(q url.Values, name string, most int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, fault.New(fault.Invalid, "%s must be a number from 0 to %d, not %q.", name, most, sanitize.Truncate(text, 40))
	}
	return n, nil
}

// cursorOf wraps the sort key of the next item. Keys and not positions:
// a list that grows or shrinks between two pages then neither repeats nor
// skips what stayed.
func CursorOf(key string) api.Cursor {
	return api.Cursor(base64.RawURLEncoding.EncodeToString([]byte(key)))
}

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

// flag reads a yes-or-no filter; nil when it is absent.
func flag(q url.Values, name string) (*bool, error) {
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
