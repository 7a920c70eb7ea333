package site

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

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
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.As(err, &tooLong):
		return err
	case err != nil:
		return fault.Wrap(fault.Invalid, err, "The body is not the JSON that this address takes.")
	case dec.More():
		return fault.New(fault.Invalid, "The body goes on after its JSON value.")
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
