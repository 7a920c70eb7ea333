// Package param declares the parameters of an address, as package flag declares those of a command. Each is bound to
// the variable that it is read into, which holds the value of an absent one, and has the text of its description: what
// is read and what is described cannot differ. Mistakes are of fault.Invalid. A list is for one request.
package param

import (
	"encoding/base64"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
)

// Param is one parameter.
type Param struct {
	Name string
	Type string // of its value in JSON; "" is a string
	Text string // what it means, its bounds and what an absent one means
	read func(url.Values) error
}

// List are parameters in the order in which they are described and read.
type List []Param

// Read reads all parameters of a list. The error is that of the first which is wrong.
func (l List) Read(in url.Values) error {
	for _, p := range l {
		if err := p.read(in); err != nil {
			return err
		}
	}
	return nil
}

// Read reads the parameters of a query.
func Read[Q any, P interface {
	*Q
	Parameters() List
}](in url.Values) (q Q, err error) {
	err = P(&q).Parameters().Read(in)
	return q, err
}

// Check is no parameter: it looks at what was read before it.
func Check(check func() error) Param {
	return Param{read: func(url.Values) error { return check() }}
}

// Of is a parameter that a function reads from what was typed, which is checked as Checked does. It is not called for
// an absent or empty one.
func Of(name, text string, read func(typed string) error) Param {
	return Param{Name: name, Text: text, read: func(in url.Values) error {
		typed, err := Checked(name, strings.TrimSpace(in.Get(name)))
		if err != nil || typed == "" {
			return err
		}
		return read(typed)
	}}
}

// Values is a parameter that is read by more than its one text: one that may be repeated or empty.
func Values(name, text string, read func(given []string) error) Param {
	return Param{Name: name, Text: text, read: func(in url.Values) error { return read(in[name]) }}
}

// Text is any text, without spaces around it.
func Text[T ~string](to *T, name, text string) Param {
	return Of(name, text, func(typed string) error {
		*to = T(typed)
		return nil
	})
}

// OneOf is one of several words. The one that the variable has is what an absent parameter means.
func OneOf[T ~string](to *T, name, text string, words ...T) Param {
	var names []string
	for _, w := range words {
		names = append(names, string(w))
	}
	return named(name, text, names, slices.Index(words, *to), func(word string) { *to = T(word) })
}

// Named is one of several words that stand for something else. The first is what an absent parameter means.
func Named(name, text string, words []string, read func(word string)) Param {
	return named(name, text, words, 0, read)
}

func named(name, text string, words []string, usual int, read func(word string)) Param {
	described := slices.Clone(words)
	if usual >= 0 {
		described[usual] += " (default)"
	}
	if text != "" {
		text = "; " + text
	}
	return Of(name, either(described)+text, func(typed string) error {
		if !slices.Contains(words, typed) {
			return fault.New(fault.Invalid, "%s must be %s, not %q.", name, either(words), sanitize.Truncate(typed, 40))
		}
		read(typed)
		return nil
	})
}

// either joins words by commas and "or".
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Number is a whole number from least to most.
func Number(to *int, name string, least, most int, text string) Param {
	text += ", " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
	if *to >= least {
		text += "; default " + strconv.Itoa(*to)
	}
	return NumberTo(to, name, text, least, func() int { return most })
}

// NumberTo is a whole number up to what most says when the number is read, after the parameters before it. Its bounds
// and what an absent one means are in the text.
func NumberTo(to *int, name, text string, least int, most func() int) Param {
	p := Of(name, text, func(typed string) error {
		n, err := strconv.Atoi(typed)
		if err != nil || n < least || n > most() {
			return fault.New(fault.Invalid, "%s must be a number from %d to %d, not %q.", name, least, most(), sanitize.Truncate(typed, 40))
		}
		*to = n
		return nil
	})
	p.Type = "integer"
	return p
}

// Real is a number from least to most that may have a fraction.
func Real(to *float64, name string, least, most float64, text string) Param {
	p := Of(name, text+", "+realText(least)+" to "+realText(most), func(typed string) error {
		n, err := strconv.ParseFloat(typed, 64)
		if err != nil || math.IsNaN(n) || n < least || n > most {
			return fault.New(fault.Invalid, "%s must be a number from %g to %g, not %q.", name, least, most, sanitize.Truncate(typed, 40))
		}
		*to = n
		return nil
	})
	if *to >= least {
		p.Text += "; default " + realText(*to)
	}
	return p
}

