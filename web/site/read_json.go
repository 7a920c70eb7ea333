package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// ReadJSON reads a body that is one JSON value without unknown fields; an
// empty body is the zero value.
func ReadJSON(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Header.Get("Content-Type") != "" &&
		(err != nil || kind != MediaJSON) {
		return &StatusError{Status: http.StatusUnsupportedMediaType, Text: "Send application/json."}
	}
	var text bytes.Buffer
	dec := json.NewDecoder(io.TeeReader(r.Body, &text))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var tooLong *http.MaxBytesError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.As(err, &tooLong):
		return err
	case errors.As(err, &wrong):
		return fault.Wrap(fault.Invalid, err, "The body is not what this address takes: %s cannot be a JSON %s.",
			cmp.Or(wrong.Field, "the whole"), wrong.Value)
	case err != nil:
		name, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
		if unknown {
			return fault.Wrap(fault.Invalid, err, "The body has the field %s, which this address does not take.",
				sanitize.Truncate(sanitize.Sentence(name), 60))
		}
		return fault.Wrap(fault.Invalid, err, "The body is not the JSON that this address takes.")
	case dec.More():
		return fault.New(fault.Invalid, "The body goes on after its JSON value.")
	}
	if !isTextJSON(text.Bytes()) {
		return ErrNotText
	}
	if name, twice := TwiceNamed(text.Bytes()); twice {
		return fault.New(
			fault.Invalid,
			"The body has %q twice; which of them is meant is not known.",
			sanitize.Truncate(sanitize.Sentence(name), 60),
		)
	}
	return nil
}

// isTextJSON reports whether a value is UTF-8 and its own texts have no NUL. Those of values within it may: keys of
// documents have it.
func isTextJSON(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return true
	}
	for _, raw := range fields {
		var s string
		if json.Unmarshal(raw, &s) == nil && !isText(s) {
			return false
		}
	}
	return true
}

// TwiceNamed finds a name that is more than once in one object of a JSON value.
// Package json lets the last one count, others the first: what a plan does must
// not depend on that. The names of a request and of a plan's arguments are
// compared as package json does it, without regard to case; in what is deeper,
// such as a shard key, case counts. Readers that refuse duplicates, such as jsontext,
// regard case everywhere and would let "to" beside "To" pass.
func TwiceNamed(text []byte) (string, bool) {
	type level struct {
		names map[string]bool // nil in an array
		last  string          // the newest of them
		value bool            // a name was read, its value is next
	}
	var in []level
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return "", false // the end; what is wrong was found before
		}
		if d, ok := token.(json.Delim); ok && (d == '}' || d == ']') {
			in = in[:len(in)-1]
			continue
		}
		if n := len(in); n > 0 && in[n-1].names != nil {
			if top := &in[n-1]; top.value {
				top.value = false
			} else {
				name, _ := token.(string)
				same := name
				if n == 1 || n == 2 && in[0].last == "args" {
					same = strings.ToLower(name)
				}
				if top.names[same] {
					return name, true
				}
				top.names[same], top.last, top.value = true, same, true
				continue
			}
		}
		switch token {
		case json.Delim('{'):
			in = append(in, level{names: map[string]bool{}})
		case json.Delim('['):
			in = append(in, level{})
		}
	}
}