func realText(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// Seed is the beginning of a series of random numbers.
func Seed(to *uint64, text string) Param {
	return Of("seed", text+"; default "+strconv.FormatUint(*to, 10), func(typed string) error {
		n, err := strconv.ParseUint(typed, 10, 63)
		if err != nil {
			return fault.New(fault.Invalid, "seed must be a number from 0 to %d, not %q.", math.MaxInt64, sanitize.Truncate(typed, 40))
		}
		*to = n
		return nil
	})
}

// MostBytes bounds sizes that people type, so that sums of them stay exact numbers.
const MostBytes = 1 << 53

// Bytes is a size from 1 byte on, such as 500GB, 1.5TiB or 1048576.
func Bytes(to *int64, name, text string) Param {
	return Of(name, text, func(typed string) error {
		n, ok := format.ParseBytes(typed)
		if !ok || n < 1 || n > MostBytes {
			return fault.New(fault.Invalid, "%s must be a size from 1 byte to %s, such as 500GB or 1.5TiB, not %q.", name,
				format.Bytes(MostBytes), sanitize.Truncate(typed, 40))
		}
		*to = int64(n)
		return nil
	})
}

// Flag is true or false, also as 1 or 0.
func Flag(to *bool, name, text string) Param {
	return Of(name, text, func(typed string) (err error) {
		*to, err = flag(name, typed)
		return err
	})
}

// MaybeFlag is a filter by true or false; absent it does not filter, and the variable stays nil.
func MaybeFlag(to **bool, name, text string) Param {
	return Of(name, text, func(typed string) error {
		yes, err := flag(name, typed)
		*to = &yes
		return err
	})
}

func flag(name, typed string) (bool, error) {
	yes, err := strconv.ParseBool(strings.ToLower(typed))
	if err != nil {
		return false, fault.New(fault.Invalid, "%s must be true or false, not %q.", name, sanitize.Truncate(typed, 40))
	}
	return yes, nil
}

// Time is a time, as ParseTime reads it.
func Time(to *time.Time, name, text string) Param {
	return Of(name, text, func(typed string) (err error) {
		*to, err = ParseTime(name, typed)
		return err
	})
}

// Page is the number of a page of a list, counted from 1; that of the first is 0 in the variable, as of an absent one.
func Page(to *int, text string) Param {
	var n int
	p := NumberTo(&n, "page", text, 1, func() int { return 1_000_000 })
	read := p.read
	p.read = func(in url.Values) error {
		err := read(in)
		if *to = n; n == 1 {
			*to = 0
		}
		return err
	}
	return p
}

// Limit is how many items a list may have.
func Limit(to *int) Param {
	*to = api.DefaultLimit
	return NumberTo(to, "limit", "1 to 1000, default 100", 1, func() int { return api.MaxLimit })
}

// Cursor is the place in a list at which a page begins, as the list before gave it.
func Cursor(to *string) Param {
	return CursorBy(func(key string) error {
		*to = key
		return nil
	})
}

// CursorBy is a cursor whose key, which api.Cursor wraps, a function reads.
func CursorBy(read func(key string) error) Param {
	return Of("cursor", cursorText, func(typed string) error {
		key, err := CursorKey(typed)
		if err != nil {
			return err
		}
		return read(key)
	})
}

const cursorText = "next of the page before"

// TypedCursor is a cursor as it was sent, for lists whose order says what is in it.
func TypedCursor(to *string) Param { return Text(to, "cursor", cursorText) }

// CursorKey is the key that a cursor wraps.
func CursorKey(typed string) (string, error) {
	key, err := base64.RawURLEncoding.DecodeString(typed)
	if err != nil {
		return "", fault.New(fault.Invalid, "This cursor is not from this list: %q.", sanitize.Truncate(typed, 80))
	}
	return string(key), nil
}

// Duration is a time such as 90s or 1h, from least to most.
func Duration(to *time.Duration, name string, least, most time.Duration, text string) Param {
	return Of(name, text, func(typed string) error {
		d, err := time.ParseDuration(typed)
		if err != nil || d < least || d > most {
			return fault.New(fault.Invalid, "%s must be a duration from %s to %s, such as 90s or 1h, not %q.", name, spanText(least),
				spanText(most), sanitize.Truncate(typed, 40))
		}
		*to = d
		return nil
	})
}

// spanText writes a duration without the zeros at its end.
func spanText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Place is a cursor that holds how many items come before the page.
func Place(to *int) Param {
	return CursorBy(func(key string) error {
		n, err := strconv.Atoi(key)
		if err != nil || n < 0 {
			return fault.New(fault.Invalid, "This cursor is not from this list.")
		}
		*to = n
		return nil
	})
}

// timeLayouts are the ways to write a time; those without a zone are UTC, as what a form's field sends.
var timeLayouts = [...]string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04"}

// ParseTime reads a time in RFC 3339 or milliseconds since 1970. The name is for the error.
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

// MostText bounds every text that an address or a page takes, in bytes; names and ids are far below.
const MostText = 4096

// Checked is a text that somebody sent. What nobody can have stored is refused: what is too long, has a NUL character
// or is not UTF-8. The name is for the error.
func Checked(name, text string) (string, error) {
	switch {
	case len(text) > MostText:
		return "", fault.New(fault.Invalid, "%s is longer than %d bytes.", name, MostText)
	case !utf8.ValidString(text):
		return "", fault.New(fault.Invalid, "%s is not valid UTF-8.", name)
	case strings.ContainsRune(text, 0):
		return "", fault.New(fault.Invalid, "%s contains a NUL character.", name)
	}
	return text, nil
}
